"""Marked errors against marked errors: precision, recall and F of spans."""

from .matching import Spans, flat
from .precision_recall import precision_recall, span_precision_recall, span_sums

__all__ = ["Spans", "flat", "precision_recall", "span_precision_recall", "span_sums"]
