"""A load: files are found and claimed, grouped by evaluation set, staged and written in batches, and reported."""
