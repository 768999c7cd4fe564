"""People as scorers: annotators and how well they agree, halves of their judgements, and the ceiling they set."""
