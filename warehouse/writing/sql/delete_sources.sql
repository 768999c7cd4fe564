-- The files of temp.unloaded_source (source_id), with the texts and segments that they brought.
DELETE FROM segment_text WHERE source_id IN (SELECT source_id FROM temp.unloaded_source);
DELETE FROM segment WHERE source_id IN (SELECT source_id FROM temp.unloaded_source);
DELETE FROM source WHERE source_id IN (SELECT source_id FROM temp.unloaded_source);
