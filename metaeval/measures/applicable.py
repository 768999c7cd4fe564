"""Significance tests by name, the units that each one swaps, and the population to which its answer generalises."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from metaeval.kernels.resampling.prepared import Swap, Varying
from metaeval.measures.options import Population, Test

TESTS: tuple[Test, ...] = get_args(Test)
PERMUTATIONS: tuple[Test, ...] = ("perm-inputs", "perm-systems", "perm-both")
JACKKNIVES: tuple[Test, ...] = ("jackknife-systems", "jackknife-both")
RESAMPLED: tuple[Test, ...] = ("bootstrap", *JACKKNIVES)  # what a measure that can be resampled has
SYSTEMS_RESAMPLED: tuple[Test, ...] = ("bootstrap-normal", *RESAMPLED)  # what one of system scores has
SWAPS: Mapping[str, Swap] = MappingProxyType({"perm-inputs": "inputs", "perm-systems": "systems", "perm-both": "both"})
VARYING: Mapping[str, Varying] = MappingProxyType(
    {"jackknife-segments": "segments", "jackknife-systems": "systems", "jackknife-both": "both"}
)

POPULATIONS: tuple[Population, ...] = get_args(Population)
IN_WORDS: Mapping[Population, str] = MappingProxyType(
    {
        "segments": "new segments of these systems",
        "systems": "new systems on these segments",
        "both": "new systems and new segments",
    }
)


def with_unit(words: str, unit: object) -> str:
    """The population in words, naming the resampled unit: segments, documents or annotators.

    >>> with_unit("new segments of these systems", "document"), with_unit("new segments of these systems", "annotator")
    ('new documents of these systems', 'new annotators of these systems')
    """
    return words.replace("segments", f"{unit}s" if unit in ("document", "annotator") else "segments")


#: Of intervals of Pearson's r over systems, and of its differences (docs/levels.md).
TOO_NARROW = "too narrow if a metric misjudges some systems"
#: Tests that swap, resample or leave out segments, and can do so with whole documents.
BY_UNIT: tuple[Test, ...] = ("perm-inputs", "bootstrap", "bootstrap-normal", "jackknife-segments", "jackknife-both")
#: Those of them that were published with single segments, and keep them where they are named.
PUBLISHED: tuple[Test, ...] = ("perm-inputs", "bootstrap")
#: Tests that hold their level for a population, the best first (docs/levels.md).
HOLDING: Mapping[Population, tuple[Test, ...]] = MappingProxyType(
    {
        "segments": ("perm-inputs", "jackknife-segments", "bootstrap"),
        "systems": ("jackknife-systems", "perm-systems"),
        "both": ("jackknife-both",),
    }
)
#: The same for measures of system scores. Equally good metrics may err on different systems, which swapped segments
#: average away; resampled ones do not. A system that is left out takes along what is due to its segments, so with some
#: hundreds of them the test holds for new systems and segments, too.
HOLDING_OF_SYSTEMS: Mapping[Population, tuple[Test, ...]] = MappingProxyType(
    {**HOLDING, "segments": ("bootstrap-normal", "perm-inputs"), "both": ("jackknife-systems", "jackknife-both")}
)
#: The population that each test is used for, whether or not it holds its level.
CLAIMED: Mapping[Test, Population] = MappingProxyType(
    {
        "perm-inputs": "segments",
        "perm-systems": "systems",
        "perm-both": "both",
        "pairs": "segments",
        "williams": "systems",
        "bootstrap": "segments",
        "bootstrap-normal": "segments",
        "jackknife-segments": "segments",
        "jackknife-systems": "systems",
        "jackknife-both": "both",
    }
)
