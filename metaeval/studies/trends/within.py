"""Progress within the same data: the slope of a measure over the years in which metrics were published."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.slopes import CrossedSlope, crossed_slope
from metaeval.kernels.agreement.studies import CONFIDENCE, RandomEffects
from metaeval.kernels.arrays.checks import Floats
from metaeval.results.signature import Parts, line, restricted, stamped
from metaeval.studies.trends.gaps import smoothed_variances
from metaeval.studies.trends.groups import is_contaminated
from metaeval.studies.trends.history import Entry, History
from metaeval.studies.trends.points import Point
from metaeval.studies.trends.tables import computed_parts
from warehouse import QuestionError
from warehouse.facts.human_protocols import protocol_of
from warehouse.facts.metrics import JUDGES_NOTHING, MetricFacts, describe, folded
from warehouse.names import in_any_case
from warehouse.wording import counted, option

FEWEST_METRICS, FEWEST_YEARS = 5, 2
NORMAL = 1.959963984540054  # 97.5% quantile
BASE_KIND = "string"
SlopeOf = Literal["new-metrics", "these-metrics"]
Kinds = Literal["separate", "pooled"]
Kind = Literal["reference-based", "reference-free", "all"]
KINDS: Mapping[Kinds, tuple[Kind, ...]] = {"separate": ("reference-based", "reference-free"), "pooled": ("all",)}
POOLS: Mapping[SlopeOf, str] = {
    "new-metrics": "crossed_random_effects,families,reml",
    "these-metrics": "random_effects,reml,knapp_hartung",
}


@dataclass(frozen=True)
class SetSlope:
    """The slope of one kind of metrics in one evaluation set.

    error: from resampled data, for these metrics. n_metrics: each counts once.
    """

    kind: Kind
    testset: str
    lp: str
    year: int | None
    human: str
    protocol: str
    slope: float
    error: float
    n_systems: int
    n_metrics: int
    first_year: int
    last_year: int

    @property
    def low(self) -> float:
        return self.slope - NORMAL * self.error

    @property
    def high(self) -> float:
        return self.slope + NORMAL * self.error


@dataclass(frozen=True)
class DatedMetric:
    """A metric of the pooled slope. names: those that count as this metric.

    pull: its share of the slope's variance due to the choice of metrics; without: the slope without it; both NaN if
    metrics are not treated as a sample.
    """

    name: str
    names: tuple[str, ...]
    published: int
    is_reference_free: bool
    n_sets: int
    pull: float
    without: float


@dataclass(frozen=True)
class KindSlope:
    """The slopes of one kind of metrics in each evaluation set and over all.

    metric_sd: standard deviation of metrics around the slope, common to all sets; family_sd: the part shared within
    families; NaN if metrics are not treated as a sample. metrics: sorted by pull, largest first. by_protocol: the same
    over the sets of one protocol. leave_one_out: the pooled slope without each set, aligned with sets.
    """

    kind: Kind
    sets: tuple[SetSlope, ...]
    pooled: RandomEffects
    metric_sd: float
    family_sd: float
    n_families: int
    metrics: tuple[DatedMetric, ...]
    by_protocol: Mapping[str, RandomEffects]
    leave_one_out: Floats


@dataclass(frozen=True)
class Within:
    """Slopes of each kind of metrics.

    of: the population of pooled slopes. slopes: those of reference-based metrics first. contrasts: each kind of metrics
    against string metrics within the same data: difference of means, only for the metrics at hand and therefore without
    p. unknown: metrics of unknown year, excluded. contaminated: metrics known to be trained on the human scores of an
    evaluation set's year, excluded on request. skipped: evaluation sets, and why each has no slope, without the set's
    name.
    """

    measure: str
    of: SlopeOf
    slopes: tuple[KindSlope, ...]
    contrasts: Mapping[str, RandomEffects]
    unknown: tuple[str, ...]
    contaminated: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    without_contaminated: bool
    parts: Parts

    @property
    def signature(self) -> str:
        return line(self.parts)

    @property
    def sets(self) -> tuple[SetSlope, ...]:
        """The slopes of all kinds in each evaluation set."""
        return tuple(one for slope in self.slopes for one in slope.sets)


def weights_of_slope(years: npt.ArrayLike) -> Floats:
    """c with slope = Σ c_m value_m: least squares of values over years.

    >>> weights_of_slope([2000, 2010]).tolist()
    [-0.1, 0.1]
    """
    x = np.asarray(years, dtype=np.float64)
    centred = x - x.mean()
    found: Floats = centred / (centred**2).sum()
    return found


def contrast(values: npt.ArrayLike, covariance: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[float, float]:
    """Σ c_m value_m and its standard error from the metrics' covariance over resampled data; NaN if unknown.

    >>> contrast([0.5, 0.7], [[0.01, 0.01], [0.01, 0.02]], [-1, 1])
    (0.2, 0.1)
    """
    y, c = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    variance = float(c @ np.asarray(covariance, dtype=np.float64) @ c)
    return float(np.round(c @ y, 15)), float(np.sqrt(max(variance, 0.0))) if variance == variance else float("nan")


def pool_estimates(estimates: npt.ArrayLike, errors: npt.ArrayLike, n_systems: npt.ArrayLike) -> RandomEffects:
    """Random effects over evaluation sets, with smoothed variances, for the metrics at hand.

    There is no p: it would test whether these metrics differ on new data, but be read as if their kinds did.
    """
    pooled = kernels.random_effects(estimates, smoothed_variances(np.asarray(errors) ** 2, n_systems))
    return replace(pooled, p=float("nan"))


def within(
    history: History,
    published: Sequence[tuple[str, int]] = (),
    *,
    without_contaminated: bool = False,
    of: SlopeOf = "new-metrics",
    kinds: Kinds = "separate",
) -> Within:
    """Regress the measure on publication years within each official evaluation set, and pool the slopes.

    published: publication years set by the user (shell patterns of base names), which override the registry. of:
    "new-metrics" treats families of metrics as a sample, like evaluation sets; "these-metrics" only sets. kinds:
    whether reference-based and reference-free metrics, which are two populations, have separate slopes or one.
    Sentinels and random metrics are excluded, because they represent no research. Names of one metric (see `_identity`)
    count once in a set, by their mean. Needs 2 years and 5 metrics in a set.
    Raises QuestionError: no evaluation set has a slope.
    """
    used: dict[Kind, list[_SetFit]] = {kind: [] for kind in KINDS[kinds]}
    without = {f"{one.testset} {one.lp}": one.history for one in history.entries if not one.history.points}
    few: dict[Kind, list[tuple[str, str]]] = {kind: [] for kind in used}
    seen: set[Kind] = set()
    unknown: dict[str, None] = {}
    dirty: dict[str, None] = {}
    contrasts: dict[str, list[tuple[float, float, int]]] = {}
    for entry, one in history.official:
        known = _DatedMetrics(one, entry.year, published, without_contaminated)
        unknown |= dict.fromkeys(known.unknown)
        dirty |= dict.fromkeys(f"{name} in {entry.testset}" for name in known.contaminated)
        for kind, estimate in _kinds(one, known).items():
            contrasts.setdefault(kind, []).append((*estimate, one.context.n_systems))
        for group in used:
            dated = {key: value for key, value in known.dated.items() if _is_of(key, group)}
            seen |= {group} if dated else set()
            years = [year for year, _ in dated.values()]
            if len(years) < FEWEST_METRICS or len(set(years)) < FEWEST_YEARS:
                few[group].append((f"{entry.testset} {entry.lp}", _too_few(group, years)))
            else:
                used[group].append(_slope_of_set(entry, one, group, dated))
    skipped = [pair for group, pairs in few.items() if group in seen for pair in pairs]
    if not any(used.values()):
        reasons = [(where, str(one.reason)) for where, one in without.items()] + (skipped or next(iter(few.values())))
        where, why = next(iter(reasons), ("", "no evaluation set"))
        raise QuestionError(
            f"no slope over publication years: {where}: {why} ({option('published')} NAME=YEAR adds years)"
        )
    slopes = tuple(_of_kind(group, of_sets, of) for group, of_sets in used.items() if of_sets)
    return Within(
        measure=str(history.measure),
        of=of,
        slopes=slopes,
        contrasts={
            kind: pool_estimates(*zip(*estimates, strict=True)) for kind, estimates in sorted(contrasts.items())
        },
        unknown=tuple(sorted(unknown)),
        contaminated=tuple(sorted(dirty)),
        skipped=(*((where, str(one.brief)) for where, one in without.items()), *skipped),
        without_contaminated=without_contaminated,
        parts=_parts(history, slopes, published, without_contaminated, of, kinds),
    )


class _Identity(NamedTuple):
    """Identity of a metric. own: its paper, version or name."""

    family: str
    own: str
    kind: str
    reference_free: bool
    year: int


Dated = Mapping[_Identity, tuple[int, list[int]]]  # what counts as one metric -> its year and its places in the point


def _is_of(key: _Identity, kind: Kind) -> bool:
    return kind == "all" or key.reference_free == (kind == "reference-free")


def _too_few(kind: Kind, years: Sequence[int]) -> str:
    what = counted(len(years), "metric" if kind == "all" else f"{kind} metric")
    return f"{what} of {len(set(years))} known publication years, a slope needs {FEWEST_METRICS} of {FEWEST_YEARS}"


def _slope_of_set(entry: Entry, one: Point, kind: Kind, dated: Dated) -> "_SetFit":
    years = [year for year, _ in dated.values()]
    shares = np.zeros(len(one.metrics))
    for weight, (_, places) in zip(weights_of_slope(years), dated.values(), strict=True):
        shares[places] = weight / len(places)
    slope, error = _of_places(one, np.flatnonzero(shares), shares[shares != 0])
    found = SetSlope(
        kind=kind,
        testset=entry.testset,
        lp=entry.lp,
        year=entry.year,
        human=one.human,
        protocol=protocol_of(one.human),
        slope=slope,
        error=error,
        n_systems=one.context.n_systems,
        n_metrics=len(years),
        first_year=min(years),
        last_year=max(years),
    )
    return _SetFit(found, one, dated)


def _of_kind(kind: Kind, used: "Sequence[_SetFit]", of: SlopeOf) -> KindSlope:
    pooled = _pooled(used, of)
    protocols = dict.fromkeys(one.slope.protocol for one in used)
    return KindSlope(
        kind=kind,
        sets=tuple(one.slope for one in used),
        pooled=pooled.pooled,
        metric_sd=pooled.column_sd,
        family_sd=pooled.family_sd,
        n_families=pooled.n_families,
        metrics=_metrics(used, pooled),
        by_protocol={name: _pooled([o for o in used if o.slope.protocol == name], of).pooled for name in protocols},
        leave_one_out=pooled.without_row,
    )


class _SetFit(NamedTuple):
    """An evaluation set with its slope."""

    slope: SetSlope
    point: Point
    dated: Dated


def _years(used: Sequence[_SetFit]) -> dict[_Identity, int]:
    """The year of each metric of any set."""
    return {key: year for one in used for key, (year, _) in one.dated.items()}


def _pooled(used: Sequence[_SetFit], of: SlopeOf) -> CrossedSlope:
    """new-metrics: metrics of families and sets are crossed samples; residual variances go with 1 / systems."""
    years = _years(used)
    n_systems = np.array([one.slope.n_systems for one in used], dtype=np.float64)
    if of == "new-metrics":
        values = np.full((len(used), len(years)), np.nan)
        place_of = {key: place for place, key in enumerate(years)}
        for row, one in enumerate(used):
            for key, (_, places) in one.dated.items():
                values[row, place_of[key]] = one.point.value[places].mean()
        families = [key.family for key in years]
        return crossed_slope(values, list(years.values()), n_systems.mean() / n_systems, families)
    slopes, errors = (np.array([getattr(one.slope, name) for one in used]) for name in ("slope", "error"))
    nothing = np.full(len(years), np.nan)
    smooth = smoothed_variances(errors**2, n_systems)
    return CrossedSlope(
        pooled=pool_estimates(slopes, errors, n_systems),
        freedom=len(used) - 1.0,
        column_sd=float("nan"),
        family_sd=float("nan"),
        residual_sd=float("nan"),
        n_columns=len(years),
        n_families=len({key.family for key in years}),
        pull=nothing,
        without_row=kernels.leave_one_out(slopes, smooth) if len(used) > 1 else np.full(1, np.nan),
        without_column=nothing,
    )


def _metrics(used: Sequence[_SetFit], pooled: CrossedSlope) -> tuple[DatedMetric, ...]:
    found = []
    for place, (key, year) in enumerate(_years(used).items()):
        own = [[one.point.base_names[at] for at in one.dated[key][1]] for one in used if key in one.dated]
        names = Counter(name for of_set in own for name in of_set)
        name = min(names, key=lambda name: (-names[name], name))
        pull, without = float(pooled.pull[place]), float(pooled.without_column[place])
        is_free = any(one.point.reference_free[one.dated[key][1][0]] for one in used if key in one.dated)
        found.append(DatedMetric(name, tuple(sorted(names)), year, is_free, len(own), pull, without))
    return tuple(sorted(found, key=lambda one: (-np.nan_to_num(one.pull), one.published, one.name)))


def _identity(base: str, facts: MetricFacts, reference_free: bool, year: int) -> _Identity:
    """Identity of a metric: members of a family with the same paper, kind, year and use of references are one metric.

    For example, BLEU and sacreBLEU-BLEU. Without a paper, each version or name is a separate metric.
    """
    own = facts.publication or (facts.version if facts.is_known else folded(base))
    return _Identity(facts.family, str(own), facts.kind, reference_free, year)


class _DatedMetrics:
    """A point's metrics: year and indices by identity, all indices that count, and the names of the others."""

    def __init__(
        self, one: Point, year: int | None, published: Sequence[tuple[str, int]], without_contaminated: bool
    ) -> None:
        self.dated: dict[_Identity, tuple[int, list[int]]] = {}
        self.counted: list[int] = []
        self.kinds: list[str] = []
        unknown, contaminated = [], []
        for place, base in enumerate(one.base_names):
            facts = describe(base, year)
            if facts.kind in JUDGES_NOTHING:
                continue
            if is_contaminated(facts, year):
                contaminated.append(base)
                if without_contaminated:
                    continue
            self.counted.append(place)
            self.kinds.append(f"{facts.kind}, reference-free" if one.reference_free[place] else facts.kind)
            dated = (when for pattern, when in published if in_any_case(pattern, [base]))
            given = next(dated, facts.publication_year)
            if given is None:
                unknown.append(base)
                continue
            key = _identity(base, facts, one.reference_free[place], given)
            self.dated.setdefault(key, (given, []))[1].append(place)
        self.unknown, self.contaminated = tuple(unknown), tuple(contaminated)


def _of_places(one: Point, places: npt.ArrayLike, weights: Floats) -> tuple[float, float]:
    kept = np.asarray(places, dtype=np.int64)
    return contrast(one.value[kept], one.covariance[np.ix_(kept, kept)], weights)


def _kinds(one: Point, known: _DatedMetrics) -> dict[str, tuple[float, float]]:
    """Mean of each kind minus the mean of string metrics in one set, with its standard error."""
    kinds = np.array(known.kinds)
    base = kinds == BASE_KIND
    if not base.any():
        return {}
    return {
        kind: _of_places(one, known.counted, (kinds == kind) / (kinds == kind).sum() - base / base.sum())
        for kind in sorted(set(known.kinds) - {BASE_KIND})
        if not kind.startswith("unknown")
    }


def _parts(
    history: History,
    slopes: Sequence[KindSlope],
    published: Sequence[tuple[str, int]],
    without_contaminated: bool,
    of: SlopeOf,
    kinds: Kinds,
) -> Parts:
    """Parts of the signature; values that differ between kinds of metrics are separated by semicolons."""
    sets = [one for slope in slopes for one in slope.sets]
    return stamped(
        ("trend", "within"),
        ("measure", history.measure),
        *restricted(
            history.asked,
            testset=",".join(dict.fromkeys(one.testset for one in sets)),
            lp=",".join(dict.fromkeys(one.lp for one in sets)),
            human=",".join(dict.fromkeys(one.human for one in sets)),
        ),
        ("kinds", kinds),
        ("metrics", ";".join(slope.kind for slope in slopes)),
        ("sets", ";".join(",".join(f"{one.testset}:{one.lp}" for one in slope.sets) for slope in slopes)),
        ("n_sets", ";".join(str(len(slope.sets)) for slope in slopes)),
        ("n_metrics", ";".join("+".join(str(one.n_metrics) for one in slope.sets) for slope in slopes)),
        ("generalise_to", of),
        ("n_metrics_in_all", ";".join(str(len(slope.metrics)) for slope in slopes)),
        ("n_families", ";".join(str(slope.n_families) for slope in slopes)),
        ("pool", POOLS[of]),
        ("interval", f"{CONFIDENCE:.0%}"),
        ("published", ",".join(f"{pattern}={year}" for pattern, year in published) or None),
        ("contaminated", "out" if without_contaminated else "in"),
        *computed_parts(history),
    )
