"""What tests of several commands ask."""

from pathlib import Path

import pytest


@pytest.fixture
def database(default_database: Path) -> Path:
    """A copy of the simulated task that may be written."""
    return default_database
