"""Systems of an evaluation set on the stage: spellings in the files, and the system that each belongs to."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

import polars as pl

from warehouse.database.stage import Stage
from warehouse.errors import Fault
from warehouse.names import is_human_name, system_kind
from warehouse.readers.contents import Content
from warehouse.readers.records import TUTORIAL
from warehouse.staging.placing import report_rows

ALIAS = "declared alias"
LETTERS = "same letters and digits"
NUMBER = "number at the end dropped"
BEFORE = "as before"
_NUMBER = re.compile(r"\.\d+$")
_Rows = TypeVar("_Rows", pl.DataFrame, pl.LazyFrame)


@dataclass(frozen=True)
class SystemAlias:
    """The system that a spelling belongs to, and the rule that says so; None for its own name."""

    system: str
    rule: str | None = None


def letters(name: str) -> str:
    """The letters and digits of a name, without case.

    >>> letters("Huawei-TSC.1533") == letters("Huawei_TSC.1533")
    True
    """
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def without_number(name: str) -> str:
    """A name without the number at its end.

    >>> without_number("MSRA.MASS.6996")
    'MSRA.MASS'
    """
    return _NUMBER.sub("", name) or name


def join_spellings(
    sources: Iterable[Collection[str]],
    known: Mapping[str, str],
    aliases: Mapping[str, str],
    *,
    fixed: Collection[str] = (),
    quiet: Collection[str] = (),
) -> dict[str, SystemAlias]:
    """The system of each spelling.

    sources: the names that each file has. known: spelling -> system, of the warehouse; systems stand for themselves.
    aliases: spelling -> system, declared. fixed: systems that keep their names; quiet: spellings that never become a
    system's name. The name chosen from the spellings does not depend on the order of files: see `preferred`.
    Systems of the warehouse are in the result if their names change.

    >>> join_spellings([{"A_B.1", "C.1", "C.2"}, {"A-B", "C"}], {}, {})["A_B.1"]
    SystemAlias(system='A-B', rule='number at the end dropped')
    """
    files = [set(names) for names in sources]
    uses = Counter(name for names in files for name in names)
    joined: dict[str, SystemAlias] = {}
    for name in uses:
        if name in known:
            joined[name] = SystemAlias(known[name], None if known[name] == name else BEFORE)
        elif name in aliases:
            joined[name] = SystemAlias(known.get(aliases[name], aliases[name]), ALIAS)
    groups: dict[str, set[str]] = defaultdict(set)
    for name in {*uses, *known}:
        if not is_human_name(name) and joined.get(name, SystemAlias(name)).rule != ALIAS:
            groups[letters(without_number(name))].add(name)
    for group in groups.values():
        for names in [group] if _is_one(group, files, known, fixed) else _by_letters(group, files, known, fixed):
            systems = {known[name] for name in names if name in known}
            named = ((names & uses.keys()) - set(quiet)) | systems or names
            keeps = systems - names or systems & set(fixed) or named & set(fixed)
            system = min(keeps, default=preferred(named))
            for name in names & (uses.keys() | systems):
                rule = LETTERS if letters(name) == letters(system) else NUMBER
                if name != system and known.get(name) == system:
                    rule = BEFORE
                joined[name] = SystemAlias(system, None if name == system else rule)
    for name, item in joined.items():
        if item.rule == ALIAS and aliases[name] in joined:
            joined[name] = SystemAlias(joined[aliases[name]].system, ALIAS)
        elif joined.get(item.system, item).system != item.system:  # its system, of other letters, changes its name
            joined[name] = SystemAlias(joined[item.system].system, item.rule)
    there = uses.keys() | {name for name in known.values() if joined.get(name, SystemAlias(name)).system != name}
    return {name: joined.get(name, SystemAlias(name)) for name in sorted(there)}


def told_apart(
    sources: Iterable[Collection[str]], known: Mapping[str, str], aliases: Mapping[str, str], fixed: Collection[str]
) -> dict[str, set[str]]:
    """Systems of the warehouse whose spellings would be several systems if all files were loaded together.

    sources, known, aliases, fixed: as for `join_spellings`. Each with the names in the sources that show it.

    >>> told_apart([{"A", "A.1"}], {"A": "A", "A.1": "A"}, {}, ()) == {"A": {"A", "A.1"}}
    True
    """
    files = [set(names) for names in sources]
    apart = join_spellings([*files, *({name} for name in known)], {}, aliases, fixed=fixed)
    torn: dict[str, set[str]] = {}
    for name, system in known.items():
        base = letters(without_number(system))
        if is_human_name(name) or letters(without_number(name)) != base or apart[name].system == apart[system].system:
            continue
        alike = [{other for other in names if letters(without_number(other)) == base} for names in files]
        torn[system] = {other for names in alike for other in names if other not in known or len(names) > 1}
    return {system: names for system, names in torn.items() if names}


def preferred(names: Collection[str]) -> str:
    """The spelling that names a system: preferably without a number, in lower case, with underscores, not dashes.

    >>> preferred({"Online-A.5", "ONLINE-A", "Online-A"})
    'Online-A'
    """
    return max(names, key=lambda name: (without_number(name) == name, name))


def _is_one(names: set[str], files: Iterable[set[str]], known: Mapping[str, str], fixed: Collection[str]) -> bool:
    """True if at most one number suffix occurs and no file contains two of the names."""
    numbered = {letters(name) for name in names if without_number(name) != name}
    systems = {known[name] for name in names if name in known}
    are_fixed = (names | systems) & set(fixed)
    fewer = max(len(numbered), len(systems), len(are_fixed)) <= 1
    return fewer and all(len(names & there) <= 1 for there in files)


def _by_letters(
    names: set[str], files: list[set[str]], known: Mapping[str, str], fixed: Collection[str]
) -> list[set[str]]:
    """Groups of names with equal letters and digits; each name alone if they cannot be one system."""
    groups: dict[str, set[str]] = defaultdict(set)
    for name in names:
        groups[letters(name)].add(name)
    parts = (
        [group] if _is_one(group, files, known, fixed) else [{name} for name in group] for group in groups.values()
    )
    return [part for of_group in parts for part in of_group]


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """The names most similar to a name, at most three."""
    folded = {letters(without_number(candidate)): candidate for candidate in sorted(candidates)}
    return [folded[near] for near in get_close_matches(letters(without_number(name)), folded, n=3, cutoff=0.5)]


def names_of(
    contents: Sequence[Content],
    labels: pl.DataFrame,
    judgements: pl.DataFrame,
    stage: Stage,
    aliases: Mapping[str, str],
) -> dict[str, str]:
    """The system of each spelling; systems with data in the files go to the stage. labels: of all scores."""
    used = defaultdict[int, set[str]](set)
    for rows in (labels, judgements.unique(["file_no", "system"]) if judgements.height else judgements):
        for file_no, spelling in zip(rows["file_no"].to_list(), rows["system"].to_list(), strict=True):
            used[file_no].add(spelling)
    names = joined(contents, used, stage, aliases)
    check_known(contents, labels, names, stage)
    tutorials = _only_tutorials(labels, judgements)
    for file_no, spellings in used.items():
        for spelling in sorted(spellings):
            kind = "qc" if spelling in tutorials else system_kind(names[spelling])
            stage.add_systems(file_no, {names[spelling]: kind})
    return names


def named(rows: _Rows, names: Mapping[str, str]) -> _Rows:
    """The rows with the names of systems instead of the files' spellings."""
    if all(spelling == system for spelling, system in names.items()):
        return rows
    return rows.with_columns(system=pl.col("system").replace_strict(names, return_dtype=pl.String))


def joined(
    contents: Sequence[Content], used: Mapping[int, set[str]], stage: Stage, aliases: Mapping[str, str]
) -> dict[str, str]:
    """The system of each spelling. Spellings, and renamed systems of the warehouse, go to the stage.

    used: the spellings in each file.
    Names in the organisers' layout are kept, and a user's own file never names a system.
    """
    layout = stage.systems
    strict = [content.file_no for content in contents if content.claim.is_own]
    files = [used[file_no] for file_no in sorted(used)]
    naming = set().union(*(spellings for file_no, spellings in used.items() if file_no not in strict))
    known = stage.evalset.spellings
    for system, torn in told_apart([*files, layout], known, aliases, stage.evalset.fixed | layout).items():
        _report_torn(contents, used, system, torn, stage)
    joined = spelled(files, set().union(*files) - naming, stage, aliases)
    stage.add_spellings({spelling: (one.system, one.rule) for spelling, one in joined.items() if one.rule is not None})
    known_here = stage.evalset.names & joined.keys()
    stage.renamed = {name: joined[name].system for name in known_here if joined[name].system != name}
    return {spelling: system.system for spelling, system in joined.items()}


def spelled(
    files: Sequence[Collection[str]], quiet: set[str], stage: Stage, aliases: Mapping[str, str]
) -> dict[str, SystemAlias]:
    """The system of each spelling in files, in the layout's files and in the warehouse; quiet ones give no names."""
    layout = stage.systems
    fixed = stage.evalset.fixed | layout
    return join_spellings([*files, layout], stage.evalset.spellings, aliases, fixed=fixed, quiet=quiet)


def _report_torn(
    contents: Sequence[Content], used: Mapping[int, set[str]], system: str, torn: set[str], stage: Stage
) -> None:
    """Report a fault of the first file whose names distinguish systems that are one in the warehouse."""
    naming = {file_no for name in torn for file_no in stage.files_naming(name)}
    naming |= {file_no for file_no, spellings in used.items() if spellings & torn}
    paths = {content.file_no: str(content.claim.path) for content in contents}
    where = f"{stage.evalset.testset} {stage.evalset.lp}"
    found = f"{', '.join(sorted(torn))} beside the spellings of {system!r}, which is one system in the warehouse"
    way_out = f"load all of {where} into a new warehouse, where they remain separate"
    stage.fault(min(naming), Fault(paths[min(naming)], 0, found, "names that can be one system", way_out))


def _only_tutorials(labels: pl.DataFrame, judgements: pl.DataFrame) -> set[str]:
    if judgements.is_empty():
        return set()
    taught = judgements.group_by("system").agg((pl.col("status") == TUTORIAL).all().alias("is_tutorial"))
    return set(taught.filter("is_tutorial")["system"]) - set(labels["system"])


def check_known(contents: Sequence[Content], labels: pl.DataFrame, names: Mapping[str, str], stage: Stage) -> None:
    """Check files that may only name systems of the evaluation set. labels: of their scores."""
    strict = [content.file_no for content in contents if content.claim.is_own]
    there = systems_there(stage)
    unknown = {spelling: system for spelling, system in names.items() if system not in there}
    if not strict or not unknown:
        return
    wrong = labels.filter(pl.col("file_no").is_in(strict) & pl.col("system").is_in(list(unknown)))
    more = pl.when(pl.col("n") > 1).then(pl.format(" in {} lines", "n")).otherwise(pl.lit(""))
    found = (
        wrong.group_by("file_no", "system")
        .agg(pl.col("line").min(), pl.col("n").sum())
        .with_columns(found=pl.format("unknown system '{}'", "system") + more)
    )
    hints = {near for spelling in unknown for near in nearest(spelling, there)}
    shown = ", ".join(sorted(hints) or sorted(there)[:8]) or "it has none yet"
    report_rows(contents, stage, found, f"a system of {stage.evalset.testset} {stage.evalset.lp}, such as {shown}")


def systems_there(stage: Stage) -> set[str]:
    """Systems of the warehouse, by their names after this load, and systems of the layout's files."""
    return systems_before(stage) | stage.systems


def systems_before(stage: Stage) -> set[str]:
    """Systems in the warehouse before this load, by their names after it."""
    return {stage.renamed.get(name, name) for name in stage.evalset.names}
