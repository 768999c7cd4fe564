"""One module per command: parse, open, one call, render."""
