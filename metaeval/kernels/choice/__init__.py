"""Which segments to annotate: how useful each looks, which of them a budget buys, and what such a part would have said.

Source: Zouhar et al. 2025.
"""
