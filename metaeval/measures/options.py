"""How values are computed and metrics tested, as options of questions.

Light: it is read to print a help.
"""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from warehouse.errors import QuestionError
from warehouse.fields import Fields, Option

MOST_DRAWS = 1_000_000
"""More resamples would not end."""
MOST_SIMULATED = 10_000
MOST_DECIMALS = 15
"""Those of a double."""
LEAST_SIMULATED = 20
"""Data sets, and resamples of each, below which a simulated power says nothing."""


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
Unit = Literal["segment", "document"]
TestUnit = Literal["segment", "document", "annotator"]
SystemScore = Literal["submitted", "mean", "judged-mean"]
Alternative = Literal["greater", "two-sided"]
Correction = Literal["none", "holm", "bh"]

HowComputed = partial(Option, panel="Computation")
HowTested = partial(Option, panel="Tests and resampling")


# Fields that some questions have without the other options; what a unit is: `metaeval.measures.judged.units_of`.
RoundHuman = Annotated[
    int | None,
    HowComputed(
        "Round human segment scores to this many decimals first.",
        metavar="DIGITS",
        least=0,
        most=MOST_DECIMALS,
        default="as stored",
    ),
]
SystemScoreOption = Annotated[
    SystemScore | None,
    HowComputed("Source of the metrics' system scores.", default="submitted; judged-mean for spa"),
]
Seed = Annotated[int, HowComputed("Random seed.", least=0)]
Resamples = Annotated[int, HowTested("Number of resamples.", least=1, most=MOST_DRAWS, formerly="draws")]
Alpha = Annotated[float, HowTested("Significance level.", least=0, most=1)]
SampledBy = Annotated[
    Path | None,
    Option(
        "Random sample that `scorehouse sample` wrote: each annotated segment is weighted by the inverse of its "
        "probability.",
        metavar="FILE",
    ),
]
Recompute = Annotated[bool, HowTested("Recompute even if results are stored.", is_computing=True, formerly="fresh")]
UnitOption = Annotated[
    Unit | None,
    HowTested(
        "Resampling unit: segment or whole document.",
        default="document if there are at least 10, else segment",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Options(Fields):
    """How values are computed, apart from the measure."""

    seed: Seed = 0
    system_score: SystemScoreOption = None
    round_human: RoundHuman = None
    raw_ties: Annotated[bool, HowComputed("Compare system scores without a tolerance.")] = False


@dataclass(frozen=True, kw_only=True)
class TestOptions(Fields):
    """How metrics are tested against each other.

    Options that differ only in who computes, or whether stored results are used, are equal.

    test: None = a test that holds its level for the population.
    population: None = the test's own, or the measure's (`Measure.default_population`).
    interval_over: the unit resampled for the intervals of two metrics; None = whatever is new in the population.
    interval: how the intervals of two metrics are made; None = the test's own, else the measure's.
    keep_null: keep the resampled differences.
    all_tests: two metrics are compared by every applicable test, not only by the first.
    """

    __test__ = False  # the name begins with "Test", but it is no test

    recompute: Recompute = field(default=False, compare=False)
    alpha: Alpha = 0.05
    resamples: Resamples = 1000
    unit: Annotated[
        TestUnit | None,
        HowTested(
            "Resampling unit: segment, whole document, or annotator (only tau_rr and acc_rr).",
            default="document if there are at least 10, else segment",
        ),
    ] = None
    test: Annotated[
        Test | None,
        HowTested("Significance test.", default="the test whose measured false-positive rate is closest to alpha"),
    ] = None
    population: Annotated[
        Population | None,
        HowTested(
            "What the result generalises to: new segments of these systems, new systems, or both.",
            default="segments; systems if there are only system scores",
        ),
    ] = None
    alternative: Annotated[
        Alternative | None, HowTested("Alternative hypothesis.", default="two-sided; greater in protocols")
    ] = None
    correction: Annotated[Correction, HowTested("Correction for multiple comparisons.")] = "none"
    plus_one: Annotated[bool, HowTested("(b+1)/(n+1) p-values, which are never 0.")] = False
    mid_p: Annotated[
        bool | None,
        HowTested(
            "Count resamples that tie with the data as half.",
            ("mid-p", "no-mid-p"),
            default="half for measures with few distinct values, such as pa, unless a test is named",
        ),
    ] = None
    early_stop: Annotated[bool, HowTested("Early stopping: fewer resamples for clear pairs.")] = False
    legacy_df: Annotated[bool, HowTested("Williams: n-2 degrees of freedom, as in 2014.")] = False
    absolute: Annotated[bool, HowTested("Williams: absolute correlations.")] = False
    threads: Annotated[
        int | None, HowTested("Threads.", least=1, most=1024, default="all cores", is_computing=True)
    ] = field(default=None, compare=False)
    interval_over: Literal["inputs", "systems", "both"] | None = None
    interval: Literal["percentile", "normal", "centred"] | None = None
    keep_null: bool = False
    all_tests: bool = False

    @property
    def side(self) -> Alternative:
        """The alternative hypothesis: two-sided unless another is named."""
        return self.alternative or "two-sided"

    def check_fields(self) -> None:
        """Raises QuestionError: a number out of its range."""
        if not 0 < self.alpha < 1:
            raise QuestionError(f"alpha {self.alpha}: expected a number between 0 and 1")
        if self.early_stop and self.keep_null:
            raise QuestionError("early stopping leaves no complete null distribution to keep")


HOW_TESTED = (
    *("test", "population", "alternative", "alpha", "correction", "plus_one", "mid_p", "early_stop", "unit"),
    *("legacy_df", "absolute", "recompute"),
)
"""Fields that do something in a test alone; `draws` may have other uses, `threads` changes no result."""
