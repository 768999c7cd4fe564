"""How much data is needed: the power of a test at other sizes, by resampling what is loaded."""
