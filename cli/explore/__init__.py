"""The page that answers while one looks: a marimo notebook made of the questions."""
