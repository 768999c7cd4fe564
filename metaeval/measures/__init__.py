"""Measures: one module per family holds its wording, value, tests and pooling; `registry` lists the families."""

from .measure import Measure, Values
from .registry import DEFINITIONS, parse_measure

__all__ = ["DEFINITIONS", "Measure", "Values", "parse_measure"]
