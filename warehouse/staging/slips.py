"""Names that may have failed to join: typing errors, and systems with only human or only metric scores."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import polars as pl

from warehouse.database import statement
from warehouse.database.stage import Batch, Stage
from warehouse.errors import Fault
from warehouse.names import is_human_name
from warehouse.readers.contents import Content
from warehouse.staging.naming import nearest
from warehouse.wording import counted

_FEWER, _FEWER_ALIKE = 4, 2  # times; where case or ending alone differ
_SHORTEST = 4  # letters of a word in which one may be a slip
_ENDING = re.compile(r"\.(txt|tsv|csv|json|jsonl|out|hyp)$", re.IGNORECASE)
_PARTS = re.compile(r"[^\W\d_]+|[\W\d_]+")
_NAMES = ("scorer", "reference", "system")  # but not the annotator: several judge one segment
_PLACE = ("level", "domain", "document", "segment", "index")
_Name = tuple[str, int, int]  # with its scores, and the first line
_WORDS = {"system": "system", "scorer": "metric or human score", "rater": "annotator"}


def is_slip(rare: str, frequent: str) -> bool:
    """Whether two names are nearly equal.

    >>> [is_slip(name, "Birch-2") for name in ("birch-2", "Birch-2.txt", "Brch-2", "Bircch-2", "Bricj-2", "Birch-3")]
    [True, True, True, True, False, False]
    >>> is_slip("ONLINE-A", "ONLINE-B"), is_slip("rater1", "rater2"), is_slip("Bicrh", "Birch")
    (False, False, True)
    """
    if _is_alike(rare, frequent):
        return True
    parts, others = (_PARTS.findall(name.casefold()) for name in (rare, frequent))
    if len(parts) != len(others):
        return False
    differing = [pair for pair in zip(parts, others, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and max(map(len, differing[0])) >= _SHORTEST and _is_one_slip(*differing[0])


def _is_alike(name: str, other: str) -> bool:
    return _ENDING.sub("", name).casefold() == _ENDING.sub("", other).casefold()


def _is_one_slip(word: str, other: str) -> bool:
    if not (word.isalpha() and other.isalpha()):
        return False
    if len(word) == len(other):
        at = [number for number, (a, b) in enumerate(zip(word, other, strict=True)) if a != b]
        is_turned = len(at) == 2 and at[1] == at[0] + 1 and word[at[0]] + word[at[1]] == other[at[1]] + other[at[0]]
        return len(at) == 1 or is_turned
    shorter, longer = sorted((word, other), key=len)
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


def report_slips(
    contents: Sequence[Content],
    scores: pl.LazyFrame,
    labels: pl.DataFrame,
    judgements: pl.DataFrame,
    stage: Stage,
    aliases: Collection[str],
) -> None:
    """Report each name in files that is a typing error.

    labels: of the records of all files, with file_no. aliases: declared spellings of systems."""
    frames = {"scores": scores, "judgements": judgements.lazy()}
    counts = [*_counted(labels, "scores", "system"), *_counted(labels, "scores", "scorer")]
    if judgements.height:
        frames["judgements"] = judgements.lazy().with_columns(level=pl.lit("seg"))
        for column in ("system", "rater"):
            n = judgements.group_by("file_no", column).agg(pl.col("line").min(), n=pl.len(), level=pl.lit("seg"))
            counts += _counted(n, "judgements", column)
    counts.sort()
    paths = {content.file_no: str(content.claim.path) for content in contents}
    told: set[tuple[int, str, str]] = set()
    groups = defaultdict[tuple[int, str, str, str], list[_Name]](list)
    for one in counts:
        groups[one.file_no, one.rows, one.column, one.level].append((one.name, one.n, one.line))
    for (file_no, rows, column, level), names in groups.items():
        for (rare, n_rare, line), (frequent, n_frequent) in _pairs(names):
            here = (pl.col("file_no") == file_no) & (pl.col("level") == level)
            if (file_no, column, rare) in told or _share_a_place(frames[rows], here, column, (rare, frequent)):
                continue
            told.add((file_no, column, rare))
            found = f"{_WORDS[column]} {rare!r} with {counted(n_rare, 'score')}, {frequent!r} with {n_frequent}"
            expected, way_out = "one spelling", "if they are two, load them from two files"
            stage.fault(file_no, Fault(paths[file_no], line, found, expected, way_out))
    if judgements.height:
        _report_swapped(counts, paths, stage)
    known_alone = [content.file_no for content in contents if content.claim.is_own]  # `check_known` says it
    systems = [one for one in counts if one.column == "system" and one.name not in aliases]
    _report_beside([one for one in systems if one.file_no not in known_alone], paths, told, stage)


class _Count(NamedTuple):
    """A name in a column of a file: its scores at a level, and the first line."""

    file_no: int
    line: int
    name: str
    rows: str
    column: str
    level: str
    n: int


def _counted(rows: pl.DataFrame, kind: str, column: str) -> list[_Count]:
    """The names in a column. rows: with file_no, level, line and n."""
    lines: dict[tuple[int, str, str], int] = {}
    totals = Counter[tuple[int, str, str]]()
    columns = (rows[name].to_list() for name in ("file_no", "level", column, "line", "n"))
    for file_no, level, name, line, n in zip(*columns, strict=True):
        if name is not None:
            key = (file_no, level, name)
            lines[key] = min(lines.get(key, line or 0), line or 0)
            totals[key] += n
    return [_Count(key[0], lines[key], key[2], kind, column, key[1], n) for key, n in totals.items()]


def _report_swapped(counts: Iterable[_Count], paths: Mapping[int, str], stage: Stage) -> None:
    """Report a file whose annotators are systems elsewhere, while none of its systems is."""
    named: dict[str, dict[int, set[str]]] = {column: defaultdict(set) for column in _WORDS}
    for one in counts:
        named[one.column][one.file_no].add(one.name)
    for file_no in dict.fromkeys(one.file_no for one in counts):
        systems, raters = named["system"][file_no], named["rater"][file_no]
        others = (names for other, names in named["system"].items() if other != file_no)
        known = stage.evalset.names.union(stage.systems, *others)
        if len(raters & known) > 1 and not systems & known:
            found = f"annotators {', '.join(sorted(raters & known)[:3])}, which are systems elsewhere"
            way_out = "the columns of annotators and systems may be swapped"
            stage.fault(file_no, Fault(paths[file_no], 0, found, "names of annotators", way_out))


def _report_beside(
    counts: Sequence[_Count], paths: Mapping[int, str], told: Collection[tuple[int, str, str]], stage: Stage
) -> None:
    """Report each system that only one file names, if other files or the warehouse spell it differently.

    counts: of systems, by file. Applies if the file does not have the other name but has other known systems.
    """
    known = stage.evalset.names | stage.systems
    totals = Counter[str]()
    files = defaultdict[int, dict[str, int]](dict)  # file -> system -> its first line
    for one in counts:
        totals[one.name] += one.n
        files[one.file_no][one.name] = min(files[one.file_no].get(one.name, one.line), one.line)
    uses = Counter(name for names in files.values() for name in names)
    shared = known | {name for name, n in uses.items() if n > 1}
    for file_no, lines in sorted(files.items()):
        names = lines.keys()
        for rare in sorted(name for name in names - known if uses[name] == 1 and not is_human_name(name)):
            near = (name for name in sorted(shared - names) if abs(len(rare) - len(name)) < 2 and is_slip(rare, name))
            other = next((name for name in near if name in known or totals[rare] * _FEWER <= totals[name]), None)
            if other is None or not names & shared or (file_no, "system", rare) in told:
                continue
            found = f"system {rare!r}, which other files call {other!r}"
            way_out = "rename it, or declare it among the aliases in testset.toml"
            stage.fault(file_no, Fault(paths[file_no], lines[rare], found, "one spelling", way_out))


def _pairs(names: Sequence[_Name]) -> Iterator[tuple[_Name, tuple[str, int]]]:
    """Each name with far fewer scores than a nearly equal name, and the other name."""
    most = max(n for _, n, _ in names)
    for rare, n_rare, line in names:
        if n_rare * _FEWER_ALIKE <= most:
            for frequent, n_frequent, _ in names:
                fewer = _FEWER if n_rare * _FEWER <= n_frequent else _FEWER_ALIKE
                is_near = is_slip if fewer == _FEWER else _is_alike
                if n_rare * fewer <= n_frequent and abs(len(rare) - len(frequent)) < 7 and is_near(rare, frequent):
                    yield (rare, n_rare, line), (frequent, n_frequent)


def _share_a_place(rows: pl.LazyFrame, here: pl.Expr, column: str, names: Sequence[str]) -> bool:
    """Whether two names have scores at one place; a place is all columns of a row except this name."""
    others = [name for name in (*_NAMES, *_PLACE) if name in rows.collect_schema() and name != column]
    found = rows.filter(here & pl.col(column).is_in(list(names))).select(column, *others).unique().collect()
    return bool(found.drop(column).is_duplicated().any())


_sql = partial(statement, __package__)
_Row = tuple[str, str, int, int]  # system, its kind, numbers of human and metric vectors


def unjoined(batch: Batch, evalset_ids: Mapping[int, int]) -> None:
    """Note systems with only human or only metric scores, with the nearest names on the other side.

    evalset_ids: number on the stage -> evalset_id, for evaluation sets to check.
    Unjudged references are not reported, and nothing is if there are only metric or only human scores. Scores
    that were not submitted to the metrics task, and tutorials, do not count.
    """
    if not evalset_ids:
        return
    rows = batch.rows(_sql("scored_sides"), {"evalsets": list(evalset_ids.values())})
    systems: dict[int, list[_Row]] = {}
    for evalset_id, *row in rows:
        systems.setdefault(evalset_id, []).append(tuple(row))
    for stage in batch.stages:
        found = systems.get(evalset_ids.get(stage.evalset_no, -1), [])
        stage.notes += _lines(f"{stage.evalset.testset} {stage.evalset.lp}", found)


def _lines(where: str, rows: Sequence[_Row]) -> list[str]:
    """One line for each side with systems missing from it."""
    judged = {name: kind for name, kind, n_human, n_metric in rows if n_human and not n_metric}
    scored = {name: kind for name, kind, n_human, n_metric in rows if n_metric and not n_human}
    if not any(n_human for _, _, n_human, _ in rows) or not any(n_metric for _, _, _, n_metric in rows):
        return []
    lines = []
    for names_here, others, what in (
        (judged, scored, "judged by humans but scored by no metric"),
        (scored, judged, "scored by metrics but judged by no human"),
    ):
        for kind, noun in (("mt", "system"), ("human", "human translation")):
            names = [name for name in names_here if names_here[name] == kind]
            if names and (kind == "mt" or names_here is judged):
                lines.append(f"{where}: {counted(len(names), noun)} {what}: {_shown(names, others)}")
    return lines


def _shown(names: list[str], others: dict[str, str]) -> str:
    shown = []
    for name in names:
        near = nearest(name, others)
        shown.append(f"{name} (nearest: {', '.join(near)})" if near else name)
    return ", ".join(shown)
