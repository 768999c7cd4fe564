"""Composed scores of challenge sets, such as the ACES-Score: the weighted sum over classes of phenomena."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats
from metaeval.protocols.scoring import ProtocolScore
from metaeval.protocols.task_scores import Task, competition_ranks
from metaeval.signature import line, program_version
from queries.catalog import ask
from queries.evalsets import challenge_sets, expand
from warehouse import QuestionError, Warehouse
from warehouse.wording import counted

MEASURE = "(right - wrong) / pairs, a tie is wrong"


@cache
def _declared() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((files("metaeval.protocols") / "composed.toml").read_text(encoding="utf-8"))


def weights() -> Mapping[str, Mapping[str, float]]:
    """Composed score -> class -> weight."""
    return {name: one["weights"] for name, one in _declared().items()}


def year_of(name: str) -> int:
    """The year that a composed score was published in."""
    return int(_declared()[name]["year"])


def composed_score(warehouse: Warehouse, name: str, testset: str, lps: Sequence[str]) -> ProtocolScore:
    """The metrics of a challenge set by a composed score, one's own among them.

    A phenomenon's tau is over the items of all language pairs. A metric without a score for an item of a class has
    no value there. A class that no item belongs to is dropped, and the score is over the rest.
    Raises QuestionError: unknown names; no challenge set; nothing of its classes or no metric.
    """
    chosen = [lp for _, lp in expand(warehouse, testset, ",".join(lps) or "all").chosen]
    if not challenge_sets(warehouse, testset):
        raise QuestionError(f"{name} is of challenge sets, and {testset} is none")
    rows = ask(warehouse, "graded_pairs", testset=testset, lps=list(chosen))
    if rows.is_empty():
        raise QuestionError(f"no metric of {testset} has scores of phenomena")
    declared = weights()[name]
    there = [one for one in declared if one in set(rows["class"])]
    if not there:
        raise QuestionError(f"{testset} has none of the classes of {name}: {', '.join(declared)}")
    complete = pl.when(pl.col("n_missing") == 0).then((2 * pl.col("n_right") - pl.col("n_pairs")) / pl.col("n_pairs"))
    rows = rows.with_columns(tau=complete)
    known = rows.filter(pl.col("class").is_in(there))
    names = sorted(known["metric"].unique())
    values = {one: _class_means(known.filter(pl.col("class") == one), names) for one in there}
    overall = np.sum([declared[one] * values[one] for one in there], axis=0)
    order = np.array(
        sorted(range(len(names)), key=lambda at: (np.isnan(overall[at]), -np.nan_to_num(overall[at]), names[at])),
        dtype=np.int64,
    )
    none = np.zeros(len(names), dtype=np.int64)
    tasks = tuple(
        Task(tuple(chosen), "seg", MEASURE, "none", "none", declared[one], values[one], False,
             competition_ranks(values[one]), none, domain=one).among(order)
        for one in there
    )  # fmt: skip
    of_one = rows.filter(metric=names[0])
    n_pairs = int(of_one.filter(pl.col("class").is_in(there))["n_pairs"].sum())
    notes = []
    if absent := [one for one in declared if one not in there]:
        notes.append(f"without {', '.join(absent)}, of which there are no items; the score is over the rest")
    if outside := int(of_one["n_pairs"].sum()) - n_pairs:
        notes.append(f"{counted(outside, 'pair')} of other classes, or of none, excluded")
    if gaps := known.filter(pl.col("n_missing") > 0)["metric"].unique().sort().to_list():
        notes.append(f"without an overall score, as scores are missing: {', '.join(gaps)}")
    parts = [("protocol", name), ("testset", testset), ("lp", ",".join(chosen)), ("classes", len(there))]
    parts += [("n_metrics", len(names)), ("n_pairs", n_pairs), ("scorehouse", program_version())]
    return ProtocolScore(
        protocol=name,
        testset=testset,
        metrics=tuple(names[at] for at in order),
        overall=overall[order],
        by_ranks=False,
        ranks=competition_ranks(overall)[order],
        clusters=none,
        tasks=tasks,
        missing={},
        excluded={},
        n_significant=None,
        signature=line(parts),
        notes=tuple(notes),
    )


def _class_means(rows: pl.DataFrame, names: Sequence[str]) -> Floats:
    """The plain mean over phenomena for each metric; NaN where one of them has no value."""
    means = {
        metric: float("nan") if of_one["tau"].null_count() else float(np.mean(of_one["tau"].to_numpy()))
        for (metric,), of_one in rows.group_by("metric")
    }
    return np.array([means[name] for name in names])
