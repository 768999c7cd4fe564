"""Measures as values: named, parameterised and printed (`acc_eq(by=item)`); the registry reads them back."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy.typing as npt

from metaeval.kernels.agreement.correlation import Correlation
from metaeval.kernels.agreement.pair_counts import PairCounts
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.prepared import (
    LEAST_FOR_WILLIAMS,
    LEAST_SYSTEMS,
    LEAST_SYSTEMS_FISHER,
    IntervalMethod,
    PairStatistic,
    ResampleStatistic,
    Swap,
    SwapStatistic,
)
from metaeval.measures.applicable import CLAIMED, HOLDING, JACKKNIVES, SYSTEMS_RESAMPLED
from metaeval.measures.judged import Units, units_of
from metaeval.measures.options import Options, Population, SystemScore, Test, TestUnit
from metaeval.measures.parameters import Parameter, Value
from metaeval.measures.system_scores import SystemScores, asked_scores
from queries.blocks import Block
from warehouse import QuestionError
from warehouse.progress import Progress
from warehouse.wording import option

Level = Literal["sys", "seg"]


@dataclass(frozen=True)
class Definition:
    """Definition of a measure's name.

    family: the class that computes it. range: of its values. is_correlation: maps to [0, 1] by (r + 1) / 2.
    needs_segments: computed from segment scores alone. needs_spans: computed from marked errors. needs_preferences:
    computed from preferences. formula and source: as documented.
    """

    family: "type[Measure]"
    name: str
    level: Level
    meaning: str
    formula: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    range: str = "[-1, 1]"
    is_correlation: bool = True
    needs_segments: bool = True
    needs_spans: bool = False
    needs_preferences: bool = False

    @property
    def is_of_scores(self) -> bool:
        """Whether the measure is computed from scores alone, without marked errors or preferences."""
        return not self.needs_spans and not self.needs_preferences

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the range."""
        least, _, most = self.range.strip("[]").partition(", ")
        return float(least), float(most)

    @property
    def measure(self) -> "Measure":
        """The measure with all parameters at their defaults."""
        return self.family(self, tuple(parameter.default for parameter in self.parameters))


@dataclass(frozen=True)
class Values:
    """Results of a measure on a block; arrays are (M,), None = does not apply to the measure.

    value: NaN if not defined. epsilon: tie threshold used; epsilon_high: end of the interval of thresholds with the
    same value. n_pairs: pairs of systems or of scores. n_groups: groups with at least two judged scores; n_groups_nan:
    those of them where the statistic is not defined. n_systems: set if not all systems of the block count.
    system_score: source of each metric's system scores, None at segment level. counts: pair counts of all groups
    together. details: extra columns of a ranking by the measure. why: metric -> why its value is not defined.
    by_order: whether the order of the systems' names decides most of the value, which then gets no rank.
    more_parts: of the signature.
    """

    value: Floats
    epsilon: Floats | None = None
    epsilon_high: Floats | None = None
    n_pairs: Ints | int | None = None
    n_groups: Ints | int | None = None
    n_groups_nan: Ints | int | None = None
    n_systems: int | None = None
    system_score: tuple[SystemScore | None, ...] = ()
    counts: PairCounts | None = None
    details: dict[str, Floats] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    by_order: Bools | None = None
    more_parts: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Measure(ABC):
    """A measure with its parameters; `str` prints it, `parse_measure` reads it back. One subclass per family.

    fixed_system_score: source of system scores if the measure allows only one. is_calibrated: each metric has its own
    tie threshold, which tests keep. pair_statistic: the statistic of the pairs test. correlation: the correlation that
    can also compare metrics with each other. adds_up: made of pairs that can be added up over evaluation sets.
    holding: tests that hold their level, by population, the best first. z_of: the jackknife over systems tests the
    difference of Fisher's z of this share of the values (0 = of the values themselves). has_pairs: made of pairs of
    systems, or similar enough for the jackknife error to count each pair once. takes_few_values: resamples often tie
    with the data, so ties count half in permutation tests.
    interval: the type of bootstrap interval with the best coverage. is_sensitive: if a metric misjudges some systems,
    intervals for new systems are too narrow.
    why_tests: why the default test is the default, and why others do not apply.
    """

    definition: Definition
    values: tuple[Value, ...] = ()

    fixed_system_score: ClassVar[SystemScore | None] = None
    is_calibrated: ClassVar[bool] = False
    pair_statistic: ClassVar[PairStatistic | None] = None
    holding: ClassVar[Mapping[Population, tuple[Test, ...]]] = HOLDING
    z_of: ClassVar[float] = 0.0
    has_pairs: ClassVar[bool] = True
    takes_few_values: ClassVar[bool] = False
    interval: ClassVar[IntervalMethod] = "percentile"
    known_by: ClassVar[str] = "infinitesimal jackknife"
    is_sensitive: ClassVar[bool] = False
    why_tests: ClassVar[str]

    # ---- the value

    @property
    def counts_shared_ties(self) -> bool:
        """Whether a metric that orders no pair has a value, computed from the pairs that humans tie."""
        return False

    @abstractmethod
    def value(self, block: Block, options: Options) -> Values:
        """Compute the measure on a block whose metrics all have the data it needs."""

    @property
    def n_draws(self) -> int | None:
        """Number of random signs that the value itself draws; None = nothing is random."""
        return None

    @property
    def groups(self) -> str:
        """Which (system, segment) scores are compared with each other, for a segment-level measure: see `by`."""
        return str(self.get("by", "item"))

    @property
    def calibrated_on(self) -> str | None:
        """The test set whose scores the measure needs in addition to its block; None = no other test set."""
        return None

    def without_variation(self, block: Block) -> str | None:
        """Why the human scores leave nothing to agree with, beyond the reasons of all measures; None if they do not."""
        return None

    @property
    def correlation(self) -> Correlation | None:
        """The correlation that can compare metrics with each other, if the measure is one."""
        return None

    def remark_on(self, human: str | None) -> str | None:
        """A note for the reader about the measure with this human score."""
        return None

    def scores(self, block: Block, options: Options) -> SystemScores:
        """System scores as the measure uses them; the human score is NaN for systems that do not count."""
        return asked_scores(block, self.fixed_system_score or options.system_score, raw=options.raw_ties)

    # ---- tests of one metric against another

    @property
    @abstractmethod
    def tests(self) -> tuple[Test, ...]:
        """The applicable tests, first the test of protocols without their own; empty if there is no test."""

    def holding_test(self, population: Population, n_systems: int | None = None) -> Test | None:
        """The applicable test that holds its level for a population; None if there is none (docs/levels.md).

        n_systems: excludes tests that need more systems, unless no other test is left.
        """
        tests = self._holding_tests(population)
        enough = [test for test in tests if n_systems is None or self.least_systems(test) <= n_systems]
        return next(iter([*enough, *tests]), None)

    def _holding_tests(self, population: Population) -> list[Test]:
        return [
            test
            for test in self.holding[population]
            if test in self.tests and (population == "both" or self.claims(test) == population)
        ]

    def least_systems(self, test: Test) -> int:
        """The smallest number of systems that a test needs."""
        if test in JACKKNIVES:
            return LEAST_SYSTEMS_FISHER if self.z_of else LEAST_SYSTEMS
        return LEAST_FOR_WILLIAMS if test == "williams" else 0

    def default_test(self, population: Population, n_systems: int | None = None) -> Test:
        """The test used to compare metrics by this measure unless another is named; n_systems: as in `holding_test`.

        Raises QuestionError: there is no test for the measure, or none for this population.
        """
        self.check_tested()
        test = self.holding_test(population, n_systems)
        if test is None:
            claimed = dict.fromkeys(self.claims(test) for test in self.tests)
            raise QuestionError(
                f"measure {str(self)!r} has no test for population {population!r}; its tests ({', '.join(self.tests)}) "
                f"are for {' or '.join(claimed)}"
            )
        return test

    def default_population(self, source: SystemScore | None, has_segments: bool) -> Population:
        """The default population of a comparison: new segments, if the measure can be tested for them.

        source: the requested source of system scores, if any; submitted scores, and means over all segments, can only
        be swapped together with their systems. has_segments: all metrics have segment scores for all judged outputs.
        Raises QuestionError: there is no test for the measure.
        """
        self.check_tested()
        by_systems = (
            self.level == "sys"
            and not self.fixed_system_score
            and (source in ("submitted", "mean") or not has_segments)
        )
        if self.holding_test("segments") is not None and not by_systems:
            return "segments"
        return "systems" if self.holding_test("systems") is not None else self.claims(self.tests[0])

    @property
    def measured_as(self) -> str:
        """The measure whose test levels were measured and are assumed to apply to this measure."""
        return str(self)

    def watched_value(self, block: Block, options: Options, progress: Progress | None) -> Values:
        """`value`, reporting its progress if it may take long."""
        return self.value(block, options)

    def n_within(self, block: Block) -> int:
        """Number of draws that the measure itself makes in each resample, over all pairs of systems; 0: none."""
        return 0

    @property
    def in_simulations(self) -> "Measure":
        """A faster substitute if many data sets are simulated: the same measure up to a known noise."""
        return self

    def check_tested(self) -> None:
        """Raises QuestionError: there is no test for the measure."""
        if not self.tests:
            raise QuestionError(f"measure {str(self)!r} has no significance test")

    def claims(self, test: Test) -> Population:
        """The population to which a test of the measure generalises."""
        return CLAIMED[test]

    def correlated(self, block: Block, options: Options) -> tuple[Floats, Floats]:
        """(n,) human and (M, n) metric scores whose correlation Williams' test compares: system scores."""
        scores = self.scores(block, options)
        return scores.human, scores.metrics

    def check_applies(self, test: Test) -> None:
        """Raises QuestionError: the test does not apply to the measure; the message lists the tests that do."""
        if test not in self.tests:
            known = f"applicable tests: {', '.join(self.tests)}" if self.tests else "no test does"
            raise QuestionError(f"test {test!r} does not apply to measure {str(self)!r}; {known}")

    def resamples_segments(self, test: Test) -> bool:
        """Whether a test uses means over judged segments as system scores, because it swaps or resamples segments."""
        return test in ("perm-inputs", "perm-both", "pairs", "jackknife-segments", *SYSTEMS_RESAMPLED)

    @abstractmethod
    def swapped(self, block: Block, swap: Swap, options: Options, epsilon: npt.ArrayLike | None) -> SwapStatistic:
        """The measure on a block, prepared for a permutation test. epsilon: calibrated tie thresholds, kept.

        Raises QuestionError: no kernel does this.
        """

    def pooled_swap(self, blocks: Sequence[Block], options: Options) -> SwapStatistic:
        """The measure over the pairs of several blocks, prepared for a test that swaps whole systems.

        Raises QuestionError: the measure is not pooled that way.
        """
        raise QuestionError(f"{self} of several language pairs together has no test; name one language pair")

    @abstractmethod
    def resampled(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        """The measure on a block, prepared for the bootstrap; system scores are means over judged segments.

        If systems are resampled, a grouping by system follows the drawn systems. epsilon: calibrated thresholds, kept.
        Raises QuestionError: no kernel does this.
        """

    def of_segments(self, block: Block, options: Options, epsilon: npt.ArrayLike | None) -> ResampleStatistic:
        """As `resampled`, if segments are only dropped: the groups are those of the remaining segments."""
        return self.resampled(block, options, epsilon)

    def resampled_systems(self, block: Block, options: Options) -> ResampleStatistic | None:
        """The measure on the system scores themselves, one per system, prepared for a bootstrap of systems.

        Submitted scores are used unchanged. None = the measure is not computed from system scores, or not from these.
        """
        return None

    def interval_over_systems(self, block: Block, options: Options) -> tuple[Floats, Floats] | None:
        """(M,) ends of 95% intervals of the values over new systems; None = not computed from system scores."""
        return None

    @property
    def is_quick_to_resample(self) -> bool:
        """Whether a thousand resamples of segments take seconds rather than minutes."""
        return True

    def units(self, block: Block, asked: TestUnit | None = None) -> Units:
        """Units that its tests and intervals swap, resample or exclude: see `units_of`; annotators if requested.

        Raises QuestionError: see `units_of`; or annotators are requested, but the measure is not based on preferences.
        """
        if asked == "annotator":
            reason = f"{option('unit', asked)} takes measures of preferences (tau_rr, acc_rr), not {str(self)!r}"
            raise QuestionError(reason)
        return units_of(block.selection, block.judged.any(axis=0), asked)

    def as_resampled(self, units: Units) -> "Measure":
        """The measure if these units are resampled: signs that it draws belong to segments, not to documents."""
        return self if units.documents is None else self.in_simulations

    def standard_errors(self, block: Block, options: Options, units: Units) -> Floats | None:
        """(M,) standard errors of the values over new units, if they are known without resampling: `known_by`."""
        return None

    def pair_agreements(self, block: Block, options: Options) -> Bools | None:
        """(M, n_pairs) system pairs that each metric gets right, if the bootstrap resamples pairs; else None."""
        return None

    # ---- several evaluation sets together

    @property
    def adds_up(self) -> bool:
        """Whether the measure is made of pairs that can be added up over evaluation sets."""
        return False

    def pooled(self, values: Floats, n_pairs: Ints, counts: Sequence[PairCounts]) -> Floats:
        """The measure over the pairs of several evaluation sets together, (M,), if it adds up.

        values, n_pairs: (n_sets, M); counts: pair counts of each set, if the measure has them.
        """
        raise NotImplementedError(f"{self} does not add up")

    # ---- words

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def level(self) -> Level:
        return self.definition.level

    def __getitem__(self, parameter: str) -> Any:
        """Value of a parameter, of the type that its `parse` returns.

        Raises KeyError: the measure has no parameter of that name.
        """
        named = zip(self.definition.parameters, self.values, strict=True)
        return {known.name: value for known, value in named}[parameter]

    def has(self, parameter: str) -> bool:
        """Whether the measure has a parameter of that name."""
        return any(known.name == parameter for known in self.definition.parameters)

    def get(self, parameter: str, default: Value) -> Any:
        """Value of a parameter, or the default if the measure has no parameter of that name."""
        return self[parameter] if self.has(parameter) else default

    def __str__(self) -> str:
        shown = [
            f"{parameter.name}={parameter.show(value)}"
            for parameter, value in zip(self.definition.parameters, self.values, strict=True)
            if parameter.always or value != parameter.default
        ]
        return f"{self.name}({', '.join(shown)})" if shown else self.name
