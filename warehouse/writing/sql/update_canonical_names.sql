-- Names of systems in small letters and without the numbers of their submissions (online-B.0, LIUM-2.4733; not GPT-4.1,
-- which is a version); with them where two systems of an evaluation set would share one, and as they are where they
-- still would.
WITH folded AS (
  SELECT
    system_id, evalset_id, lower(name) AS small,
    lower(CASE WHEN kind = 'human' THEN name ELSE regexp_replace(name, '([^0-9])[.][0-9]+$|(.)[.][0-9]{3,}$', '\1\2') END) AS short
  FROM system
  WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
),
counted AS (
  SELECT
    f.system_id, f.small, f.short,
    count(*) OVER (PARTITION BY f.evalset_id, f.short) AS n_short,
    count(*) OVER (PARTITION BY f.evalset_id, f.small) AS n_small
  FROM folded AS f
),
named AS (
  SELECT c.system_id, CASE WHEN c.n_short = 1 THEN c.short WHEN c.n_small = 1 THEN c.small END AS canonical
  FROM counted AS c
)
UPDATE system
SET canonical_name = coalesce(n.canonical, system.name)
FROM named AS n
WHERE n.system_id = system.system_id AND system.canonical_name <> coalesce(n.canonical, system.name)
