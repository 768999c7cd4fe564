"""Measures: one module per family holds its wording, value, tests and pooling; `registry` lists the families."""

# Nothing is imported here: a help reads `measures.options`, and measures would load NumPy.
