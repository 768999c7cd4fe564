"""One metric against humans: systems, differences of system pairs, and the density of segments."""

from typing import Literal

import numpy as np
import polars as pl

from metaeval import kernels
from metaeval.kernels.arrays.checks import Floats
from metaeval.measures.options import Options
from metaeval.measures.system_scores import asked_scores
from metaeval.results.answer import Result
from metaeval.results.inputs import Inputs, check_whole, metric_place, no_metric
from metaeval.results.remarks import remarks
from metaeval.results.signature import option_parts, slice_parts, stamped
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.wording import counted

View = Literal["systems", "pairs", "segments"]
BINS = 30


def scatter(warehouse: Warehouse, asked: Slice, metric: str, options: Options, view: View = "systems") -> Result:
    """A metric, by its variant or base name and whatever its status, against the human score of a slice.

    System scores are the submitted ones if there are any, unless options.system_score says otherwise.
    The frame is that of the view. Facts: the frames of all three, the names of both scorers (metric, human), source (of
        the metric's system scores), words (what the views say, which the notes begin with).
    systems: system, human, metric, best by humans first. pairs: better (by humans; equal ones by name), worse, human,
        metric (score of better minus that of worse), verdict (agree, disagree or tie). segments: bins with a score in
        them: human_low, human_high, metric_low, metric_high, n.
    Raises QuestionError: see `select`; an unknown metric, or one that is excluded or has no scores of the systems.
    """
    check_whole(options, asked)
    inputs = Inputs(warehouse, asked, options.round_human, also=(metric,))
    block = inputs.of_level("sys")
    place = metric_place(block, metric)
    if place is None:
        where = f"{asked.testset} {asked.lp}"
        if not block.selection.metrics:
            raise no_metric(block.selection, {}, needs_segments=False)
        raise unknown("metric", metric, [choice.name for choice in block.selection.metrics], where=where)
    scores = asked_scores(block, options.system_score)
    human, own = scores.human, scores.metrics[place]
    there = ~np.isnan(human) & ~np.isnan(own)
    if not there.any():
        raise QuestionError(f"no system of {asked.testset} {asked.lp} has a score by humans and by {metric}")
    names = [name for name, has in zip(block.systems, there, strict=True) if has]
    human, own = human[there], own[there]
    order = sorted(range(len(names)), key=lambda i: (-human[i], names[i]))
    names, human, own = [names[i] for i in order], human[order], own[order]
    name = block.metrics[place].name
    segments, r_segments, n_scores = _segments(inputs, name)
    parts = stamped(
        ("scatter", name),
        *slice_parts(block.selection),
        ("system_score", scores.used[place]),
        ("n_systems", len(names)),
        ("n_scores", n_scores),
        *option_parts(options),
    )
    frames = {
        "systems": pl.DataFrame({"system": pl.Series(names, dtype=pl.String), "human": human, "metric": own}),
        "pairs": _pairs(names, human, own),
        "segments": segments,
    }
    r, rho = _correlation(human, own, "pearson"), _correlation(human, own, "spearman")
    verdicts = frames["pairs"]["verdict"].to_list()
    n_agree, n_tied = verdicts.count("agree"), verdicts.count("tie")
    tied = f", {n_tied} are tied" if n_tied else ""
    words = [
        f"{counted(len(names), 'system')}: Pearson's r {_value(r)}, Spearman's ρ {_value(rho)}",
        f"{counted(len(verdicts), 'pair')} of systems: humans and the metric agree on {n_agree}{tied}",
    ]
    if n_scores:
        words.append(f"{counted(n_scores, '(system, segment) score')}: Pearson's r {_value(r_segments)}")
    facts = {**frames, "metric": name, "human": str(block.selection.human), "source": scores.used[place]}
    none = [] if n_scores else [f"no (system, segment) score by both {block.selection.human} and {metric}"]
    notes = (*none, *remarks(block.take(metrics=[place])))
    return Result(frames[view], parts, notes, {**facts, "words": words})


def _value(value: float) -> str:
    return "not defined" if np.isnan(value) else f"{value:.3f}"


def _correlation(human: Floats, own: Floats, statistic: str) -> float:
    if len(human) < 2:
        return float("nan")
    return float(kernels.system_correlation(human, own[np.newaxis], statistic)[0])  # type: ignore[arg-type]


def _pairs(names: list[str], human: Floats, own: Floats) -> pl.DataFrame:
    first, second = np.triu_indices(len(names), 1)
    by_human, by_metric = human[first] - human[second], own[first] - own[second]
    product = np.sign(by_human) * np.sign(by_metric)
    return pl.DataFrame(
        {
            "better": pl.Series([names[place] for place in first], dtype=pl.String),
            "worse": pl.Series([names[place] for place in second], dtype=pl.String),
            "human": by_human,
            "metric": by_metric,
            "verdict": pl.Series([("disagree", "tie", "agree")[int(sign) + 1] for sign in product], dtype=pl.String),
        }
    )


def _segments(inputs: Inputs, metric: str) -> tuple[pl.DataFrame, float, int]:
    """Bins of the scores of segments, their correlation, and how many there are; nothing if either has none."""
    names = ("human_low", "human_high", "metric_low", "metric_high")
    none = pl.DataFrame(schema={**dict.fromkeys(names, pl.Float64), "n": pl.Int64})
    block: Block = inputs.of_level("seg")
    place = next((number for number, one in enumerate(block.metrics) if one.name == metric), None)
    if place is None:
        return none, float("nan"), 0
    there = block.judged & ~np.isnan(block.scores[place])
    human, own = block.human[there], block.scores[place][there]
    if not human.size:
        return none, float("nan"), 0
    n, across, up = np.histogram2d(human, own, bins=BINS)
    rows, columns = np.nonzero(n)
    frame = pl.DataFrame(
        {
            "human_low": across[rows],
            "human_high": across[rows + 1],
            "metric_low": up[columns],
            "metric_high": up[columns + 1],
            "n": n[rows, columns].astype(np.int64),
        }
    )
    return frame, _correlation(human, own, "pearson"), int(human.size)
