"""A site: the answers to the usual questions as static pages, with the data and with SQL in the browser."""
