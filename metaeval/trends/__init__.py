"""Trends: a measure over the years, as gaps on the same data, slopes within the same data, and bridges of protocols."""
