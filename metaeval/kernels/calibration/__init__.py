"""The exact optimal tie threshold of a metric."""
