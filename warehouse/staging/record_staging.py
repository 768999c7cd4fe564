"""Staging of all records of one evaluation set, with system names joined and segments placed."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import Fault
from warehouse.facts.metrics import describe
from warehouse.names import REFERENCE_FREE
from warehouse.readers.contents import Content
from warehouse.readers.records import MOST_SEGMENTS, TUTORIAL
from warehouse.staging.naming import check_known, joined, named, names_of, spelled, systems_before
from warehouse.staging.placing import (
    declaring_segments,
    known_segments,
    note_beyond,
    placed,
    report_lost,
    report_rows,
    settle_segments,
    stage_declared,
    with_numbers,
)
from warehouse.staging.slips import report_slips
from warehouse.staging.vectors import VECTOR_KEY, stage_judgements, stage_preferences, stage_vectors
from warehouse.wording import counted, ends, option

MOST_ROWS = 250_000  # of scores that are in memory at a time where they are on disk
_ERRORS_AS_WRITTEN = frozenset({"MetricX", "TER"})  # families whose programs write errors, which submissions negate


def stage_records(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Stage the records of files, after the files of the organisers' layout.

    contents: with their records; faulty files only get further faults reported. aliases: declared spellings
        of systems.
    """
    sound = [content for content in contents if content.records is not None and not content.faults]
    if sound:
        _lay_out(sound, contents, stage, aliases)
    else:
        _settle(contents, stage, aliases)
    report_further_faults(contents, stage, aliases)


def _lay_out(sound: Sequence[Content], contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    judgements, ratings, declared, preferences, labels, places = (
        _together(sound, name) for name in ("judgements", "ratings", "segments", "preferences", "labels", "places")
    )
    stage_declared(declared, stage)
    scores = _scores(sound)
    report_slips(sound, scores, labels, judgements, stage, aliases)
    names = names_of(contents, labels, judgements, stage, aliases)
    places, judgements = placed(sound, places, named(judgements, names), stage)
    preferences = _of_known_segments(preferences, places, names)
    _report_shared(sound, judgements, stage)
    note_beyond(sound, places, judgements, stage)
    means = _means(sound, judgements) if judgements.height else None
    judgements = judgements.with_columns(base_name=pl.col("scorer"), scorer=scorer_name())
    _report_predicted_twice(sound, judgements, stage)
    lost, repeated, counts, staged = [], [], [], []
    outputs: pl.DataFrame | None = None
    for part in _parts(sound, labels, judgements, names):
        rows = with_numbers(named(_rows_of_part(scores, part), names), places)
        if rows["is_lost"].any():
            lost.append(rows.filter("is_lost").select("file_no", "line", "segment", "document", "index"))
            rows = rows.filter(~pl.col("is_lost"))
        if means is not None:
            rows = pl.concat([rows, _of_part(means, part)], how="diagonal")
        rows, again = distinct(rows)
        repeated += again
        met, cells, there = _counted(sound, rows)
        counts.append((met, cells))
        outputs = there if outputs is None else _outputs(pl.concat([outputs, there]).lazy()).collect()  # much the same
        staged.append(stage_vectors(sound, rows, _of_part(judgements, part, "base_name"), stage))
    if lost:
        report_lost(sound, pl.concat(lost), stage)
    if repeated:
        report_repeated(sound, pl.concat(repeated), stage)
    met, cells = (pl.concat(frames) for frames in zip(*counts, strict=True))
    assert outputs is not None
    report_incomplete(sound, places, met, cells, outputs.explode("number"), stage)
    vectors = pl.concat(staged)
    stage_judgements(sound, judgements, ratings, vectors, stage)
    stage_preferences(sound, preferences, vectors, stage)
    _report_empty(sound, stage)
    for content in sound:
        assert content.records is not None
        brought = _rows_of(content)
        n_rows = n_values = brought.height
        if "n_values" in brought.columns:
            n_rows, n_values = (int(brought[name].sum()) for name in ("n", "n_values"))
        elif "value" in brought.columns:
            n_values = brought["value"].count()
        stage.n_rows[content.file_no] = n_rows
        stage.n_missing[content.file_no] = n_rows - n_values
        notes = [*content.records.notes, *(_direction(content) if content.claim.is_own else ())]
        stage.notes += [f"{content.claim.path}: {note}" for note in notes]


def _parts(
    contents: Sequence[Content], labels: pl.DataFrame, judgements: pl.DataFrame, names: Mapping[str, str]
) -> list[pl.DataFrame | None]:
    """Scorers and systems whose scores are staged together: with scorer, system and its spelling; None means all.

    All are, unless scores are on disk. judgements: with base_name.
    """
    if all(content.records is None or content.records.on_disk is None for content in contents):
        return [None]
    scored = labels.select("scorer", "n", spelling="system", system=pl.col("system").replace_strict(names))
    judged = judgements.select(scorer="base_name", n=pl.lit(1, pl.get_index_type()), spelling="system", system="system")
    counts = (
        pl.concat([scored, judged]).group_by("scorer", "system").agg(pl.col("n").sum(), pl.col("spelling").unique())
    )
    counts = counts.sort("scorer", "system").with_columns(part=pl.col("n").cum_sum() // MOST_ROWS)
    return [*counts.explode("spelling").partition_by("part", maintain_order=True)]


def _rows_of_part(scores: pl.LazyFrame, part: pl.DataFrame | None) -> pl.LazyFrame:
    """The scores of a part, in the order of the files."""
    if part is None:
        return scores
    first, last = (
        pl.lit(name) for name in part.select(first=pl.col("scorer").min(), last=pl.col("scorer").max()).row(0)
    )
    here = scores.filter(pl.col("scorer").is_between(first, last))
    here = here.join(part.lazy().select("scorer", system="spelling"), on=["scorer", "system"], how="semi")
    return here.collect(engine="streaming").sort("file_no", "line", maintain_order=True).lazy()


def _of_part(rows: pl.DataFrame, part: pl.DataFrame | None, scorer: str = "scorer") -> pl.DataFrame:
    """The rows of a part. scorer: the column that names scorers as files do."""
    if part is None:
        return rows
    return rows.join(part, left_on=[scorer, "system"], right_on=["scorer", "system"], how="semi", maintain_order="left")


def _of_known_segments(preferences: pl.DataFrame, places: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """Preferences with names of systems and scorers and with segment numbers. places: of the scores that they make."""
    if preferences.is_empty():
        return preferences
    place = ["file_no", "segment", "document", "index"]
    numbers = places.filter((pl.col("level") == "seg") & ~pl.col("is_lost"))
    numbers = numbers.select(
        "file_no", *(pl.col(f"written_{name}").alias(name) for name in place[1:]), "number"
    ).unique()
    found = preferences.join(numbers, on=place, how="inner", nulls_equal=True, maintain_order="left")
    systems = pl.col("system_a", "system_b").replace_strict(names, return_dtype=pl.String)
    return found.with_columns(systems, scorer=scorer_name())


def _report_shared(contents: Sequence[Content], judgements: pl.DataFrame, stage: Stage) -> None:
    """Report a file that repeats judgements of another file, which would count twice."""
    if judgements.is_empty():
        return
    timed = judgements.filter(pl.col("time").is_not_null() & (pl.col("status") == "valid"))
    same = timed.group_by("scorer", "system", "number", "value", "time").agg(pl.col("file_no").unique().sort())
    shared = same.filter(pl.col("file_no").list.len() > 1).select(
        first=pl.col("file_no").list.first(), other=pl.col("file_no").list.last()
    )
    paths = {content.file_no: str(content.claim.path) for content in contents}
    for first, other, n in shared.group_by("first", "other").len().sort("first", "other").iter_rows():
        found = f"{counted(n, 'judgement')} that are also in {paths[first]}"
        stage.fault(other, Fault(paths[other], 0, found, "each once", "load only one of them"))


def _report_predicted_twice(contents: Sequence[Content], judgements: pl.DataFrame, stage: Stage) -> None:
    """Report files with two predictions of error spans by one metric for one output."""
    if judgements.is_empty():
        return
    predicted = judgements.filter(kind="metric").group_by("file_no", "scorer", "system", "number", maintain_order=True)
    twice = predicted.agg(pl.len(), pl.col("line").max()).filter(pl.col("len") > 1)
    found = pl.format("another prediction of {}, system '{}'", "scorer", "system")
    report_rows(contents, stage, twice.with_columns(found=found), "one prediction per output")


def _report_empty(contents: Sequence[Content], stage: Stage) -> None:
    """A fault for each score of which files have places, and no value at any of them."""
    first: dict[str, tuple[Content, int]] = {}
    n_rows, n_values = Counter[str](), Counter[str]()
    for content in contents:
        rows = _rows_of(content)
        if "value" in rows.columns:
            of_scorers = rows.group_by("scorer").agg(pl.col("line").min(), n=pl.len(), n_values=pl.col("value").count())
        elif "n_values" in rows.columns:
            of_scorers = rows.select("scorer", "line", "n", "n_values")
        else:
            continue
        for scorer, line, n, n_with_value in of_scorers.sort("line").iter_rows():
            first.setdefault(scorer, (content, line or 0))
            n_rows[scorer] += n
            n_values[scorer] += n_with_value
    for scorer, (content, line) in first.items():
        if not n_values[scorer]:
            found = f"every score of {scorer} is missing ({counted(n_rows[scorer], 'row')})"
            stage.fault(content.file_no, Fault(str(content.claim.path), line, found, "at least one score"))


def _direction(content: Content) -> list[str]:
    """A note if scores of a user metric have the name of an error measure but are stored unchanged."""
    assert content.records is not None
    labels = content.records.labels
    assert labels is not None
    named = [describe(name) for name in labels["scorer"].unique().sort()]
    counts_errors = any(facts.is_error_measure or facts.family in _ERRORS_AS_WRITTEN for facts in named)
    if content.claim.is_negated or not counts_errors or (labels["least"] < 0).any():
        return []
    way_out = f"`scorehouse {option('add.is_error_measure', True)}` stores them negated"
    return [f"error counts, none below 0: {way_out}"]


def _settle(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Settle names and numbers of the warehouse's data if only files of the organisers' layout are added."""
    if stage.evalset.names - stage.evalset.fixed:
        joined(contents, {}, stage, aliases)
    settle_segments(stage)


def _together(contents: Sequence[Content], name: str) -> pl.DataFrame:
    """One frame of all files, with `file_no`."""
    frames: Iterator[tuple[int, pl.DataFrame]] = ((one.file_no, getattr(one.records, name)) for one in contents)
    numbered = ((frame, pl.Series("file_no", [file_no], pl.Int64)) for file_no, frame in frames)
    return pl.concat([frame.hstack([number.new_from_index(0, frame.height)]) for frame, number in numbered])


def _scores(contents: Sequence[Content]) -> pl.LazyFrame:
    """The scores of all files, with `file_no`; error measures are negated, so that higher is better."""
    numbered = []
    for content in contents:
        assert content.records is not None
        rows = content.records.rows.with_columns(file_no=pl.lit(content.file_no, dtype=pl.Int64))
        if content.claim.is_negated:
            rows = rows.with_columns(value=0.0 - pl.col("value"), is_negated=pl.lit(True))
        numbered.append(rows)
    return pl.concat(numbered)


def _rows_of(content: Content) -> pl.DataFrame:
    """The file's main rows: judgements if they make the scores, else the labels of its scores, else segments."""
    records = content.records
    assert records is not None
    assert records.labels is not None
    assert records.judgements is not None
    assert records.segments is not None
    if records.scores_from_judgements:
        return records.judgements
    if records.preferences is not None and records.preferences.height:
        return records.preferences
    return records.labels if records.labels.height else records.segments


def _means(contents: Sequence[Content], judgements: pl.DataFrame) -> pl.DataFrame:
    """Human scores computed as means of valid judgements."""
    making = [content.file_no for content in contents if content.records and content.records.scores_from_judgements]
    valid = judgements.filter(pl.col("file_no").is_in(making) & (pl.col("status") == "valid"))
    means = valid.group_by("scorer", "system", "number", maintain_order=True).agg(
        pl.col("value").sort().mean(), pl.col("file_no").min(), pl.col("line").min(), pl.col("testset", "lp").first()
    )
    return means.with_columns(kind=pl.lit("human"), level=pl.lit("seg"))


def report_further_faults(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Report unknown systems and segments in files that have other faults.

    Call this after staging the valid files; only the faults of damaged files go to the stage.
    """
    damaged = [content for content in contents if content.faults and content.records is not None]
    if not damaged:
        return
    labels, judgements = (_together(damaged, name) for name in ("labels", "judgements"))
    names = spelled([set(labels["system"])], set(labels["system"]), stage, aliases)
    check_known(damaged, labels, {spelling: system.system for spelling, system in names.items()}, stage)
    _report_segments(damaged, _scores(damaged), judgements, stage)


def _report_segments(contents: Sequence[Content], scores: pl.LazyFrame, judgements: pl.DataFrame, stage: Stage) -> None:
    """Report rows with nonexistent segment numbers in files that may not name new segments."""
    known = known_segments(stage)
    is_closed = stage.evalset.is_declared or bool(declaring_segments(stage))
    closed = [
        content.file_no
        for content in contents
        if (is_closed or content.claim.is_own) and not content.claim.is_positional
    ]
    if not known or not closed:
        return
    place = ("file_no", "line", "segment", "document", "index")
    of_segments = scores.filter(pl.col("level") == "seg").select(place)
    judged = judgements.filter((pl.col("status") != TUTORIAL).fill_null(True)).select(place)
    is_number = pl.col("segment").is_between(1, MOST_SEGMENTS)  # any other is a fault of its row already
    rows = pl.concat([of_segments, judged.lazy()]).filter(pl.col("file_no").is_in(closed) & is_number)
    report_lost(contents, rows.filter(~pl.col("segment").is_in(known)).collect(), stage)


def scorer_name() -> pl.Expr:
    """A metric's name with its reference, as in `BLEU-refA`; the name of a human score."""
    metric = pl.format("{}-{}", "scorer", pl.col("reference").fill_null(REFERENCE_FREE))
    return pl.when(pl.col("kind") == "metric").then(metric).otherwise("scorer")


def distinct(scores: pl.DataFrame) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Each score of a file once, and a frame of those with several rows, if any: their number n, and whether they
    differ."""
    keyed = scores.lazy().with_columns(
        unit=pl.when(pl.col("level") == "doc").then("document").when(pl.col("level") == "domain").then("domain"),
        base_name=pl.col("scorer"),
        scorer=scorer_name(),
        number=pl.when(pl.col("level") == "seg").then("number"),
    )
    vector = ["file_no", *VECTOR_KEY, "unit"]
    cell = [*vector, "number"]
    are_distinct = keyed.group_by(vector).agg(pl.col("number").n_unique() == pl.len()).select(pl.col("number").all())
    scores, check = pl.collect_all([keyed, are_distinct], engine="in-memory")
    if check.item():
        return scores, []
    is_repeated = scores.select(cell).is_duplicated()
    again = (
        scores.filter(is_repeated)
        .group_by(cell, maintain_order=True)
        .agg(pl.len().alias("n"), (pl.col("value").n_unique() > 1).alias("differs"), pl.col("line").max())
    )
    return scores.unique(cell, keep="first", maintain_order=True), [again]


def report_repeated(contents: Sequence[Content], again: pl.DataFrame, stage: Stage) -> None:
    """Report contradicting rows of one score, and note equal ones. again: see `distinct`."""
    place = pl.format(", segment {}", "number").fill_null("")
    differing = again.filter("differs").with_columns(
        found=pl.format("another score of {}, system '{}'{}", "scorer", "system", place)
    )
    report_rows(contents, stage, differing.filter(level="seg"), "one score each")
    others = "one score each; scores of segments need a column that names them, such as 'segment'"
    report_rows(contents, stage, differing.filter(pl.col("level") != "seg"), others)
    same = again.filter(~pl.col("differs")).group_by("file_no").agg((pl.col("n") - 1).sum())
    paths = {content.file_no: content.claim.path for content in contents}
    for file_no, n in same.sort("file_no").iter_rows():
        stage.notes.append(f"{paths[file_no]}: {counted(n, 'repeated row')}, loaded once")


def _counted(contents: Sequence[Content], scores: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """What some scores of segments cover; see `report_incomplete`. contents: all files."""
    segments = scores.lazy().filter(pl.col("level") == "seg")
    met = (
        segments.filter(pl.col("kind") == "metric")
        .group_by("file_no", "scorer", "system", maintain_order=True)
        .agg(
            pl.len().alias("n"),
            pl.col("value").count().alias("n_values"),
            pl.col("line").min(),
            pl.col("reference").first(),
        )
    )
    tables = [content.file_no for content in contents if content.claim.is_table and not content.claim.is_own]
    has_value = pl.col("file_no").is_in(tables) & pl.col("value").is_not_null()
    there = segments.filter(has_value).group_by("scorer", "system").agg(pl.col("number").unique())
    cells = there.group_by("scorer").agg(pl.col("number").list.len().sum().alias("n"))
    counts, n_cells, outputs = pl.collect_all([met, cells, _outputs(there)], engine="in-memory")
    return counts, n_cells, outputs


def _outputs(numbers: pl.LazyFrame) -> pl.LazyFrame:
    """The segment numbers of each system, from several lists for each."""
    return numbers.group_by("system").agg(pl.col("number").explode().unique())


def report_incomplete(
    contents: Sequence[Content],
    places: pl.DataFrame,
    met: pl.DataFrame,
    cells: pl.DataFrame,
    there: pl.DataFrame,
    stage: Stage,
) -> None:
    """Report missing segments: files numbered by lines must have all for every system, and lists all of their document.
    For user metrics, gaps are noted.

    places: result of `placed`. met: counts of metrics' scores of each system, by file. cells: number of outputs in
    tables that each scorer, or part of one, has a score of. there: these outputs."""
    if listing := [content.file_no for content in contents if content.claim.is_listing]:
        listed = (pl.col("level") == "seg") & pl.col("file_no").is_in(listing) & ~pl.col("is_lost")
        _report_short_lists(contents, places.filter(listed), stage)
    n_segments = stage.n_segments
    if n_segments and (positional := [content.file_no for content in contents if content.claim.is_positional]):
        _report_short_blocks(contents, met.filter(pl.col("file_no").is_in(positional)), stage)
    own = [content.file_no for content in contents if content.claim.is_own]
    tables = [content.file_no for content in contents if content.claim.is_table and not content.claim.is_own]
    met = _without_design(cells, there, met, n_segments, stage)
    _report_gaps(met.filter(pl.col("file_no").is_in([*own, *tables])), n_segments, stage)


def _without_design(
    cells: pl.DataFrame, there: pl.DataFrame, met: pl.DataFrame, n_segments: int, stage: Stage
) -> pl.DataFrame:
    """The counts without scorers that miss only outputs missing everywhere, which one note counts.

    cells: number of outputs that each scorer scored, or part of one. there: the outputs with a score.
    """
    n_systems = there["system"].n_unique()
    if there.height >= n_systems * n_segments:
        return met
    whole = cells.group_by("scorer").agg(pl.col("n").sum()).filter(pl.col("n") == there.height)["scorer"]
    if whole.len() < 2:
        return met
    each = there.group_by("number").len()["len"].to_list()
    stage.notes.append(
        f"{stage.evalset.testset} {stage.evalset.lp}: {there.height} of "
        f"{counted(n_systems * n_segments, 'output')}: each segment has {ends(min(each), max(each))} of "
        f"{counted(n_systems, 'system')}"
    )
    return met.filter(~pl.col("scorer").is_in(whole.implode()))


def _report_short_blocks(contents: Sequence[Content], met: pl.DataFrame, stage: Stage) -> None:
    """Report systems with more or fewer lines than segments."""
    blocks = met.group_by("file_no", "system")
    short = blocks.agg(pl.col("n").sum(), pl.col("line").min()).filter(pl.col("n") != stage.n_segments)
    lines = pl.when(pl.col("n") == 1).then(pl.lit("line")).otherwise(pl.lit("lines"))
    short = short.with_columns(found=pl.format("{} {} of '{}'", "n", lines, "system"))
    where = f"{stage.n_segments}, one per segment of {stage.evalset.testset} {stage.evalset.lp}"
    report_rows(contents, stage, short, where)


def _report_short_lists(contents: Sequence[Content], listed: pl.DataFrame, stage: Stage) -> None:
    """Report documents with more segments in other files, because it is unknown which are missing here."""
    known = [rows.select("document", index="index_in_document") for rows in stage.segments]
    held = [(document, index) for _, _, document, index, _ in stage.evalset.segments]
    known.append(pl.DataFrame(held, schema={"document": pl.String, "index": pl.Int64}, orient="row"))
    whole = pl.concat(known, how="vertical_relaxed").group_by("document").agg(n=pl.col("index").max())
    lists = listed.group_by("file_no", "document").agg(pl.col("index").max(), pl.col("line").min())
    short = lists.join(whole, on="document").filter(pl.col("index") < pl.col("n"))
    found = pl.format("{} of {} segments of document '{}'", "index", "n", "document")
    report_rows(contents, stage, short.with_columns(found=found), "all of them, null if missing")


def _report_gaps(met: pl.DataFrame, n_segments: int, stage: Stage) -> None:
    """Note user metrics with missing systems or segments; rankings that need these exclude the metrics.

    A metric's scores may be in several files. Its own reference is not one of its systems. Segments missing from a
    faulty file are not reported.
    """
    there, notes = systems_before(stage), stage.notes
    scorers = defaultdict[str, list[dict[str, Any]]](list)
    for row in met.sort("file_no", "line").iter_rows(named=True):
        scorers[row["scorer"]].append(row)
    for scorer, rows in scorers.items():
        files, systems = ({row[name] for row in rows} for name in ("file_no", "system"))
        n_scores = len(systems) * n_segments
        n_missing = n_scores - sum(row["n_values"] for row in rows)
        if n_missing > 0 and stage.faults.keys().isdisjoint(files):
            notes.append(
                f"{scorer}: {n_missing} of {n_scores} segment scores are missing; rankings that need any of these "
                f"exclude the metric (`scorehouse {option('rank.intersection', True)}` does not)"
            )
        expected = there - {rows[0]["reference"]}
        n_scored = len(expected.intersection(systems))
        if n_scored < len(expected):
            notes.append(f"{scorer}: scores of {n_scored} of {counted(len(expected), 'system')}")
