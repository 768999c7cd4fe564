"""Metrics of the user's own: their scores come in, are computed here, and go again."""
