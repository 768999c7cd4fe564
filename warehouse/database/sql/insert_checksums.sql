-- Checksums of tables. Params: $evalsets, $names, $counts, $sums, as long as each other.
INSERT INTO checksum
SELECT
  unnest($evalsets::INTEGER[]),
  unnest($names::VARCHAR[]),
  unnest($counts::BIGINT[]),
  unnest($sums::VARCHAR[])
