-- Rows of the tables that are no evaluation set's own, as in checked_rows.sql.
WITH described AS (
  SELECT 8 AS number, [testset_id::VARCHAR, name, year::VARCHAR, description] AS words
  FROM testset
  UNION ALL
  SELECT
    9,
    [
      evalset_id::VARCHAR, testset_id::VARCHAR, lp, source_language, target_language, standard_reference,
      standard_human_sys, standard_human_domain, standard_human_doc, standard_human_seg,
      ranks_human_references::VARCHAR, n_segments::VARCHAR, lp_base
    ]
  FROM evalset
  UNION ALL
  SELECT
    10,
    [
      scorer_id::VARCHAR, kind, name, base_name, reference, is_reference_free::VARCHAR, family, version,
      is_error_measure::VARCHAR
    ]
  FROM scorer
  UNION ALL
  SELECT
    11,
    [
      testset_id::VARCHAR, base_name, family, version, kind, is_reference_free::VARCHAR, is_error_measure::VARCHAR,
      training_year::VARCHAR, is_known::VARCHAR
    ]
  FROM metric_fact
  UNION ALL
  SELECT 12, [evalset_id::VARCHAR, scorer_id::VARCHAR, status, is_own::VARCHAR]
  FROM entry
  UNION ALL
  SELECT
    13,
    [
      source_id::VARCHAR, evalset_id::VARCHAR, origin, path, sha256, n_bytes::VARCHAR, reader, n_rows::VARCHAR,
      n_missing::VARCHAR, epoch_us(loaded_at)::VARCHAR, status, fault, n_evalsets::VARCHAR, bundle
    ]
  FROM source
  UNION ALL
  SELECT 14, [system_id::VARCHAR, spelling, rule]
  FROM system_spelling
  UNION ALL
  SELECT 15, [code, name, script, in_da_training::VARCHAR]
  FROM language
  UNION ALL
  SELECT 16, [testset, lp, scorer, system, issue, citation]
  FROM known_issue
)
SELECT
  number,
  0 AS evalset_id,
  md5_number_lower(array_to_string([coalesce(word, chr(0)) FOR word IN words], chr(31))) AS key,
  NULL::DOUBLE AS value
FROM described
