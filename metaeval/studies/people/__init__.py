"""Human scores: how well annotators agree, split-half reliability, and the ceiling for metrics."""
