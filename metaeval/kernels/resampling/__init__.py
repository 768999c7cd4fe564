"""Could a difference be due to chance? Swaps, resamples, p-values, corrections and clusters."""
