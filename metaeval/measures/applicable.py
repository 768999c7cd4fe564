"""Tests of significance by name, and what each of them swaps."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from metaeval.kernels.resampling.swap_units import Swap

Test = Literal["perm-inputs", "perm-systems", "perm-both", "pairs", "williams", "bootstrap"]
TESTS: tuple[Test, ...] = ("perm-inputs", "perm-systems", "perm-both", "pairs", "williams", "bootstrap")
PERMUTATIONS: tuple[Test, ...] = ("perm-inputs", "perm-systems", "perm-both")
SWAPS: Mapping[str, Swap] = MappingProxyType({"perm-inputs": "inputs", "perm-systems": "systems", "perm-both": "both"})
