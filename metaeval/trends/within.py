"""Progress within the same data: the slope of a measure over the years in which metrics were published."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.slopes import CrossedSlope, crossed_slope
from metaeval.kernels.agreement.studies import CONFIDENCE, RandomEffects
from metaeval.kernels.arrays.checks import Floats
from metaeval.signature import restricted, signed
from metaeval.trends.gaps import smoothed_variances
from metaeval.trends.groups import FLOOR, is_contaminated
from metaeval.trends.history import History
from metaeval.trends.points import Point
from metaeval.trends.tables import computed_parts
from warehouse import QuestionError
from warehouse.facts.human_protocols import protocol_of
from warehouse.facts.metrics import MetricFacts, describe, folded
from warehouse.wording import counted, option

FEWEST_METRICS, FEWEST_YEARS = 5, 2
NORMAL = 1.959963984540054  # 97.5% quantile
BASE_KIND = "string"
SlopeOf = Literal["new-metrics", "these-metrics"]
POOLS: Mapping[SlopeOf, str] = {
    "new-metrics": "crossed_random_effects,reml",
    "these-metrics": "random_effects,reml,knapp_hartung",
}


@dataclass(frozen=True)
class SetSlope:
    """The slope in one evaluation set. error: from resampled data, for these metrics. n_metrics: each counts once."""

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
class Contrast:
    """One kind of metric against string metrics within the same data: difference of their means, pooled over sets."""

    kind: str
    against: str
    pooled: RandomEffects


@dataclass(frozen=True)
class DatedMetric:
    """A metric of the pooled slope. names: those that count as it. pull: its share in the part of
    the slope's variance that is due to the choice of metrics; without: the slope without it; both NaN where metrics are
    no sample.
    """

    name: str
    names: tuple[str, ...]
    published: int
    is_reference_free: bool
    n_sets: int
    pull: float
    without: float


@dataclass(frozen=True)
class Within:
    """Slopes in each evaluation set and over all.

    of: what pooled slopes are of. metric_sd: how far metrics are off the slope in all sets alike, NaN where they are no
    sample. metrics: those with the greatest pull first. by_protocol: the same over the sets of one protocol.
    leave_one_out: the pooled slope without each set, aligned with sets. unknown: metrics of unknown year, excluded.
    contaminated: metrics known to be trained on the human scores of an evaluation set's year, excluded where asked.
    skipped: evaluation set -> why it has no slope, for a line that names the set elsewhere.
    """

    measure: str
    of: SlopeOf
    sets: tuple[SetSlope, ...]
    pooled: RandomEffects
    metric_sd: float
    metrics: tuple[DatedMetric, ...]
    by_protocol: Mapping[str, RandomEffects]
    leave_one_out: Floats
    contrasts: tuple[Contrast, ...]
    unknown: tuple[str, ...]
    contaminated: tuple[str, ...]
    skipped: Mapping[str, str]
    without_contaminated: bool
    signature: str


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
    """Σ c_m value_m and its standard error from the metrics' covariance over resampled data; NaN where not known.

    >>> contrast([0.5, 0.7], [[0.01, 0.01], [0.01, 0.02]], [-1, 1])
    (0.2, 0.1)
    """
    y, c = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    variance = float(c @ np.asarray(covariance, dtype=np.float64) @ c)
    return float(np.round(c @ y, 15)), float(np.sqrt(max(variance, 0.0))) if variance == variance else float("nan")


def pool_estimates(estimates: npt.ArrayLike, errors: npt.ArrayLike, n_systems: npt.ArrayLike) -> RandomEffects:
    """Random effects over evaluation sets, with smoothed variances."""
    return kernels.random_effects(estimates, smoothed_variances(np.asarray(errors) ** 2, n_systems))


def within(
    found: History,
    published: Sequence[tuple[str, int]] = (),
    *,
    without_contaminated: bool = False,
    of: SlopeOf = "new-metrics",
) -> Within:
    """Regress the measure on publication years within each official evaluation set, and pool the slopes.

    published: years that a user gives to metrics (shell patterns of base names), before those of the registry.
    of: "new-metrics": metrics are a sample like evaluation sets; "these-metrics": evaluation sets alone are.
    Sentinels and random metrics are excluded: they are no research. What is one metric (see `_identity`) counts once in
    a set, by its mean. Needs 2 years and 5 metrics in a set.
    Raises QuestionError: no evaluation set has a slope.
    """
    used: list[_Used] = []
    without = {f"{one.testset} {one.lp}": one.found for one in found.entries if not one.found.points}
    few: dict[str, str] = {}
    unknown: dict[str, None] = {}
    dirty: dict[str, None] = {}
    kinds: dict[str, list[tuple[float, float, int]]] = {}
    for entry, one in found.official:
        known = _Known(one, entry.year, published, without_contaminated)
        unknown |= dict.fromkeys(known.unknown)
        dirty |= dict.fromkeys(f"{name} in {entry.testset}" for name in known.contaminated)
        for kind, estimate in _kinds(one, known).items():
            kinds.setdefault(kind, []).append((*estimate, one.context.n_systems))
        years = [year for year, _ in known.dated.values()]
        if len(years) < FEWEST_METRICS or len(set(years)) < FEWEST_YEARS:
            few[f"{entry.testset} {entry.lp}"] = (
                f"{counted(len(years), 'metric')} of {len(set(years))} known publication years, a slope needs "
                f"{FEWEST_METRICS} of {FEWEST_YEARS}"
            )
            continue
        shares = np.zeros(len(one.metrics))
        for weight, (_, places) in zip(weights_of_slope(years), known.dated.values(), strict=True):
            shares[places] = weight / len(places)
        slope, error = _of_places(one, np.flatnonzero(shares), shares[shares != 0])
        of_set = SetSlope(
            entry.testset,
            entry.lp,
            entry.year,
            one.human,
            protocol_of(one.human),
            slope,
            error,
            one.context.n_systems,
            len(years),
            min(years),
            max(years),
        )
        used.append(_Used(of_set, one, known.dated))
    if not used:
        reasons = {where: str(one.reason) for where, one in without.items()} | few
        where, why = next(iter(reasons.items()), ("", "no evaluation set"))
        raise QuestionError(
            f"no slope over publication years: {where}: {why} ({option('published')} NAME=YEAR adds years)"
        )
    pooled = _pooled(used, of)
    protocols = dict.fromkeys(one.slope.protocol for one in used)
    return Within(
        measure=str(found.measure),
        of=of,
        sets=tuple(one.slope for one in used),
        pooled=pooled.pooled,
        metric_sd=pooled.column_sd,
        metrics=_metrics(used, pooled),
        by_protocol={name: _pooled([o for o in used if o.slope.protocol == name], of).pooled for name in protocols},
        leave_one_out=pooled.without_row,
        contrasts=tuple(
            Contrast(kind, BASE_KIND, pool_estimates(*zip(*estimates, strict=True)))
            for kind, estimates in sorted(kinds.items())
        ),
        unknown=tuple(sorted(unknown)),
        contaminated=tuple(sorted(dirty)),
        skipped={where: str(one.brief) for where, one in without.items()} | few,
        without_contaminated=without_contaminated,
        signature=_signature(found, used, pooled, published, without_contaminated, of),
    )


@dataclass(frozen=True)
class _Used:
    """An evaluation set with its slope. dated: what counts as one metric -> its year and its places in the point."""

    slope: SetSlope
    point: Point
    dated: Mapping[Hashable, tuple[int, list[int]]]


def _years(used: Sequence[_Used]) -> dict[Hashable, int]:
    """The year of each metric of any set."""
    return {key: year for one in used for key, (year, _) in one.dated.items()}


def _pooled(used: Sequence[_Used], of: SlopeOf) -> CrossedSlope:
    """new-metrics: metrics and sets are crossed samples; residual variances go with 1 / systems."""
    years = _years(used)
    n_systems = np.array([one.slope.n_systems for one in used], dtype=np.float64)
    if of == "new-metrics":
        values = np.full((len(used), len(years)), np.nan)
        place_of = {key: place for place, key in enumerate(years)}
        for row, one in enumerate(used):
            for key, (_, places) in one.dated.items():
                values[row, place_of[key]] = one.point.value[places].mean()
        return crossed_slope(values, list(years.values()), n_systems.mean() / n_systems)
    slopes, errors = (np.array([getattr(one.slope, name) for one in used]) for name in ("slope", "error"))
    nothing = np.full(len(years), np.nan)
    smooth = smoothed_variances(errors**2, n_systems)
    return CrossedSlope(
        pooled=pool_estimates(slopes, errors, n_systems),
        freedom=len(used) - 1.0,
        column_sd=float("nan"),
        residual_sd=float("nan"),
        n_columns=len(years),
        pull=nothing,
        without_row=kernels.leave_one_out(slopes, smooth) if len(used) > 1 else np.full(1, np.nan),
        without_column=nothing,
    )


def _metrics(used: Sequence[_Used], pooled: CrossedSlope) -> tuple[DatedMetric, ...]:
    found = []
    for place, (key, year) in enumerate(_years(used).items()):
        own = [[one.point.base_names[at] for at in one.dated[key][1]] for one in used if key in one.dated]
        names = Counter(name for of_set in own for name in of_set)
        name = min(names, key=lambda name: (-names[name], name))
        pull, without = float(pooled.pull[place]), float(pooled.without_column[place])
        is_free = any(one.point.reference_free[one.dated[key][1][0]] for one in used if key in one.dated)
        found.append(DatedMetric(name, tuple(sorted(names)), year, is_free, len(own), pull, without))
    return tuple(sorted(found, key=lambda one: (-np.nan_to_num(one.pull), one.published, one.name)))


def _identity(base: str, facts: MetricFacts, reference_free: bool, year: int) -> Hashable:
    """What counts as one metric: a family's members of one paper, kind and year, those without reference apart (BLEU
    and sacreBLEU-BLEU); of names that no paper describes each version, or name, by itself.
    """
    own = facts.publication or (facts.version if facts.is_known else folded(base))
    return facts.family, own, facts.kind, reference_free, year


class _Known:
    """What is known of a point's metrics: year and places of what counts as one, places that count at all, names of the
    others.
    """

    def __init__(
        self, one: Point, year: int | None, published: Sequence[tuple[str, int]], without_contaminated: bool
    ) -> None:
        self.dated: dict[Hashable, tuple[int, list[int]]] = {}
        self.counted: list[int] = []
        self.kinds: list[str] = []
        unknown, contaminated = [], []
        for place, base in enumerate(one.base_names):
            facts = describe(base, year)
            if facts.kind in FLOOR:
                continue
            if is_contaminated(facts, year):
                contaminated.append(base)
                if without_contaminated:
                    continue
            self.counted.append(place)
            self.kinds.append(f"{facts.kind}, reference-free" if one.reference_free[place] else facts.kind)
            given = next((when for pattern, when in published if fnmatchcase(base, pattern)), facts.publication_year)
            if given is None:
                unknown.append(base)
                continue
            key = _identity(base, facts, one.reference_free[place], given)
            self.dated.setdefault(key, (given, []))[1].append(place)
        self.unknown, self.contaminated = tuple(unknown), tuple(contaminated)


def _of_places(one: Point, places: npt.ArrayLike, weights: Floats) -> tuple[float, float]:
    kept = np.asarray(places, dtype=np.int64)
    return contrast(one.value[kept], one.covariance[np.ix_(kept, kept)], weights)


def _kinds(one: Point, known: _Known) -> dict[str, tuple[float, float]]:
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


def _signature(
    found: History,
    used: Sequence[_Used],
    pooled: CrossedSlope,
    published: Sequence[tuple[str, int]],
    without_contaminated: bool,
    of: SlopeOf,
) -> str:
    sets = [one.slope for one in used]
    return signed(
        ("trend", "within"),
        ("measure", found.measure),
        *restricted(
            found.asked,
            testset=",".join(dict.fromkeys(one.testset for one in sets)),
            lp=",".join(dict.fromkeys(one.lp for one in sets)),
            human=",".join(dict.fromkeys(one.human for one in sets)),
        ),
        ("sets", ",".join(f"{one.testset}:{one.lp}" for one in sets)),
        ("n_sets", len(sets)),
        ("n_metrics", "+".join(str(one.n_metrics) for one in sets)),
        ("slope_of", of),
        ("n_metrics_in_all", pooled.n_columns),
        ("pool", POOLS[of]),
        ("interval", f"{CONFIDENCE:.0%}"),
        ("published", ",".join(f"{pattern}={year}" for pattern, year in published) or None),
        ("contaminated", "out" if without_contaminated else "in"),
        *computed_parts(found),
    )
