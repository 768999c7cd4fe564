"""The records of evaluation sets laid out on a stage: names joined, segments placed, all of it checked."""
