"""Writing the evaluation sets of a batch into the warehouse, in one transaction."""

import contextlib
from collections.abc import Mapping, Sequence

import duckdb

from warehouse.catalogue import TestsetFacts
from warehouse.contradictions import contradictions, segment_contradictions
from warehouse.errors import Fault
from warehouse.names import LEVELS, LanguagePair
from warehouse.provenance import record_sources, take_away
from warehouse.readers.base import Content
from warehouse.registry import register
from warehouse.segments import count_segments, renumber, write_segments
from warehouse.stage import Batch
from warehouse.unjoined import unjoined

_MOST_BITS = 1_000_000  # of one vector, where segments are counted
Declared = Mapping[int, TestsetFacts | None]  # by the evaluation set's number on the stage


def write_batch(batch: Batch, declared: Declared, contents: Sequence[Content]) -> dict[int, list[Fault]]:
    """Put the batch into the attached warehouse (see `connection.writing`): all of it, or nothing.

    declared: the organisers' facts of each test set; None leaves those that the warehouse has.
    contents: the files that were read, broken ones included: those are recorded as refused.
    A file replaces what an earlier file of the same origin brought. Returns faults where evaluation sets contradict
    what the warehouse holds from other files, by their numbers; then nothing was written.
    """
    connection = batch.connection
    connection.execute("BEGIN")
    try:
        evalset_ids, known = _write_evalsets(batch, declared)
        if known:
            _rename(batch, known)
            take_away(batch, contents, known)
        record_sources(batch, contents, evalset_ids)
        faults = segment_contradictions(batch, contents, known)
        if known and not faults:
            renumber(batch)
            faults = contradictions(batch, contents, known)
        if faults:
            connection.execute("ROLLBACK")
            return faults
        write_segments(batch)
        _write_systems(batch)
        _write_scorers(batch)
        _write_scores(batch)
        _write_judgements(batch)
        if known or any(stage.faults for stage in batch.stages):
            _remove_nameless(batch)
        _write_outliers(batch, declared, evalset_ids)
        _write_entries(batch, declared, evalset_ids)
        register(connection, list(evalset_ids.values()))
        _check_written(batch)
        recorded = {content.file_no for content in contents if content.records is not None}
        chosen = {s.evalset_no: evalset_ids[s.evalset_no] for s in batch.stages if s.file_numbers & recorded}
        unjoined(batch, chosen)
        connection.execute("COMMIT")
        _tell_renamed(batch)
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # a commit that failed has ended the transaction
            connection.execute("ROLLBACK")
        raise
    return {}


def _write_evalsets(batch: Batch, declared: Declared) -> tuple[dict[int, int], dict[int, int]]:
    """Insert or update test sets and evaluation sets; the ids of all and of those that were there, by number.

    temp.staged_evalset tells them to the other steps.
    """
    connection, names = batch.connection, sorted({stage.evalset.testset for stage in batch.stages})
    connection.execute(
        """
        INSERT INTO testset (testset_id, name)
        SELECT (SELECT coalesce(max(testset_id), 0) FROM testset) + row_number() OVER (ORDER BY n.name), n.name
        FROM (SELECT unnest($names::VARCHAR[]) AS name) AS n
        WHERE n.name NOT IN (SELECT name FROM testset)
        """,
        {"names": names},
    )
    testset_ids = dict(batch.rows("SELECT name, testset_id FROM testset"))
    held = {(testset_id, lp): id for testset_id, lp, id in batch.rows("SELECT testset_id, lp, evalset_id FROM evalset")}
    last = max(held.values(), default=0)
    evalset_ids, known, new = {}, {}, []
    for stage in batch.stages:
        testset_id, lp = testset_ids[stage.evalset.testset], LanguagePair.parse(stage.evalset.lp)
        if (evalset_id := held.get((testset_id, stage.evalset.lp))) is not None:
            known[stage.evalset_no] = evalset_id
        else:
            evalset_id = last = last + 1
            new.append((evalset_id, testset_id, stage.evalset.lp, lp.source, lp.target))
        evalset_ids[stage.evalset_no] = evalset_id
    if new:
        columns = zip(("ids", "testsets", "lps", "sources", "targets"), map(list, zip(*new, strict=True)), strict=True)
        connection.execute(
            """
            INSERT INTO evalset (evalset_id, testset_id, lp, source_language, target_language)
            SELECT
              unnest($ids::INTEGER[]), unnest($testsets::INTEGER[]), unnest($lps::VARCHAR[]),
              unnest($sources::VARCHAR[]), unnest($targets::VARCHAR[])
            """,
            dict(columns),
        )
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE staged_evalset AS
        SELECT
          unnest($numbers::INTEGER[]) AS evalset_no, unnest($ids::INTEGER[]) AS evalset_id,
          unnest($declared::BOOLEAN[]) AS is_declared
        """,
        {
            "numbers": list(evalset_ids),
            "ids": list(evalset_ids.values()),
            "declared": [declared[number] is not None for number in evalset_ids],
        },
    )
    _write_standards(batch, declared, evalset_ids)
    return evalset_ids, known


def _write_standards(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int]) -> None:
    """What the organisers declare of test sets and evaluation sets."""
    told = [(stage, facts) for stage in batch.stages if (facts := declared[stage.evalset_no]) is not None]
    if not told:
        return
    testsets = {stage.evalset.testset: facts for stage, facts in told}
    batch.connection.execute(
        """
        UPDATE testset
        SET year = n.year, description = n.description
        FROM (
          SELECT unnest($names::VARCHAR[]) AS name, unnest($years::SMALLINT[]) AS year,
            unnest($descriptions::VARCHAR[]) AS description
        ) AS n
        WHERE n.name = testset.name
        """,
        {
            "names": list(testsets),
            "years": [facts.year for facts in testsets.values()],
            "descriptions": [facts.description for facts in testsets.values()],
        },
    )
    of_pairs = [facts.evalset(stage.evalset.lp) for stage, facts in told]
    batch.connection.execute(
        """
        UPDATE evalset
        SET
          standard_reference = n.reference,
          standard_human_sys = n.human_sys,
          standard_human_domain = n.human_domain,
          standard_human_doc = n.human_doc,
          standard_human_seg = n.human_seg,
          ranks_human_references = n.ranks
        FROM (
          SELECT
            unnest($ids::INTEGER[]) AS evalset_id,
            unnest($references::VARCHAR[]) AS reference,
            unnest($ranks::BOOLEAN[]) AS ranks,
            unnest($sys::VARCHAR[]) AS human_sys,
            unnest($domain::VARCHAR[]) AS human_domain,
            unnest($doc::VARCHAR[]) AS human_doc,
            unnest($seg::VARCHAR[]) AS human_seg
        ) AS n
        WHERE n.evalset_id = evalset.evalset_id
        """,
        {
            "ids": [evalset_ids[stage.evalset_no] for stage, _ in told],
            "references": [facts.standard_reference for facts in of_pairs],
            "ranks": [facts.ranks_human_references for facts in of_pairs],
            **{level: [facts.standard_human.get(level) for facts in of_pairs] for level in LEVELS},
        },
    )


def _rename(batch: Batch, evalset_ids: Mapping[int, int]) -> None:
    """Systems that a better name has come for. evalset_ids: by number, of those that the warehouse has."""
    renamed = [
        (evalset_ids[stage.evalset_no], old, new)
        for stage in batch.stages
        if stage.evalset_no in evalset_ids
        for old, new in sorted(stage.renamed.items())
    ]
    if not renamed:
        return
    columns = zip(("ids", "old", "new"), map(list, zip(*renamed, strict=True)), strict=True)
    batch.connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE staged_rename AS
        SELECT y.system_id, n.new
        FROM (
          SELECT unnest($ids::INTEGER[]) AS evalset_id, unnest($old::VARCHAR[]) AS old, unnest($new::VARCHAR[]) AS new
        ) AS n
        JOIN system AS y ON y.evalset_id = n.evalset_id AND y.name = n.old
        """,
        dict(columns),
    )
    batch.connection.execute(
        """
        DELETE FROM system_spelling
        USING temp.staged_rename AS n
        WHERE system_spelling.system_id = n.system_id AND system_spelling.spelling = n.new
        """
    )
    batch.connection.execute(
        "UPDATE system SET name = n.new FROM temp.staged_rename AS n WHERE system.system_id = n.system_id"
    )


def _tell_renamed(batch: Batch) -> None:
    for stage in batch.stages:
        where = f"{stage.evalset.testset} {stage.evalset.lp}"
        stage.notes += [f"{where}: system {old} is now {new}" for old, new in sorted(stage.renamed.items())]


def _write_systems(batch: Batch) -> None:
    batch.connection.execute(
        """
        INSERT INTO system
        SELECT
          (SELECT coalesce(max(system_id), 0) FROM system) + row_number() OVER (ORDER BY o.evalset_id, n.name),
          o.evalset_id,
          n.name,
          n.name,
          CASE WHEN bool_or(n.kind = 'human') THEN 'human' WHEN bool_and(n.kind = 'qc') THEN 'qc' ELSE 'mt' END,
          false
        FROM temp.staged_system AS n
        JOIN temp.staged_source AS o ON o.file_no = n.file_no
        WHERE NOT EXISTS (FROM system AS y WHERE y.evalset_id = o.evalset_id AND y.name = n.name)
        GROUP BY o.evalset_id, n.name
        """
    )
    batch.connection.execute(
        """
        INSERT INTO system_spelling
        SELECT y.system_id, n.spelling, n.rule
        FROM temp.staged_spelling AS n
        JOIN temp.staged_evalset AS e ON e.evalset_no = n.evalset_no
        JOIN system AS y ON y.evalset_id = e.evalset_id AND y.name = n.system
        WHERE NOT EXISTS (FROM system_spelling AS o WHERE o.system_id = y.system_id AND o.spelling = n.spelling)
        ORDER BY y.system_id, n.spelling
        """
    )
    batch.connection.execute(
        """
        WITH short AS (
          SELECT
            system_id, evalset_id,
            CASE WHEN kind = 'human' THEN name ELSE regexp_replace(name, '(.)[.][0-9]+$', '\\1') END AS short_name
          FROM system
          WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
        ),
        named AS (
          SELECT
            h.system_id,
            CASE WHEN count(*) OVER (PARTITION BY h.evalset_id, h.short_name) = 1 THEN h.short_name END AS canonical
          FROM short AS h
        )
        UPDATE system
        SET canonical_name = coalesce(n.canonical, system.name)
        FROM named AS n
        WHERE n.system_id = system.system_id AND system.canonical_name <> coalesce(n.canonical, system.name)
        """
    )


_HERE = "SELECT evalset_id FROM temp.staged_evalset"


def _remove_nameless(batch: Batch) -> None:
    """Systems, and segments that nothing declares, which no file names any more."""
    gone = f"""
        SELECT y.system_id
        FROM system AS y
        WHERE y.evalset_id IN ({_HERE})
          AND NOT EXISTS (FROM vector AS v WHERE v.evalset_id = y.evalset_id AND v.system_id = y.system_id)
          AND NOT EXISTS (FROM segment_text AS x WHERE x.evalset_id = y.evalset_id AND x.name = y.name)
        """
    batch.connection.execute(f"DELETE FROM system_spelling WHERE system_id IN ({gone})")
    batch.connection.execute(f"DELETE FROM system WHERE system_id IN ({gone})")
    loose = f"evalset_id IN ({_HERE}) AND source_id IS NULL"
    if batch.rows(f"SELECT 1 FROM segment WHERE {loose} LIMIT 1"):
        batch.connection.execute(
            f"""
            DELETE FROM segment
            WHERE {loose} AND (evalset_id, segment) NOT IN (
              SELECT (v.evalset_id, s.segment)
              FROM score AS s
              JOIN vector AS v ON v.vector_id = s.vector_id
              WHERE v.evalset_id IN ({_HERE})
              UNION
              SELECT (v.evalset_id, j.segment)
              FROM judgement AS j
              JOIN vector AS v ON v.vector_id = j.vector_id
              WHERE v.evalset_id IN ({_HERE})
              UNION
              SELECT (x.evalset_id, x.segment)
              FROM segment_text AS x
              WHERE x.evalset_id IN ({_HERE})
            )
            """
        )
        count_segments(batch)


def _write_outliers(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int]) -> None:
    named = [
        (evalset_ids[stage.evalset_no], name)
        for stage in batch.stages
        if (facts := declared[stage.evalset_no]) is not None
        for name in sorted(facts.evalset(stage.evalset.lp).outlier_systems)
    ]
    batch.connection.execute(
        """
        WITH outlier AS (SELECT unnest($ids::INTEGER[]) AS evalset_id, unnest($names::VARCHAR[]) AS name),
        named AS (
          SELECT y.system_id, bool_or(o.name IS NOT NULL) AS is_outlier
          FROM system AS y
          JOIN (
            SELECT system_id, name FROM system
            UNION ALL
            SELECT system_id, spelling FROM system_spelling
          ) AS n ON n.system_id = y.system_id
          LEFT JOIN outlier AS o ON o.evalset_id = y.evalset_id AND o.name = n.name
          WHERE y.evalset_id IN (SELECT evalset_id FROM temp.staged_evalset WHERE is_declared)
          GROUP BY y.system_id
        )
        UPDATE system
        SET is_outlier = n.is_outlier
        FROM named AS n
        WHERE n.system_id = system.system_id AND system.is_outlier <> n.is_outlier
        """,
        {"ids": [evalset_id for evalset_id, _ in named], "names": [name for _, name in named]},
    )


def _write_scorers(batch: Batch) -> None:
    batch.connection.execute(
        """
        INSERT INTO scorer (scorer_id, kind, name, base_name, reference, is_reference_free)
        SELECT
          (SELECT coalesce(max(scorer_id), 0) FROM scorer) + row_number() OVER (ORDER BY n.kind, n.scorer),
          n.kind, n.scorer, any_value(n.base_name), any_value(n.reference), any_value(n.is_reference_free)
        FROM temp.staged_vector AS n
        WHERE NOT EXISTS (FROM scorer AS sc WHERE sc.kind = n.kind AND sc.name = n.scorer)
        GROUP BY n.kind, n.scorer
        """
    )


def _write_entries(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int]) -> None:
    """Each metric with scores has an entry; those of users and those that are no entry of the task keep theirs."""
    connection = batch.connection
    connection.execute(
        """
        DELETE FROM entry
        USING temp.staged_evalset AS e
        WHERE entry.evalset_id = e.evalset_id AND (
          NOT EXISTS (FROM vector AS v WHERE v.evalset_id = entry.evalset_id AND v.scorer_id = entry.scorer_id)
          OR (e.is_declared AND NOT entry.is_own AND entry.status IS DISTINCT FROM 'no entry')
        )
        """
    )
    metrics = batch.rows(
        """
        SELECT e.evalset_no, sc.scorer_id, sc.base_name
        FROM temp.staged_evalset AS e
        JOIN (SELECT DISTINCT evalset_id, scorer_id FROM vector) AS v ON v.evalset_id = e.evalset_id
        JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
        WHERE NOT EXISTS (FROM entry AS n WHERE n.evalset_id = e.evalset_id AND n.scorer_id = sc.scorer_id)
        ORDER BY e.evalset_no, sc.scorer_id
        """
    )
    evalsets = {stage.evalset_no: stage.evalset for stage in batch.stages}
    facts = {number: declared[number] or TestsetFacts(evalset.testset) for number, evalset in evalsets.items()}
    connection.execute(
        """
        INSERT INTO entry
        SELECT n.evalset_id, n.scorer_id, coalesce(o.status, n.status), coalesce(o.is_own, false)
        FROM (
          SELECT unnest($evalsets::INTEGER[]) AS evalset_id, unnest($scorers::INTEGER[]) AS scorer_id,
            unnest($statuses::VARCHAR[]) AS status
        ) AS n
        LEFT JOIN (
          SELECT f.evalset_id, sc.scorer_id, min(v.status) AS status, bool_and(v.is_own) AS is_own
          FROM temp.staged_vector AS v
          JOIN temp.staged_source AS f ON f.file_no = v.file_no
          JOIN scorer AS sc ON sc.kind = v.kind AND sc.name = v.scorer
          GROUP BY f.evalset_id, sc.scorer_id
        ) AS o ON o.evalset_id = n.evalset_id AND o.scorer_id = n.scorer_id
        ORDER BY n.evalset_id, n.scorer_id
        """,
        {
            "evalsets": [evalset_ids[number] for number, _, _ in metrics],
            "scorers": [scorer_id for _, scorer_id, _ in metrics],
            "statuses": [facts[number].status(evalsets[number].lp, base_name) for number, _, base_name in metrics],
        },
    )


def _write_scores(batch: Batch) -> None:
    """Vectors and their scores; an evaluation set numbers its vectors in the order (kind, scorer, level, system)."""
    connection = batch.connection
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE staged_id AS
        SELECT
          n.vector_no,
          ((SELECT coalesce(max(vector_id), 0) FROM vector)
            + row_number() OVER (ORDER BY o.evalset_no, n.kind, n.scorer, n.level, n.system))::INTEGER AS vector_id
        FROM temp.staged_vector AS n
        JOIN temp.staged_source AS o ON o.file_no = n.file_no
        """
    )
    connection.execute(
        """
        INSERT INTO vector
        SELECT
          i.vector_id, o.evalset_id, sc.scorer_id, y.system_id, n.level, o.source_id, n.n_values, n.n_missing,
          n.is_negated
        FROM temp.staged_vector AS n
        JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
        JOIN scorer AS sc ON sc.kind = n.kind AND sc.name = n.scorer
        JOIN temp.staged_source AS o ON o.file_no = n.file_no
        JOIN system AS y ON y.evalset_id = o.evalset_id AND y.name = n.system
        ORDER BY i.vector_id
        """
    )
    connection.execute(
        """
        INSERT INTO score
        SELECT i.vector_id, n.segment, n.value
        FROM temp.staged_score AS n
        JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
        ORDER BY i.vector_id, n.segment
        """
    )
    connection.execute(
        """
        INSERT INTO aggregate_score
        SELECT i.vector_id, n.unit, n.value
        FROM temp.staged_aggregate AS n
        JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
        ORDER BY i.vector_id, n.unit
        """
    )


def _write_judgements(batch: Batch) -> None:
    connection = batch.connection
    ((n_judgements, first),) = batch.rows(
        """
        SELECT
          (SELECT count(*) FROM temp.staged_judgement),
          (SELECT coalesce(max(judgement_id), 0) + 1 FROM judgement)
        """
    )
    if not n_judgements:
        return
    connection.execute(
        """
        INSERT INTO judgement
        SELECT
          $first + n.judgement_no, i.vector_id, n.segment, n.rater, n.item, n.value, n.n, n.time, n.status
        FROM temp.staged_judgement AS n
        JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
        ORDER BY i.vector_id, n.segment, n.judgement_no
        """,
        {"first": first},
    )
    connection.execute(
        """
        INSERT INTO rating
        SELECT $first + n.judgement_no, n.category, n.severity, n.weight, n.span_start, n.span_end, n.is_source_error
        FROM temp.staged_rating AS n
        ORDER BY n.judgement_no, n.rowid
        """,
        {"first": first},
    )


def _check_written(batch: Batch) -> None:
    """Assert that all that was staged arrived, and that each key is there once; facts carry no constraints."""
    ((staged_vectors, staged_scores, last_segment, vectors, scores, repeated),) = batch.rows(
        """
        SELECT
          (SELECT count(*) FROM temp.staged_vector),
          (SELECT count(*) FROM temp.staged_score),
          (SELECT coalesce(max(segment), 1)::INTEGER FROM temp.staged_score),
          (SELECT count(*) FROM vector AS v JOIN temp.staged_id AS i ON i.vector_id = v.vector_id),
          (SELECT count(*) FROM score AS s JOIN temp.staged_id AS i ON i.vector_id = s.vector_id),
          (
            SELECT count(*)
            FROM (
              SELECT 1
              FROM vector
              WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
              GROUP BY evalset_id, scorer_id, system_id, level
              HAVING count(*) > 1
            )
          )
        """
    )
    bits = f"bit_count(bitstring_agg(segment, 1, {last_segment}))"  # one for every number that there can be
    n_segments = bits if last_segment <= _MOST_BITS else "count(DISTINCT segment)"
    ((double,),) = batch.rows(
        f"""
        SELECT coalesce(sum(n_rows - n_segments), 0)
        FROM (
          SELECT count(*) AS n_rows, {n_segments} AS n_segments
          FROM temp.staged_score
          GROUP BY vector_no
        )
        """
    )
    assert (vectors, scores, repeated, double) == (staged_vectors, staged_scores, 0, 0), (
        f"staged {staged_vectors} vectors and {staged_scores} scores, wrote {vectors} and {scores}; "
        f"{repeated} vectors and {double} cells stand twice"
    )
