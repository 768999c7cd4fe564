"""A site: the answers to the usual questions as static pages, with the data, and SQL over them in the browser."""
