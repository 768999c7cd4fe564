"""Why a system or a metric is excluded: a value for each reason, with its sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from warehouse.wording import counted


class Reason(Enum):
    """Why a system or metric is excluded; the value is the sentence, {} stands for a name or number."""

    NOT_SELECTED = "not selected"
    # systems
    NOT_JUDGED = "not judged by {}"
    NOT_JUDGED_HERE = "not judged by {} in this part of the test set"
    NOTHING_IN_COMMON = "no segment judged and scored by every metric"
    IS_REFERENCE = "the reference that the metrics use"
    LISTED_OUTLIER = "on the organisers' list of outliers (--with-outliers keeps it)"
    MAD_OUTLIER = "an outlier by the MAD rule"
    QUALITY_CONTROL = "an attention check or tutorial for annotators"
    HUMAN_TRANSLATION = "a human translation (included by --with-human-references)"
    # metrics
    OTHER_REFERENCE = "computed with {}, not with reference {}"
    NO_REFERENCE = "computed with {}; no reference is official"
    REFERENCE_FREE = "reference-free"
    REFERENCE_BASED = "reference-based"
    NOT_PRIMARY = "{}, neither primary nor baseline"
    OWN = "added by a user (included by --own)"
    NOT_SUBMITTED = "not submitted to the metrics task (included by --all-metrics)"
    NO_SCORES = "no scores for the output of {}"
    NO_SEGMENT_SCORES = "no segment scores"
    SOME_SEGMENT_SCORES = "no segment scores for the output of {}"
    MISSING_SCORES = "{} missing (--intersection excludes those pairs for all)"
    NO_SYSTEM_SCORES = "no system scores in this slice"


_FOR_WANT_OF_SCORES = frozenset(
    {
        Reason.NO_SCORES,
        Reason.NO_SEGMENT_SCORES,
        Reason.SOME_SEGMENT_SCORES,
        Reason.MISSING_SCORES,
        Reason.NO_SYSTEM_SCORES,
    }
)


@dataclass(frozen=True)
class Exclusion:
    """Why one system or metric is excluded; its text is the whole sentence.

    >>> str(Exclusion(Reason.NOT_JUDGED, ("mqm",)))
    'not judged by mqm'
    """

    reason: Reason
    details: tuple[object, ...] = ()

    def __str__(self) -> str:
        return self.reason.value.format(*self.details)

    @property
    def lacks_scores(self) -> bool:
        """Whether it would be included if only it had more scores."""
        return self.reason in _FOR_WANT_OF_SCORES


def some_missing(n: int) -> Exclusion:
    """That n (system, segment) scores are missing.

    >>> str(some_missing(1))
    '1 (system, segment) score missing (--intersection excludes those pairs for all)'
    """
    return Exclusion(Reason.MISSING_SCORES, (counted(n, "(system, segment) score"),))


def by_reason(excluded: Mapping[str, Exclusion]) -> dict[str, list[str]]:
    """Reason -> the names that it excludes, by name.

    >>> missing, reference = Exclusion(Reason.NO_SEGMENT_SCORES), Exclusion(Reason.IS_REFERENCE)
    >>> by_reason({"C": missing, "B": reference, "A": missing})
    {'no segment scores': ['A', 'C'], 'the reference that the metrics use': ['B']}
    """
    found: dict[str, list[str]] = {}
    for name in sorted(excluded):
        found.setdefault(str(excluded[name]), []).append(name)
    return found
