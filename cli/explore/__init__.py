"""The interactive page: a marimo notebook made of the questions."""
