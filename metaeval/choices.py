"""Closed sets of values that options have, wherever they are used; light, for the help of the commands."""

from typing import Literal

Test = Literal[
    "perm-inputs",
    "perm-systems",
    "perm-both",
    "pairs",
    "williams",
    "bootstrap",
    "bootstrap-normal",
    "jackknife-segments",
    "jackknife-systems",
    "jackknife-both",
]
Population = Literal["segments", "systems", "both"]
SystemScore = Literal["submitted", "mean", "judged-mean"]
