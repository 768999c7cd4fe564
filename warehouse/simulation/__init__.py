"""A simulated shared task: four years of systems, human scores and metrics whose true quality is known.

Each cell (system, segment) has a hidden quality: the system's strength minus the difficulty of the segment
plus an interaction of both. Humans see it through error counts (MQM) or annotators' scales
(DA); a metric sees it through its own noise and a bias towards some systems that is unrelated to
quality. The ratio of true quality to noise is its signal-to-noise ratio: the truth that a ranking
should recover. All names and words are invented.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from warehouse.export.mtme import write_facts
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts
from warehouse.simulation.evalset import SimulatedEvalset
from warehouse.simulation.human_scores import human_scores
from warehouse.simulation.metric_scores import metric_scores, predictions
from warehouse.simulation.plan import LPS, MQM_YEARS, OUTLIER, YEARS, Plan, Texts


def simulate_shared_task(
    seed: int = 0, *, years: Sequence[int] = YEARS, lps: Sequence[str] = LPS
) -> tuple[SimulatedEvalset, ...]:
    """The evaluation sets of all years and language pairs, in this order.

    Each is drawn from its own stream of (seed, year, lp), so a part equals the same part of the whole.
    """
    return tuple(simulate_evalset(year, lp, seed) for year in years for lp in lps)


def write_shared_task(folder: Path, evalsets: Iterable[SimulatedEvalset]) -> list[Path]:
    """Write every evaluation set below folder/TESTSET in the organisers' layout, with its facts; returns the files."""
    by_testset: dict[str, list[SimulatedEvalset]] = {}
    for evalset in evalsets:
        by_testset.setdefault(evalset.testset, []).append(evalset)
    files = [path for group in by_testset.values() for evalset in group for path in evalset.write(folder)]
    return files + [write_facts(folder / testset, declared_facts(group)) for testset, group in by_testset.items()]


def declared_facts(evalsets: Sequence[SimulatedEvalset]) -> TestsetFacts:
    """The organisers' declarations for a simulated test set; evalsets: its language pairs, at least one."""
    return TestsetFacts(
        name=evalsets[0].testset,
        year=evalsets[0].year,
        description="Simulated shared task: no real systems, metrics or people",
        primary=frozenset(name for evalset in evalsets for name in evalset.primary_metrics),
        baseline=frozenset(name for evalset in evalsets for name in evalset.baseline_metrics),
        lps={
            evalset.lp: EvalsetFacts(
                standard_reference=evalset.standard_reference,
                standard_human=dict(evalset.standard_human),
                outlier_systems=frozenset(evalset.outlier_systems),
            )
            for evalset in evalsets
        },
    )


def simulate_evalset(year: int, lp: str, seed: int = 0) -> SimulatedEvalset:
    """One evaluation set; the same seed, year and language pair give the same scores and texts.

    Raises ValueError: a year or language pair that the simulated shared task did not have.
    """
    if year not in YEARS or lp not in LPS:
        raise ValueError(f"no simulated {lp!r} in {year}; years: {YEARS}, language pairs: {LPS}")
    rng = np.random.default_rng([seed, year, LPS.index(lp)])
    plan = Plan.draw(rng, year, lp)
    texts = Texts.draw(rng, plan)
    humans, ratings = human_scores(rng, plan, texts)
    drawn = metric_scores(rng, plan)
    metrics = {fact.name: table for fact, table in drawn}
    return SimulatedEvalset(
        testset=f"sim{year % 100}",
        year=year,
        lp=lp,
        documents=plan.documents,
        systems=plan.systems,
        sources=texts.sources,
        references=MappingProxyType(texts.references),
        outputs=MappingProxyType(texts.outputs),
        humans=MappingProxyType(humans),
        ratings=MappingProxyType(ratings),
        predictions=MappingProxyType(predictions(rng, ratings, texts, metrics)),
        metrics=MappingProxyType(metrics),
        strengths=plan.strengths,
        metric_facts=tuple(fact for fact, _ in drawn),
        standard_reference="refA",
        standard_human=MappingProxyType(_standard_human(year)),
        outlier_systems=tuple(system for system in plan.systems if system == OUTLIER),
    )


def _standard_human(year: int) -> dict[str, str]:
    if year in MQM_YEARS:
        return dict.fromkeys(("sys", "domain", "seg"), "mqm")
    return {"sys": "wmt-z", "domain": "wmt-z", "doc": "wmt-z", "seg": "wmt-raw"}
