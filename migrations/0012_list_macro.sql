-- Scores that are no number are missing, lists of unequal length an error; and no WITH, which a macro that DuckDB 2.0
-- stored cannot hold where 1.4 is to call it.

CREATE OR REPLACE MACRO pair_agreement(dh, dm, epsilon) AS CASE
  WHEN dh IS NULL OR dm IS NULL OR epsilon IS NULL THEN NULL
  WHEN isnan(dh::DOUBLE) OR isnan(dm::DOUBLE) OR isnan(epsilon::DOUBLE) THEN NULL
  WHEN dh = 0 AND abs(dm) <= epsilon THEN 'tied_both'
  WHEN dh = 0 THEN 'tied_human'
  WHEN abs(dm) <= epsilon THEN 'tied_metric'
  WHEN (dh > 0) = (dm > 0) THEN 'concordant'
  ELSE 'discordant'
END;
COMMENT ON MACRO pair_agreement IS 'How a metric''s difference dm agrees with the human difference dh of one pair: concordant, discordant, tied_human, tied_metric or tied_both; NULL where a difference is missing or NaN.';

CREATE OR REPLACE MACRO pairwise_accuracy(human_scores, metric_scores) AS (
  SELECT
    CASE
      WHEN len(asked.human_list) <> len(asked.metric_list)
        THEN error(
          len(asked.human_list) || ' human scores and ' || len(asked.metric_list)
          || ' metric scores, expected one of each for every system'
        )::DOUBLE
      ELSE (
        SELECT CASE
          WHEN bool_and(coalesce(NOT (isnan(a.h) OR isnan(a.m) OR isnan(b.h) OR isnan(b.m)), false))
            THEN avg((sign(a.h - b.h) = sign(a.m - b.m))::INTEGER)
        END
        FROM (
          SELECT
            unnest(asked.human_list) AS h,
            unnest(asked.metric_list) AS m,
            generate_subscripts(asked.human_list, 1) AS i
        ) AS a
        JOIN (
          SELECT
            unnest(asked.human_list) AS h,
            unnest(asked.metric_list) AS m,
            generate_subscripts(asked.human_list, 1) AS i
        ) AS b ON b.i > a.i
      )
    END
  FROM (SELECT human_scores::DOUBLE[] AS human_list, metric_scores::DOUBLE[] AS metric_list) AS asked
);
COMMENT ON MACRO pairwise_accuracy IS 'Share of system pairs that two lists of system scores order the same way; zero agrees with zero only; scores are compared as stored. NULL with fewer than 2 systems and where a score is missing or NaN; lists of unequal length are an error.';
