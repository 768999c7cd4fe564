-- Languages, or what is known of them now.
-- Frame: code, name, script, in_da_training.
INSERT INTO language BY NAME
SELECT code, name, script, in_da_training FROM inserted_frame
ON CONFLICT DO UPDATE SET
  name = excluded.name, script = excluded.script, in_da_training = excluded.in_da_training
