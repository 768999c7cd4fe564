-- Judgements to the vectors of the score file.
-- Params: $here, $there: vector numbers, aligned.
UPDATE temp.staged_judgement
SET vector_no = n.there
FROM (SELECT unnest($here::INTEGER[]) AS here, unnest($there::INTEGER[]) AS there) AS n
WHERE staged_judgement.vector_no = n.here
