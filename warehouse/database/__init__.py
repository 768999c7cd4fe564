"""The database file: its connection, its migrations, frames in and out, stored results, and the staging tables."""

from functools import cache
from importlib.resources import files


@cache
def statement(package: str, name: str) -> str:
    """The text of `sql/NAME.sql` in a package.

    Raises FileNotFoundError: there is none.
    """
    return files(package).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
