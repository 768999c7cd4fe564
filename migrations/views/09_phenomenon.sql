-- Phenomena that items of challenge sets test.

CREATE OR REPLACE VIEW phenomena AS
SELECT t.name AS testset, e.lp, g.phenomenon, any_value(g.phenomenon_class) AS class, count(*) AS n_segments
FROM internal.segment AS g
JOIN internal.evalset AS e ON e.evalset_id = g.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
WHERE g.phenomenon IS NOT NULL
GROUP BY t.name, e.lp, g.phenomenon;
COMMENT ON VIEW phenomena IS 'Phenomena that challenge sets test. One row per evaluation set and phenomenon.';
COMMENT ON COLUMN phenomena.testset IS 'Test set, such as demetr.';
COMMENT ON COLUMN phenomena.phenomenon IS 'Phenomenon that the items test.';
COMMENT ON COLUMN phenomena.class IS 'Class that the phenomenon belongs to; NULL if there is none.';
COMMENT ON COLUMN phenomena.n_segments IS 'Number of items.';
