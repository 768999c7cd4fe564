"""Progress within the same data: the slope of a measure over the years in which metrics were published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.agreement.random_effects import CONFIDENCE, RandomEffects
from metaeval.kernels.arrays.checks import Floats
from metaeval.signature import line, program_version, restricted
from metaeval.trends.gaps import smoothed_variances
from metaeval.trends.groups import FLOOR, is_contaminated
from metaeval.trends.history import History
from metaeval.trends.points import Point
from metaeval.trends.tables import computed_parts
from warehouse import QuestionError
from warehouse.facts.human_protocols import protocol_of
from warehouse.facts.metrics import describe
from warehouse.wording import counted

FEWEST_METRICS, FEWEST_YEARS = 5, 2
NORMAL = 1.959963984540054  # 97.5% quantile
BASE_KIND = "string"


@dataclass(frozen=True)
class SetSlope:
    """The slope in one evaluation set. error: from resampled data. contaminated: metrics known to be, included."""

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
    contaminated: tuple[str, ...]

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
class Within:
    """Slopes in each evaluation set and over all.

    by_protocol: the same over the sets of one protocol. leave_one_out: the pooled slope without each set, aligned with
    sets. unknown: metrics of unknown year, excluded. contaminated: metrics known to be trained on the human scores of
    an evaluation set's year, excluded where asked. skipped: evaluation set -> why it has no slope;
    briefly: the same reasons, for a line that names the set elsewhere.
    """

    measure: str
    sets: tuple[SetSlope, ...]
    pooled: RandomEffects
    by_protocol: Mapping[str, RandomEffects]
    leave_one_out: Floats
    contrasts: tuple[Contrast, ...]
    unknown: tuple[str, ...]
    contaminated: tuple[str, ...]
    skipped: Mapping[str, str]
    briefly: Mapping[str, str]
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


def within(found: History, published: Sequence[tuple[str, int]] = (), *, without_contaminated: bool = False) -> Within:
    """Regress the measure on publication years within each official evaluation set, and pool the slopes.

    published: years that a user gives to metrics (shell patterns of base names), before those of the registry.
    Sentinels and random metrics are excluded: they are no research. Needs 2 years and 5 metrics in a set.
    Raises QuestionError: no evaluation set has a slope.
    """
    sets: list[SetSlope] = []
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
        years = known.years
        if len(years) < FEWEST_METRICS or len(set(years)) < FEWEST_YEARS:
            few[f"{entry.testset} {entry.lp}"] = (
                f"{counted(len(years), 'metric')} of {len(set(years))} known publication years, a slope needs "
                f"{FEWEST_METRICS} of {FEWEST_YEARS}"
            )
            continue
        slope, error = _of_places(one, known.dated, weights_of_slope(years))
        sets.append(
            SetSlope(
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
                known.contaminated,
            )
        )
    skipped = {where: str(one.reason) for where, one in without.items()} | few
    if not sets:
        where, why = next(iter(skipped.items()), ("", "no evaluation set"))
        raise QuestionError(f"no slope over publication years: {where}: {why} (--published NAME=YEAR adds years)")
    pooled = _pooled(sets)
    protocols = dict.fromkeys(one.protocol for one in sets)
    slopes, variances = [one.slope for one in sets], [one.error**2 for one in sets]
    smooth = smoothed_variances(variances, [one.n_systems for one in sets])
    return Within(
        measure=str(found.measure),
        sets=tuple(sets),
        pooled=pooled,
        by_protocol={name: _pooled([one for one in sets if one.protocol == name]) for name in protocols},
        leave_one_out=kernels.leave_one_out(slopes, smooth) if len(sets) > 1 else np.full(1, np.nan),
        contrasts=tuple(
            Contrast(kind, BASE_KIND, pool_estimates(*zip(*estimates, strict=True)))
            for kind, estimates in sorted(kinds.items())
        ),
        unknown=tuple(sorted(unknown)),
        contaminated=tuple(sorted(dirty)),
        skipped=skipped,
        briefly={where: str(one.brief) for where, one in without.items()} | few,
        without_contaminated=without_contaminated,
        signature=_signature(found, sets, pooled, published, without_contaminated),
    )


def _pooled(sets: Sequence[SetSlope]) -> RandomEffects:
    return pool_estimates([one.slope for one in sets], [one.error for one in sets], [one.n_systems for one in sets])


class _Known:
    """What is known of a point's metrics: places with a year, places that count at all, and the names of the others."""

    def __init__(
        self, one: Point, year: int | None, published: Sequence[tuple[str, int]], without_contaminated: bool
    ) -> None:
        self.dated: list[int] = []
        self.years: list[int] = []
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
            self.dated.append(place)
            self.years.append(given)
        self.unknown, self.contaminated = tuple(unknown), tuple(contaminated)


def _of_places(one: Point, places: Sequence[int], weights: Floats) -> tuple[float, float]:
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
    sets: Sequence[SetSlope],
    pooled: RandomEffects,
    published: Sequence[tuple[str, int]],
    without_contaminated: bool,
) -> str:
    return line(
        [
            ("trend", "within"),
            ("measure", found.measure),
            *restricted(
                found.asked,
                testset=",".join(dict.fromkeys(one.testset for one in sets)),
                lp=",".join(dict.fromkeys(one.lp for one in sets)),
                human=",".join(dict.fromkeys(one.human for one in sets)),
            ),
            ("sets", ",".join(f"{one.testset}:{one.lp}" for one in sets)),
            ("n_sets", pooled.n_studies),
            ("n_metrics", "+".join(str(one.n_metrics) for one in sets)),
            ("pool", "random_effects,reml,knapp_hartung"),
            ("interval", f"{CONFIDENCE:.0%}"),
            ("published", ",".join(f"{pattern}={year}" for pattern, year in published) or None),
            ("contaminated", "out" if without_contaminated else "in"),
            *computed_parts(found),
            ("scorehouse", program_version()),
        ]
    )
