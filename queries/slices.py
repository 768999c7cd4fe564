"""Slices: selected systems, metrics and segments of an evaluation set, as options of questions.

Light, because it is imported to print help.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from warehouse.errors import QuestionError
from warehouse.fields import Argument, Fields, Option
from warehouse.wording import option

ALL = "all"  # in place of a human score: each of them
BY_ANNOTATOR = ":z"  # behind a human score: standardised by annotator
Outliers = Literal["organisers", "mad", "none"]
Scored = Literal["seg", "doc"]
"""What has scores and is judged: segments or documents."""

WhichData = partial(Option, panel="Data")
WhichMetrics = partial(Option, panel="Metrics")
METRIC_FIELDS = ("metrics", "kind", "status", "user_metrics")


@dataclass(frozen=True)
class Evalset(Fields):
    """A test set and language pairs of it."""

    testset: Annotated[str, Argument("Test set, such as wmt23; several by commas, or all.", names="testset")]
    lp: Annotated[str, Argument("Language pair, such as en-de; several by commas, or all.", names="lp")] = "all"

    def __post_init__(self) -> None:
        from warehouse.facts.languages import pairs_called  # reads files, for which a help has no time

        object.__setattr__(self, "lp", pairs_called(self.lp) if isinstance(self.lp, str) else self.lp)
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class Slice(Evalset):
    """Which part of the data is included, and which metrics; the defaults are the organisers'.

    level: score level, segments or documents; documents then replace segments everywhere. without_optimised: exclude
    systems optimised for a metric.
    """

    human: Annotated[
        str | None,
        WhichData(
            "Human score: a name, NAME:z (standardised by annotator), or a system score from rankings (rr:ew, "
            "rr:bto, rr:trueskill, rr:bt).",
            names="human",
            default="the official one",
        ),
    ] = None
    reference: Annotated[
        str | None,
        WhichData(
            "Reference for reference-based metrics.",
            ("ref", "reference"),
            names="reference",
            default="the official one",
        ),
    ] = None
    domain: Annotated[tuple[str, ...], WhichData("Only these domains (shell patterns).", names="domain")] = ()
    document: Annotated[tuple[str, ...], WhichData("Only these documents (shell patterns).", names="document")] = ()
    phenomenon: Annotated[
        tuple[str, ...], WhichData("Only these phenomena of a challenge set (shell patterns).", names="phenomenon")
    ] = ()
    segments: Annotated[str | None, WhichData("Only segments FIRST to LAST.", metavar="FIRST-LAST")] = None
    systems: Annotated[tuple[str, ...], WhichData("Only these systems (shell patterns).", names="system")] = ()
    human_references: Annotated[
        bool | None,
        WhichData(
            "Rank additional human references as systems, or exclude them.",
            ("with-human-references", "without-human-references"),
            default="as the organisers did",
        ),
    ] = None
    with_outliers: Annotated[bool, WhichData("Keep the organisers' outlier systems.", excludes=("mad_outliers",))] = (
        False
    )
    mad_outliers: Annotated[
        bool, WhichData("Exclude outlier systems by the MAD rule instead of the organisers' list.")
    ] = False
    intersection: Annotated[
        bool, WhichData("Keep metrics with missing scores, and use only the segments that every metric scored.")
    ] = False
    metrics: Annotated[
        tuple[str, ...],
        WhichMetrics(
            "Only these metrics (shell patterns). A metric named exactly is included whatever its status or reference.",
            names="metric",
        ),
    ] = ()
    kind: Annotated[Literal["reference-based", "reference-free"] | None, WhichMetrics("Only metrics of this kind.")] = (
        None
    )
    status: Annotated[
        Literal["primary", "official", "all"],
        WhichMetrics(
            "Metrics to include: primary and baseline ones, all that were submitted to the metrics task, or all that "
            "are loaded."
        ),
    ] = "official"
    user_metrics: Annotated[
        bool, WhichMetrics("Include metrics added with `scorehouse add` or `compute`.", formerly="own")
    ] = False
    level: Scored = "seg"
    without_optimised: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.span  # noqa: B018 - refuses what is no range

    @property
    def span(self) -> tuple[int, int] | None:
        """The numbers of the first and the last segment; None for all segments.

        Raises QuestionError: segments in another form than FIRST-LAST.
        """
        if self.segments is None:
            return None
        first, dash, last = self.segments.partition("-")
        if not (dash and first.isdecimal() and last.isdecimal() and int(first) >= 1):
            raise QuestionError(f"{option('segments')} {self.segments!r}: expected FIRST-LAST, such as 1-100")
        if int(first) > int(last):
            raise QuestionError(f"{option('segments')} {self.segments!r}: FIRST is larger than LAST")
        return int(first), int(last)

    @property
    def outliers(self) -> Outliers:
        """The rule for excluding outliers: the organisers' list, the MAD rule, or none."""
        return "none" if self.with_outliers else "mad" if self.mad_outliers else "organisers"

    @property
    def is_whole(self) -> bool:
        """Whether the slice includes all segments."""
        return not self.domain and not self.document and not self.phenomenon and self.segments is None

    def check_level(self) -> None:
        """Raises QuestionError: a restriction that applies only to segments is used with documents."""
        if self.level == "doc" and (self.phenomenon or self.segments is not None):
            raise QuestionError(
                f"{option('level', 'doc')} applies to whole documents and cannot be combined with "
                f"{option('segments')} or phenomena"
            )
        if self.level == "doc" and self.human is not None and self.human.endswith(BY_ANNOTATOR):
            raise QuestionError(f"{self.human} applies to segments: judgements of documents are not standardised")
