-- Preferences of one scorer of an evaluation set, a as shown first.
-- Params: $evalset, $scorer (identifier). One row per pair as judged, by ranking, in a fixed order.
-- answer: 1 where a is better, -1 where b is, 0 for a tie.
SELECT
  y.name AS system_a,
  z.name AS system_b,
  p.segment,
  p.ranking,
  p.rater,
  CASE p.answer WHEN 'a' THEN 1 WHEN 'b' THEN -1 ELSE 0 END AS answer,
  p.is_same_output
FROM preference AS p
JOIN vector AS v ON v.vector_id = p.vector_a AND v.evalset_id = $evalset AND v.scorer_id = $scorer
JOIN vector AS w ON w.vector_id = p.vector_b
JOIN system AS y ON y.system_id = v.system_id
JOIN system AS z ON z.system_id = w.system_id
ORDER BY p.ranking, y.name, z.name, p.segment, p.rater, p.answer;
