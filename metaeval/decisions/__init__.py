"""A metric's score as a decision: which outputs may be published without a look, and what that costs elsewhere."""
