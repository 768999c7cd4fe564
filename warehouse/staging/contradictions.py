"""Where evaluation sets on the stage contradict what the warehouse holds of them from other files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from warehouse.database.stage import Batch, Stage
from warehouse.database.statements import statement
from warehouse.errors import Fault
from warehouse.readers.contents import Content
from warehouse.staging.checks import another_name
from warehouse.staging.placing import declaring_segments
from warehouse.wording import counted

_sql = partial(statement, __package__)


def segment_contradictions(
    batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]
) -> dict[int, list[Fault]]:
    """Faults of segments, by number of the evaluation set: others than those that scores of the warehouse are of.

    Also where two of them are one now, though a file of the warehouse has scores of both.
    To be asked once what the files brought before is taken away, and before anything is numbered anew.
    contents: the files on the stage, recorded in temp.staged_source.
    evalset_ids: number on the stage -> evalset_id, of those evaluation sets that the warehouse has.
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
            what = f"other segments than those that {paths[0]}{more} belong to"
            where = f"{stage.evalset.testset} {stage.evalset.lp}"
            way_out = f"load the two together, with all else that {where} was loaded from, or all into a new file"
            path = str(files[min(declaring or stage.file_numbers)].claim.path)
            faults[stage.evalset_no] = [Fault(path, 0, what, "the same segments", way_out)]
    return faults


def _hanging(batch: Batch, evalset_no: int, evalset_id: int) -> list[str]:
    """Files whose scores or texts are of the segments that the warehouse has, where others are declared now."""
    ((changed,),) = batch.rows(
        _sql("changed_segments"),
        {"number": evalset_no, "evalset": evalset_id},
    )
    if not changed:
        return []
    rows = batch.rows(
        _sql("sources_of_segments"),
        {"evalset": evalset_id},
    )
    return [path for (path,) in rows]


def _lost(batch: Batch, evalset_no: int, evalset_id: int) -> list[str]:
    """Files whose scores are of segments that have no number any more, or of two that have one number now."""
    rows = batch.rows(
        _sql("sources_of_lost_segments"),
        {"number": evalset_no, "evalset": evalset_id},
    )
    return [path for (path,) in rows]


def contradictions(batch: Batch, contents: Sequence[Content], evalset_ids: Mapping[int, int]) -> dict[int, list[Fault]]:
    """Faults of scores and annotations, by number of the evaluation set.

    contents, evalset_ids: as for `segment_contradictions`.
    Vectors that the warehouse has with the same values leave the stage, with a note.
    """
    files = {content.file_no: content for content in contents}
    faults = {}
    known = [stage for stage in batch.stages if stage.evalset_no in evalset_ids]
    for stage in known:
        brought = [files[file_no] for file_no in sorted(stage.file_numbers & files.keys())]
        if found := _annotation_faults(stage, brought, evalset_ids[stage.evalset_no]):
            faults[stage.evalset_no] = found
    sound = [stage for stage in known if stage.evalset_no not in faults]
    for stage, fault in _vector_faults(batch, files, sound) if sound else ():
        reported = faults.setdefault(stage.evalset_no, [])
        if fault not in reported:
            reported.append(fault)
    return faults


def _annotation_faults(stage: Stage, contents: Sequence[Content], evalset_id: int) -> list[Fault]:
    """Score files that came without the annotations behind them, which the warehouse has from elsewhere."""
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
    way_out = "load the two together, or all into a new file"
    return [
        Fault(str(alone[origin].claim.path), 0, f"comes without the annotations behind it, {path}", "both", way_out)
        for origin, path in found
    ]


def _vector_faults(
    batch: Batch, files: Mapping[int, Content], stages: Sequence[Stage]
) -> Iterator[tuple[Stage, Fault]]:
    """Vectors that the warehouse has from other files, with other values.

    Those with the same values leave the stage, with a note; vectors with judgements behind them never do.
    """
    batch.connection.execute(_sql("met_vector"), {"numbers": [stage.evalset_no for stage in stages]})
    met = batch.rows("SELECT vector_no, file_no, path, kind, scorer, level FROM temp.met_vector ORDER BY vector_no")
    differing = {vector_no for (vector_no,) in batch.rows(_sql("differing_vectors"))} if met else set()
    batch.connection.execute("DROP TABLE temp.met_vector")
    same, notes = [], dict[tuple[int, str], None]()
    for vector_no, file_no, path, kind, scorer, level in met:
        what, here = f"{kind} {scorer!r} at level {level}", str(files[file_no].claim.path)
        if vector_no in differing:
            way_out = another_name(kind, files[file_no])
            fault = Fault(here, 0, f"{what} is in the warehouse already, from {path}", "it once", way_out)
            yield batch.stage_of(file_no), fault
        else:
            same.append(vector_no)
            notes[file_no, f"{here}: {what} has the same scores in the warehouse, from {path}, loaded once"] = None
    batch.drop_vectors(same)
    for file_no, note in notes:
        batch.stage_of(file_no).notes.append(note)
