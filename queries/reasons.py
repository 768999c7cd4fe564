"""Why a system or a metric is excluded: a value for each reason, with its sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from warehouse.wording import counted, option


class Reason(Enum):
    """Why a system or metric is excluded; the value is the sentence, with {} for a name or number."""

    NOT_SELECTED = "not selected"
    # systems
    NOT_JUDGED = "not judged by {}"
    NOT_JUDGED_HERE = "not judged by {} in this part of the test set"
    NOTHING_IN_COMMON = "no segment judged and scored by every metric"
    IS_REFERENCE = "the reference that the metrics use"
    LISTED_OUTLIER = "on the organisers' list of outliers"
    MAD_OUTLIER = "an outlier by the MAD rule"
    OPTIMISED = "made by {}"
    QUALITY_CONTROL = "an attention check or tutorial for annotators"
    HUMAN_TRANSLATION = "a human translation"
    # metrics
    OTHER_REFERENCE = "computed with {}, not with reference {}"
    NO_REFERENCE = "computed with {}; no reference is official"
    REFERENCE_FREE = "reference-free"
    REFERENCE_BASED = "reference-based"
    NOT_PRIMARY = "{}, neither primary nor baseline"
    OWN = "added by a user"
    NOT_SUBMITTED = "not submitted to the metrics task"
    NO_SCORES = "no scores for the output of {}"
    OTHER_LEVELS = "no system or segment scores"
    NO_SEGMENT_SCORES = "no segment scores"
    SOME_SEGMENT_SCORES = "no segment scores for the output of {}"
    NO_DOCUMENT_SCORES = "no document scores"
    SOME_DOCUMENT_SCORES = "no document scores for the output of {}"
    MISSING_SCORES = "{} missing"
    NO_SYSTEM_SCORES = "no system scores in this slice"
    NO_SPANS = "no error spans"


HINTS: Mapping[Reason, str] = {
    Reason.LISTED_OUTLIER: f"{option('with_outliers', True)} keeps it",
    Reason.HUMAN_TRANSLATION: f"included by {option('human_references', True)}",
    Reason.OWN: f"included by {option('user_metrics', True)}",
    Reason.NOT_SUBMITTED: f"included by {option('status', 'all')}",
    Reason.MISSING_SCORES: f"{option('intersection', True)} excludes those pairs for all",
}
"""What includes a system or metric all the same, where whoever asks has the option."""

_FOR_WANT_OF_SCORES = frozenset(
    {
        Reason.NO_SCORES,
        Reason.OTHER_LEVELS,
        Reason.NO_SEGMENT_SCORES,
        Reason.SOME_SEGMENT_SCORES,
        Reason.NO_DOCUMENT_SCORES,
        Reason.SOME_DOCUMENT_SCORES,
        Reason.MISSING_SCORES,
        Reason.NO_SYSTEM_SCORES,
        Reason.NO_SPANS,
    }
)


@dataclass(frozen=True)
class Exclusion:
    """Why one system or metric is excluded; its text is the sentence, with the hint, if any, in parentheses.

    >>> str(Exclusion(Reason.NOT_JUDGED, ("mqm",)))
    'not judged by mqm'
    >>> from warehouse.wording import in_python
    >>> own = Exclusion(Reason.OWN)
    >>> in_python(str(own)), own.sentence, in_python(own.hint)
    ('added by a user (included by user_metrics=True)', 'added by a user', 'included by user_metrics=True')
    """

    reason: Reason
    details: tuple[object, ...] = ()
    is_only: bool = True
    """Whether it is the only reason, so that the option which lifts it includes the system or metric."""

    def __str__(self) -> str:
        return f"{self.sentence} ({self.hint})" if self.hint else self.sentence

    @property
    def sentence(self) -> str:
        """The reason without the hint."""
        return self.reason.value.format(*self.details)

    @property
    def hint(self) -> str:
        """An option that includes it; "" where there is none."""
        return HINTS.get(self.reason, "") if self.is_only else ""

    @property
    def lacks_scores(self) -> bool:
        """Whether it would be included if only it had more scores."""
        return self.reason in _FOR_WANT_OF_SCORES


def some_missing(n: int, of: str = "segment") -> Exclusion:
    """That n (system, segment) scores are missing, or (system, document) scores.

    >>> from warehouse.wording import in_python
    >>> in_python(str(some_missing(1)))
    '1 (system, segment) score missing (intersection=True excludes those pairs for all)'
    """
    return Exclusion(Reason.MISSING_SCORES, (counted(n, f"(system, {of}) score"),))


def by_reason(excluded: Mapping[str, Exclusion]) -> dict[Exclusion, list[str]]:
    """Reason -> the names that it excludes, by name.

    >>> missing, reference = Exclusion(Reason.NO_SEGMENT_SCORES), Exclusion(Reason.IS_REFERENCE)
    >>> {str(reason): names for reason, names in by_reason({"C": missing, "B": reference, "A": missing}).items()}
    {'no segment scores': ['A', 'C'], 'the reference that the metrics use': ['B']}
    """
    found: dict[Exclusion, list[str]] = {}
    for name in sorted(excluded):
        found.setdefault(excluded[name], []).append(name)
    return found
