"""People as scorers: halves, reliability, annotators, ceilings."""
