"""Hard pairs: systems that hardly any metric orders as human scores do."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from metaeval.measures.options import Options
from metaeval.results.answer import Result, or_none
from metaeval.results.notes import NoteWithHint
from metaeval.results.run import Run
from metaeval.results.signature import Parts, line, option_parts, restricted, stamped
from metaeval.studies.pairs.settings import HardPairSettings
from metaeval.studies.pairs.system_pairs import SystemPairs, read_pairs
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.wording import are, counted, option

COLUMNS = (
    *("testset", "lp", "human", "better", "worse", "human_difference", "in_sd", "p", "significant"),
    *("n_metrics", "n_right", "n_tied", "right", "signature"),
)


def hard_pairs(run: Run, asked: Slice, options: Options, what: HardPairSettings) -> Result:
    """System pairs that at most a few metrics order as human scores do, fewest metrics first.

    asked: its test set and language pair may be several, joined by commas, or "all"; the official human score of each
    set is used unless the slice names a human score. A metric with equal scores for both systems does not order them
    (n_tied); pairs with equal human scores are excluded and counted. p: Wilcoxon's signed-rank test, two-sided, over
    segments annotated for both systems; null without any. in_sd: human difference in standard deviations of the set's
    human system scores. right: the metrics that order the pair as human scores do. Facts: every, the number of pairs
    with different human scores.
    Raises QuestionError: unknown names, or no evaluation set with enough metrics.
    """
    read, notes = read_pairs(run, asked, options, tested=True, each_protocol=False)
    # With few metrics, that hardly any orders a pair as people do says little.
    few = [one for one in read if len(one.metric_names) < what.min_metrics]
    sets = [one for one in read if len(one.metric_names) >= what.min_metrics]
    if few:
        named = ", ".join(f"{one.where} ({len(one.metric_names)})" for one in few)
        notes.append(f"sets with fewer than {counted(what.min_metrics, 'metric')} are excluded: {named}")
    if not sets:
        raise QuestionError("no evaluation set has enough metrics and human scores" + _listed(notes))
    parts = _parts(sets, asked, options, what)
    rows = [row for one in sets for row in _rows(one, what.alpha, line(parts))]
    every = pl.DataFrame(rows, schema=_schema(), orient="row").sort(
        "n_right", "p", "in_sd", "testset", "lp", "better", "worse", descending=[False, False, True] + [False] * 4,
        nulls_last=True,
    )  # fmt: skip
    frame = every.filter(pl.col("n_right") <= what.max_correct)
    if what.significant:
        frame = frame.filter(pl.col("significant"))
    return Result(frame, parts, (*_summary(sets, every, what), *notes), {"every": every})


def _listed(notes: Sequence[str]) -> str:
    return f": {'; '.join(notes)}" if notes else ""


def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = dict.fromkeys(COLUMNS, pl.String)
    schema |= dict.fromkeys(("human_difference", "in_sd", "p"), pl.Float64)
    schema |= dict.fromkeys(("n_metrics", "n_right", "n_tied"), pl.Int64)
    schema["significant"] = pl.Boolean
    return schema


def _rows(one: SystemPairs, alpha: float, signature: str) -> list[dict[str, Any]]:
    right = np.sign(one.metric_gaps) == np.sign(one.human_gaps)  # (M, P)
    tied = one.metric_gaps == 0
    spread = one.human_deviation
    rows = []
    for pair in np.flatnonzero(one.human_gaps != 0).tolist():
        first, second = one.systems[one.first[pair]], one.systems[one.second[pair]]
        gap, p = float(one.human_gaps[pair]), float(one.p[pair])
        rows.append(
            {
                "testset": one.testset,
                "lp": one.lp,
                "human": one.human,
                "better": first if gap > 0 else second,
                "worse": second if gap > 0 else first,
                "human_difference": abs(gap),
                "in_sd": abs(gap) / spread,
                "p": or_none(p),
                "significant": None if np.isnan(p) else p <= alpha,
                "n_metrics": len(one.metric_names),
                "n_right": int(right[:, pair].sum()),
                "n_tied": int(tied[:, pair].sum()),
                "right": ", ".join(one.metric_names[place] for place in np.flatnonzero(right[:, pair])),
                "signature": signature,
            }
        )
    return rows


def _parts(sets: Sequence[SystemPairs], asked: Slice, options: Options, what: HardPairSettings) -> Parts:
    used = sorted({source for one in sets for source in one.used})
    return stamped(
        ("hard_pairs", f"n_right<={what.max_correct}"),
        *restricted(asked, testset=asked.testset, lp=asked.lp, human="+".join(sorted({one.human for one in sets}))),
        ("min_metrics", what.min_metrics),
        ("test", "wilcoxon,two_sided"),
        ("alpha", what.alpha),
        ("pairs", "significant" if what.significant else None),
        ("system_score", "+".join(used) or None),
        *option_parts(options),
        ("n_sets", len(sets)),
    )


def _summary(sets: Sequence[SystemPairs], every: pl.DataFrame, what: HardPairSettings) -> list[str]:
    hard = every.filter(pl.col("n_right") <= what.max_correct)
    n_ties = sum(int((one.human_gaps == 0).sum()) for one in sets)
    few = "no metric" if what.max_correct == 0 else f"at most {what.max_correct} of the metrics"
    told, hard_told = every.filter(pl.col("significant")).height, hard.filter(pl.col("significant")).height
    untested = hard["significant"].null_count()
    notes = [
        f"{few} right on {hard.height} of {every.height} pairs of systems in {counted(len(sets), 'evaluation set')}, "
        f"and on {hard_told} of the {told} with significant human differences (p <= {what.alpha:g}, Wilcoxon's "
        "signed-rank test)"
    ]
    if n_ties:
        notes.append(f"{counted(n_ties, 'pair')} with equal human scores {are(n_ties)} excluded")
    if untested:
        notes.append(
            f"{untested} of the {hard.height} {are(untested)} not tested: no segment is annotated for both systems"
        )
    if every["significant"].null_count() < every.height and not what.significant:
        text = "if the human difference is not significant, the human scores may be wrong"
        notes.append(NoteWithHint(text, option("significant", True)))
    return notes
