"""SQL that is longer than a few lines stands in files of its own, in a folder `sql` beside the modules that run it."""

from functools import cache
from importlib.resources import files


@cache
def statement(package: str, name: str) -> str:
    """The text of `sql/NAME.sql` in a package.

    Raises FileNotFoundError: there is none.
    """
    return files(package).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
