"""What a reader knows about a file that it reads, and what the user stated about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from warehouse.facts.languages import language_pair_called
from warehouse.names import Numbering

Declares = Literal["segments", "systems"]
EvalsetKey = tuple[str, str]  # test set, language pair


@dataclass(frozen=True)
class KnownTexts:
    """The loaded data that scores without segment numbers are matched with: segments in order, systems, and texts.

    systems: names and spellings, each with its system. sources: by segment; outputs: by system and segment, human
    translations among them. places: document and index -> segment.
    """

    segments: tuple[int, ...]
    systems: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[int, str] = field(default_factory=dict)
    outputs: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    places: Mapping[tuple[str | None, int | None], int] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadHints:
    """What the user states about files that do not state it themselves; None if nothing was stated.

    system: of all rows. metric, reference: of scores without a name. is_own: scores of the user's own
    metric. texts: of evaluation sets in the warehouse that own scores may match; not set by the user. is_error_measure:
    it counts errors: lower is better. has_inclusive_ends: the end of error spans in tables and JSON lines is their
    last character, not the one after it. may_lack_end: files whose last line has no end are complete. numbering: what
    segment numbers count within, the document or the test set, if a file leaves it open. first_segment: the number
    of the first segment in tables, 0 or 1.
    """

    testset: str | None = None
    lp: str | None = None
    human: str | None = None
    system: str | None = None
    metric: str | None = None
    reference: str | None = None
    is_own: bool = False
    is_error_measure: bool = False
    has_inclusive_ends: bool = False
    may_lack_end: bool = False
    numbering: Numbering | None = None
    first_segment: int = field(default=1, repr=False)
    texts: Mapping[EvalsetKey, KnownTexts] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.lp is not None:
            object.__setattr__(self, "lp", language_pair_called(self.lp))

    @property
    def of_content(self) -> "LoadHints":
        """The hints that change the meaning of the same bytes and do not follow from the evaluation set."""
        return replace(self, testset=None, lp=None, may_lack_end=False)


NOTHING_GIVEN = LoadHints()


@dataclass(frozen=True)
class Claim:
    """A file that a reader claims.

    origin: identifies the file wherever it is (test set and place in the format's layout): a later file of
        the same origin replaces what this one brought.
    evalsets: (test set, language pair) of each evaluation set that the file contributes to, in WMT's codes; empty
        if only the rows tell. testset, human, system, level: of all rows, if the reader knows them from the claim
        on, from the file's name, its place and the user.
    folder: of the test set, if it is not the file's.
    needs: files that must be read along with this one (they define its segments, or belong to it).
    is_text: sentences, not scores: a stray carriage return inside a line is kept, and a byte order mark before
        the first (real files have one) is no fault.
    declares: what other files are checked against; when such a file changes, all files of its evaluation sets
        are read again. If such a file is faulty, its evaluation set is never loaded without it.
    companion: origin of the score file that annotations belong to, or of the annotations behind a score
        file: the two are read together. is_annotation: which of the two this one is.
    group: files of one group bring scores of the same vectors together (judgements in several files), and are
        read together.
    status: of the file's metrics, if it does not follow from the organisers' lists: `no entry` for
        scores that were not submitted to the metrics task. is_own: scores of the user's own metric, in which
        systems that the evaluation set does not have are faults.
    is_table: a table in a user format, whose metrics should be the shared task's unless is_own.
    is_negated: scores count errors and are negated when they are stored.
    is_positional: lines number the segments, so a system with too few lines is a fault.
    is_listing: segments are numbered by their place in a list of their document, which must be complete.
    may_lack_end: the user says that the file is complete although its last line has no end.
    """

    path: Path
    reader: str
    origin: str
    evalsets: tuple[EvalsetKey, ...] = ()
    folder: Path | None = None
    testset: str | None = None
    human: str | None = None
    system: str | None = None
    level: str | None = None
    needs: tuple[Path, ...] = ()
    is_text: bool = False
    declares: Declares | None = None
    companion: str | None = None
    is_annotation: bool = False
    group: str | None = None
    status: str | None = None
    is_own: bool = False
    is_table: bool = False
    is_positional: bool = False
    is_listing: bool = False
    may_lack_end: bool = False
    is_negated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "evalsets", tuple((name, language_pair_called(lp)) for name, lp in self.evalsets))

    @classmethod
    def of_judgements(cls, path: Path, reader: str, folder: str, testset: str, human: str) -> "Claim":
        """A file of judgements whose rows state the language pair; several such files make one human score.

        folder: the campaign's name in the file's origin.
        """
        return cls(
            path, reader, f"{testset}/{folder}/{path.name}", testset=testset, human=human, group=f"{testset}/{human}"
        )

    @property
    def root(self) -> Path:
        """The folder of the test set, which may hold its facts."""
        return self.path.parent if self.folder is None else self.folder

    @property
    def bundle(self) -> str | None:
        """Equal for files that make scores together; None for a file that stands alone."""
        return self.group or (None if self.companion is None else min(self.origin, self.companion))
