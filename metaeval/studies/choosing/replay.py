"""Evaluation of the command `sample`: how parts of past campaigns, selected by each method, would rank the systems."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.kernels.choice import WholeRanking
from metaeval.results.answer import Result, fixed
from metaeval.results.run import Run
from metaeval.results.signature import restricted, stamped
from metaeval.studies.choosing.choice import ChoiceSettings, queue
from metaeval.studies.choosing.methods import METHODS, Candidates, Method, candidates, utility
from metaeval.studies.ranking.rankings import named, slices_of
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.errors import IT
from warehouse.wording import are, counted

PERCENT = tuple(range(5, 51, 5))
"""Sizes at which parts are looked at, in percent of all candidates."""
STATISTICS = ("clusters", "tau_b", "spa")
_STREAM = 12  # of the seed
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True)
class Campaign:
    """One selection method on one evaluation set; arrays are (3, sizes), of `STATISTICS`.

    values: of the selected parts; random: (draws, 3, sizes) of parts drawn at random with the same budget, unit and
    balance. sizes: segments in each part. clusters: of systems by all segments. by: see `Utility`.
    """

    testset: str
    lp: str
    human: str
    method: Method
    by: str | None
    sizes: tuple[int, ...]
    shares: tuple[float, ...]
    values: Floats
    random: Floats
    clusters: int
    n_segments: int

    @property
    def gains(self) -> Floats:
        """(3, sizes): gain of the selected part over the mean of random parts."""
        return np.asarray(self.values - self.random.mean(axis=0))


def replay(
    run: Run,
    asked: Slice,
    what: ChoiceSettings,
    methods: Sequence[Method] | None = None,
    *,
    clip: float | None = None,
    draws: int = 100,
    each_set: bool = False,
) -> Result:
    """How parts of the annotated segments, selected by each method, would have ranked the systems.

    asked: its test set and language pair may be several; sets without segments annotated for all systems are skipped.
    methods: None for all except random. Sizes are 5, 10, …, 50 percent of the candidates, or only what.size. clip:
    lower bound of human scores, which are then rescaled from 0 at the bound to 100 at 0, without rounding before ties
    are determined, as in the published tool for MQM.
    One row per method and size with means over evaluation sets; with each_set, or for a single set, also one per set.
    Columns testset, lp, human (of a set), n_sets (of means), method, by, share, n_segments; then for clusters, tau_b
    and spa the value, random (the mean of random parts), and gain with gain_low and gain_high. For one set these are
    the value minus the 97.5% and 2.5% quantiles of random parts; for means, the ends of the 95% t-interval of the mean
    gain.
    The first notes say where random selection is as good. Facts: campaigns, all replayed campaigns.
    Raises QuestionError: no set can be replayed; for a single set, the reason.
    """
    what.check()
    if clip is not None and not clip < 0:
        raise QuestionError(f"clip {clip:g}: expected a number below 0, such as -25")
    chosen = tuple(method for method in METHODS if method != "random") if methods is None else tuple(methods)
    if what.metric is not None:
        chosen = tuple(method for method in chosen if method not in ("diversity", "random")) or chosen
    found: list[Campaign] = []
    skipped: dict[str, list[tuple[str, str]]] = {}
    n_candidates, n_segments = 0, 0
    with run.opened() as warehouse:
        slices, _ = slices_of(warehouse, asked)
    is_alone = len(slices) == len(chosen) == 1
    work = partial(_replay_at, asked=asked, what=what, methods=chosen, clip=clip, draws=draws, is_alone=is_alone)
    places = [(one.testset, one.lp) for one in slices]
    for place, computed in zip(places, run.each(work, places, "replay"), strict=True):
        if isinstance(computed, QuestionError):
            if len(slices) == 1:
                raise computed
            skipped.setdefault(computed.brief, []).append(place)
            continue
        of_set, faults, counts = computed
        for fault in faults:
            skipped.setdefault(fault, []).append(place)
        if of_set:
            n_candidates, n_segments = n_candidates + counts[0], n_segments + counts[1]
        found += of_set
    if not found:
        raise QuestionError("nothing can be replayed: " + "; ".join(skipped))
    notes = [f"candidates: {n_candidates} of {counted(n_segments, 'segment')}, those annotated for all systems"]
    notes += [f"{named(of)} {are(len(of))} skipped: {fault}" for fault, of in skipped.items()]
    n_sets = len({(one.testset, one.lp) for one in found})
    parts = stamped(
        ("sample", "evaluate"),
        *restricted(asked, testset=asked.testset, lp=asked.lp, human="+".join(sorted({one.human for one in found}))),
        ("method", ",".join(chosen)),
        ("by", what.metric),
        ("budget", what.budget),
        ("size", what.size),
        *what.parts,
        ("clip", clip),
        ("clusters", "wilcoxon,alpha=0.05,next_to_last"),
        ("measure", "spa(n=inf)"),
        ("random_draws", draws),
        ("seed", what.seed),
        ("n_sets", n_sets),
    )
    rows = _pooled_rows(found) if n_sets > 1 and not each_set else [row for one in found for row in _rows(one)]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return Result(frame, parts, (*_verdicts(found), *notes), {"campaigns": tuple(found)})


def _replay_at(
    run: Run,
    testset: str,
    lp: str,
    *,
    asked: Slice,
    what: ChoiceSettings,
    methods: Sequence[Method],
    clip: float | None,
    draws: int,
    is_alone: bool,
) -> tuple[list[Campaign], list[str], tuple[int, int]]:
    """The campaigns of one evaluation set, why methods have none, and the numbers of candidates and of segments."""
    one = replace(asked, testset=testset, lp=lp)
    with run.opened() as warehouse:
        there = candidates(warehouse, one, "annotated", also=() if what.metric is None else (what.metric,))
    if len(there.block.systems) < 2:
        raise QuestionError(f"{IT} has a single system", where=f"{testset} {lp}")
    # The published tool maps MQM to 0-100 and keeps float ties as they come; so does a replay with clip.
    human = there.human if clip is None else (np.maximum(there.human, clip) - clip) * (100 / -clip)
    ranking = WholeRanking(human, raw_ties=clip is not None)
    found: list[Campaign] = []
    faults = []
    for method in methods:
        try:
            found.append(_replayed(there, one, replace(what, method=method), ranking, draws, found))
        except QuestionError as error:
            if is_alone:
                raise
            faults.append(f"{method}: {error.brief}")
    return found, faults, (len(there.segments), len(there.kept))


def reading(frame: pl.DataFrame) -> pl.DataFrame:
    """The same for reading, with fewer columns."""
    several = "testset" in frame.columns and frame.select("testset", "lp").n_unique() > 1
    where = [pl.format("{} {}", "testset", "lp").alias("set")] if several else []
    method = pl.format("{} ({})", "method", "by").fill_null(pl.col("method")).alias("method")
    both = [
        pl.format("{} ({})", fixed(name, digits), fixed(f"{name}_random", digits)).alias(f"{name} (random)")
        for name, digits in (("clusters", 1), ("tau_b", 3), ("spa", 3))
    ]
    gain = pl.format("{} [{}, {}]", *(fixed(f"spa_gain{end}", 3) for end in ("", "_low", "_high"))).alias("spa gain")
    return frame.select(*where, method, pl.col("n_segments").round(0).cast(pl.Int64).alias("n"), *both, gain)


def _replayed(
    there: Candidates, asked: Slice, what: ChoiceSettings, ranking: WholeRanking, draws: int, before: Sequence[Campaign]
) -> Campaign:
    where = f"{asked.testset} {asked.lp}"
    values, by, _ = utility(there, what.method, what.metric, what.similarity, what.seed)
    if np.isnan(values).any():
        n = int(np.isnan(values).sum())
        raise QuestionError(f"{counted(n, 'candidate')} of {IT} without a utility", where=where)
    line_up = queue(there, values, what)
    budgets = [line_up.total * percent / 100 for percent in PERCENT] if what.size is None else [what.size]
    if what.budget == "segments" and what.size is None:
        budgets = [float(len(line_up.costs) * percent // 100) for percent in PERCENT]
    if max(budgets) >= line_up.total:
        raise QuestionError(f"{IT} has {counted(len(line_up.costs), 'candidate')}, all within the budget", where=where)
    chosen = [line_up.within(budget) for budget in budgets]
    if not all(one.any() for one in chosen):
        raise QuestionError(f"a budget of {min(budgets):g} {what.budget} is too small for one {what.unit}")
    return Campaign(
        asked.testset,
        asked.lp,
        str(there.block.selection.human),
        what.method,
        by,
        tuple(int(one.sum()) for one in chosen),
        tuple(budget / line_up.total for budget in budgets),
        _statistics(ranking, chosen),
        # Random parts do not depend on the method, so all methods of a set are compared with the same ones.
        before[0].random if before else _by_chance(there, what, ranking, budgets, draws),
        ranking.clusters,
        len(there.segments),
    )


def _by_chance(
    there: Candidates, what: ChoiceSettings, ranking: WholeRanking, budgets: list[float], draws: int
) -> Floats:
    rng = np.random.default_rng([what.seed, _STREAM])
    found = []
    for _ in range(draws):
        line_up = queue(there, rng.random(len(there.segments)), what)
        chosen = [line_up.within(budget) for budget in budgets]
        if all(one.any() for one in chosen):
            found.append(_statistics(ranking, chosen))
    if len(found) < 2:
        raise QuestionError(f"a budget of {min(budgets):g} {what.budget} is often too small for one {what.unit}")
    return np.array(found)


def _statistics(ranking: WholeRanking, chosen: Sequence[Bools]) -> Floats:
    """(3, sizes), in the order of `STATISTICS`."""
    parts = [ranking.compared(one) for one in chosen]
    return np.array([[one.clusters for one in parts], [one.tau_b for one in parts], [one.spa for one in parts]], float)


def _rows(one: Campaign) -> list[dict[str, Any]]:
    low, high = np.quantile(one.random, (_LOW, _HIGH), axis=0)
    mean = one.random.mean(axis=0)
    rows = []
    for place, (share, size) in enumerate(zip(one.shares, one.sizes, strict=True)):
        names = ("testset", "lp", "human", "method", "by")
        row: dict[str, Any] = {name: getattr(one, name) for name in names} | {"share": share, "n_segments": size}
        for number, name in enumerate(STATISTICS):
            value = float(one.values[number, place])
            row |= {
                name: value,
                f"{name}_random": float(mean[number, place]),
                f"{name}_gain": value - float(mean[number, place]),
                f"{name}_gain_low": value - float(high[number, place]),
                f"{name}_gain_high": value - float(low[number, place]),
            }
        rows.append(row)
    return rows


def _by_method(each: Sequence[Campaign]) -> dict[Method, list[Campaign]]:
    found: dict[Method, list[Campaign]] = {}
    for one in each:
        found.setdefault(one.method, []).append(one)
    return found


def _pooled_rows(each: Sequence[Campaign]) -> list[dict[str, Any]]:
    rows = []
    for method, sets in _by_method(each).items():
        gains = np.array([one.gains for one in sets])  # (K, 3, sizes)
        for place in range(gains.shape[2]):
            row: dict[str, Any] = {
                "n_sets": len(sets),
                "method": method,
                "by": sets[0].by if len({one.by for one in sets}) == 1 else None,
                "share": float(np.mean([one.shares[place] for one in sets])),
                "n_segments": float(np.mean([one.sizes[place] for one in sets])),
            }
            for number, name in enumerate(STATISTICS):
                gain, low, high = _mean_with_interval(gains[:, number, place])
                row |= {
                    name: float(np.mean([one.values[number, place] for one in sets])),
                    f"{name}_random": float(np.mean([one.random[:, number, place].mean() for one in sets])),
                    f"{name}_gain": gain,
                    f"{name}_gain_low": low,
                    f"{name}_gain_high": high,
                }
            rows.append(row)
    return rows


def _mean_with_interval(values: Floats) -> tuple[float, float | None, float | None]:
    """Mean with its 95% t-interval; without an interval for a single value."""
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, None, None
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, _HIGH)) * float(values.std(ddof=1)) / np.sqrt(n)
    return mean, mean - half, mean + half


BETTER = "better than random"
_NO_DIFFERENCE = "no significant difference from random"


def _verdicts(each: Sequence[Campaign]) -> list[str]:
    """A sentence per method: whether it differs from random selection, by SPA."""
    return [f"{name}: {verdict} ({found})" for _, name, verdict, found in _gains(each)]


def verdicts(each: Sequence[Campaign]) -> dict[str, str]:
    """For each method, whether it differs from random selection, by SPA."""
    return {str(method): verdict for method, _, verdict, _ in _gains(each)}


def _gains(each: Sequence[Campaign]) -> list[tuple[Method, str, str, str]]:
    """For each method: its name with its basis, whether it differs from random selection, and its gain in words."""
    gains = []
    for method, sets in _by_method(each).items():
        by = " or ".join(dict.fromkeys(str(one.by) for one in sets if one.by is not None))
        name = f"{method} ({by})" if by else method
        if len(sets) > 1:
            gain, low, high = _mean_with_interval(np.array([one.gains[2].mean() for one in sets]))
            found = f"SPA {gain:+.3f} [{low:+.3f}, {high:+.3f}] compared with random, over {len(sets)} evaluation sets"
        else:
            over_sizes = sets[0].random[:, 2].mean(axis=1)  # (draws,)
            gain = float(sets[0].gains[2].mean())
            low, high = (gain + float(over_sizes.mean() - end) for end in np.quantile(over_sizes, (_HIGH, _LOW)))
            found = f"SPA {gain:+.3f} [{low:+.3f}, {high:+.3f}] compared with random, mean over sizes"
        is_better, is_worse = low is not None and low > 0, high is not None and high < 0
        verdict = BETTER if is_better else "worse than random" if is_worse else _NO_DIFFERENCE
        gains.append((method, name, verdict + (" in this campaign" if len(sets) == 1 else ""), found))
    return gains


def as_json(found: Result) -> Any:
    """`{"method","metric","sizes","clusters","spa","tau",…}`; a list of them for several sets or methods."""
    each = [_campaign_json(one) | {"signature": found.signature} for one in found.facts["campaigns"]]
    return each[0] if len(each) == 1 else each


def _campaign_json(one: Campaign) -> dict[str, Any]:
    low, high = np.quantile(one.random, (_LOW, _HIGH), axis=0)
    names = {"clusters": 0, "tau": 1, "spa": 2}
    return {
        "testset": one.testset,
        "lp": one.lp,
        "human": one.human,
        "method": one.method,
        "metric": one.by,
        "shares": list(one.shares),
        "sizes": list(one.sizes),
        "clusters": [int(value) for value in one.values[0]],
        "tau": one.values[1].tolist(),
        "spa": one.values[2].tolist(),
        "random": {
            name: {"mean": one.random[:, at].mean(axis=0).tolist(), "low": low[at].tolist(), "high": high[at].tolist()}
            for name, at in names.items()
        },
        "clusters_of_all": one.clusters,
        "n_segments": one.n_segments,
    }
