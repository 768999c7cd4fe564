-- How many judgements are staged, and the first identifier that is free. One row.
SELECT
  (SELECT count(*) FROM temp.staged_judgement),
  (SELECT coalesce(max(judgement_id), 0) + 1 FROM judgement)
