"""Measures: one module a family, with all that is known of it: words, value, tests, pooling; `registry` lists them."""

from .measure import Definition, Level, Measure, Values
from .parameters import GROUPINGS, Parameter
from .registry import DEFINITIONS

__all__ = ["DEFINITIONS", "GROUPINGS", "Definition", "Level", "Measure", "Parameter", "Values"]
