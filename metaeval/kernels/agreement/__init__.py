"""Agreement of metrics with human scores: correlations, pair counts, and the statistics built on them."""
