"""How far a metric agrees with people: correlations, pair counts and what is made of them."""
