"""Trends: points, groups, gaps, slopes within the same data, bridges, ceilings."""
