"""Whether a difference is chance: swaps, resamples, p-values, corrections and clusters."""
