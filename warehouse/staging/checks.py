"""Checks of whole evaluation sets on the stage, alone and against data in the warehouse from other files.

Each fault is reported with its file; unusual error spans are noted."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from warehouse.database import statement
from warehouse.database.stage import Batch, Stage
from warehouse.errors import Fault
from warehouse.facts.human_protocols import HIGHEST, LOWEST, is_from_0_to_100
from warehouse.names import LARGEST_SCORE
from warehouse.readers.contents import Content
from warehouse.staging.placing import declaring_segments
from warehouse.wording import counted, option

_sql = partial(statement, __package__)


def check_batch(contents: Sequence[Content], batch: Batch) -> None:
    """Check across files: vectors in two files, and values that are not numbers.

    Annotations behind a score file are attached to its vectors. If two other files agree exactly on a
    vector, the second is dropped with a note; if they differ, both are faults.
    contents: the files of all evaluation sets on the stage.
    """
    paths = {content.file_no: str(content.claim.path) for content in contents}
    _check_finite(paths, batch)
    _check_scales([one for one in contents if one.opened is None and not one.claim.is_annotation], batch)
    _attach_annotations(contents, batch)
    _check_repeated(contents, batch)


def _fault(batch: Batch, file_no: int, fault: Fault) -> None:
    batch.stage_of(file_no).fault(file_no, fault)


def _attach_annotations(contents: Sequence[Content], batch: Batch) -> None:
    """Combine a score file and annotations of one name: scores from the file, judgements from the annotations."""
    scores = {(one.claim.evalsets, one.claim.origin): one for one in contents if not one.claim.is_annotation}
    for content in (content for content in contents if content.claim.is_annotation):
        scored = scores.get((content.claim.evalsets, content.claim.companion or ""))
        if scored is None:
            _check_weighted(content, batch)
            continue
        path, beside = str(content.claim.path), str(scored.claim.path)
        if batch.stage_of(scored.file_no).faults.get(scored.file_no):
            _fault(
                batch,
                content.file_no,
                Fault(path, 0, f"not loaded, because {beside} has errors", "that file without errors"),
            )
            batch.drop_files([content.file_no])
            continue
        pairs = batch.rows(_sql("annotated_vectors"), {"annotated": content.file_no, "scored": scored.file_no})
        if missing := [system for system, _, there in pairs if there is None]:
            what = f"annotations of system {missing[0]!r}, which {beside} does not have"
            _fault(batch, content.file_no, Fault(path, 0, what, "the systems of that file"))
            batch.drop_files([content.file_no])
            continue
        batch.connection.execute(
            _sql("move_judgements"),
            {"here": [here for _, here, _ in pairs], "there": [there for *_, there in pairs]},
        )
        batch.connection.execute(_sql("own_judgements"), {"there": [there for *_, there in pairs]})
        batch.drop_vectors([here for _, here, _ in pairs])


def _check_weighted(content: Content, batch: Batch) -> None:
    """Report annotations whose errors have no weights, which cannot make scores."""
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
        what = f"{scores} infinite or beyond {LARGEST_SCORE:g}, first for system {system!r}"
        _fault(batch, file_no, Fault(paths[file_no], 0, what, "plausible numbers, or None if missing"))


def _check_scales(contents: Sequence[Content], batch: Batch) -> None:
    """Note direct assessments outside their scale in the organisers' layout, whose human scores may be standardised.

    contents: without annotations, because sums of marked errors have another scale.
    """
    paths = {content.file_no: str(content.claim.path) for content in contents}
    humans = batch.rows("SELECT DISTINCT scorer FROM temp.staged_vector WHERE kind = 'human'")
    if assessed := [name for (name,) in humans if is_from_0_to_100(name)]:
        limits = {"files": list(paths), "scorers": assessed, "lowest": LOWEST, "highest": HIGHEST}
        for file_no, scorer, n, system, value in batch.rows(_sql("scores_beyond_scale"), limits):
            what = f"{counted(n, 'score')} of {scorer} outside 0 to 100, the first {value:g} of system {system!r}"
            batch.stage_of(file_no).notes.append(f"{paths[file_no]}: {what}")


def another_name(kind: str, content: Content) -> str:
    """The hint if judgements of a campaign meet other human scores of the same name."""
    renamed = kind == "human" and content.claim.group is not None
    return f"to keep both, load this one with {option('human')} and another name" if renamed else ""


def _check_repeated(contents: Sequence[Content], batch: Batch) -> None:
    files = {content.file_no: content for content in contents}
    paths = {content.file_no: str(content.claim.path) for content in contents}
    evalsets = [(file_no, stage.evalset_no) for stage in batch.stages for file_no in sorted(stage.file_numbers)]
    pairs = batch.rows(
        _sql("repeated_vectors"),
        {"files": [file_no for file_no, _ in evalsets], "evalsets": [evalset_no for _, evalset_no in evalsets]},
    )
    same, differing = dict[tuple[int, int, str], list[str]](), dict[tuple[int, int, str, str], list[str]]()
    for first, first_file, second, second_file, kind, scorer, system, level in pairs:
        name = f"{kind} {scorer!r}, level {level}"
        if not batch.rows(_sql("differing_values"), {"first": first, "second": second}):
            same.setdefault((second_file, first_file, name), []).append(system)
            batch.drop_vectors([second])
            continue
        for here, there in ((first_file, second_file), (second_file, first_file)):
            differing.setdefault((here, there, kind, name), []).append(system)
    for (here, there, name), systems in same.items():
        what = f"{name}: {_with_scores(systems, 'the same scores')} in {paths[there]}, loaded once"
        batch.stage_of(here).notes.append(f"{paths[here]}: {what}")
    for (here, there, kind, name), systems in differing.items():
        what = f"{name}: {_with_scores(systems, 'different scores')} in {paths[there]}"
        way_out = another_name(kind, files[here]) or "load only one of them"
        _fault(batch, here, Fault(paths[here], 0, what, "one content", way_out))


def _with_scores(systems: Sequence[str], scores: str) -> str:
    """A message about systems with scores in two files, without the second file.

    >>> _with_scores(["A"], "other scores"), _with_scores(["A", "B", "C"], "no scores")
    ("system 'A' has other scores", "3 systems, such as 'A', have no scores")
    """
    if len(systems) == 1:
        return f"system {systems[0]!r} has {scores}"
    return f"{counted(len(systems), 'system')}, such as {systems[0]!r}, have {scores}"


def segment_contradictions(
    batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]
) -> dict[int, list[Fault]]:
    """Faults of segments that differ from those scored in the warehouse, by number of the evaluation set.

    This includes two segments that become one although a file in the warehouse has scores of both.
    Call this after the earlier data of the files are removed and before anything is renumbered.
    contents: the files on the stage, recorded in temp.staged_source.
    evalset_ids: number on the stage -> evalset_id, for evaluation sets in the warehouse.
    """
    files = {content.file_no: content for content in contents}
    faults = {}
    for stage in batch.stages:
        declaring = [int(rows["file_no"].min()) for rows in declaring_segments(stage)]  # type: ignore[arg-type]
        if stage.evalset_no not in evalset_ids:
            continue
        hanging = _hanging if declaring and stage.evalset.is_declared else _lost
        if paths := hanging(batch, stage.evalset_no, evalset_ids[stage.evalset_no]):
            more = f" and {counted(len(paths) - 1, 'other file')}" if len(paths) > 1 else ""
            what = f"segments that differ from those of {paths[0]}{more}"
            where = f"{stage.evalset.testset} {stage.evalset.lp}"
            way_out = f"load both together with every other file of {where}, or load all into a new warehouse"
            path = str(files[min(declaring or stage.file_numbers)].claim.path)
            faults[stage.evalset_no] = [Fault(path, 0, what, "the same segments", way_out)]
    return faults


def _hanging(batch: Batch, evalset_no: int, evalset_id: int) -> list[str]:
    """Files with scores, texts or declarations of the warehouse's segments, if other segments are now declared."""
    ((changed,),) = batch.rows(_sql("changed_segments"), {"number": evalset_no, "evalset": evalset_id})
    rows = batch.rows(_sql("sources_of_segments"), {"evalset": evalset_id}) if changed else []
    return [path for (path,) in rows]


def _lost(batch: Batch, evalset_no: int, evalset_id: int) -> list[str]:
    """Files with scores of segments that no longer have a number, or of two segments that now share one."""
    rows = batch.rows(_sql("sources_of_lost_segments"), {"number": evalset_no, "evalset": evalset_id})
    return [path for (path,) in rows]


def contradictions(batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]) -> dict[int, list[Fault]]:
    """Faults of scores and annotations, by number of the evaluation set.

    contents, evalset_ids: as for `segment_contradictions`.
    Vectors with the same values in the warehouse leave the stage, with a note.
    """
    files = {content.file_no: content for content in contents}
    faults = {}
    known = [stage for stage in batch.stages if stage.evalset_no in evalset_ids]
    for stage in known:
        brought = [files[file_no] for file_no in sorted(stage.file_numbers & files.keys())]
        if found := _annotation_faults(stage, brought, evalset_ids[stage.evalset_no]):
            faults[stage.evalset_no] = found
    for stage, fault in _text_faults(batch, files):
        faults.setdefault(stage.evalset_no, []).append(fault)
    sound = [stage for stage in known if stage.evalset_no not in faults]
    for stage, fault in _vector_faults(batch, files, sound) if sound else ():
        reported = faults.setdefault(stage.evalset_no, [])
        if fault not in reported:
            reported.append(fault)
    return faults


def _annotation_faults(stage: Stage, contents: Sequence[Content], evalset_id: int) -> list[Fault]:
    """Faults of score files without their annotations, which the warehouse has from elsewhere."""
    origins = {content.claim.origin for content in contents}
    alone = {
        content.claim.companion: content
        for content in contents
        if not content.claim.is_annotation and content.claim.companion and content.claim.companion not in origins
    }
    if not alone:
        return []
    found = stage.batch.rows(
        """
        SELECT origin, path
        FROM source
        WHERE evalset_id = $evalset AND status = 'loaded' AND list_contains($companions::VARCHAR[], origin)
        ORDER BY origin
        """,
        {"evalset": evalset_id, "companions": list(alone)},
    )
    way_out = "load both together, or load all into a new warehouse"
    return [
        Fault(str(alone[origin].claim.path), 0, f"comes without its annotations, {path}", "both", way_out)
        for origin, path in found
    ]


def _text_faults(batch: Batch, files: Mapping[int, Content]) -> Iterator[tuple[Stage, Fault]]:
    """Faults of texts that differ from other files' texts of the same segments: the files are numbered differently."""
    numbers = {"numbers": [stage.evalset_no for stage in batch.stages]}
    for file_no, path, kind, name, segment, n in batch.rows(_sql("differing_texts"), numbers):
        claim, stage = files[file_no].claim, batch.stage_of(file_no)
        of = "" if name is None else f" {name!r}"
        found = f"another {kind}{of} of segment {segment} than {path} has"
        found += f", and of {counted(n - 1, 'more segment')}" if n > 1 else ""
        where = f"the texts of {stage.evalset.testset} {stage.evalset.lp}"
        yield stage, Fault(str(claim.path), 0, found, where, f"load it under another name with {option('testset')}")


def _vector_faults(
    batch: Batch, files: Mapping[int, Content], stages: Sequence[Stage]
) -> Iterator[tuple[Stage, Fault]]:
    """Faults of vectors that the warehouse has from other files with other values.

    Vectors with the same values leave the stage, with a note; vectors with judgements never do.
    """
    batch.connection.execute(_sql("met_vector"), {"numbers": [stage.evalset_no for stage in stages]})
    met = batch.rows("SELECT vector_no, file_no, path, kind, scorer, level FROM temp.met_vector ORDER BY vector_no")
    differing = {vector_no for (vector_no,) in batch.rows(_sql("differing_vectors"))} if met else set()
    batch.connection.execute("DROP TABLE temp.met_vector")
    same, notes = [], dict[tuple[int, str], None]()
    for vector_no, file_no, path, kind, scorer, level in met:
        what, here = f"{kind} {scorer!r} at level {level}", str(files[file_no].claim.path)
        if vector_no in differing:
            way_out = another_name(kind, files[file_no]) or f"`remove {path}` removes the other"
            fault = Fault(here, 0, f"{what} is already in the warehouse, from {path}", "it once", way_out)
            yield batch.stage_of(file_no), fault
        else:
            same.append(vector_no)
            notes[file_no, f"{here}: {what} has the same scores in the warehouse, from {path}, loaded once"] = None
    batch.drop_vectors(same)
    for file_no, note in notes:
        batch.stage_of(file_no).notes.append(note)


_FEWEST = 20  # spans that say how ends are counted
_SHARE_CUT = 0.1
_TIMES_LESS = 3


def note_spans(batch: Batch, evalset_ids: Mapping[int, int], first: int) -> None:
    """Note for each scorer the parts of spans that measures exclude, and span ends that cut words.

    evalset_ids: number on the stage -> evalset_id. first: identifier of the first staged judgement.
    """
    stages = {evalset_ids[stage.evalset_no]: stage for stage in batch.stages}
    for evalset_id, scorer, n, *counts in batch.rows(_sql("span_slips"), {"first": first}):
        stage = stages[evalset_id]
        where = f"{stage.evalset.testset} {stage.evalset.lp}: {scorer}"
        n_beyond, n_empty, n_undecided, n_placed, n_cut, n_after = counts
        said = [
            f"{number} {what}"
            for number, what in (
                (n_beyond, "end after the text, and are cut there by measures"),
                (n_empty, "empty and excluded from measures"),
                (n_undecided, "with a severity other than minor, major or critical, and excluded"),
            )
            if number
        ]
        if said:
            stage.notes.append(f"{where}: of {counted(n, 'marked error')}, {'; '.join(said)}")
        if n_placed >= _FEWEST and n_cut >= _SHARE_CUT * n_placed and n_cut > _TIMES_LESS * n_after:
            stage.notes.append(
                f"{where}: {n_cut} of {n_placed} spans end inside a word, but only {n_after} would if they ended one "
                "character later: the file's end offsets may be inclusive"
            )
