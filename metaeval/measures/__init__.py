"""Measures: one module per family, with everything about it: words, value, tests, pooling; `registry` lists them."""

from .measure import Measure, Values
from .registry import DEFINITIONS, parse_measure

__all__ = ["DEFINITIONS", "Measure", "Values", "parse_measure"]
