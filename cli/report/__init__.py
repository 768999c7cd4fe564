"""The report: sections, one module each, are computed or taken from the store, and laid out as one page."""
