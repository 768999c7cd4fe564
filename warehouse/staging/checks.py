"""Checks over whole evaluation sets on the stage; each fault is reported with the file it lies in."""

from collections.abc import Sequence
from functools import partial

from warehouse.database.stage import Batch
from warehouse.database.statements import statement
from warehouse.errors import Fault
from warehouse.readers.contents import Content, change_since
from warehouse.wording import counted, option

LARGEST_SCORE = 1e100  # in size; sums of squares of larger ones leave the range of floats
_sql = partial(statement, __package__)


def check_batch(contents: Sequence[Content], batch: Batch) -> None:
    """Note what no single file can show: vectors that two files bring, and numbers that are none.

    Annotations behind a score file are put under its vectors. Of other files that agree to the last digit on a
    vector the second is dropped, with a note; where they differ, both are at fault.
    contents: the files of all evaluation sets on the stage.
    """
    paths = {content.file_no: str(content.claim.path) for content in contents}
    _check_changed(contents, batch)
    _check_finite(paths, batch)
    _attach_annotations(contents, batch)
    _check_repeated(contents, batch)


def _fault(batch: Batch, file_no: int, fault: Fault) -> None:
    batch.stage_of(file_no).fault(file_no, fault)


def _check_changed(contents: Sequence[Content], batch: Batch) -> None:
    for content in contents:
        if not content.faults and (fault := change_since(content)):
            _fault(batch, content.file_no, fault)


def _attach_annotations(contents: Sequence[Content], batch: Batch) -> None:
    """Where a score file and annotations have one name, the scores are the file's, the judgements the annotations'."""
    scores = {
        (content.claim.evalsets, content.claim.origin): content
        for content in contents
        if not content.claim.is_annotation
    }
    for content in contents:
        scored = scores.get((content.claim.evalsets, content.claim.companion or ""))
        if content.claim.is_annotation and scored is None:
            _check_weighted(content, batch)
        if not content.claim.is_annotation or scored is None:
            continue
        path, beside = str(content.claim.path), str(scored.claim.path)
        if batch.stage_of(scored.file_no).faults.get(scored.file_no):
            _fault(batch, content.file_no, Fault(path, 0, f"annotations behind {beside}", "that file without a fault"))
            batch.drop_files([content.file_no])
            continue
        pairs = batch.rows(
            statement(__package__, "annotated_vectors"),
            {"annotated": content.file_no, "scored": scored.file_no},
        )
        if missing := [system for system, _, there in pairs if there is None]:
            what = f"annotations of system {missing[0]!r}, which {beside} does not have"
            _fault(batch, content.file_no, Fault(path, 0, what, "the systems of that file"))
            batch.drop_files([content.file_no])
            continue
        batch.connection.execute(
            statement(__package__, "move_judgements"),
            {"here": [here for _, here, _ in pairs], "there": [there for *_, there in pairs]},
        )
        batch.connection.execute(statement(__package__, "own_judgements"), {"there": [there for *_, there in pairs]})
        batch.drop_vectors([here for _, here, _ in pairs])


def _check_weighted(content: Content, batch: Batch) -> None:
    """Annotations whose errors have no weights make no scores."""
    ((n_values, n_missing),) = batch.rows(
        "SELECT sum(n_values), sum(n_missing) FROM temp.staged_vector WHERE file_no = $file_no",
        {"file_no": content.file_no},
    )
    if n_values == 0 and n_missing:
        found = "no score: errors without weights, or no annotations"
        _fault(batch, content.file_no, Fault(str(content.claim.path), 0, found, "the .seg.score file beside it"))


def _check_finite(paths: dict[int, str], batch: Batch) -> None:
    for file_no, _, n, system in batch.rows(_sql("implausible_scores"), {"largest": LARGEST_SCORE}):
        scores = counted(n, "score that is", "scores that are")
        what = f"{scores} no finite number of at most {LARGEST_SCORE:g} in size, the first of system {system!r}"
        _fault(batch, file_no, Fault(paths[file_no], 0, what, "plausible numbers, or None where missing"))


def another_name(kind: str, content: Content) -> str:
    """The way out where judgements of a campaign meet other human scores of that name."""
    renamed = kind == "human" and content.claim.group is not None
    return f"both can stay: load this one with {option('human')} and another name" if renamed else ""


def _check_repeated(contents: Sequence[Content], batch: Batch) -> None:
    files = {content.file_no: content for content in contents}
    paths = {content.file_no: str(content.claim.path) for content in contents}
    evalsets = [(file_no, stage.evalset_no) for stage in batch.stages for file_no in sorted(stage.file_numbers)]
    pairs = batch.rows(
        _sql("repeated_vectors"),
        {"files": [file_no for file_no, _ in evalsets], "evalsets": [evalset_no for _, evalset_no in evalsets]},
    )
    for first, first_file, second, second_file, kind, scorer, system, level in pairs:
        name = f"{kind} {scorer!r}, system {system!r}, level {level}"
        if _same_values(first, second, batch):
            note = f"{paths[second_file]}: {name} has the same scores in {paths[first_file]}, loaded once"
            batch.stage_of(second_file).notes.append(note)
            batch.drop_vectors([second])
            continue
        for here, there in ((first_file, second_file), (second_file, first_file)):
            what = f"{name} has different scores from {paths[there]}"
            way_out = another_name(kind, files[here]) or "load one or the other"
            _fault(batch, here, Fault(paths[here], 0, what, "one content", way_out))


def _same_values(first: int, second: int, batch: Batch) -> bool:
    differing = batch.rows(
        _sql("differing_values"),
        {"first": first, "second": second},
    )
    return not differing
