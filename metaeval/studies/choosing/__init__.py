"""Which segments to annotate, and how well each selection method did in past campaigns."""
