"""How much data is needed: the power of a test at other sample sizes, by resampling the loaded data."""
