"""A load: files found and claimed, grouped by evaluation set, staged and written in batches, reported."""
