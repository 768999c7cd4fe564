"""Queries behind the pages of a site, each over the public views and in a separate file, for readers to rerun."""

import re
from functools import cache
from importlib.resources import files


def page_query(name: str, **names: str) -> str:
    """The query of a file with its parameter values inserted, to be copied.

    Raises KeyError: a parameter is missing. FileNotFoundError: there is no such query.
    >>> print(page_query("ranking", testset="wmt23", lp="en-de's"))
    SELECT *
    FROM pairwise_accuracy_by_metric('wmt23', 'en-de''s')
    """
    return re.sub(r"\$([a-z]+)", lambda one: _literal(names[one[1]]), _text(name))


@cache
def _text(name: str) -> str:
    lines = files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
