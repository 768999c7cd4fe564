-- Languages, or what is known of them now.
-- Params: $codes, $names, $scripts, $in_da, as long as each other.
INSERT INTO language
SELECT
  unnest($codes::VARCHAR[]), unnest($names::VARCHAR[]), unnest($scripts::VARCHAR[]), unnest($in_da::BOOLEAN[])
ON CONFLICT DO UPDATE SET
  name = excluded.name, script = excluded.script, in_da_training = excluded.in_da_training
