"""Systems of an evaluation set on the stage: the one that each spelling in the files belongs to."""

from collections.abc import Collection, Mapping, Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import Fault
from warehouse.names import system_kind
from warehouse.readers.contents import Content
from warehouse.readers.records import TUTORIAL
from warehouse.staging.row_faults import report_rows
from warehouse.staging.spelling import Joined, join_spellings, nearest, told_apart


def spellings_in(rows: pl.DataFrame) -> pl.DataFrame:
    """The spellings of systems in some rows: file_no, system, the first line, and the number of lines."""
    return rows.group_by("file_no", "system").agg(pl.col("line").min(), n=pl.len())


def names_of(
    contents: Sequence[Content],
    scored: pl.DataFrame,
    judgements: pl.DataFrame,
    stage: Stage,
    aliases: Mapping[str, str],
) -> dict[str, str]:
    """The system of each spelling; systems that files bring something of go to the stage.

    scored: as `spellings_in` gives them, of all scores.
    """
    used = pl.concat([scored.select("file_no", "system"), judgements.select("file_no", "system")]).unique()
    names = joined(contents, used, stage, aliases)
    check_known(contents, scored, names, stage)
    tutorials = _only_tutorials(scored, judgements)
    for file_no, spelling in used.select("file_no", "system").iter_rows():
        kind = "qc" if spelling in tutorials else system_kind(names[spelling])
        stage.add_systems(file_no, {names[spelling]: kind})
    return names


def named(rows: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """The rows with the names of systems instead of the files' spellings."""
    return rows.with_columns(system=pl.col("system").replace_strict(names, return_dtype=pl.String))


def joined(contents: Sequence[Content], used: pl.DataFrame, stage: Stage, aliases: Mapping[str, str]) -> dict[str, str]:
    """The system of each spelling; spellings, and systems of the warehouse that change their names, go to the stage.

    Names in the organisers' layout stay as they are, and a user's own file names no system.
    """
    layout = stage.systems
    strict = [content.file_no for content in contents if content.claim.is_strict]
    files = used.group_by("file_no").agg("system").sort("file_no")["system"].to_list()
    naming = set(used.filter(~pl.col("file_no").is_in(strict))["system"])
    known = stage.evalset.spellings
    for system, torn in told_apart([*files, layout], known, aliases, stage.evalset.fixed | layout).items():
        _report_torn(contents, used, system, torn, stage)
    joined = spelled(files, set(used["system"]) - naming, stage, aliases)
    stage.add_spellings(
        {spelling: (system.system, system.rule) for spelling, system in joined.items() if system.rule is not None}
    )
    stage.renamed = {name: joined[name].system for name in stage.evalset.names & joined.keys()}
    stage.renamed = {name: system for name, system in stage.renamed.items() if name != system}
    return {spelling: system.system for spelling, system in joined.items()}


def spelled(
    files: Sequence[Collection[str]], quiet: set[str], stage: Stage, aliases: Mapping[str, str]
) -> dict[str, Joined]:
    """The system of each spelling in files, in the layout's files and in the warehouse; quiet ones give no names."""
    layout = stage.systems
    fixed = stage.evalset.fixed | layout
    return join_spellings([*files, layout], stage.evalset.spellings, aliases, fixed=fixed, quiet=quiet)


def _report_torn(contents: Sequence[Content], used: pl.DataFrame, system: str, torn: set[str], stage: Stage) -> None:
    """A fault of the first file whose names tell apart what the warehouse holds as one system."""
    naming = {file_no for name in torn for file_no in stage.files_naming(name)}
    naming |= set(used.filter(pl.col("system").is_in(list(torn)))["file_no"])
    paths = {content.file_no: str(content.claim.path) for content in contents}
    where = f"{stage.evalset.testset} {stage.evalset.lp}"
    found = f"{', '.join(sorted(torn))} beside the spellings of {system!r}, which is one system in the warehouse"
    way_out = f"load all of {where} into a new file, where they stay apart"
    stage.fault(min(naming), Fault(paths[min(naming)], 0, found, "names that can be one system", way_out))


def _only_tutorials(scored: pl.DataFrame, judgements: pl.DataFrame) -> set[str]:
    if judgements.is_empty():
        return set()
    taught = judgements.group_by("system").agg((pl.col("status") == TUTORIAL).all().alias("is_tutorial"))
    return set(taught.filter("is_tutorial")["system"]) - set(scored["system"])


def check_known(contents: Sequence[Content], scored: pl.DataFrame, names: Mapping[str, str], stage: Stage) -> None:
    """Files that may name systems of the evaluation set only. scored: as `spellings_in` gives them."""
    strict = [content.file_no for content in contents if content.claim.is_strict]
    there = systems_there(stage)
    unknown = {spelling: system for spelling, system in names.items() if system not in there}
    if not strict or not unknown:
        return
    wrong = scored.filter(pl.col("file_no").is_in(strict) & pl.col("system").is_in(list(unknown)))
    more = pl.when(pl.col("n") > 1).then(pl.format(" in {} lines", "n")).otherwise(pl.lit(""))
    found = (
        wrong.group_by("file_no", "system")
        .agg(pl.col("line").min(), pl.col("n").sum())
        .with_columns(found=pl.format("unknown system '{}'", "system") + more)
    )
    hints = {near for spelling in unknown for near in nearest(spelling, there)}
    shown = ", ".join(sorted(hints) or sorted(there)[:8]) or "none is there yet"
    report_rows(contents, stage, found, f"a system of {stage.evalset.testset} {stage.evalset.lp}, such as {shown}")


def systems_there(stage: Stage) -> set[str]:
    """Systems that the warehouse has, by the names that they have after this load, and those of the layout's files."""
    return systems_before(stage) | stage.systems


def systems_before(stage: Stage) -> set[str]:
    """Systems that the warehouse has without this load, by the names that they have after it."""
    return {stage.renamed.get(name, name) for name in stage.evalset.names}
