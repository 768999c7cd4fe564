-- The staged texts.
INSERT INTO segment_text
SELECT o.evalset_id, n.kind, n.name, n.segment, n.text, o.source_id
FROM temp.staged_text AS n
JOIN temp.staged_source AS o ON o.file_no = n.file_no
ORDER BY o.evalset_id, n.kind, n.name, n.segment
