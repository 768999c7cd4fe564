"""The cookbook: researchers' questions, each answered by one query over the public views in a separate file."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from warehouse.errors import known_name


@dataclass(frozen=True)
class Recipe:
    """A question with its query. question: the comment above the query; its first sentence is the question itself."""

    name: str
    question: str
    query: str

    @property
    def title(self) -> str:
        """The question itself, without its explanation.

        >>> Recipe("x", "Who is first? By pearson.", "SELECT 1").title
        'Who is first?'
        """
        return re.split(r"(?<=\?) ", self.question, maxsplit=1)[0]


@cache
def recipes() -> dict[str, Recipe]:
    """All recipes by name, in alphabetical order."""
    found = {}
    for entry in files(__name__).iterdir():
        if entry.name.endswith(".sql"):
            name = entry.name.removesuffix(".sql")
            lines = entry.read_text(encoding="utf-8").splitlines()
            n_comments = next(n for n, line in enumerate(lines) if not line.startswith("-- "))
            question = " ".join(line.removeprefix("-- ") for line in lines[:n_comments])
            found[name] = Recipe(name, question, "\n".join(lines[n_comments:]) + "\n")
    return dict(sorted(found.items()))


def recipe(name: str) -> Recipe:
    """The recipe with this name.

    Raises QuestionError: there is none; the error lists the nearest names.
    """
    return recipes()[known_name("example", name, recipes())]
