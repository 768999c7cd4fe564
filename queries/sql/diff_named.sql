-- What has a name in a warehouse, with what is known of it, to be laid beside that of another warehouse.
-- Params: $testset, $lp (NULL: all). One row per kind of thing, test set, language pair and name.
-- fields: what is known, parts between unit separators; nothing in it depends on identifiers, places or times.
WITH named AS (
  SELECT
    'evaluation sets' AS what, t.name AS testset, e.lp, '' AS name,
    [
      'year ' || t.year, 'description ' || t.description, 'languages ' || e.source_language || ' ' || e.target_language,
      'n_segments ' || e.n_segments, 'standard_reference ' || e.standard_reference,
      'standard_human_sys ' || e.standard_human_sys, 'standard_human_domain ' || e.standard_human_domain,
      'standard_human_doc ' || e.standard_human_doc, 'standard_human_seg ' || e.standard_human_seg,
      'ranks_human_references ' || e.ranks_human_references
    ] AS fields
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  UNION ALL
  SELECT 'sources', testset, lp, origin, ['sha256 ' || sha256, 'reader ' || reader, 'status ' || status, 'fault ' || fault]
  FROM sources
  UNION ALL
  SELECT 'systems', testset, lp, system, ['canonical_name ' || canonical_name, 'kind ' || kind, 'is_outlier ' || is_outlier]
  FROM systems
  UNION ALL
  SELECT 'spellings', testset, lp, system || ': ' || spelling, ['rule ' || rule]
  FROM spellings
  UNION ALL
  SELECT
    'metrics', testset, lp, metric,
    [
      'base_metric ' || base_metric, 'reference ' || reference, 'is_reference_free ' || is_reference_free,
      'family ' || family, 'status ' || status, 'is_own ' || is_own, 'is_negated ' || is_negated, 'is_derived ' || is_derived
    ]
  FROM metrics
  UNION ALL
  SELECT 'humans', testset, lp, human, ['is_standard ' || is_standard]
  FROM humans
  UNION ALL
  SELECT
    'metric facts', testset, '', base_metric,
    [
      'family ' || family, 'version ' || version, 'kind ' || kind, 'is_reference_free ' || is_reference_free,
      'is_error_measure ' || is_error_measure, 'training_year ' || training_year, 'is_known ' || is_known
    ]
  FROM metric_facts
  UNION ALL
  SELECT 'known issues', testset, coalesce(lp, ''), concat_ws(', ', scorer, system, issue), list_sort(list(citation))
  FROM known_issues
  GROUP BY testset, lp, scorer, system, issue
  UNION ALL
  SELECT 'results', testset, lp, kind || ' ' || signature, list_sort(list('payload ' || md5(payload)))
  FROM results
  GROUP BY testset, lp, kind, signature
)
SELECT what, testset, lp, name, array_to_string(list_filter(fields, lambda field: field IS NOT NULL), chr(31)) AS fields
FROM named
WHERE ($testset IS NULL OR list_contains(string_split(testset, ','), $testset))
  AND ($lp IS NULL OR lp = '' OR list_contains(string_split(lp, ','), $lp))
ORDER BY what, testset, lp, name;
