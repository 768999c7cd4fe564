-- Year and description of test sets, as declared.
-- Frame: name, year, description.
UPDATE testset
SET year = n.year, description = n.description
FROM inserted_frame AS n
WHERE n.name = testset.name
