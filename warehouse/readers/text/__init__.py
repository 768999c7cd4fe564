"""Text as tables, and cells as values: what readers of several formats share."""
