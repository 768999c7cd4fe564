"""What can go wrong, by what the caller can do about it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from warehouse.wording import in_python, option

_LONGEST = 60  # characters of one name, number or text that a message quotes from a file
_QUOTED = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|[^\s'"]+""", re.DOTALL)

MOST_FAULTS = 20  # of one kind that are listed line by line
EXAMPLES = 3  # of those of which there are more
DISK_FULL = "the disk is full"
WITHOUT_IT = f"{option('skip_broken', True)} loads the rest without it, if the file was published like this"
OUT_OF_MEMORY = "out of memory"
_OF_MEMORY = (
    *("MemoryError", "bad_alloc", "Out of Memory", "emory allocation", "annot allocate memory"),
    *("failed to map segment", "can't start new thread", "failed to spawn thread", "Resource temporarily unavailable"),
)
_DEEPEST = 50  # lists within lists of a parameter
_OF_A_FULL_DISK = ("No space left", "Disk quota", "File too large", "not enough space on the disk")


IT = "\ufffc"
"""Stands in an error's reason for the evaluation set that it is about, see `WarehouseError`."""


class WarehouseError(Exception):
    """Base of all errors that a user can cause or mend; its text is one message for them, joined from its fields.

    Who wants a part of the message takes the field: no text is taken apart.
    about: a file or a measure, in front of the reason and a colon. where: the evaluation set that `IT` in the reason
    stands for. way_out: what would do, behind the reason and a semicolon. hint: where more is to be found, or several
    such; in brackets behind all.

    >>> error = WarehouseError(f"no metric of {IT} is left", where="wmt23 en-de", hint=option("user_metrics", True))
    >>> str(error), error.reason
    ('no metric of wmt23 en-de is left (user_metrics=True)', 'no metric of wmt23 en-de is left')
    >>> in_python(error.brief)
    'no metric is left (user_metrics=True)'
    >>> error = WarehouseError(f"{IT} has no domains", where="wmt23 en-de", way_out="ask for none")
    >>> str(error), error.brief
    ('wmt23 en-de has no domains; ask for none', 'no domains; ask for none')
    """

    def __init__(
        self, reason: str = "", *, about: str = "", where: str = "", way_out: str = "", hint: str | tuple[str, ...] = ""
    ) -> None:
        super().__init__(reason)
        self._reason = reason
        self.about = about
        self.where = where
        self.way_out = way_out
        self.hints = tuple(one for one in ((hint,) if isinstance(hint, str) else hint) if one)

    def __str__(self) -> str:
        return in_python(self.text)

    @property
    def text(self) -> str:
        """The message with its options as marks, see `warehouse.wording.option`; what joins messages joins these."""
        return self._joined(self.reason, self.way_out, self.hints)

    def with_hints(self, fits: Callable[[str], bool]) -> str:
        """The message with the way out and those hints alone that fit whoever reads it.

        >>> WarehouseError("nothing is left", hint=("take more", "take all")).with_hints(lambda hint: "all" not in hint)
        'nothing is left (take more)'
        """
        way_out = self.way_out if fits(self.way_out) else ""
        return self._joined(self.reason, way_out, tuple(filter(fits, self.hints)))

    @property
    def hint(self) -> str:
        """All hints, as one text."""
        return "; ".join(self.hints)

    @property
    def reason(self) -> str:
        """What is wrong, without what stands in front of it, the way out and the hint."""
        return self._reason.replace(IT, self.where or IT)

    @property
    def brief(self) -> str:
        """The message for a line that names the evaluation set elsewhere: without "of it", or "it has" in front."""
        reason = re.sub(f" of {IT}|^{IT} (has|is) ", "", self._reason).replace(IT, self.where or IT)
        return self._joined(reason, self.way_out, self.hints)

    def _joined(self, reason: str, way_out: str, hints: tuple[str, ...]) -> str:
        about = f"{self.about}: " if self.about else ""
        more = f"; {way_out}" if way_out else ""
        return f"{about}{reason}{more}" + (f" ({'; '.join(hints)})" if hints else "")


class SchemaError(WarehouseError):
    """The database is not ours, damaged, newer than this program, not up to date, or locked."""


class QuestionError(WarehouseError):
    """A name or a slice that does not exist or does not fit: test set, language pair, metric, measure, SQL."""


class LimitError(WarehouseError):
    """A question went over its time or memory limit."""


class SourceError(WarehouseError):
    """Score data that cannot be taken as they are."""


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong in one file: where, what was found, what was expected, and the way out.

    line: from 1; 0 where the fault concerns the file as a whole.
    kind: what faults of one kind are called, whatever `found` quotes of their lines; empty where it quotes nothing.
    n_more: how many further lines of its kind it stands for, none of which it names.
    """

    path: str
    line: int
    found: str
    expected: str = ""
    way_out: str = ""
    kind: str = field(default="", compare=False)
    n_more: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return in_python(self.text)

    @property
    def text(self) -> str:
        """The line with its options as marks."""
        way_out = f"; {self.way_out}" if self.way_out else ""
        return f"{self.without_way_out}{way_out}"

    @property
    def without_way_out(self) -> str:
        """The line for whom the way out is none."""
        where = f"{self.path}:{self.line}" if self.line else self.path
        expected = f", expected {shortened(self.expected)}" if self.expected else ""
        return f"{where}: {shortened(self.found)}{expected}"


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Each fault once, by file and line; those that stand for further lines come last in their file.

    >>> [str(fault) for fault in in_order([Fault("a", 0, "2 more such lines", n_more=2), Fault("a", 3, "no name")])]
    ['a:3: no name', 'a: 2 more such lines']
    """
    return sorted(set(faults), key=lambda fault: (fault.path, fault.n_more > 0, fault))


def is_of_full_disk(error: str) -> bool:
    """Whether DuckDB's or the system's words for an error mean that nothing more fits on a disk."""
    return any(words in error for words in _OF_A_FULL_DISK)


def is_of_memory(error: BaseException | str | None) -> bool:
    """Whether an error, or the words that a process ended with, mean that there is no more memory or no more threads.

    Errors count that come of such an error.

    >>> is_of_memory(MemoryError()), is_of_memory("RuntimeError: can't start new thread"), is_of_memory(ValueError("x"))
    (True, True, False)
    """
    while isinstance(error, BaseException):
        if is_of_memory(f"{type(error).__name__}: {error}"):
            return True
        error = error.__cause__ or error.__context__
    return error is not None and any(words in error for words in _OF_MEMORY)


def shortened(message: str) -> str:
    """A message whose long quotations and long words end in …; paths, which hold slashes, stay whole.

    >>> shortened(f"score '{'9' * 200}' of {'M' * 100}-refA in {'/long' * 20}") == (
    ...     f"score '{'9' * 60}…' of {'M' * 60}… in {'/long' * 20}"
    ... )
    True
    """
    return _QUOTED.sub(_shorter, message)


def _shorter(found: re.Match[str]) -> str:
    text = found[0]
    quote = text[0] if text[0] in "'\"" and text[-1] == text[0] else ""
    if len(text) - 2 * len(quote) <= _LONGEST or (not quote and ("/" in text or "\\" in text)):
        return text
    return f"{text[: _LONGEST + len(quote)]}…{quote}"


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> QuestionError:
    """The error for a name that does not exist, with the nearest names that do.

    >>> str(unknown("metric", "COMET22", ["COMET", "BLEU"], where="wmt23 en-de"))
    "unknown metric 'COMET22' for wmt23 en-de; did you mean 'COMET'?"
    >>> str(unknown("system", "A,B", ["A", "B", "C"]))
    "unknown system 'A,B'; name them separately: 'A', 'B'"
    """
    known = sorted(set(known))
    parts = name.split(",")
    folded = {item.lower(): item for item in known}
    near = [folded[item] for item in get_close_matches(name.lower(), folded, n=3, cutoff=0.5)]
    if len(parts) > 1 and set(parts) <= set(known):
        hint = f"name them separately: {', '.join(map(repr, parts))}"
    elif near:
        hint = f"did you mean {' or '.join(repr(item) for item in near)}?"
    elif known:
        shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
        hint = f"available: {shown}"
    else:
        hint = "none are available"
    place = f" for {IT}" if where else ""
    return QuestionError(f"unknown {kind} {name!r}{place}; {hint}", where=where)


def unknown_evalset(testset: str | None, lp: str | None, known: Iterable[tuple[str, str]]) -> QuestionError | None:
    """The error for a test set, or a language pair of it, that is none of the known ones; None for any of those.

    testset, lp: None where nothing is said of it.

    >>> str(unknown_evalset("wmt23", "en-fr", [("wmt23", "en-de")]))
    "unknown language pair 'en-fr' for wmt23; did you mean 'en-de'?"
    """
    lps = {there for name, there in known if testset in (None, name)}
    if testset is not None and not lps:
        return unknown("test set", testset, {name for name, _ in known})
    return None if lp is None or lp in lps else unknown("language pair", lp, lps, where=testset or "")


def unlisted(kind: str, value: object, values: Sequence[str]) -> str:
    """The text for a value that is none of a closed set's, with all of them and the nearest.

    >>> unlisted("by", "itme", ("item", "system"))
    "by 'itme': expected one of item, system; did you mean 'item'?"
    """
    return f"{kind} {value!r}: expected {one_of(value, values)}"


def one_of(value: object, values: Sequence[str]) -> str:
    """What was expected in place of a value, for messages that quote it themselves: see `unlisted`.

    >>> one_of("Bootstraps", ("bootstrap", "jackknife"))
    "one of bootstrap, jackknife; did you mean 'bootstrap'?"
    """
    folded = {item.lower(): item for item in values}
    near = get_close_matches(value.lower(), folded, n=1) if isinstance(value, str) else []
    hint = "".join(f"; did you mean {folded[item]!r}?" for item in near)
    return f"one of {', '.join(values)}{hint}"


def check_parameters(parameters: Mapping[str, object]) -> None:
    """Raises QuestionError: a list or the like contains itself, on which DuckDB would work for ever."""
    for name, value in parameters.items():
        level: list[object] = [value]
        for _ in range(_DEEPEST):
            inner = [each for one in level if isinstance(one, Mapping) for each in one.values()]
            inner += [each for one in level if isinstance(one, list | tuple | set | frozenset) for each in one]
            level = list({id(one): one for one in inner}.values())
        if level:
            raise QuestionError(f"parameter {name!r} contains itself, or more than {_DEEPEST} lists within lists")
