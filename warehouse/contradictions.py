"""Where evaluation sets on the stage contradict what the warehouse holds of them from other files."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from warehouse.checks import another_name
from warehouse.errors import Fault
from warehouse.readers.base import Content
from warehouse.stage import Batch, Stage

if TYPE_CHECKING:
    import polars as pl


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
        declaring = [int(rows["file_no"].min()) for rows in stage.segments if _declares(rows)]  # type: ignore[arg-type]
        if stage.evalset_no not in evalset_ids:
            continue
        hanging = _hanging if declaring and stage.evalset.is_declared else _lost
        if paths := hanging(batch, stage.evalset_no, evalset_ids[stage.evalset_no]):
            more = f" and {len(paths) - 1} other files" if len(paths) > 1 else ""
            what = f"other segments than those that {paths[0]}{more} belong to"
            where = f"{stage.evalset.testset} {stage.evalset.lp}"
            way_out = f"load the two together, with all else that {where} was loaded from, or all into a new file"
            path = str(files[min(declaring or stage.file_numbers)].claim.path)
            faults[stage.evalset_no] = [Fault(path, 0, what, "the same segments", way_out)]
    return faults


def _declares(rows: "pl.DataFrame") -> bool:
    return bool(rows["is_declared"].any()) if "is_declared" in rows.columns else True


def _hanging(batch: Batch, evalset_no: int, evalset_id: int) -> list[str]:
    """Files whose scores or texts are of the segments that the warehouse has, where others are declared now."""
    ((changed,),) = batch.rows(
        """
        WITH new AS (
          SELECT n.*
          FROM temp.staged_segment AS n
          JOIN temp.staged_source AS o ON o.file_no = n.file_no AND o.evalset_no = $number
          WHERE n.is_declared
        )
        SELECT count(*)
        FROM new AS n
        FULL JOIN (SELECT * FROM segment WHERE evalset_id = $evalset) AS o
          ON o.segment = n.segment
          AND o.document IS NOT DISTINCT FROM n.document
          AND o.domain IS NOT DISTINCT FROM n.domain
        WHERE n.segment IS NULL OR o.segment IS NULL
        """,
        {"number": evalset_no, "evalset": evalset_id},
    )
    if not changed:
        return []
    rows = batch.rows(
        """
        SELECT path
        FROM source
        WHERE source_id IN (
          SELECT source_id FROM vector WHERE evalset_id = $evalset AND level <> 'sys'
          UNION
          SELECT source_id FROM segment_text WHERE evalset_id = $evalset
        )
        ORDER BY path
        """,
        {"evalset": evalset_id},
    )
    return [path for (path,) in rows]


def _lost(batch: Batch, evalset_no: int, evalset_id: int) -> list[str]:
    """Files whose scores are of segments that have no number any more, or of two that have one number now."""
    rows = batch.rows(
        """
        WITH renumbering AS (SELECT old, new FROM temp.staged_renumbering WHERE evalset_no = $number),
        lost AS (SELECT old FROM renumbering WHERE new IS NULL),
        used AS (
          SELECT s.vector_id FROM score AS s JOIN lost AS n ON n.old = s.segment
          UNION
          SELECT j.vector_id FROM judgement AS j JOIN lost AS n ON n.old = j.segment WHERE j.status <> 'tutorial'
          UNION
          SELECT s.vector_id
          FROM score AS s
          JOIN vector AS v ON v.vector_id = s.vector_id AND v.evalset_id = $evalset
          LEFT JOIN renumbering AS n ON n.old = s.segment
          WHERE EXISTS (FROM renumbering WHERE new IS NOT NULL)
          GROUP BY s.vector_id, coalesce(n.new, s.segment)
          HAVING count(*) > 1
        )
        SELECT DISTINCT o.path
        FROM used AS u
        JOIN vector AS v ON v.vector_id = u.vector_id AND v.evalset_id = $evalset
        JOIN source AS o ON o.source_id = v.source_id
        ORDER BY o.path
        """,
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
        told = faults.setdefault(stage.evalset_no, [])
        if fault not in told:
            told.append(fault)
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


_MET = """
CREATE OR REPLACE TEMP TABLE met_vector AS
SELECT n.vector_no, v.vector_id, n.file_no, o.path, n.kind, n.scorer, n.level
FROM temp.staged_vector AS n
JOIN temp.staged_source AS f ON f.file_no = n.file_no
JOIN scorer AS sc ON sc.kind = n.kind AND sc.name = n.scorer
JOIN system AS y ON y.evalset_id = f.evalset_id AND y.name = n.system
JOIN vector AS v
  ON v.evalset_id = f.evalset_id AND v.scorer_id = sc.scorer_id AND v.system_id = y.system_id AND v.level = n.level
JOIN source AS o ON o.source_id = v.source_id
WHERE f.evalset_no IN (SELECT unnest($numbers::INTEGER[]))
"""
_DIFFERING = """
WITH here AS (
  SELECT m.vector_no, s.segment::VARCHAR AS unit, s.value
  FROM temp.met_vector AS m
  JOIN temp.staged_score AS s ON s.vector_no = m.vector_no
  UNION ALL
  SELECT m.vector_no, s.unit, s.value
  FROM temp.met_vector AS m
  JOIN temp.staged_aggregate AS s ON s.vector_no = m.vector_no
),
there AS (
  SELECT m.vector_no, s.segment::VARCHAR AS unit, s.value
  FROM temp.met_vector AS m
  JOIN score AS s ON s.vector_id = m.vector_id
  UNION ALL
  SELECT m.vector_no, s.unit, s.value
  FROM temp.met_vector AS m
  JOIN aggregate_score AS s ON s.vector_id = m.vector_id
)
SELECT DISTINCT coalesce(here.vector_no, there.vector_no)
FROM here
FULL JOIN there
  ON there.vector_no = here.vector_no
  AND there.unit IS NOT DISTINCT FROM here.unit
  AND there.value IS NOT DISTINCT FROM here.value
WHERE here.vector_no IS NULL OR there.vector_no IS NULL
UNION
SELECT j.vector_no FROM temp.staged_judgement AS j
"""


def _vector_faults(
    batch: Batch, files: Mapping[int, Content], stages: Sequence[Stage]
) -> Iterator[tuple[Stage, Fault]]:
    """Vectors that the warehouse has from other files, with other values.

    Those with the same values leave the stage, with a note; vectors with judgements behind them never do.
    """
    batch.connection.execute(_MET, {"numbers": [stage.evalset_no for stage in stages]})
    met = batch.rows("SELECT vector_no, file_no, path, kind, scorer, level FROM temp.met_vector ORDER BY vector_no")
    differing = {vector_no for (vector_no,) in batch.rows(_DIFFERING)} if met else set()
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
            notes[file_no, f"{here}: {what} again as in the warehouse, from {path}, taken once"] = None
    batch.drop_vectors(same)
    for file_no, note in notes:
        batch.stage_of(file_no).notes.append(note)
