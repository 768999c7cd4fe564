-- Rows of evaluation sets, scores of segments apart: number of the table as in `checksums.TABLES`, MD5 of what identifies
-- and describes the row (a NULL is an empty character 0), and its value. Params: $evalsets.
WITH
  chosen AS (SELECT unnest($evalsets::INTEGER[]) AS evalset_id),
  vectors AS (SELECT * FROM vector WHERE evalset_id IN (FROM chosen)),
  described AS (
    SELECT
      1 AS number,
      evalset_id,
      [
        vector_id::VARCHAR, scorer_id::VARCHAR, system_id::VARCHAR, level, source_id::VARCHAR, n_values::VARCHAR,
        n_missing::VARCHAR, is_negated::VARCHAR
      ] AS words,
      NULL::DOUBLE AS value
    FROM vectors
    UNION ALL
    SELECT 2, v.evalset_id, [a.vector_id::VARCHAR, a.unit], a.value
    FROM aggregate_score AS a
    JOIN vectors AS v ON v.vector_id = a.vector_id
    UNION ALL
    SELECT
      3,
      v.evalset_id,
      [
        j.judgement_id::VARCHAR, j.vector_id::VARCHAR, j.segment::VARCHAR, j.rater, j.item, j.n::VARCHAR,
        epoch_us(j.time)::VARCHAR, j.status
      ],
      j.value
    FROM judgement AS j
    JOIN vectors AS v ON v.vector_id = j.vector_id
    UNION ALL
    SELECT
      4,
      v.evalset_id,
      [
        r.judgement_id::VARCHAR, r.category, r.severity, r.span_start::VARCHAR, r.span_end::VARCHAR,
        r.is_source_error::VARCHAR, r.severity_class
      ],
      r.weight
    FROM rating AS r
    JOIN judgement AS j ON j.judgement_id = r.judgement_id
    JOIN vectors AS v ON v.vector_id = j.vector_id
    UNION ALL
    SELECT
      5,
      evalset_id,
      [segment::VARCHAR, position::VARCHAR, domain, document, index_in_document::VARCHAR, source_id::VARCHAR],
      NULL
    FROM segment
    WHERE evalset_id IN (FROM chosen)
    UNION ALL
    SELECT 6, evalset_id, [kind, name, segment::VARCHAR, text, source_id::VARCHAR], NULL
    FROM segment_text
    WHERE evalset_id IN (FROM chosen)
    UNION ALL
    SELECT 7, evalset_id, [system_id::VARCHAR, name, canonical_name, kind, is_outlier::VARCHAR], NULL
    FROM system
    WHERE evalset_id IN (FROM chosen)
  )
SELECT
  number,
  evalset_id,
  md5_number_lower(array_to_string([coalesce(word, chr(0)) FOR word IN words], chr(31))) AS key,
  value
FROM described
