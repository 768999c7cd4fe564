"""Loads are made often here."""

from collections.abc import Iterator

import pytest

from tests.warehouse.staging_areas import staging_areas_kept


@pytest.fixture(scope="package", autouse=True)
def quick_staging_areas() -> Iterator[None]:
    """Loads begin in databases in memory that earlier ones have left clean."""
    with staging_areas_kept():
        yield
