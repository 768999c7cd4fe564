"""A simulated shared task, cut down, in which every option of every question has something to change.

Beside what the simulated task has: a second human translation that people and metrics scored, a second human score with
judgements, a listed outlier, metrics of one's own and not submitted, missing scores, a metric on another scale in one
year, one against people, one trained on a year's human scores, system scores that differ by rounding alone, and
outputs that two annotators judged, in a known order.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from tests.sharing import copies_for_new_files
from warehouse import load
from warehouse.export.mtme import RatingTable, ScoreTable
from warehouse.simulation import simulate_shared_task, write_shared_task
from warehouse.simulation.evalset import SimulatedEvalset

YEARS, LP = (2022, 2023, 2024), "en-de"
N_JUDGED, N_NOT_JUDGED = 3, 1  # documents of each domain
TRANSLATION = "refB"  # stands in the place of the best system, so that people and metrics scored it
CONTAMINATED = "MetricX-24-Hybrid-refA"  # trained on human scores of 2022
OWN, NOT_SUBMITTED = ("Rubric-5-src", "Mine-src"), ("simTER-refA", "Guest-src")  # the second with missing scores
AGAINST = "Onlooker-src"  # the order of people turned round
MISSING_SCORES, MISSING_A_SYSTEM = "Marlin-XL-{}-src", "Rubric-100-src"
NEARLY_TIED = "simBLEU-refA"
OTHER_SCALE = "simchrF-refA"  # from 0 to 1 in the first year


def write_varied_task(database: Path) -> None:
    """Write a warehouse file with the task."""
    evalsets = [_varied(evalset) for evalset in simulate_shared_task(years=YEARS, lps=(LP,))]
    folder = database.with_suffix(".task")
    write_shared_task(folder, evalsets)
    with copies_for_new_files(True):
        report = load([folder], database)
    assert report.is_clean, report.faults
    with duckdb.connect(str(database)) as connection:
        for statement in _STATEMENTS:
            connection.execute(statement)


def _varied(evalset: SimulatedEvalset) -> SimulatedEvalset:
    kept = _kept(evalset)
    best = evalset.systems[int(np.argmax([_strength(evalset, name) for name in evalset.systems]))]
    worst = evalset.systems[int(np.argmin(evalset.strengths))]
    humans = {name: _cut(table, kept, best) for name, table in evalset.humans.items()}
    metrics = {_named(evalset, name): _cut(table, kept, best) for name, table in evalset.metrics.items()}
    for name, table in metrics.items():
        metrics[name] = _changed(name, table, humans["mqm"], evalset)
    for number, name in enumerate((OWN[1], NOT_SUBMITTED[1])):
        metrics[name] = _with_gaps(metrics[f"Kestrel-{evalset.year % 100}-QE-src"], 6 + number)
    ratings = {name: _cut_ratings(table, kept, best) for name, table in evalset.ratings.items()}
    if ratings:
        humans["esa"] = _second(humans["mqm"])
        ratings["esa"] = _second_ratings(ratings["mqm.merged"])
    return replace(
        evalset,
        documents=tuple(evalset.documents[place] for place in kept),
        systems=tuple(_renamed(name, best) for name in evalset.systems),
        sources=tuple(evalset.sources[place] for place in kept),
        references={name: tuple(texts[place] for place in kept) for name, texts in evalset.references.items()},
        outputs={
            name: tuple(texts[place] for place in kept) for name, texts in evalset.outputs.items() if name != best
        },
        humans=humans,
        metrics=metrics,
        ratings=ratings,
        predictions={name: _cut_ratings(table, kept, best) for name, table in evalset.predictions.items()},
        outlier_systems=(worst,),
    )


def _strength(evalset: SimulatedEvalset, system: str) -> float:
    """-inf for what is a human translation already."""
    return float("-inf") if system in evalset.references else float(evalset.strengths[evalset.systems.index(system)])


def _kept(evalset: SimulatedEvalset) -> list[int]:
    """The segments of some documents of each domain: the first ones that were judged and the first that was not."""
    scores = evalset.humans["mqm"].seg
    assert scores is not None
    is_judged = ~np.isnan(scores).all(axis=0)
    chosen: dict[tuple[str, bool], dict[str, None]] = {}
    for (domain, document), judged in zip(evalset.documents, is_judged.tolist(), strict=True):
        found = chosen.setdefault((domain, judged), {})
        if len(found) < (N_JUDGED if judged else N_NOT_JUDGED):
            found[document] = None
    kept = {document for found in chosen.values() for document in found}
    return [place for place, (_, document) in enumerate(evalset.documents) if document in kept]


def _renamed(system: str, best: str) -> str:
    return TRANSLATION if system == best else system


def _cut(table: ScoreTable, kept: list[int], best: str) -> ScoreTable:
    """Some segments alone; submitted scores stay those over all."""
    assert table.seg is not None
    systems = tuple(_renamed(name, best) for name in table.systems)
    return ScoreTable(systems=systems, seg=table.seg[:, kept], sys=table.sys)


def _cut_ratings(table: RatingTable, kept: list[int], best: str) -> RatingTable:
    errors, raters = (
        {_renamed(name, best): [each[place] for place in kept] for name, each in by_system.items()}
        for by_system in (table.errors, table.raters)
    )
    return RatingTable(errors, raters)  # type: ignore[arg-type]


def _named(evalset: SimulatedEvalset, metric: str) -> str:
    return CONTAMINATED if metric == "Oriole-refA" else metric


def _changed(name: str, table: ScoreTable, human: ScoreTable, evalset: SimulatedEvalset) -> ScoreTable:
    """A metric as it is meant to differ from the simulated one."""
    assert table.seg is not None
    assert table.sys is not None
    seg, sys, systems = table.seg.copy(), table.sys.copy(), list(table.systems)
    if name == AGAINST:
        assert human.sys is not None
        order = [list(human.systems).index(system) for system in systems]
        sys = -human.sys[order] + 0.3 * np.sin(np.arange(len(order)))
    elif name == MISSING_SCORES.format(evalset.year % 100):
        return _with_gaps(table, 4)
    elif name == OTHER_SCALE and evalset.year == YEARS[0]:
        seg, sys = seg / 100, sys / 100
    elif name == NEARLY_TIED:
        sys[5] = sys[4] * (1 + 1e-15)  # equal but for rounding
    chosen = list(range(len(systems)))
    if name == MISSING_A_SYSTEM:
        chosen.remove(3)
    if name.endswith(f"-{TRANSLATION}"):
        chosen.remove(systems.index(TRANSLATION))
    return ScoreTable(systems=[systems[place] for place in chosen], seg=seg[chosen], sys=sys[chosen])


def _with_gaps(table: ScoreTable, system: int) -> ScoreTable:
    """Without every seventh score of a system."""
    assert table.seg is not None
    seg = table.seg.copy()
    seg[system, system % 7 :: 7] = np.nan
    return replace(table, seg=seg)


def _second(mqm: ScoreTable) -> ScoreTable:
    """Another human score of most of the same outputs, on a scale to 100."""
    assert mqm.seg is not None
    rng = np.random.default_rng(5)
    seg = np.clip(90 + 2 * mqm.seg + rng.normal(0, 8, mqm.seg.shape), 0, 100).round(1)
    seg[:, ::9] = np.nan
    return ScoreTable(systems=mqm.systems, seg=seg, sys=np.nanmean(seg, axis=1))


def _second_ratings(first: RatingTable) -> RatingTable:
    """The same outputs judged by others, who mark less."""
    errors: Mapping[str, Any] = {
        name: [None if found is None else found[1:] for found in each] for name, each in first.errors.items()
    }
    raters = {
        name: [None if rater is None else f"second-{rater}" for rater in each] for name, each in first.raters.items()
    }
    return RatingTable(errors, raters)


def _entry(names: tuple[str, ...], values: str) -> str:
    of = f"scorer_id IN (SELECT scorer_id FROM internal.scorer WHERE kind = 'metric' AND name IN {names})"
    return f"UPDATE internal.entry SET {values} WHERE {of}"


_STATEMENTS = (
    _entry(OWN, "is_own = true, status = 'no entry'"),
    _entry(NOT_SUBMITTED, "status = 'no entry'"),
    # every third output is judged by one more annotator, and all in the order of the file
    """
    INSERT INTO internal.judgement (judgement_id, vector_id, segment, rater, item, value, n, time, status)
    SELECT
      judgement_id + (SELECT max(judgement_id) FROM internal.judgement), vector_id, segment,
      'rater' || (1 + (rater[-1]::INTEGER + judgement_id) % 5), item, value - judgement_id % 4, n, time, status
    FROM internal.judgement
    WHERE judgement_id % 3 = 0 AND value IS NOT NULL
    """,
    "UPDATE internal.segment SET phenomenon = 'idiom' WHERE segment % 2 = 0",
    "UPDATE internal.judgement SET time = TIMESTAMP '2024-08-01' + INTERVAL 1 MINUTE * judgement_id",
)
