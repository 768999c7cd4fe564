"""Charts: each module makes an Altair chart from frames; its caller writes it to a file or a page.

`parts` has what all share: the title, the signature below, colours, and how data are stored in a chart.
"""
