"""A user's own metric: its scores are checked against the loaded evaluation sets, added, and removed."""

import contextlib
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.errors import QuestionError, unknown, unknown_evalset
from warehouse.facts.languages import is_typed_pair, language_pair_called
from warehouse.facts.metrics import describe
from warehouse.loading.entry import load
from warehouse.loading.evalsets import LoadReport
from warehouse.loading.files import find_files
from warehouse.loading.unloading import unload
from warehouse.names import REFERENCE_FREE, MetricVariant
from warehouse.progress import Progress
from warehouse.readers.claims import EvalsetKey, KnownTexts, LoadHints
from warehouse.readers.long_table import variant, with_place
from warehouse.readers.text.bytes import head_of
from warehouse.readers.tool_outputs import is_with_texts
from warehouse.staging.holdings import of_evalsets
from warehouse.temporary import temporary_folder
from warehouse.wording import NO_LP, option

_sql = partial(statement, __package__)
_EVALSETS = "SELECT t.name, e.lp FROM evalset AS e JOIN testset AS t ON t.testset_id = e.testset_id"
_NAME = re.compile(r"(?!all$|[-\s])[^*?\[\],|/\\]+(?<!\s)")


def add(
    paths: Sequence[Path],
    database: Path,
    metric: str,
    *,
    system: str | None = None,
    reference: str | None = None,
    testset: str | None = None,
    lp: str | None = None,
    is_error_measure: bool = False,
    has_inclusive_ends: bool = False,
    may_lack_end: bool = False,
    first_segment: int = 1,
    progress: Progress | None = None,
) -> LoadReport:
    """Add scores of a user's own metric to evaluation sets in the warehouse.

    metric: base name. system: system of all scores, if the files name none. reference: the reference that the metric
    used; None for a reference-free metric. testset, lp: for files that do not state theirs. is_error_measure: lower is
    better; values are negated when stored. has_inclusive_ends: the end of an error span is its last character.
    may_lack_end: accept files whose last line has no line end. first_segment: number of the first segment in tables, 0
    or 1.
    Files added before are replaced. Faults are not raised but listed in the report.
    Raises QuestionError: the name of a shared-task metric; an unknown test set, language pair or reference.
    SourceError, SchemaError: see `loading.entry.load`.
    """
    check_spelling(metric)
    with Warehouse.open(database) as warehouse:
        _check_name(warehouse, metric)
        _check_evalset(warehouse, testset, lp)
        _check_reference(warehouse, reference, testset, lp)
        if lp is None and testset is not None and (testset, NO_LP) in warehouse.rows(_EVALSETS):
            lp = NO_LP
        texts = _texts(warehouse, paths, metric, testset, lp)
    given = LoadHints(
        testset=testset,
        lp=lp,
        system=system,
        texts=texts,
        metric=metric,
        reference=reference,
        is_own=True,
        is_error_measure=is_error_measure,
        has_inclusive_ends=has_inclusive_ends,
        may_lack_end=may_lack_end,
        first_segment=first_segment,
    )
    return load(paths, database, given=given, progress=progress)


def _texts(
    warehouse: Warehouse, paths: Sequence[Path], metric: str, testset: str | None, lp: str | None
) -> dict[EvalsetKey, KnownTexts]:
    """Texts by which scores in segment order, or scores with their texts, are matched."""
    files = [(path, head_of(path)) for path in find_files(paths, [])]
    stored = warehouse.rows(_EVALSETS)
    places: dict[EvalsetKey, bool] = {}
    for path, head in files:
        given = with_place(LoadHints(testset=testset, lp=lp), path)
        with_texts = is_with_texts(path, head)
        if given.testset is None or not (given.lp or with_texts):
            continue
        for pair in [given.lp] if given.lp else [pair for name, pair in stored if name == given.testset]:
            key = (given.testset, pair)
            places[key] = places.get(key, False) or with_texts
    found = {}
    for (name, pair), with_texts in places.items():
        which = {"testset": name, "lp": pair}
        segments = warehouse.rows(_sql("segment_numbers"), which)
        named_here = of_evalsets(warehouse.rows, "system_names", [(name, pair)])[name, pair]
        systems = {spelling: system for spelling, system, _ in sorted(named_here)}
        sources: dict[int, str] = {}
        outputs: dict[str, dict[int, str]] = {}
        for system, segment, text in warehouse.rows(_sql("texts_scored"), which) if with_texts else ():
            (sources if system is None else outputs.setdefault(system, {}))[segment] = text
        found[name, pair] = KnownTexts(
            tuple(number for number, *_ in segments),
            systems,
            sources,
            outputs,
            {(document, index): number for number, document, index in segments},
        )
    return found


def check_spelling(metric: str) -> None:
    """Raises QuestionError: a name that cannot select a metric."""
    if not _NAME.fullmatch(metric) or not metric.isprintable():
        raise QuestionError(
            f"{metric!r} is not a valid metric name: one can be printed, has none of * ? [ ] , | / \\ in it, "
            "no space at its ends and no '-' in front, and is not 'all', which stands for every name"
        )


def _check_name(warehouse: Warehouse, metric: str) -> None:
    taken = warehouse.rows(_sql("testsets_with_metric"), {"metric": metric})
    if taken:
        where = ", ".join(name for (name,) in taken)
        raise QuestionError(f"{metric} is already a metric of {where}; give yours another name")


def _check_evalset(warehouse: Warehouse, testset: str | None, lp: str | None) -> None:
    rows = warehouse.rows(_EVALSETS)
    if (error := unknown_evalset(testset, lp, [(name, there) for name, there in rows])) is not None:
        raise error


def _check_reference(warehouse: Warehouse, reference: str | None, testset: str | None, lp: str | None) -> None:
    """Check that metrics or texts of the set name the reference; if none is named, any is accepted."""
    known = {name for (name,) in warehouse.rows(_sql("references"), {"testset": testset, "lp": lp})}
    if reference == REFERENCE_FREE:
        raise QuestionError(f"{REFERENCE_FREE} means reference-free: use {option('reference_free', True)}")
    if reference is not None and known and reference not in known:
        raise unknown("reference", reference, known)


_FILE = re.compile(r"(?P<name>.+?)(\.(seg|sys)\.score|\.[a-z]+)")


@contextlib.contextmanager
def trial(database: Path, kept: Collection[str] | None = None) -> Iterator[Path]:
    """A temporary copy of a warehouse for trials, removed at the end of the block; the warehouse is unchanged.

    kept: names of user metrics to include in the copy, with or without reference; None: all.
    Raises SchemaError: see `Warehouse.open`.
    """
    with temporary_folder() as folder:
        copy = folder / database.name
        with Warehouse.open(database):  # no process writes while it is copied
            shutil.copyfile(database, copy)
        if kept is not None:
            with Warehouse.open(copy) as opened:
                own = opened.rows("SELECT DISTINCT metric, base_metric FROM metrics WHERE is_own ORDER BY ALL")
            for names in own:
                if not {*names}.intersection(kept):
                    unload(copy, names[0])
        yield copy


def variant_called(
    path: Path, lps: Collection[str], references: Collection[str] = (), standard: str | None = None
) -> MetricVariant:
    """The metric and reference in the name of a score file, which may start with a language pair.

    references: those known in the warehouse. standard: the reference of a metric whose name states none, unless it is
    known to be reference-free.
    >>> variant_called(Path("en-de.MyMetric-refA.seg.score"), ["en-de"])
    MetricVariant(base_name='MyMetric', reference='refA')
    >>> variant_called(Path("My.QE-src.csv"), ["en-de"]).reference is None
    True
    >>> variant_called(Path("en-de.COMET-99.seg.score"), ["en-de"], standard="refA")
    MetricVariant(base_name='COMET-99', reference='refA')

    >>> variant_called(Path("ende.MyMetric-refA.seg.score"), ["en-de"]).base_name
    'MyMetric'

    Raises QuestionError: the name is ambiguous, or has another language pair.
    """
    before, _, rest = path.name.partition(".")
    is_of_pair = rest.count(".") > 0 and is_typed_pair(before)
    if is_of_pair and language_pair_called(before.lower()) not in lps and before not in lps:
        raise QuestionError(f"{path} is named after {before}, but the ranking is of {', '.join(sorted(lps))}")
    found = _FILE.fullmatch(rest if is_of_pair or before in lps else path.name)
    name = found["name"] if found else ""
    base, stated, is_stated = variant(name)
    if is_stated:
        return MetricVariant(base, stated)
    if name.rpartition("-")[2] in references:
        return MetricVariant.parse(name)
    is_reference_free = describe(name).is_reference_free
    if name and (standard is not None or is_reference_free):
        return MetricVariant(name, None if is_reference_free else standard)
    raise QuestionError(
        f"{path}: expected a file named after the metric and its reference, such as MyMetric-refA.seg.score or "
        f"MyMetric-src.csv (reference-free); `scorehouse {option('add.dry_run', True)}` takes both as options"
    )


def references_in(warehouse: Warehouse, testset: str, lp: str) -> tuple[set[str], str | None]:
    """The references that metrics or texts of an evaluation set name, and the standard one, or the only one in use."""
    key = {"testset": testset, "lp": lp}
    query = "SELECT standard_reference FROM evalsets WHERE testset = $testset AND lp = $lp"
    known = {name for (name,) in warehouse.rows(_sql("references"), key)}
    standard = next((name for (name,) in warehouse.rows(query, key)), None)
    if standard is None:
        used = warehouse.rows(_sql("references_in_use"), key)
        standard = used[0][0] if len(used) == 1 else None
    return known, standard
