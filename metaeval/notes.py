"""Notes whose hint a reader may be given in other words: a report says how to see more, a command names its flag."""

from collections.abc import Iterable

from queries.reasons import Exclusion
from warehouse import WarehouseError
from warehouse.wording import option

EXPLAIN = f"{option('explain', True)} says why"


class Hinted(str):
    """A note with a hint in brackets behind its text; text and hint are fields, so that nobody takes the note apart.

    >>> from warehouse.wording import in_python
    >>> note = Hinted("3 of 18 metrics are excluded", EXPLAIN)
    >>> in_python(note), note.text
    ('3 of 18 metrics are excluded (explain=True says why)', '3 of 18 metrics are excluded')
    """

    __slots__ = ("hint", "text")

    text: str
    hint: str

    def __new__(cls, text: str, hint: str) -> "Hinted":
        made = super().__new__(cls, f"{text} ({hint})")
        made.text, made.hint = text, hint
        return made

    def __reduce__(self) -> tuple[type["Hinted"], tuple[str, str]]:
        return Hinted, (self.text, self.hint)


def hinted(text: str, *hints: str) -> str:
    """A note with those hints that say something, each once.

    >>> hinted("without A, B: not judged"), hinted("without A", "", "try again", "try again")
    ('without A, B: not judged', 'without A (try again)')
    """
    said = list(dict.fromkeys(hint for hint in hints if hint))
    return Hinted(text, "; ".join(said)) if said else text


def because(lead: str, error: WarehouseError) -> str:
    """A note that ends with an error: its reason, and what would mend it as hints.

    >>> because("no bridge: ", WarehouseError("no human score", way_out="name one"))
    'no bridge: no human score (name one)'
    """
    return hinted(lead + error.with_hints(lambda hint: not hint), error.way_out, *error.hints)


def excluding(text: str, excluded: Iterable[tuple[Exclusion, list[str]]]) -> str:
    """A note that names what is excluded, with each reason in brackets.

    >>> from queries.reasons import Reason
    >>> excluding("pa: without", [(Exclusion(Reason.NO_SEGMENT_SCORES), ["A", "B"])])
    'pa: without A, B (no segment scores)'
    """
    parts = [(f"{', '.join(names)} ({why.sentence})", why.hint) for why, names in excluded]
    return hinted(f"{text} {'; '.join(part for part, _ in parts)}", *(hint for _, hint in parts))
