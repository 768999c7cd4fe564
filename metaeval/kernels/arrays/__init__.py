"""The arrays that kernels work on: checked, grouped and sorted."""
