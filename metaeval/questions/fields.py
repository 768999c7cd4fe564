"""Fields that several questions share, apart from the slice and the options of computing and testing."""

from collections.abc import Iterable, Mapping
from typing import Annotated

from warehouse.fields import Option

DEFAULT_MEASURES = ("spa", "acc_eq(by=item)")  # the organisers' since 2024

Measures = Annotated[
    tuple[str, ...], Option("Measure, such as spa or acc_eq(by=item); repeatable.", ("measure", "m"), names="measure")
]


def requires(fields: Iterable[str], *needed: str, **others: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """For `Fields.needs`: all these fields need one of those; others: what further fields need."""
    return dict.fromkeys(fields, needed) | others
