-- Systems that get another name. One row per system.
-- Params: $ids (evaluation sets), $old, $new, as long as each other.
CREATE OR REPLACE TEMP TABLE staged_rename AS
SELECT y.system_id, n.new
FROM (
  SELECT unnest($ids::INTEGER[]) AS evalset_id, unnest($old::VARCHAR[]) AS old, unnest($new::VARCHAR[]) AS new
) AS n
JOIN system AS y ON y.evalset_id = n.evalset_id AND y.name = n.old
