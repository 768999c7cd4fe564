-- Definitions that any client of the file can use: coefficients from pair counts, and from two lists of system scores.
-- c concordant, d discordant, th tied by the human score only, tm tied by the metric only, thm tied by both.

CREATE OR REPLACE MACRO tau_a(c, d, th, tm, thm) AS (c - d) / nullif(c + d + th + tm + thm, 0);
COMMENT ON MACRO tau_a IS 'Kendall''s tau-a from pair counts: every tie counts as neither; NULL without pairs.';

CREATE OR REPLACE MACRO tau_b(c, d, th, tm, thm) AS (c - d) / nullif(sqrt((c + d + th)::DOUBLE * (c + d + tm)::DOUBLE), 0);
COMMENT ON MACRO tau_b IS 'Kendall''s tau-b from pair counts; NULL if either side is constant.';

CREATE OR REPLACE MACRO tau_c(c, d, n, k) AS 2.0 * (c - d) * k / nullif(n::DOUBLE * n * (k - 1), 0);
COMMENT ON MACRO tau_c IS 'Kendall''s tau-c (Stuart) from pair counts at epsilon 0: n (system, segment) scores, k the smaller number of distinct human or metric values; NULL if either side is constant.';

CREATE OR REPLACE MACRO tau_10(c, d, th, tm, thm) AS (c - d - tm) / nullif(c + d + tm, 0);
COMMENT ON MACRO tau_10 IS 'WMT 2010 tau: a metric tie counts as discordant, human ties are excluded; NULL if the human side is constant.';

CREATE OR REPLACE MACRO tau_13(c, d, th, tm, thm) AS (c - d) / nullif(c + d, 0);
COMMENT ON MACRO tau_13 IS 'WMT 2013 tau: all ties are excluded; NULL if no pair is left.';

CREATE OR REPLACE MACRO tau_14(c, d, th, tm, thm) AS (c - d) / nullif(c + d + tm, 0);
COMMENT ON MACRO tau_14 IS 'WMT 2014 tau: a metric tie counts only in the denominator; NULL if the human side is constant.';

CREATE OR REPLACE MACRO tau_23(c, d, th, tm, thm) AS (c + thm - d - th - tm) / nullif(c + d + th + tm + thm, 0);
COMMENT ON MACRO tau_23 IS 'Tau of 2023, in which pairs tied by both count as concordant; equals 2 acc23 - 1; NULL without pairs.';

CREATE OR REPLACE MACRO acc23(c, d, th, tm, thm) AS (c + thm) / nullif(c + d + th + tm + thm, 0);
COMMENT ON MACRO acc23 IS 'Pairwise accuracy with ties (acc_eq at the epsilon of the counts); NULL without pairs.';

CREATE OR REPLACE MACRO kendall_like(c, d, tm) AS (c - d - tm) / nullif(c + d + tm, 0);
COMMENT ON MACRO kendall_like IS 'Segment-level tau of WMT''s DA years from counts over pairs whose human scores differ by the threshold: a metric tie counts as discordant; NULL without pairs.';

DROP MACRO IF EXISTS pair_agreement; -- files of 0.2.0 and 1.0.0 may have it

-- No WITH: a scalar macro that DuckDB 2.0 stored cannot hold one where 1.4 is to call it.
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
COMMENT ON MACRO pairwise_accuracy IS 'Share of system pairs that two lists of system scores order the same way; zero agrees with zero only; scores are compared as stored. NULL with fewer than 2 systems, or if a score is missing or NaN; lists of unequal length are an error.';
