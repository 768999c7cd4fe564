"""Here new files are made as users make them."""

from collections.abc import Iterator

import pytest

from tests.sharing import copies_for_new_files


@pytest.fixture(scope="module", autouse=True)
def made_by_migrations() -> Iterator[None]:
    with copies_for_new_files(False):
        yield
