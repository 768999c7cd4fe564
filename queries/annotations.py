"""Single human judgements, and errors marked by annotators or predicted by metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from queries.catalog import ask
from queries.evalsets import all_named
from queries.longitudinal import human_levels
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.facts.human_protocols import behind, is_column
from warehouse.wording import option


@dataclass(frozen=True)
class JudgedScore:
    """A human score of an evaluation set with single judgements."""

    testset: str
    lp: str
    evalset: int
    human: str


def judged_scores(
    warehouse: Warehouse, testsets: str = "all", lps: str = "all", human: str | None = None
) -> list[JudgedScore]:
    """The human scores that have single judgements. testsets, lps: names joined by commas, or "all".

    Raises QuestionError: an unknown test set, language pair or human score, or no judgements.
    """
    asked = all_named(warehouse, testsets, lps)
    found = [JudgedScore(*row) for row in ask(warehouse, "judged_scores").iter_rows() if row[:2] in asked]
    where = " ".join(one for one in (testsets, lps) if one != "all") or "the warehouse"
    if not found:
        columns = [note for one in sorted(asked) if (note := note_on_columns(warehouse, *one))]
        raise QuestionError(f"no single judgements of {where} are loaded, only their scores", hint="; ".join(columns))
    humans = {one.human for one in found}
    if human is not None and human not in humans:
        raise unknown("human score with judgements", human, humans, where=where)
    return [one for one in found if human in (None, one.human)]


def note_on_columns(warehouse: Warehouse, testset: str, lp: str) -> str | None:
    """What to do with an evaluation set's columns of single ratings by unknown annotators; None if it has none."""
    columns = [name for name in human_levels(warehouse, testset, lp) if is_column(name)]
    if len(columns) < 2:
        return None
    what = f"{', '.join(columns)} of {testset} {lp} are ratings of the same outputs by different annotators"
    return f"{what}; {option('correlations.human', 'all')} compares them"


def has_only_preferences(warehouse: Warehouse, testsets: str = "all", lps: str = "all") -> bool:
    """Whether annotators only compared outputs in these evaluation sets, without scoring. Names as for `judged_scores`.

    Raises QuestionError: an unknown test set or language pair.
    """
    asked = all_named(warehouse, testsets, lps)
    if any(row[:2] in asked for row in ask(warehouse, "judged_scores").iter_rows()):
        return False
    preferred = ask(warehouse, "preference_scorers").filter(kind="human").select("testset", "lp")
    return any(row in asked for row in preferred.iter_rows())


def judged_score(warehouse: Warehouse, testset: str, lp: str, human: str | None = None) -> JudgedScore:
    """The only human score with single judgements.

    Raises QuestionError: as `judged_scores`, or there are several.
    """
    score, *others = judged_scores(warehouse, testset, lp, human)
    if others:
        humans = ", ".join(one.human for one in (score, *others))
        raise QuestionError(f"several human scores have judgements: {humans}; name one with {option('human', 'NAME')}")
    return score


def annotations(warehouse: Warehouse, score: JudgedScore) -> pl.DataFrame:
    """Columns system, segment, document, rater, value, n, time, status, counts: all judgements, as in the files."""
    return ask(warehouse, "annotations", evalset=score.evalset, human=score.human)


def span_agreement(warehouse: Warehouse, score: JudgedScore) -> dict[tuple[str, str], float]:
    """F score of the error spans of two annotators, by sorted names; a span is found if it overlaps one of the other.

    Precision and recall cover all outputs together, 1 without spans; pairs without any marked span are left out.
    """
    rows = ask(warehouse, "span_agreement", testset=score.testset, lp=score.lp, human=score.human).iter_rows()
    found = {}
    for a, b, n_a, n_b, found_a, found_b in rows:
        if n_a or n_b:
            recall, precision = found_a / n_a if n_a else 1.0, found_b / n_b if n_b else 1.0
            found[a, b] = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return found


@dataclass(frozen=True)
class MarkedError:
    """A marked or predicted error.

    severity: in a uniform spelling. weight: its penalty, positive; None if there is none. start, end: the span's first
    character, from 0, and the character after it; None if nothing is marked in the text. is_in_source: whether the span
    is in the source. rater: None if unknown. metric: the metric that predicted it; None for human annotations.
    """

    rater: str | None
    category: str | None
    severity: str | None
    weight: float | None
    start: int | None
    end: int | None
    is_in_source: bool
    metric: str | None = None

    @property
    def label(self) -> str:
        """Severity and category, such as "major accuracy/omission"; for a prediction also the metric."""
        return " ".join(word for word in (self.severity, self.category, self.metric) if word) or "error"


def error_schema() -> dict[str, Any]:
    """Polars' types of an error's fields."""
    schema: dict[str, Any] = dict.fromkeys(("rater", "category", "severity"), pl.String)
    schema |= {"weight": pl.Float64, "start": pl.Int64, "end": pl.Int64, "is_in_source": pl.Boolean}
    return schema | {"metric": pl.String}


Errors = Mapping[tuple[str, int], Sequence[MarkedError]]  # system and segment -> errors


def humans_with_errors(warehouse: Warehouse, evalset: int) -> dict[str, int]:
    """The number of errors that annotators marked in a human score's own judgements, if they marked any."""
    return dict(ask(warehouse, "humans_with_errors", evalset=evalset).select("human", "n").rows())


def human_with_errors(warehouse: Warehouse, evalset: int, humans: Sequence[str]) -> str | None:
    """The human score whose judgements have the errors behind one of these: see `human_protocols.behind`.

    humans: in order of preference; the first with errors of its own is used, else the first with errors behind it.
    """
    there = humans_with_errors(warehouse, evalset)
    own = (human for human in humans if human in there)
    return next(own, next((name for human in humans for name in behind(human, there)), None))


def marked_errors(
    warehouse: Warehouse, evalset: int, human: str | None, segments: Sequence[int], metrics: Sequence[str] = ()
) -> Errors:
    """The errors marked for a human score, then those predicted by metrics, by system, segment and position."""
    found: dict[tuple[str, int], list[MarkedError]] = {}
    rows = ask(warehouse, "marked_spans", evalset=evalset, human=human, metrics=list(metrics), segments=list(segments))
    for system, segment, *error in rows.iter_rows():
        found.setdefault((system, segment), []).append(MarkedError(*error))
    return found
