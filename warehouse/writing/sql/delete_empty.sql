-- Evaluation sets that no file is left of, test sets without any, and what is known beside them.
CREATE OR REPLACE TEMP TABLE empty_evalset AS
SELECT evalset_id
FROM temp.staged_evalset
WHERE evalset_id NOT IN (SELECT evalset_id FROM source);

DELETE FROM system_spelling
WHERE system_id IN (SELECT system_id FROM system WHERE evalset_id IN (SELECT evalset_id FROM temp.empty_evalset));
DELETE FROM system WHERE evalset_id IN (SELECT evalset_id FROM temp.empty_evalset);
DELETE FROM segment WHERE evalset_id IN (SELECT evalset_id FROM temp.empty_evalset);
DELETE FROM entry WHERE evalset_id IN (SELECT evalset_id FROM temp.empty_evalset);
DELETE FROM evalset WHERE evalset_id IN (SELECT evalset_id FROM temp.empty_evalset);
DELETE FROM known_issue
WHERE testset IN (SELECT name FROM testset WHERE testset_id NOT IN (SELECT testset_id FROM evalset));
DELETE FROM metric_fact WHERE testset_id NOT IN (SELECT testset_id FROM evalset);
DELETE FROM testset WHERE testset_id NOT IN (SELECT testset_id FROM evalset);
DELETE FROM scorer
WHERE scorer_id NOT IN (SELECT scorer_id FROM vector) AND scorer_id NOT IN (SELECT scorer_id FROM entry);
DELETE FROM language
WHERE code NOT IN (SELECT source_language FROM evalset UNION SELECT target_language FROM evalset);
DROP TABLE temp.empty_evalset;
