"""Options of significance tests between metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from metaeval.kernels.resampling.draws import BLOCK, BLOCKS_BETWEEN_LOOKS
from metaeval.measures.applicable import BY_UNIT, PERMUTATIONS
from metaeval.measures.options import Test, TestOptions
from warehouse.errors import QuestionError
from warehouse.wording import counted, option

SMALLEST = 1e-300  # an exact p below this underflows to 0
FIRST_LOOK = BLOCKS_BETWEEN_LOOKS * BLOCK  # draws before an early stop looks for the first time


def check_applicable(testing: TestOptions, tests: Sequence[Test]) -> None:
    """Raises QuestionError: an option is requested that none of the tests has."""
    there = dict.fromkeys(tests)
    for name, applicable in _SETTINGS.items():
        is_asked = testing.unit in ("document", "annotator") if name == "unit" else getattr(testing, name)
        if is_asked and not set(applicable) & set(there):
            asked = option("unit", testing.unit) if name == "unit" else option(name, True)
            raise QuestionError(f"{asked} applies to {' or '.join(applicable)}, not to {' or '.join(there)}")


def resolution_of(testing: TestOptions, is_exact: bool) -> float:
    """The bound that a p of 0 stands for: p is below this number."""
    if is_exact:
        return SMALLEST
    return 1.0 / (min(testing.resamples, FIRST_LOOK) if testing.early_stop else testing.resamples)


def fitted_to(testing: TestOptions, test: Test) -> TestOptions:
    """The options for one test, without those that it does not use."""
    unused = {name: getattr(TestOptions, name) for name, applicable in _SETTINGS.items() if test not in applicable}
    # where ties count whole, it is the same question whether that was said or is the default
    return replace(
        testing,
        test=test,
        interval_over=None,
        interval=None,
        all_tests=False,
        **{"mid_p": testing.mid_p or None, **unused},
    )


_SETTINGS: Mapping[str, tuple[Test, ...]] = MappingProxyType(
    {
        "plus_one": PERMUTATIONS,
        "mid_p": PERMUTATIONS,
        "early_stop": PERMUTATIONS,
        "unit": BY_UNIT,
        "legacy_df": ("williams",),
        "absolute": ("williams",),
    }
)


def pairs_that_differ(n: int, of: str) -> str:
    """The number of pairs that differ significantly, in words. of: metrics, or systems.

    >>> pairs_that_differ(1, "metrics"), pairs_that_differ(12, "systems")
    ('1 pair of metrics differs significantly', '12 pairs of systems differ significantly')
    """
    return f"{counted(n, 'pair')} of {of} {'differs' if n == 1 else 'differ'} significantly"
