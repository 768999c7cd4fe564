"""Composed scores of challenge sets, such as the ACES-Score: the weighted sum over classes of phenomena."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.resampling.clusters import n_significant_pairs, significance_clusters
from metaeval.kernels.resampling.system_tests import Signs, draw_signs, sign_flip_p_values
from metaeval.measures.options import TestOptions
from metaeval.results.signature import signed
from metaeval.studies.protocols.scoring import ProtocolScore
from metaeval.studies.protocols.task_scores import Task, competition_ranks
from queries.catalog import ask
from queries.evalsets import challenge_sets, expand
from warehouse import QuestionError, Warehouse
from warehouse.wording import are, counted

MEASURE = "(right - wrong) / pairs, a tie is wrong"
SIGNS = "sign flips by item"


@cache
def _declared() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((files("metaeval.studies.protocols") / "composed.toml").read_text(encoding="utf-8"))


def weights() -> Mapping[str, Mapping[str, float]]:
    """Composed score -> class -> weight."""
    return {name: {of: float(w) for of, w in one["weights"].items()} for name, one in _declared().items()}


def year_of(name: str) -> int:
    """The year in which a composed score was published."""
    return int(_declared()[name]["year"])


def composed_score(
    warehouse: Warehouse, name: str, testset: str, lps: Sequence[str], testing: TestOptions | None = None, seed: int = 0
) -> ProtocolScore:
    """The metrics of a challenge set, including your own, by a composed score.

    A phenomenon's tau covers the items of all language pairs. A metric without a score for an item of a class has no
    value there. A class without items is dropped, and the score covers the rest. testing: None = no test; otherwise
    metrics are tested by the signs of their items' differences, see `sign_flip_p_values`.
    Raises QuestionError: unknown names; not a challenge set; no items of its classes, or no metric.
    """
    chosen = [lp for _, lp in expand(warehouse, testset, ",".join(lps) or "all").chosen]
    if not challenge_sets(warehouse, testset):
        raise QuestionError(f"{name} scores challenge sets, and {testset} is not one")
    rows = ask(warehouse, "graded_pairs", testset=testset, lps=list(chosen))
    if rows.is_empty():
        raise QuestionError(f"no metric of {testset} has scores of phenomena")
    declared = weights()[name]
    there = [one for one in declared if one in set(rows["class"])]
    if not there:
        raise QuestionError(f"{testset} has none of the classes of {name}: {', '.join(declared)}")
    known = rows.filter(pl.col("class").is_in(there))
    names = known["metric"].unique(maintain_order=True).to_list()
    parts = _parts(known, len(names), declared)  # (n_metrics, n_items)
    classes = known["class"].to_numpy()[: parts.shape[1]]
    overall = parts.sum(axis=1)
    order = np.lexsort((np.arange(len(names)), -np.nan_to_num(overall), np.isnan(overall)))
    parts, overall = parts[order], overall[order]
    signs = None  # (n_draws, n_items)
    if testing is not None:
        signs = draw_signs(np.random.default_rng(seed), testing.resamples, len(classes))
    clusters, n_significant = _clusters(testing, signs, parts)
    tasks = []
    for one in there:
        of_class = classes == one
        values = parts[:, of_class].sum(axis=1) / declared[one]
        found, _ = _clusters(testing, signs, parts, of_class)
        by = "none" if testing is None else SIGNS
        tasks.append(
            Task(tuple(chosen), "seg", MEASURE, by, "none", declared[one], values, False,
                 competition_ranks(values), found, domain=one)
        )  # fmt: skip
    counts = rows.filter(metric=names[0])
    n_pairs = int(known["n_pairs"].sum()) // len(names)
    notes = []
    if absent := [one for one in declared if one not in there]:
        notes.append(f"{', '.join(absent)} {are(len(absent), have=True)} no items; the score covers the rest")
    if outside := int(counts["n_pairs"].sum()) - n_pairs:
        notes.append(f"{counted(outside, 'pair')} of other classes, or of none, {are(outside)} excluded")
    if gaps := known.filter(pl.col("n_missing") > 0)["metric"].unique().sort().to_list():
        notes.append(f"{', '.join(gaps)} {are(len(gaps), have=True)} no overall score, because scores are missing")
    said = [("protocol", name), ("testset", testset), ("lp", ",".join(chosen)), ("classes", len(there))]
    if testing is not None:
        said += [("test", SIGNS), ("alternative", testing.side), ("resamples", testing.resamples), ("seed", seed)]
        said += [("alpha", testing.alpha)]
    said += [("n_metrics", len(names)), ("n_pairs", n_pairs)]
    return ProtocolScore(
        protocol=name,
        testset=testset,
        metrics=tuple(names[at] for at in order),
        overall=overall,
        by_ranks=False,
        ranks=competition_ranks(overall),
        clusters=clusters,
        tasks=tuple(tasks),
        missing={},
        excluded={},
        n_significant=n_significant,
        signature=signed(*said),
        notes=tuple(notes),
    )


def _parts(known: pl.DataFrame, n_metrics: int, declared: Mapping[str, float]) -> Floats:
    """(n_metrics, n_items) contribution of each item to the composed score; NaN if a metric has no score for it."""
    share = 1 / pl.col("phenomenon").n_unique().over("metric", "class")
    share /= pl.col("n_pairs").sum().over("metric", "class", "phenomenon")
    part = pl.col("class").replace_strict(declared, return_dtype=pl.Float64) * share
    part *= 2 * pl.col("n_right") - pl.col("n_pairs")
    found = known.select(part=pl.when(pl.col("n_missing") == 0).then(part))
    return found["part"].to_numpy().reshape(n_metrics, -1)


def _clusters(
    testing: TestOptions | None, signs: Signs | None, parts: Floats, items: Bools | slice = slice(None)
) -> tuple[Ints, int | None]:
    """Clusters by the sum of some items' contributions (0 = not tested), and the number of differing pairs."""
    values = parts[:, items].sum(axis=1)
    known = ~np.isnan(values)
    clusters = np.zeros(len(parts), dtype=np.int64)
    if testing is None or signs is None or known.sum() < 2:
        return clusters, None
    scores = parts[known][:, items]
    p = sign_flip_p_values(scores[np.newaxis], np.ones(scores.shape, dtype=np.bool_), signs[:, items])[0]
    if testing.side == "two-sided":
        p = np.minimum(1.0, 2 * np.minimum(p, p.T))
    clusters[known] = significance_clusters(values[known], p, testing.alpha)
    return clusters, n_significant_pairs(values[known], p, testing.alpha)
