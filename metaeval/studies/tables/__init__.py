"""Tables over one slice: pair counts, ties, tie thresholds, agreement between metrics."""
