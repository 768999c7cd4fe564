"""From a block to a result: its values, signature, notes and answer, and the store of results."""
