"""Rankings: metrics by measures over one or several evaluation sets, pooled or with clusters on request."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from metaeval.explanation import excluded
from metaeval.inputs import check_used
from metaeval.measures import Measure
from metaeval.notes import placed
from metaeval.options import Options
from metaeval.people.human_rows import HumanRows, human_rows, with_people
from metaeval.pooling import Pooling, pool
from metaeval.significance.cached import Pending, pending, settled
from metaeval.significance.comparison import Comparison, on_means, with_clusters
from metaeval.significance.metric_tests import tested_study
from metaeval.significance.options import TestOptions
from metaeval.study import Study, check_ranked, ranking, study
from metaeval.table import Table
from queries.evalsets import Evalsets, expand
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import option

DEFAULT_MEASURES = ("spa", "acc_eq(by=item)")  # the organisers' since 2024


@dataclass(frozen=True)
class Read:
    """All that a ranking reads from the warehouse, evaluated: studies by slice, and the comparisons to make.

    skipped: lines on evaluation sets without an answer. measures: those asked for, in order. people: by slice, the rows
    of people, where they are asked for. options: how it was computed.
    """

    studies: dict[Slice, Study]
    comparisons: tuple[Pending, ...]
    skipped: tuple[str, ...]
    measures: tuple[Measure, ...]
    people: dict[Slice, HumanRows] = field(default_factory=dict)
    options: Options = field(default_factory=Options)


def slices_of(warehouse: Warehouse, asked: Slice) -> tuple[list[Slice], Evalsets]:
    """The slices of the evaluation sets that a slice's test set and language pair name (see `expand`)."""
    evalsets = expand(warehouse, asked.testset, asked.lp, asked.human)
    return [replace(asked, testset=testset, lp=lp) for testset, lp in evalsets.chosen], evalsets


def read(
    warehouse: Warehouse,
    asked: Slice,
    measures: Sequence[Measure],
    options: Options,
    testing: TestOptions | None = None,
    *,
    strict: bool = False,
    fresh: bool = False,
    ceiling: bool = False,
) -> Read:
    """Everything that a ranking needs: each block is fetched once, each measure evaluated once.

    asked: its test set and language pair may be several, joined by commas, or "all"; those without an answer are
    skipped, unless strict. testing: None for no clusters. fresh: look for no stored results.
    ceiling: with the values of people.
    Raises QuestionError: see `study` and `tested_study`; no evaluation set has an answer; something is asked for that
        no measure's test has.
    """
    check_used(options, measures)
    slices, evalsets = slices_of(warehouse, asked)
    found: dict[Slice, Study] = {}
    comparisons: list[Pending] = []
    faults: dict[str, list[tuple[str, str]]] = {}
    for one in slices:
        try:
            if testing is None:
                found[one] = study(warehouse, one, measures, options)
            else:
                tested = tested_study(warehouse, one, measures, options, testing)
                comparisons += _pending(warehouse, tested, options, testing, fresh)
                found[one] = tested
        except QuestionError as error:
            if strict or len(slices) == 1:
                raise
            faults.setdefault(error.text, []).append((one.testset, one.lp))
    if not found:
        raise QuestionError("; ".join(faults))
    if testing is not None:
        testing.check_fit([one.testing.test for one in comparisons if one.testing.test is not None])
    try:
        check_ranked(list(found.values()))
    except QuestionError as error:
        if not evalsets.without_human:
            raise
        raise QuestionError(f"{error.text}; without a human score: {named(evalsets.without_human)}") from error
    skipped = [f"skipped {named(of)}: {fault} ({option('strict', True)} refuses)" for fault, of in faults.items()]
    if evalsets.without_human:
        skipped.append(f"skipped, without a human score: {named(evalsets.without_human)}")
    people = {one: human_rows(warehouse, one, each, options) for one, each in found.items()} if ceiling else {}
    return Read(found, tuple(comparisons), tuple(skipped), tuple(measures), people, options)


def _pending(warehouse: Warehouse, tested: Study, options: Options, testing: TestOptions, fresh: bool) -> list[Pending]:
    return [
        pending(
            warehouse,
            result.block,
            result.evaluation.measure,
            options,
            testing,
            fresh=fresh,
            in_depth=False,
            evaluation=result.evaluation,
        )
        for result in tested.results
    ]


def ranked(
    found: Read,
    how: Pooling | None = None,
    *,
    database: Path | None = None,
    verbose: bool = False,
    progress: Progress | None = None,
) -> Table:
    """The ranking; rows as of `rank` in json.

    how: a way of pooling; None ranks each evaluation set by itself. database: where comparisons are kept; None keeps
    none. verbose: notes name what is excluded.
    Raises QuestionError: as `pool` and `cached.settled`; a pooled ranking with people.
    """
    if found.people and how is not None:
        raise QuestionError("a pooled ranking has no human ceiling: people are on other data in each evaluation set")
    studies = list(found.studies.values())
    results = [result for one in studies for result in one.results]
    several = len(found.studies) > 1
    notes = [
        placed(f"{asked.testset} {asked.lp}", note) if several else note
        for asked, one in found.studies.items()
        for note in [*one.notes, *(line for result in one.results for line in excluded(result, verbose))]
    ]
    notes += found.skipped
    if how is None:
        frame, signatures = _stacked([ranking(one) for one in studies]), [one.signature for one in results]
    else:
        pooled = [
            pool(list(group), how, found.options) for group in zip(*(one.results for one in studies), strict=True)
        ]
        frame, signatures = _stacked([one.frame for one in pooled]), [one.signature for one in pooled]
        notes += [note for one in pooled for note in one.notes]
    if found.comparisons:
        tested = _tested(found, notes, database, progress, several)
        clustered = with_clusters(frame, tested)
        frame = clustered if how is None else clustered.with_columns(frame["signature"])
        if tested:
            untested, more = _beside_tests(found, tested, several)
            signatures = [*(untested if how is None else signatures), *(one.signature for _, one in tested)]
            notes += more
    if found.people:
        frame = with_people(frame, list(found.people.values()))
        signatures = [*signatures, *(row.signature for one in found.people.values() for row in one.rows)]
        notes += [
            f"{asked.testset} {asked.lp}: {note}" if several else note
            for asked, one in found.people.items()
            for note in one.notes
        ]
    return Table(frame, "\n".join(signatures), tuple(dict.fromkeys(notes)))


def _tested(
    found: Read, notes: list[str], database: Path | None, progress: Progress | None, several: bool
) -> list[tuple[Slice, Comparison]]:
    """The comparisons with their slices; notes are added to those given, in front of them what clusters hide."""
    tested: list[tuple[Slice, Comparison]] = []
    warnings: list[str] = []
    for one in found.comparisons:
        where = f"{one.asked.testset} {one.asked.lp}: " if several else ""
        try:
            answer = settled(one, database, progress)
        except QuestionError as error:
            if not several:
                raise
            notes.append(f"{where}{one.measure}: no clusters, {error.text}")
            continue
        notes += answer.notes
        if answer.comparison is not None:
            tested.append((one.asked, answer.comparison))
            notes.append(placed(f"{where}{one.measure}", answer.comparison.generalises))
            if answer.comparison.warning is not None:
                warnings.append(placed(f"{where}{one.measure}", answer.comparison.warning))
    notes[:0] = warnings
    return tested


def _beside_tests(
    found: Read, tested: Sequence[tuple[Slice, Comparison]], several: bool
) -> tuple[list[str], list[str]]:
    """Signatures of rankings with metrics that no test compares, and lines on them and on whose means were ranked."""
    compared = {(asked, test.measure): test for asked, test in tested}
    signatures, notes = [], []
    for asked, one in found.studies.items():
        where = f"{asked.testset} {asked.lp}: " if several else ""
        for result in one.results:
            evaluation = result.evaluation
            comparison = compared.get((asked, str(evaluation.measure)))
            if comparison is None:
                continue
            left = [choice.name for choice in evaluation.metrics if choice.name not in comparison.metrics]
            if (means := on_means(evaluation)) is not None:
                notes.append(f"{where}{means}")
            if left:
                signatures.append(result.signature)
                notes.append(f"{where}{evaluation.measure}: ranked and not tested: {', '.join(left)}")
    return signatures, notes


def named(evalsets: Sequence[tuple[str, str]]) -> str:
    """Evaluation sets in words: each test set with its language pairs.

    >>> named([("wmt23", "en-de"), ("wmt23", "zh-en"), ("wmt24", "en-es")])
    'wmt23 en-de, zh-en; wmt24 en-es'
    """
    by_testset: dict[str, list[str]] = {}
    for testset, lp in evalsets:
        by_testset.setdefault(testset, []).append(lp)
    return "; ".join(f"{testset} {', '.join(lps)}" for testset, lps in by_testset.items())


def _stacked(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames, how="diagonal")
