"""Records of all files of one evaluation set, laid out on its stage: system names joined, segments found."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.errors import Fault
from warehouse.names import REFERENCE_FREE, system_kind
from warehouse.placing import PLACE, held_segments, place
from warehouse.readers.base import Content
from warehouse.spelling import join_spellings, nearest, told_apart
from warehouse.stage import Stage

if TYPE_CHECKING:
    import polars as pl

TUTORIAL = "tutorial"  # status of judgements of texts that no system made
_MOST_FAULTS = 20
_VECTOR = ("kind", "scorer", "base_name", "reference", "system", "level")
_KEY = ("kind", "scorer", "system", "level")


def stage_records(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Lay the records of files out on the stage, after the files of the organisers' layout.

    contents: with their records; those with faults take part in nothing. aliases: declared spellings of systems.
    """
    sound = [content for content in contents if content.records is not None and not content.faults]
    if not sound:
        _settle(contents, stage, aliases)
        return
    scores, judgements, declared = (_together(sound, name) for name in ("scores", "judgements", "segments"))
    _stage_declared(declared, stage)
    negated = [content.file_no for content in sound if content.claim.is_negated]
    if negated:
        scores = _negated(scores, negated)
    scores, judgements = _named(contents, scores, judgements, stage, aliases)
    scores, judgements = _placed(sound, scores, judgements, stage)
    scores = _with_means(sound, scores, judgements)
    scores = _distinct(sound, scores, stage)
    _check_complete(sound, scores, stage)
    vectors = _stage_vectors(sound, scores, judgements, stage)
    _stage_judgements(sound, judgements, vectors, stage)
    for content in sound:
        assert content.records is not None
        brought = _rows_of(content)
        stage.n_rows[content.file_no] = brought.height
        stage.n_missing[content.file_no] = brought["value"].null_count() if "value" in brought.columns else 0
        stage.notes += [f"{content.claim.path}: {note}" for note in content.records.notes]


def _settle(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Names and numbers of what the warehouse has, where files of the organisers' layout alone come to it."""
    import polars as pl

    if stage.evalset.names - stage.evalset.fixed:
        _joined(contents, pl.DataFrame(schema={"file_no": pl.Int64, "system": pl.String}), stage, aliases)
    if stage.evalset.segments and not stage.evalset.is_declared and stage.segments:
        asked = {"segment": pl.Int64, "document": pl.String, "index": pl.Int64, "domain": pl.String}
        place(pl.DataFrame(schema={**asked, "file_no": pl.Int64}), stage)


def _together(contents: Sequence[Content], name: str) -> "pl.DataFrame":
    """One frame of all files, with `file_no`."""
    import numpy as np
    import polars as pl

    frames: list[pl.DataFrame] = [getattr(content.records, name) for content in contents]
    heights = [table.height for table in frames]
    numbers = np.repeat([content.file_no for content in contents], heights)
    filled = [table for table in frames if table.height] or frames[:1]
    return pl.concat(filled).with_columns(pl.Series("file_no", numbers, dtype=pl.Int64))


def _negated(scores: "pl.DataFrame", files: Sequence[int]) -> "pl.DataFrame":
    """Scores of errors turned around, so that more is better."""
    import polars as pl

    value = pl.when(pl.col("file_no").is_in(files)).then(0.0 - pl.col("value")).otherwise("value")
    return scores.with_columns(value=value)


def _rows_of(content: Content) -> "pl.DataFrame":
    """What the file holds one a row: judgements where they make the scores, else scores, else segments."""
    records = content.records
    assert records is not None
    assert records.scores is not None
    assert records.judgements is not None
    assert records.segments is not None
    if records.scores_from_judgements:
        return records.judgements
    return records.scores if records.scores.height else records.segments


def _tell(contents: Sequence[Content], stage: Stage, wrong: "pl.DataFrame", expected: str) -> None:
    """Faults of rows: frame with file_no, line, found."""
    paths = {content.file_no: str(content.claim.path) for content in contents}
    for (file_no,), rows in wrong.sort("file_no", "line").partition_by("file_no", as_dict=True).items():
        for line, found in rows.select("line", "found").head(_MOST_FAULTS).iter_rows():
            stage.fault(file_no, Fault(paths[file_no], line or 0, found, expected))
        if rows.height > _MOST_FAULTS:
            more = f"{rows.height - _MOST_FAULTS} more such lines"
            stage.fault(file_no, Fault(paths[file_no], 0, more, expected))


def _stage_declared(declared: "pl.DataFrame", stage: Stage) -> None:
    import polars as pl

    if not declared.is_empty():
        rows = declared.sort("segment").select(
            pl.col("file_no").cast(pl.Int32),
            pl.col("segment").cast(pl.Int32),
            pl.col("segment").cast(pl.Int32).alias("position"),
            "domain",
            "document",
            pl.col("index").cast(pl.Int32).alias("index_in_document"),
            pl.lit(True).alias("is_declared"),
        )
        stage.add("segment", rows)


def _named(
    contents: Sequence[Content],
    scores: "pl.DataFrame",
    judgements: "pl.DataFrame",
    stage: Stage,
    aliases: Mapping[str, str],
) -> "tuple[pl.DataFrame, pl.DataFrame]":
    """The frames with the names of systems instead of the files' spellings."""
    import polars as pl

    used = pl.concat([scores.select("file_no", "system"), judgements.select("file_no", "system")]).unique()
    names = _joined(contents, used, stage, aliases)
    _check_known(contents, scores, names, stage)
    tutorials = _only_tutorials(scores, judgements)
    for file_no, spelling in used.select("file_no", "system").iter_rows():
        kind = "qc" if spelling in tutorials else system_kind(names[spelling])
        stage.add_systems(file_no, {names[spelling]: kind})
    return tuple(
        table.with_columns(
            spelling=pl.col("system"), system=pl.col("system").replace_strict(names, return_dtype=pl.String)
        )
        for table in (scores, judgements)
    )  # type: ignore[return-value]


def _joined(
    contents: Sequence[Content], used: "pl.DataFrame", stage: Stage, aliases: Mapping[str, str]
) -> dict[str, str]:
    """The system of each spelling; spellings, and systems of the warehouse that change their names, go to the stage.

    Names in the organisers' layout stay as they are, and a user's own file names no system.
    """
    import polars as pl

    layout = stage.systems
    strict = [content.file_no for content in contents if content.claim.is_strict]
    files = used.group_by("file_no").agg("system").sort("file_no")["system"].to_list()
    naming = set(used.filter(~pl.col("file_no").is_in(strict))["system"])
    known = stage.evalset.spellings
    for system, torn in told_apart([*files, layout], known, aliases, stage.evalset.fixed | layout).items():
        _tell_torn(contents, used, system, torn, stage)
    joined = join_spellings(
        [*files, layout],
        known,
        aliases,
        fixed=stage.evalset.fixed | layout,
        quiet=set(used["system"]) - naming,
    )
    stage.add_spellings(
        {spelling: (system.system, system.rule) for spelling, system in joined.items() if system.rule is not None}
    )
    stage.renamed = {name: joined[name].system for name in stage.evalset.names & joined.keys()}
    stage.renamed = {name: system for name, system in stage.renamed.items() if name != system}
    return {spelling: system.system for spelling, system in joined.items()}


def _tell_torn(contents: Sequence[Content], used: "pl.DataFrame", system: str, torn: set[str], stage: Stage) -> None:
    """A fault of the first file whose names tell apart what the warehouse holds as one system."""
    import polars as pl

    naming = {file_no for name in torn for file_no in stage.files_naming(name)}
    naming |= set(used.filter(pl.col("system").is_in(list(torn)))["file_no"])
    paths = {content.file_no: str(content.claim.path) for content in contents}
    where = f"{stage.evalset.testset} {stage.evalset.lp}"
    found = f"{', '.join(sorted(torn))} beside the spellings of {system!r}, which is one system in the warehouse"
    way_out = f"load all of {where} into a new file, where they stay apart"
    stage.fault(min(naming), Fault(paths[min(naming)], 0, found, "names that can be one system", way_out))


def _only_tutorials(scores: "pl.DataFrame", judgements: "pl.DataFrame") -> set[str]:
    import polars as pl

    if judgements.is_empty():
        return set()
    taught = judgements.group_by("system").agg((pl.col("status") == TUTORIAL).all().alias("is_tutorial"))
    return set(taught.filter("is_tutorial")["system"]) - set(scores["system"])


def _check_known(contents: Sequence[Content], scores: "pl.DataFrame", names: Mapping[str, str], stage: Stage) -> None:
    """Files that may name systems of the evaluation set only."""
    import polars as pl

    strict = [content.file_no for content in contents if content.claim.is_strict]
    there = _there(stage)
    lacking = {spelling: system for spelling, system in names.items() if system not in there}
    if not strict or not lacking:
        return
    wrong = scores.filter(pl.col("file_no").is_in(strict) & pl.col("system").is_in(list(lacking)))
    told = (
        wrong.group_by("file_no", "system")
        .agg(pl.col("line").min())
        .with_columns(found=pl.format("unknown system '{}'", "system"))
    )
    hints = {near for spelling in lacking for near in nearest(spelling, there)}
    shown = ", ".join(sorted(hints) or sorted(there)[:8]) or "none is there yet"
    _tell(contents, stage, told, f"a system of {stage.evalset.testset} {stage.evalset.lp}, such as {shown}")


def _there(stage: Stage) -> set[str]:
    """Systems that the warehouse has, by the names that they have after this load, and those of the layout's files."""
    return {stage.renamed.get(name, name) for name in stage.evalset.names} | stage.systems


def _placed(
    contents: Sequence[Content], scores: "pl.DataFrame", judgements: "pl.DataFrame", stage: Stage
) -> "tuple[pl.DataFrame, pl.DataFrame]":
    """The frames with the number of every segment; rows of segments that there are not become faults.

    Texts of tutorials are no segments of the evaluation set: their judgements keep the numbers that the file gives.
    """
    import polars as pl

    is_taught = (pl.col("status") == TUTORIAL) & pl.col("segment").is_not_null()
    taught = judgements.filter(is_taught).with_columns(number=pl.col("segment"))
    judgements = judgements.filter(~is_taught)
    scores = _as_shown(contents, scores, stage)
    of_segments = scores.filter(pl.col("level") == "seg")
    asked = pl.concat([table.select(*PLACE, "domain", "file_no") for table in (of_segments, judgements)])
    asked = asked.group_by(*PLACE, maintain_order=True).agg(
        pl.col("domain").drop_nulls().first(), pl.col("file_no").min()
    )
    keys = place(asked, stage)
    placed = []
    for table in (scores, judgements):
        needs = (pl.col("level") == "seg") if "level" in table.columns else pl.lit(True)
        table = table.join(keys, on=list(PLACE), how="left", nulls_equal=True, maintain_order="left")
        lost = table.filter(needs & pl.col("number").is_null())
        if not lost.is_empty():
            where = f"one of the segments of {stage.evalset.testset} {stage.evalset.lp}"
            _tell(contents, stage, lost.with_columns(found=_segment_in_words()), where)
        placed.append(table.filter(~needs | pl.col("number").is_not_null()))
    return placed[0], pl.concat([placed[1], taught]).sort("file_no", "line", maintain_order=True)


def _as_shown(contents: Sequence[Content], scores: "pl.DataFrame", stage: Stage) -> "pl.DataFrame":
    """A user's own file names segments by the numbers that the warehouse shows, and may name no others."""
    import polars as pl

    strict = [content.file_no for content in contents if content.claim.is_strict]
    held = held_segments(stage)
    if not strict or held.is_empty() or stage.evalset.is_declared or stage.segments:
        return scores
    is_theirs = pl.col("file_no").is_in(strict) & (pl.col("level") == "seg")
    places = held.filter(pl.col("segment").is_null())
    places = places.select(segment="number", shown_document="document", shown_index="index", is_shown=pl.lit(True))
    rows = scores.join(places, on="segment", how="left", maintain_order="left")
    is_shown = is_theirs & pl.col("is_shown").fill_null(False)
    rows = rows.with_columns(
        segment=pl.when(~is_shown).then(pl.col("segment")),
        document=pl.when(is_shown).then("shown_document").otherwise("document"),
        index=pl.when(is_shown).then("shown_index").otherwise("index"),
    ).select(scores.columns)
    lines = held.filter(pl.col("segment").is_not_null())["segment"].implode()
    named = held.select("document", "index", is_there=pl.lit(True)).drop_nulls().unique()
    rows = rows.join(named, on=["document", "index"], how="left", maintain_order="left")
    is_there = pl.col("segment").is_in(lines) | (pl.col("segment").is_null() & pl.col("is_there").fill_null(False))
    lost = rows.filter(is_theirs & ~is_there.fill_null(False))
    where = f"one of the segments of {stage.evalset.testset} {stage.evalset.lp}"
    _tell(contents, stage, lost.with_columns(found=_segment_in_words()), where)
    return rows.filter(~is_theirs | is_there.fill_null(False)).select(scores.columns)


def _segment_in_words() -> "pl.Expr":
    import polars as pl

    words: pl.Expr = (
        pl.when(pl.col("segment").is_not_null())
        .then(pl.format("segment {}", "segment"))
        .otherwise(pl.format("segment {} of document '{}'", "index", "document"))
    )
    return words


def _with_means(contents: Sequence[Content], scores: "pl.DataFrame", judgements: "pl.DataFrame") -> "pl.DataFrame":
    """The scores, with those of human protocols whose judgements make them: the means of the valid ones."""
    import polars as pl

    making = [content.file_no for content in contents if content.records and content.records.scores_from_judgements]
    if not making or judgements.is_empty():
        return scores
    valid = judgements.filter(pl.col("file_no").is_in(making) & (pl.col("status") == "valid"))
    means = valid.group_by("scorer", "system", "number", maintain_order=True).agg(
        pl.col("value").mean(), pl.col("file_no").min(), pl.col("line").min(), pl.col("testset", "lp").first()
    )
    means = means.with_columns(kind=pl.lit("human"), level=pl.lit("seg"))
    return pl.concat([scores, means.select(name for name in scores.columns if name in means.columns)], how="diagonal")


def _distinct(contents: Sequence[Content], scores: "pl.DataFrame", stage: Stage) -> "pl.DataFrame":
    """Each cell of a file once: equal rows are taken once, with a note; rows that differ are faults."""
    import polars as pl

    scores = scores.with_columns(
        unit=pl.when(pl.col("level") == "doc").then("document").when(pl.col("level") == "domain").then("domain"),
        base_name=pl.col("scorer"),
        scorer=pl.when(pl.col("kind") == "metric")
        .then(pl.format("{}-{}", "scorer", pl.col("reference").fill_null(REFERENCE_FREE)))
        .otherwise("scorer"),
        number=pl.when(pl.col("level") == "seg").then("number"),
    )
    cell = ["file_no", *_KEY, "unit", "number"]
    if not scores.select(cell).is_duplicated().any():
        return scores
    groups = scores.group_by(cell, maintain_order=True).agg(
        pl.len().alias("n"), (pl.col("value").n_unique() > 1).alias("differs"), pl.col("line").max()
    )
    wrong = groups.filter("differs").with_columns(
        found=pl.format("another score of {}, system '{}'", "scorer", "system")
    )
    _tell(contents, stage, wrong, "one score each")
    paths = {content.file_no: content.claim.path for content in contents}
    again = groups.filter((pl.col("n") > 1) & ~pl.col("differs")).group_by("file_no").agg((pl.col("n") - 1).sum())
    stage.notes += [f"{paths[file_no]}: {n} rows stand there again, taken once" for file_no, n in again.iter_rows()]
    return scores.unique(cell, keep="first", maintain_order=True)


def _check_complete(contents: Sequence[Content], scores: "pl.DataFrame", stage: Stage) -> None:
    """Files whose lines count the segments must have all of them for every system; of own metrics it is told."""
    import polars as pl

    own = [content for content in contents if content.claim.is_own]
    positional = [content.file_no for content in contents if content.claim.is_positional]
    if not own and not positional:
        return
    n_segments = stage.n_segments
    _tell_gaps(own, scores, n_segments, stage)
    if not positional or not n_segments:
        return
    blocks = scores.filter(pl.col("file_no").is_in(positional) & (pl.col("level") == "seg"))
    short = blocks.group_by("file_no", "system").agg(pl.len().alias("n"), pl.col("line").min())
    short = short.filter(pl.col("n") != n_segments).with_columns(found=pl.format("{} lines of '{}'", "n", "system"))
    _tell(contents, stage, short, f"{n_segments}, one a segment of {stage.evalset.testset} {stage.evalset.lp}")


def _tell_gaps(own: Sequence[Content], scores: "pl.DataFrame", n_segments: int, stage: Stage) -> None:
    """Notes on own metrics that lack systems or segments: such metrics stand in no ranking of whole evaluation sets."""
    import polars as pl

    there = _there(stage)
    for content in own:
        brought = scores.filter((pl.col("file_no") == content.file_no) & (pl.col("level") == "seg"))
        for (scorer,), cells in brought.group_by("scorer", maintain_order=True):
            n_systems = cells["system"].n_unique()
            n_lacking = n_systems * n_segments - cells["value"].is_not_null().sum()
            if n_lacking > 0:
                stage.notes.append(f"{scorer}: {n_lacking} of {n_systems * n_segments} segment scores are missing")
            if n_systems < len(there):
                stage.notes.append(f"{scorer}: scores of {n_systems} of the {len(there)} systems that there are")


def _stage_vectors(
    contents: Sequence[Content], scores: "pl.DataFrame", judgements: "pl.DataFrame", stage: Stage
) -> "pl.DataFrame":
    """Vectors with their scores; the frame tells the number of each, by group of files."""
    import polars as pl

    group_of = _groups(contents)
    scores = scores.with_columns(group=pl.col("file_no").replace_strict(group_of, return_dtype=pl.Int64))
    judged = judgements.with_columns(group=pl.col("file_no").replace_strict(group_of, return_dtype=pl.Int64))
    rows = pl.concat(
        [
            scores.select("group", "file_no", *_VECTOR, "value", is_row=pl.lit(1)),
            judged.select(
                "group",
                "file_no",
                kind=pl.lit("human"),
                scorer="scorer",
                base_name="scorer",
                reference=pl.lit(None, dtype=pl.String),
                system="system",
                level=pl.lit("seg"),
                value=pl.lit(None, dtype=pl.Float64),
                is_row=pl.lit(0),
            ),
        ]
    )
    vectors = rows.group_by("group", *_VECTOR, maintain_order=True).agg(
        pl.col("file_no").min(),
        pl.col("value").is_not_null().sum().alias("n_values"),
        (pl.col("is_row").sum() - pl.col("value").is_not_null().sum()).alias("n_missing"),
    )
    vectors = vectors.sort("group", *_KEY)
    vectors = vectors.with_columns(vector_no=pl.Series(list(stage.batch.new_vectors(vectors.height)), dtype=pl.Int32))
    statuses = {content.file_no: (content.claim.status, content.claim.is_own) for content in contents}
    told = [statuses[file_no] for file_no in vectors["file_no"]]
    stage.add(
        "vector",
        vectors.select(
            "vector_no",
            pl.col("file_no").cast(pl.Int32),
            *_VECTOR,
            is_reference_free=(pl.col("kind") == "metric") & pl.col("reference").is_null(),
            is_negated=pl.col("file_no").is_in([c.file_no for c in contents if c.claim.is_negated]),
            n_values=pl.col("n_values").cast(pl.Int32),
            n_missing=pl.col("n_missing").cast(pl.Int32),
        ).with_columns(
            pl.Series("status", [status for status, _ in told], dtype=pl.String),
            pl.Series("is_own", [is_own for _, is_own in told], dtype=pl.Boolean),
        ),
    )
    numbered = scores.join(vectors.select("vector_no", "group", *_KEY), on=["group", *_KEY], how="left")
    is_seg = pl.col("level") == "seg"
    stage.add(
        "score", numbered.filter(is_seg).select("vector_no", pl.col("number").cast(pl.Int32).alias("segment"), "value")
    )
    stage.add("aggregate", numbered.filter(~is_seg).select("vector_no", "unit", "value"))
    return vectors


def _groups(contents: Sequence[Content]) -> dict[int, int]:
    """File -> the first file of its group; a file without one is its own."""
    first: dict[str, int] = {}
    return {
        content.file_no: first.setdefault(content.claim.group, content.file_no)
        if content.claim.group
        else content.file_no
        for content in contents
    }


def _stage_judgements(
    contents: Sequence[Content], judgements: "pl.DataFrame", vectors: "pl.DataFrame", stage: Stage
) -> None:
    import polars as pl

    if judgements.is_empty():
        return
    judged = judgements.with_columns(
        group=pl.col("file_no").replace_strict(_groups(contents), return_dtype=pl.Int64)
    ).join(
        vectors.filter((pl.col("kind") == "human") & (pl.col("level") == "seg")).select(
            "vector_no", "group", "scorer", "system"
        ),
        on=["group", "scorer", "system"],
        how="left",
        maintain_order="left",
    )
    judged = judged.with_columns(
        judgement_no=pl.Series(list(stage.batch.new_judgements(judged.height)), dtype=pl.Int32)
    )
    stage.add(
        "judgement",
        judged.select(
            "judgement_no",
            "vector_no",
            pl.col("number").cast(pl.Int32).alias("segment"),
            "rater",
            "item",
            "value",
            pl.col("n").cast(pl.Int32),
            "time",
            "status",
        ),
    )
    ratings = _together(contents, "ratings").join(
        judged.select("file_no", "judgement", "judgement_no"), on=["file_no", "judgement"], maintain_order="left"
    )
    stage.add(
        "rating",
        ratings.select(
            "judgement_no",
            "category",
            "severity",
            "weight",
            pl.col("span_start").cast(pl.Int32),
            pl.col("span_end").cast(pl.Int32),
            "is_source_error",
        ),
    )
