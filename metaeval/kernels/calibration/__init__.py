"""The tie threshold that serves a metric best, exactly."""
