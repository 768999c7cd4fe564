"""Charts: one module per noun makes an Altair chart of frames; who shows it draws it into a file or a page.

`parts` holds what all have: the title, the signature below, colours, and how data lie in a chart.
"""
