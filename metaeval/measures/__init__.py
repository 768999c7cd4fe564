"""Measures: one module a family, with all that is known of it: words, value, tests, pooling; `registry` lists them."""

from .measure import Measure, Values
from .registry import DEFINITIONS, parse_measure

__all__ = ["DEFINITIONS", "Measure", "Values", "parse_measure"]
