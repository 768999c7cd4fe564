-- What hangs on the removed vectors of temp.own_vector and on nothing else: sources, entries, facts and scorers.
DELETE FROM source
WHERE source_id IN (SELECT source_id FROM temp.own_vector) AND source_id NOT IN (SELECT source_id FROM vector);

DELETE FROM entry WHERE (evalset_id, scorer_id) IN (SELECT (evalset_id, scorer_id) FROM temp.own_vector);

DELETE FROM metric_fact
WHERE (testset_id, base_name) IN (SELECT (testset_id, base_name) FROM temp.own_vector)
  AND (testset_id, base_name) NOT IN (
    SELECT (e.testset_id, sc.base_name)
    FROM entry AS n
    JOIN evalset AS e ON e.evalset_id = n.evalset_id
    JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
  );

DELETE FROM scorer
WHERE scorer_id IN (SELECT scorer_id FROM temp.own_vector) AND scorer_id NOT IN (SELECT scorer_id FROM vector);

DROP TABLE temp.own_vector;
