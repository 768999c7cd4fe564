"""Errors, grouped by what the caller can do about them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from warehouse.wording import first_names, in_python, option

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
NEAR = "did you mean"
"""Before names that are near to an unknown one."""
_OF_VARIANT = re.compile(r"-(src|ref[^-]*)$")
_NEAREST = 5  # names that contain an unknown one and are offered for it
_DEEPEST = 50  # lists within lists of a parameter
_OF_A_FULL_DISK = ("No space left", "Disk quota", "File too large", "not enough space on the disk")


IT = "\ufffc"
"""Stands in an error's reason for the evaluation set that it is about, see `WarehouseError`."""


class WarehouseError(Exception):
    """Base of all errors that a user can cause or fix; its text is one message, joined from its fields.

    Code that needs a part of the message reads the field and never parses the text. about: a file or a measure, before
    the reason and a colon. where: the evaluation set that `IT` in the reason stands for. way_out: a remedy, after the
    reason and a semicolon. hint: one or several hints, in parentheses at the end.

    >>> error = WarehouseError(f"no metric of {IT} is left", where="wmt23 en-de", hint=option("user_metrics", True))
    >>> str(error), error.reason
    ('no metric of wmt23 en-de is left (user_metrics=True)', 'no metric of wmt23 en-de is left')
    >>> in_python(error.brief)
    'no metric is left (user_metrics=True)'
    >>> error = WarehouseError(f"{IT} has no domains", where="wmt23 en-de", way_out="ask for none")
    >>> str(error), error.brief
    ('wmt23 en-de has no domains; ask for none', 'no domains; ask for none')
    >>> unknown("domain", "news", [], where="wmt23 en-de").brief
    "unknown domain 'news'; none are available"
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
        """The message with its options as marks, see `warehouse.wording.option`; code that joins messages uses this."""
        return self._joined(self.reason, self.way_out, self.hints)

    def with_hints(self, fits: Callable[[str], bool]) -> str:
        """The message with the remedy and only the hints that suit the reader.

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
        """What is wrong, without prefix, remedy and hint."""
        return self._reason.replace(IT, self.where or IT)

    @property
    def brief(self) -> str:
        """The message without the evaluation set, for a line that names it elsewhere."""
        reason = re.sub(f" (of|for) {IT}|^{IT} (has|is) ", "", self._reason).replace(IT, self.where or IT)
        return self._joined(reason, self.way_out, self.hints)

    def _joined(self, reason: str, way_out: str, hints: tuple[str, ...]) -> str:
        about = f"{self.about}: " if self.about else ""
        more = f"; {way_out}" if way_out else ""
        return f"{about}{reason}{more}" + (f" ({'; '.join(hints)})" if hints else "")


class SchemaError(WarehouseError):
    """The database is not ours, damaged, newer than this program, not up to date, or locked; or a query of the program
    itself fails there."""


class QuestionError(WarehouseError):
    """A name or a slice that does not exist or does not fit: test set, language pair, metric, measure, SQL."""


class LimitError(WarehouseError):
    """A question went over its time or memory limit."""


@dataclass(frozen=True, order=True)
class Fault:
    """One fault in one file: where, what was found, what was expected, and a remedy.

    line: from 1; 0 if the fault concerns the whole file.
    kind: common name of faults whose `found` quotes different lines; empty if it quotes nothing.
    n_more: number of further lines with the same kind of fault, which are not listed.
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
        """The message without its hint."""
        where = f"{self.path}:{self.line}" if self.line else self.path
        expected = f", expected {shortened(self.expected)}" if self.expected else ""
        return f"{where}: {shortened(self.found)}{expected}"


class SourceError(WarehouseError):
    """Score data that cannot be loaded as they are. faults: those of files, if there are several; one line each."""

    def __init__(self, reason: str = "", *, faults: Sequence[Fault] = (), **more: Any) -> None:
        super().__init__(reason or "\n".join(fault.without_way_out for fault in faults), **more)
        self.faults = tuple(faults)


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Each fault once, by file and line; faults that represent further lines come last in their file.

    >>> [str(fault) for fault in in_order([Fault("a", 0, "2 more such lines", n_more=2), Fault("a", 3, "no name")])]
    ['a:3: no name', 'a: 2 more such lines']
    """
    return sorted(set(faults), key=lambda fault: (fault.path, fault.n_more > 0, fault))


def is_of_full_disk(error: str) -> bool:
    """Whether an error message of DuckDB or the system means that a disk is full."""
    return any(words in error for words in _OF_A_FULL_DISK)


def is_of_memory(error: BaseException | str | None) -> bool:
    """Whether an error, or the last message of a process, means that memory or threads ran out.

    Errors caused by such an error count, too.

    >>> is_of_memory(MemoryError()), is_of_memory("RuntimeError: can't start new thread"), is_of_memory(ValueError("x"))
    (True, True, False)
    """
    while isinstance(error, BaseException):
        if is_of_memory(f"{type(error).__name__}: {error}"):
            return True
        error = error.__cause__ or error.__context__
    return error is not None and any(words in error for words in _OF_MEMORY)


def shortened(message: str) -> str:
    """A message with long quotations and long words shortened by …; words with slashes (paths) are not shortened.

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


def known_name(kind: str, typed: str, known: Collection[str], *, where: str = "") -> str:
    """One of the known names, typed in any case; an exact name wins.

    Raises QuestionError: as `unknown`.
    >>> known_name("paper", "Freitag-2021", ["freitag-2021"])
    'freitag-2021'
    """
    if typed in known:
        return typed
    alike = [name for name in known if name.casefold() == typed.casefold()]
    if len(alike) != 1:
        raise unknown(kind, typed, known, where=where)
    return alike[0]


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> QuestionError:
    """The error for an unknown name, with the nearest known names.

    >>> str(unknown("metric", "COMET22", ["COMET", "BLEU"], where="wmt23 en-de"))
    "unknown metric 'COMET22' for wmt23 en-de; did you mean 'COMET'?"
    >>> str(unknown("metric", "blue", ["BLEU-refA", "bleu-all"])).partition("; ")[2]
    "did you mean 'BLEU-refA' or 'bleu-all'?"
    >>> str(unknown("metric", "xcomet", ["COMET-refA", "XCOMET-Ensemble-refA"])).partition("; ")[2]
    "did you mean 'XCOMET-Ensemble-refA' or 'COMET-refA'?"
    >>> str(unknown("system", "A,B", ["A", "B", "C"]))
    "unknown system 'A,B'; name them separately: 'A', 'B'"
    """
    known = sorted(set(known))
    parts = name.split(",")
    # The name of a metric is typed without its reference, and BLEU is nearer to blue than bleu-all is.
    backwards = known[::-1]  # BLEU comes before bleu
    folded = {_OF_VARIANT.sub("", one.lower()): one for one in backwards} | {one.lower(): one for one in backwards}
    longer = sorted((one for one in known if len(name) > 2 and name.lower() in one.lower()), key=len)
    close = [folded[item] for item in get_close_matches(name.lower(), folded, n=6, cutoff=0.5)]
    near = [*dict.fromkeys([*longer[:_NEAREST], *close])][: max(3, min(len(longer), _NEAREST))]
    if len(parts) > 1 and set(parts) <= set(known):
        hint = f"name them separately: {', '.join(map(repr, parts))}"
    elif near:
        hint = f"{NEAR} {' or '.join(repr(item) for item in near)}?"
    elif known:
        hint = f"available: {first_names(known, 8)}"
    else:
        hint = "none are available"
    place = f" for {IT}" if where else ""
    return QuestionError(f"unknown {kind} {name!r}{place}; {hint}", where=where)


def unknown_evalset(testset: str | None, lp: str | None, known: Iterable[tuple[str, str]]) -> QuestionError | None:
    """The error for an unknown test set or language pair; None if both are known.

    testset, lp: None if not given.

    >>> str(unknown_evalset("wmt23", "en-fr", [("wmt23", "en-de")]))
    "unknown language pair 'en-fr' for wmt23; did you mean 'en-de'?"
    """
    lps = {there for name, there in known if testset in (None, name)}
    if testset is not None and not lps:
        return unknown("test set", testset, {name for name, _ in known})
    return None if lp is None or lp in lps else unknown("language pair", lp, lps, where=testset or "")


def unlisted(kind: str, value: object, values: Sequence[str]) -> str:
    """The message for a value outside a closed set, with all values of the set and the nearest one.

    >>> unlisted("by", "itme", ("item", "system"))
    "by 'itme': expected one of item, system; did you mean 'item'?"
    """
    return f"{kind} {value!r}: expected {one_of(value, values)}"


def one_of(value: object, values: Sequence[str]) -> str:
    """The expected values, for messages that quote the wrong value themselves: see `unlisted`.

    >>> one_of("Bootstraps", ("bootstrap", "jackknife"))
    "one of bootstrap, jackknife; did you mean 'bootstrap'?"
    """
    folded = {item.lower(): item for item in values}
    near = get_close_matches(value.lower(), folded, n=1) if isinstance(value, str) else []
    hint = "".join(f"; did you mean {folded[item]!r}?" for item in near)
    return f"one of {', '.join(values)}{hint}"


def check_parameters(parameters: Mapping[str, object]) -> None:
    """Raises QuestionError: a list or similar value contains itself, on which DuckDB would never finish."""
    for name, value in parameters.items():
        level: list[object] = [value]
        for _ in range(_DEEPEST):
            inner = [each for one in level if isinstance(one, Mapping) for each in one.values()]
            inner += [each for one in level if isinstance(one, list | tuple | set | frozenset) for each in one]
            level = list({id(one): one for one in inner}.values())
        if level:
            raise QuestionError(f"parameter {name!r} contains itself, or more than {_DEEPEST} lists within lists")
