"""`sample`: segments to annotate, in order of selection, and the texts that annotators need."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.choice import bought, in_order
from metaeval.results.answer import Result, or_none
from metaeval.results.run import Run
from metaeval.results.signature import Parts, slice_parts, stamped
from metaeval.studies.choosing.methods import Among, Budget, Candidates, Method, Similarity, Unit, candidates, utility
from metaeval.studies.ranking.rankings import slices_of
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.errors import IT
from warehouse.wording import are, counted

TEXTS = ("testset", "lp", "document", "index_in_document", "segment", "domain", "system", "source", "output")


@dataclass(frozen=True)
class ChoiceSettings:
    """How segments are selected.

    metric: a metric, or the human score; None: the mean over all metrics. size: of the budget, per language pair; None:
    all candidates in order. unit: select whole documents, by the mean utility of their segments. balanced: domains have
    the same shares of the budget as of the candidates. similarity: of outputs, for diversity. words_per_minute: pace of
    an annotator in source words; for minutes, which count the outputs of all systems.
    """

    method: Method = "metric_var"
    metric: str | None = None
    size: float | None = None
    budget: Budget = "segments"
    unit: Unit = "segment"
    balanced: bool = False
    similarity: Similarity = "unigram"
    candidates: Among | None = None
    words_per_minute: float | None = None
    seed: int = 0

    def check(self) -> None:
        """Raises QuestionError: a metric for a method that uses none, or a number out of range."""
        if self.metric is not None and self.method in ("diversity", "random"):
            raise QuestionError(f"{self.method} takes no metric")
        for name, value in (("budget", self.size), ("words per minute", self.words_per_minute)):
            if value is not None and not 0 < value < float("inf"):
                raise QuestionError(f"{name} {value}: expected a number above 0")

    @property
    def parts(self) -> Parts:
        """Parts of a signature, except method and metric."""
        return [
            ("unit", self.unit),
            ("balance", "domain" if self.balanced else None),
            ("words_per_minute", self.words_per_minute),
        ]


@dataclass(frozen=True)
class Queue:
    """Candidates with a utility, in order of selection. places: index of each among the candidates.

    costs, units: of the candidates with a utility, aligned with places. order: see `kernels.choice.budget.in_order`.
    """

    used: Bools
    costs: Floats
    units: Ints
    order: Ints

    @property
    def total(self) -> float:
        """Total cost of all of them."""
        return float(self.costs.sum())

    def within(self, budget: float) -> Bools:
        """(S,) whether a budget buys each candidate."""
        chosen = np.zeros(len(self.used), dtype=np.bool_)
        chosen[np.flatnonzero(self.used)] = bought(self.order, self.costs, budget, self.units)
        return chosen


def queue(found: Candidates, values: Floats, what: ChoiceSettings) -> Queue:
    """The order in which candidates are selected. Those without a utility are skipped.

    Raises QuestionError: no candidate has a utility, or data needed for the budget or the balance are not loaded.
    """
    kept: Bools = ~np.isnan(values)
    if not kept.any():
        raise QuestionError("no candidate has the data that the method needs")
    units = np.unique(found.units(what.unit)[kept], return_inverse=True)[1].astype(np.int64)
    costs = found.costs(what.budget, what.words_per_minute)[kept]
    domains = found.domains()[kept] if what.balanced else None
    order = in_order(values[kept], costs, units if what.unit == "document" else None, domains)
    return Queue(kept, costs, units, order)


def choose(run: Run, asked: Slice, what: ChoiceSettings, *, with_texts: bool = False) -> Result:
    """Segments to annotate.

    asked: its test set and language pair may be several; each evaluation set has the whole budget. Columns testset, lp,
    order, segment, document, domain, utility, cost (in the unit of the budget); for random selection also probability
    (of being drawn; null if the budget is in words or minutes). By default, candidates are segments with a
    human score for every system if there are any, else all. with_texts: the fact `texts` has one row per selected
    segment and system, in the order of the test set (columns: `TEXTS`).
    Raises QuestionError: see `candidates`, `utility` and `queue`; the budget buys nothing; texts that are not loaded.
    """
    what.check()
    with run.opened() as warehouse:
        slices, _ = slices_of(warehouse, asked)
    work = partial(_choose_at, asked=asked, what=what, with_texts=with_texts, is_alone=len(slices) == 1)
    found = []
    for computed in run.each(work, [(one.testset, one.lp) for one in slices], "selection"):
        if isinstance(computed, QuestionError):
            raise computed
        found.append(computed)
    schema = dict.fromkeys(TEXTS, pl.String) | {"index_in_document": pl.Int64(), "segment": pl.Int64()}
    texts = [row for one in found for row in one.facts["texts"]]
    return Result(
        pl.concat([one.frame for one in found]),
        [line for one in found for line in one.lines],
        tuple(dict.fromkeys(note for one in found for note in one.notes)),
        {"texts": pl.DataFrame(texts, schema=schema, orient="row")},
    )


def _choose_at(
    run: Run, testset: str, lp: str, *, asked: Slice, what: ChoiceSettings, with_texts: bool, is_alone: bool
) -> Result:
    """The selected segments of one evaluation set. is_alone: notes need not name it."""
    one = replace(asked, testset=testset, lp=lp)
    where = "" if is_alone else f"{testset} {lp}: "
    with run.opened() as warehouse:
        found = candidates(warehouse, one, what.candidates, also=() if what.metric is None else (what.metric,))
    values, by, remarks = utility(found, what.method, what.metric, what.similarity, what.seed, run.progress)
    line_up = queue(found, values, what)
    chosen = line_up.within(line_up.total if what.size is None else what.size)
    if not chosen.any():
        raise QuestionError(f"{where}a budget of {what.size:g} {what.budget} is too small for one {what.unit}")
    frame = _frame(found, values, line_up, chosen, one)
    if what.method == "random":
        chances = _probabilities(found, line_up, chosen, what)
        frame = frame.with_columns(probability=pl.Series(chances, dtype=pl.Float64))
    notes = (*found.notes, *remarks, *_left_out(by, line_up, what, chosen), *found.block.selection.notes)
    texts = _text_rows(found, chosen, one) if with_texts else []
    parts = _parts(found, by, what, int(chosen.sum()))
    return Result(frame, parts, tuple(where + note for note in notes), {"texts": texts})


def _probabilities(
    found: Candidates, line_up: Queue, chosen: Bools, what: ChoiceSettings
) -> Sequence[float] | Sequence[None]:
    """Probability with which each selected segment was drawn: its domain's share if domains are balanced.

    None for each if the budget is in words or minutes, which favours short segments.
    """
    places = np.flatnonzero(line_up.used)[line_up.order]
    places = places[chosen[places]]
    if what.budget != "segments":
        return [None] * len(places)
    units, used = found.units(what.unit), np.flatnonzero(line_up.used)
    groups = found.domains() if what.balanced else np.zeros(len(units), dtype=np.int64)
    shares = {
        group: len(np.unique(units[used[chosen[used] & (groups[used] == group)]]))
        / len(np.unique(units[used[groups[used] == group]]))
        for group in np.unique(groups[used]).tolist()
    }
    return [shares[group] for group in groups[places].tolist()]


def _frame(found: Candidates, values: Floats, line_up: Queue, chosen: Bools, asked: Slice) -> pl.DataFrame:
    order = np.flatnonzero(line_up.used)[line_up.order]
    order = order[chosen[order]]
    selection = found.block.selection
    kept = np.flatnonzero(found.kept)
    costs = np.full(len(chosen), np.nan)
    costs[line_up.used] = line_up.costs
    return pl.DataFrame(
        {
            "testset": [asked.testset] * len(order),
            "lp": [asked.lp] * len(order),
            "order": np.arange(1, len(order) + 1),
            "segment": found.segments[order],
            "document": pl.Series([selection.documents[kept[place]] for place in order], dtype=pl.String),
            "domain": pl.Series([selection.domains[kept[place]] for place in order], dtype=pl.String),
            "utility": pl.Series([or_none(value) for value in values[order]], dtype=pl.Float64),
            "cost": costs[order],
        }
    )


def _left_out(by: str | None, line_up: Queue, what: ChoiceSettings, chosen: Bools) -> Sequence[str]:
    n_without = int((~line_up.used).sum())
    without = f"{counted(n_without, 'segment')} with missing scores or outputs {are(n_without)} excluded"
    lines = [without] if n_without else []
    n, spent = int(chosen.sum()), float(line_up.costs[chosen[line_up.used]].sum())
    cost = "" if what.budget == "segments" else f" for {spent:,.0f} of {line_up.total:,.0f} {what.budget}"
    lines.append(
        f"{n} of {counted(len(line_up.costs), 'segment')} {are(n)} selected{cost}, by {what.method}"
        + (f" ({by})" if by else "")
    )
    return lines


def _parts(found: Candidates, by: str | None, what: ChoiceSettings, n_chosen: int) -> Parts:
    return stamped(
        ("sample", what.method),
        ("by", None if by is None else by.replace(" ", "_")),
        *slice_parts(found.block.selection),
        ("budget", None if what.size is None else f"{what.size:g}_{what.budget}"),
        *what.parts,
        ("seed", what.seed if what.method == "random" else None),
        ("n_systems", len(found.block.systems)),
        ("n_segments", f"{n_chosen}/{len(found.segments)}/{found.block.selection.n_segments}"),
    )


def _text_rows(found: Candidates, chosen: Bools, asked: Slice) -> list[tuple[Any, ...]]:
    """Raises QuestionError: no output of the selected segments is loaded."""
    sources = found.texts.get(("source", None), {})
    selection, kept = found.block.selection, np.flatnonzero(found.kept)
    indices: dict[str | None, int] = {}
    place_of = {}
    for place, document in enumerate(selection.documents):
        indices[document] = indices.get(document, 0) + 1
        place_of[place] = None if document is None else indices[document]
    rows = []
    for place in np.flatnonzero(chosen).tolist():
        at, segment = int(kept[place]), int(found.segments[place])
        for system in found.block.systems:
            output = found.texts.get(("output", system), {}).get(segment)
            if output is not None:
                rows.append(
                    (
                        asked.testset,
                        asked.lp,
                        selection.documents[at],
                        place_of[at],
                        segment,
                        selection.domains[at],
                        system,
                        sources.get(segment),
                        output,
                    )
                )
    if not rows:
        raise QuestionError(f"{IT} has no texts of outputs loaded", where=f"{asked.testset} {asked.lp}")
    return rows
