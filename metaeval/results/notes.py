"""Notes whose hint can be reworded: a report says how to see more, a command names its flag."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from queries.reasons import Exclusion, Reason
from warehouse import QuestionError, WarehouseError
from warehouse.errors import NEAR
from warehouse.wording import are, counted, first_names, option

_MOST_REASONS = 2  # in one line
EXPLAIN = f"{option('explain', True)} says why"


class _Note(str):
    """A text with fields; it never changes, so that copies are the note itself."""

    __slots__ = ()

    def __deepcopy__(self, copied: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle, which cannot make one from its text alone."""
        fields = {name: getattr(self, name) for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())}
        return _restored, (type(self), str(self), fields)


def _restored(kind: type[_Note], text: str, fields: dict[str, Any]) -> _Note:
    """A note as it was before it was pickled."""
    note = str.__new__(kind, text)
    for name, value in fields.items():
        setattr(note, name, value)
    return note


class NoteWithHint(_Note):
    """A note with a hint in brackets after its text; text and hint are fields, so that no code parses the note.

    >>> from warehouse.wording import in_python
    >>> note = NoteWithHint("3 of 18 metrics are excluded", EXPLAIN)
    >>> in_python(note), note.text
    ('3 of 18 metrics are excluded (explain=True says why)', '3 of 18 metrics are excluded')
    """

    __slots__ = ("hint", "text")

    text: str
    hint: str

    def __new__(cls, text: str, hint: str) -> "NoteWithHint":
        made = super().__new__(cls, f"{text} ({hint})")
        made.text, made.hint = text, hint
        return made


class Decisive(_Note):
    """A note that may change a decision; if there is little room, it comes first, and one line sums up all of its kind.

    kind: how a line on all of its kind begins. case: what it adds to that line. size: how bad it is.
    """

    __slots__ = ("case", "kind", "size")

    kind: str
    case: str
    size: float

    def __new__(cls, text: str, kind: str = "", case: str = "", size: float = 0.0) -> "Decisive":
        made = super().__new__(cls, text)
        made.kind, made.case, made.size = kind or text, case, size
        return made


class Partial(Decisive):
    """A note that an answer is based on incomplete data: what is compared, and what is not. It comes first."""

    __slots__ = ()


def few_metrics(used: Iterable[str], excluded: Mapping[str, Exclusion]) -> list[str]:
    """A note if what is needed is missing for most metrics of a slice. used: the metrics that have it, or all.

    >>> from queries.reasons import Reason
    >>> few_metrics("AB", dict.fromkeys("CDE", Exclusion(Reason.NO_SEGMENT_SCORES))), few_metrics("A", {})
    (['partial: 2 of 5 metrics have segment scores'], [])
    """
    n = len({*used} - {*excluded})
    if not 0 < n < len(excluded):
        return []
    kinds = {_LACKED.get(one.reason, "complete scores") for one in excluded.values()}
    what = kinds.pop() if len(kinds) == 1 else "the scores needed"
    return [Partial(f"partial: {n} of {n + len(excluded)} metrics {are(n, have=True)} {what}")]


_LACKED = {
    Reason.NO_SEGMENT_SCORES: "segment scores",
    Reason.NO_DOCUMENT_SCORES: "document scores",
    Reason.NO_SYSTEM_SCORES: "system scores",
    Reason.NO_SPANS: "error spans",
}


def partial_first(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes with those on partial data in front.

    >>> partial_first(["few systems", Partial("partial: 2 of 3 metrics are ranked")])
    ('partial: 2 of 3 metrics are ranked', 'few systems')
    """
    return tuple(sorted(notes, key=lambda note: not isinstance(note, Partial)))


class ExclusionNote(NoteWithHint):
    """A note on systems or metrics that are excluded: how many, and their names if it has them.

    what: "system" or "metric".
    """

    __slots__ = ("n", "names", "what")

    what: str
    n: int
    names: tuple[str, ...]

    def __new__(cls, text: str, hint: str, what: str, n: int, names: Iterable[str] = ()) -> "ExclusionNote":
        made = str.__new__(cls, f"{text} ({hint})" if hint else text)
        made.text, made.hint, made.what, made.n, made.names = text, hint, what, n, tuple(names)
        return made


def reworded(note: str, change: Callable[[str], str]) -> str:
    """A note in other words, of the same kind and with the same fields.

    >>> type(reworded(Partial("2 of 3 segments"), str.upper)).__name__, reworded("a", str.upper)
    ('Partial', 'A')
    """
    if not isinstance(note, _Note):
        return change(note)
    _, (kind, text, fields) = note.__reduce__()
    return _restored(kind, change(text), fields | ({"text": change(fields["text"])} if "text" in fields else {}))


def placed(place: str, note: str) -> str:
    """A note with the evaluation set that it is on in front of it, unless it begins with that.

    >>> placed("wmt23 en-de", Decisive("few systems")), type(placed("wmt23 en-de", Decisive("few systems"))).__name__
    ('wmt23 en-de: few systems', 'Decisive')
    >>> placed("wmt23 en-de", "wmt23 en-de has no official reference")
    'wmt23 en-de has no official reference'
    """
    if note.startswith(f"{place} "):
        return note
    if isinstance(note, Decisive):
        return type(note)(f"{place}: {note}", note.kind, f"{place} {note.case}", note.size)
    if isinstance(note, ExclusionNote):
        names = [f"{place}: {name}" for name in note.names]
        return ExclusionNote(f"{place}: {note.text}", note.hint, note.what, note.n, names)
    if isinstance(note, NoteWithHint):
        return NoteWithHint(f"{place}: {note.text}", note.hint)
    return type(note)(f"{place}: {note}")


def joined(notes: Sequence[str]) -> str:
    """Notes joined into one, which is decisive if any of them is."""
    text = "; ".join(notes)
    decisive = next((note for note in notes if isinstance(note, Decisive)), None)
    return text if decisive is None else Decisive(text, decisive.kind, decisive.case, decisive.size)


def hinted(text: str, *hints: str) -> str:
    """A note with the hints that are not empty, each once.

    >>> hinted("A, B are not judged"), hinted("A is excluded", "", "try again", "try again")
    ('A, B are not judged', 'A is excluded (try again)')
    """
    said = list(dict.fromkeys(hint for hint in hints if hint))
    return NoteWithHint(text, "; ".join(said)) if said else text


def because(lead: str, error: WarehouseError) -> str:
    """A note that ends with an error: its reason, and what would mend it as hints.

    >>> because("no bridge: ", WarehouseError("no human score", way_out="name one"))
    'no bridge: no human score (name one)'
    """
    return hinted(lead + error.with_hints(lambda hint: not hint), error.way_out, *error.hints)


def reasons(places: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """The most frequent reasons in one line, each with an evaluation set for which it holds; near names come first.

    places: by reason.

    >>> reasons({"no metric": [("wmt20", "de-en")], "no domain 'a'; none is known": [("wmt19", "zh-en")] * 3})
    "no domain 'a', none is known (wmt19 zh-en and 2 more); no metric (wmt20 de-en)"
    """
    ordered = sorted(places.items(), key=lambda one: (NEAR in one[0], len(one[1])), reverse=True)
    said = []
    for reason, of in ordered[:_MOST_REASONS]:
        said.append(f"{reason.replace('; ', ', ')} ({first_names([' '.join(one) for one in of], 1)})")
    n_left = len(ordered) - len(said)
    return "; ".join([*said, *([counted(n_left, "more reason")] if n_left else [])])


def unanswered(errors: Mapping[tuple[str, str], QuestionError]) -> QuestionError:
    """The error if no evaluation set has an answer: the only error that there is, or the most frequent reasons.

    >>> from warehouse.errors import IT
    >>> places = [("wmt19", "zh-en"), ("wmt21", "zh-en")]
    >>> errors = {place: QuestionError(f"{IT} has no domains", where=" ".join(place)) for place in places}
    >>> str(unanswered(errors)), str(unanswered({place: errors[place] for place in places[:1]}))
    ('none of 2 evaluation sets has an answer: no domains (wmt19 zh-en and 1 more)', 'wmt19 zh-en has no domains')
    """
    if len({error.text for error in errors.values()}) == 1:
        return next(iter(errors.values()))
    texts: dict[str, str] = {}
    places: dict[str, list[tuple[str, str]]] = {}
    for place, error in errors.items():
        text = error.brief.replace(f" for {' '.join(place)}", "")
        cause = text.partition("; ")[0]
        if cause not in texts or (NEAR in text and NEAR not in texts[cause]):
            texts[cause] = text
            places.setdefault(cause, []).insert(0, place)  # the text holds there
        else:
            places[cause].append(place)
    causes = reasons({text: places[cause] for cause, text in texts.items()})
    return QuestionError(f"none of {len(errors)} evaluation sets has an answer: {causes}")


def excluding(text: str, excluded: Iterable[tuple[Exclusion, list[str]]]) -> str:
    """A note that names what is excluded, with each reason in brackets.

    >>> from queries.reasons import Reason
    >>> excluding("pa excludes", [(Exclusion(Reason.NO_SEGMENT_SCORES), ["A", "B"])])
    'pa excludes A, B (no segment scores)'
    """
    parts = [(f"{', '.join(names)} ({why.sentence})", why.hint, names) for why, names in excluded]
    hints = "; ".join(dict.fromkeys(hint for _, hint, _ in parts if hint))
    every = [name for _, _, names in parts for name in names]
    return ExclusionNote(f"{text} {'; '.join(part for part, _, _ in parts)}", hints, "metric", len(every), every)
