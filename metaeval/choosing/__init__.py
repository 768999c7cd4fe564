"""Which segments people should annotate, and what past campaigns say of each way to choose them."""
