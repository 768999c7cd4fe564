"""Whether a difference is chance: swaps, redraws, p-values, corrections and clusters."""
