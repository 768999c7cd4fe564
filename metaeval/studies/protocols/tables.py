"""A protocol's scores as a table, JSON and notes; and the correlation of rankings by two protocols."""

from typing import Any

import numpy as np
import polars as pl

from metaeval import kernels
from metaeval.measures.applicable import IN_WORDS, PERMUTATIONS
from metaeval.results.notes import ExclusionNote, Partial, hinted
from metaeval.studies.protocols.populations import PopulationTest
from metaeval.studies.protocols.scoring import ProtocolScore
from metaeval.studies.protocols.task_scores import Task
from metaeval.studies.significance.options import pairs_that_differ
from warehouse.wording import are, counted, every, option


def as_json(score: ProtocolScore) -> dict[str, Any]:
    """The JSON shape of `protocol`."""

    def cluster(number: int) -> int | None:
        return int(number) or None

    return {
        "protocol": score.protocol,
        "testset": score.testset,
        "tasks": [
            {
                "lps": list(task.lps),
                "level": task.level,
                "measure": task.measure,
                "weight": task.weight,
                "test": task.test,
                "outliers": task.outliers,
                "domain": task.domain,
                "human_references": task.human_references,
                **({} if score.population is None else {"beside": _beside_json(task.beside)}),
            }
            for task in score.tasks
        ],
        "metrics": [
            {
                "metric": name,
                "overall": score.overall[place],
                **({} if score.by_cluster is None else {"overall_by_cluster": score.by_cluster[place]}),
                "rank": cluster(score.ranks[place]),
                "cluster": cluster(score.clusters[place]),
                "values": [task.values[place] for task in score.tasks],
                "ranks": [cluster(task.ranks[place]) for task in score.tasks],
                "clusters": [cluster(task.clusters[place]) for task in score.tasks],
                "missing": [{"task": one.task, "reason": str(one)} for one in score.missing.get(name, ())],
            }
            for place, name in enumerate(score.metrics)
        ],
        **({} if score.population is None else {"population": score.population, "beside": _beside_json(score.beside)}),
        "signature": score.signature,
    }


def _beside_json(found: PopulationTest | None) -> dict[str, Any] | None:
    """The result of a test that holds its level; clusters in the order of the metrics."""
    if found is None:
        return None
    shown = {name: getattr(found, name) for name in ("test", "alternative", "n_own", "n_lost", "n_gained")}
    return {**shown, "clusters": [int(number) or None for number in found.clusters]}


def lines_on(score: ProtocolScore, verbose: bool) -> list[str]:
    """Notes below the table; verbose: with names of metrics and their tasks."""
    missing = missing_lines(score) if verbose else missing_in_short(score)
    lines = [*partial_lines(score), *missing, *excluded_lines(score, verbose)]
    if score.n_significant is not None:
        lines.append(f"{pairs_that_differ(score.n_significant, 'metrics')} in the overall score")
    return lines + beside_lines(score)


def partial_lines(score: ProtocolScore) -> list[str]:
    """A note if metrics have no rank, or tasks were dropped, because scores are missing."""
    n, n_ranked, dropped = len(score.metrics), int(np.count_nonzero(score.ranks)), score.dropped
    lines = []
    if n_ranked < n:
        have, tasks = are(n_ranked, have=True), every(len(score.tasks), "task")
        lines = [f"{n_ranked} of {n} metrics {have} scores for {tasks}, and only these are ranked"]
    if dropped is not None:
        lines.append(f"{dropped.replace(';', ' and ')} could not be scored")
    return [Partial(f"partial: {line}") for line in lines]


def beside_lines(score: ProtocolScore) -> list[str]:
    """Notes on the tests: their null hypothesis, and the number of pairs that are not significant for a population."""
    if score.n_significant is None:
        return []
    if score.population is None:
        if not {task.test for task in score.tasks} & {*PERMUTATIONS, "pairs"}:
            return []
        return [
            "p-values and clusters are from the protocol's own tests, whose null hypothesis is that metrics are "
            f"exchangeable; {option('population', 'segments')} adds tests of equal value (docs/levels.md)"
        ]
    lines = [f"in addition to the protocol's own tests, those that generalise to {IN_WORDS[score.population]}:"]
    named = [("the overall score", score.beside), *((task_name(task), task.beside) for task in score.tasks)]
    for name, one in named:
        if one is None:
            lines.append(f"{name} is not tested for this population")
            continue
        lines.append(
            f"{name}: of {counted(one.n_own, 'pair')} of metrics that differ significantly by the protocol's test, "
            f"{one.n_lost} do not by {one.test} ({one.alternative}); {one.n_gained} others do"
        )
    return lines


def task_name(task: Task) -> str:
    """A task in words: its language pairs, domain and measure, and systems that other tasks exclude.

    >>> nothing = np.empty(0)
    >>> kept = Task(("en-de",), "sys", "pa", "perm-systems", "none", 1, nothing, False, nothing, nothing, "news", True)
    >>> task_name(kept)
    'en-de news pa with outliers with human references'
    """
    words = [
        "+".join(task.lps),
        task.domain,
        task.measure,
        "with outliers" if task.outliers == "none" else None,
        "with human references" if task.human_references else None,
    ]
    return " ".join(word for word in words if word is not None)


def missing_lines(score: ProtocolScore) -> list[str]:
    """A line per metric and reason: the tasks in which it has no value."""
    lines = []
    for metric, parts in score.missing.items():
        tasks: dict[str, list[str]] = {}
        for one in parts:
            task = score.tasks[one.task]
            why = one.reason if len(task.lps) == 1 else str(one)  # a task's name has its only language pair
            tasks.setdefault(why, []).append(task_name(task))
        lines += [f"{metric} is missing in {', '.join(named)}: {reason}" for reason, named in tasks.items()]
    return lines


def missing_in_short(score: ProtocolScore) -> list[str]:
    """A line per reason why metrics have no value in some task, sorted by number of metrics, without the tasks."""
    by_reason: dict[str, dict[str, None]] = {}
    for metric, parts in score.missing.items():
        for one in parts:
            by_reason.setdefault(one.reason, {})[metric] = None
    unranked = {name for name, rank in zip(score.metrics, score.ranks, strict=True) if not rank}
    lines: list[str] = []
    for reason, names in sorted(by_reason.items(), key=lambda one: (-len(one[1]), one[0])):
        verb, n_unranked = "is" if len(names) == 1 else "are", len(unranked & names.keys())
        whose = f", {'so' if n_unranked == len(names) else f'{n_unranked} of them'} without an overall rank"
        text = f"{counted(len(names), 'metric')} {verb} missing in some tasks{whose if n_unranked else ''}: {reason}"
        lines.append(hinted(text, f"{option('verbose', True)} names {'it' if len(names) == 1 else 'them'}"))
    return lines


def excluded_lines(score: ProtocolScore, verbose: bool) -> list[str]:
    """A line per reason why metrics are excluded; verbose: with their names."""
    by_reason: dict[str, list[str]] = {}
    for metric, reason in score.excluded.items():
        by_reason.setdefault(reason, []).append(metric)
    lines: list[str] = []
    for reason, names in sorted(by_reason.items()):
        text = f"{len(names)} {'metric is' if len(names) == 1 else 'metrics are'} excluded ({reason})"
        them = "it" if len(names) == 1 else "them"
        text += f": {', '.join(names)}" if verbose else f"; {option('verbose', True)} names {them}"
        lines.append(ExclusionNote(text, "", "metric", len(names), names))
    return lines


def score_frame(score: ProtocolScore) -> pl.DataFrame:
    """One row per metric: rank, metric, overall, cluster, then value (and cluster) in each task, and gaps."""
    columns: dict[str, Any] = {
        "rank": [int(rank) or None for rank in score.ranks],
        "metric": list(score.metrics),
        "overall": pl.Series(score.overall).fill_nan(None),
    }
    if score.by_cluster is not None:
        columns["overall by cluster"] = pl.Series(score.by_cluster).fill_nan(None)
    if score.clusters.any():
        columns["cluster"] = [int(number) or None for number in score.clusters]
    if score.beside is not None:
        columns[f"cluster for {score.population}"] = [int(number) or None for number in score.beside.clusters]
    for task in score.tasks:
        name = task_name(task)
        columns[name] = pl.Series(task.values).fill_nan(None)
        if task.clusters.any():
            columns[f"cluster {name}"] = [int(number) or None for number in task.clusters]
        if task.beside is not None:
            columns[f"cluster {name} for {score.population}"] = [int(number) or None for number in task.beside.clusters]
    if score.missing:
        columns["missing"] = ["; ".join(dict.fromkeys(map(str, score.missing.get(name, ())))) for name in score.metrics]
    return pl.DataFrame(columns)


def rank_correlation(first: ProtocolScore, second: ProtocolScore) -> tuple[float, float, int]:
    """Kendall's tau_b and Spearman's rho between two overall rankings, and the number of common metrics.

    Mean ranks, for which lower is better, are negated first.
    """
    other = dict(zip(second.metrics, second.best_high, strict=True))
    pairs = [
        (value, other[name])
        for name, value in zip(first.metrics, first.best_high, strict=True)
        if name in other and not np.isnan(value) and not np.isnan(other[name])
    ]
    if len(pairs) < 2:
        return float("nan"), float("nan"), len(pairs)
    a, b = np.array(pairs).T
    kendall = kernels.system_correlation(a, b[np.newaxis], "kendall")[0]
    spearman = kernels.system_correlation(a, b[np.newaxis], "spearman")[0]
    return float(kendall), float(spearman), len(pairs)
