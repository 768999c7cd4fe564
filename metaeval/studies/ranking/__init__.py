"""Rankings, pooled values, intervals, and differences between rankings."""
