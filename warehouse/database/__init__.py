"""The database file: connection, migrations, conversion of frames, stored results, and staging tables."""

from functools import cache
from importlib.resources import files


@cache
def statement(package: str, name: str) -> str:
    """The text of `sql/NAME.sql` in a package.

    Raises FileNotFoundError: no such file.
    """
    return files(package).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


def literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
