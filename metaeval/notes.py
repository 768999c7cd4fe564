"""Notes whose hint a reader may be given in other words: a report says how to see more, a command names its flag."""

EXPLAIN = "--explain says why"


class Hinted(str):
    """A note with a hint in brackets behind its text; text and hint are fields, so that nobody takes the note apart.

    >>> note = Hinted("3 of 18 metrics are excluded", EXPLAIN)
    >>> str(note), note.text
    ('3 of 18 metrics are excluded (--explain says why)', '3 of 18 metrics are excluded')
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
