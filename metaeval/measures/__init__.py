"""Measures: one module per family holds its wording, value, tests and pooling; `registry` lists the families."""
