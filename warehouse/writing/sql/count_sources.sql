-- What some files brought to each evaluation set, or of one metric of the user's own alone.
-- Params: $sources, $metric (full or base name, null for all). One row per evaluation set.
WITH chosen AS (
  SELECT source_id, evalset_id FROM source WHERE source_id IN (SELECT unnest($sources::INTEGER[]))
),
chosen_vector AS (
  SELECT v.*
  FROM vector AS v JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  WHERE $metric IS NULL OR $metric IN (sc.name, sc.base_name)
),
judged AS (
  SELECT c.evalset_id, count(*) AS n
  FROM chosen AS c
  JOIN chosen_vector AS v ON v.source_id = c.source_id
  JOIN judgement AS j ON j.vector_id = v.vector_id
  GROUP BY c.evalset_id
),
scored AS (
  SELECT c.evalset_id, sum(v.n_values) AS n
  FROM chosen AS c
  JOIN chosen_vector AS v ON v.source_id = c.source_id
  GROUP BY c.evalset_id
),
written AS (
  SELECT c.evalset_id, count(*) AS n
  FROM chosen AS c
  JOIN segment_text AS x ON x.source_id = c.source_id
  GROUP BY c.evalset_id
)
SELECT
  t.name AS testset, e.lp, count(*) AS n_files, coalesce(any_value(s.n), 0)::BIGINT AS n_scores,
  coalesce(any_value(j.n), 0) AS n_judgements, coalesce(any_value(w.n), 0) AS n_texts,
  NOT EXISTS (
    FROM source AS o
    WHERE o.evalset_id = e.evalset_id AND o.source_id NOT IN (SELECT unnest($sources::INTEGER[]))
  ) AS is_gone
FROM chosen AS c
JOIN evalset AS e ON e.evalset_id = c.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
LEFT JOIN scored AS s ON s.evalset_id = c.evalset_id
LEFT JOIN judged AS j ON j.evalset_id = c.evalset_id
LEFT JOIN written AS w ON w.evalset_id = c.evalset_id
GROUP BY t.name, e.lp, e.evalset_id
ORDER BY t.name, e.lp
