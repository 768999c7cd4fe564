"""Fields that many questions share: which data, which metrics, how values are computed, how metrics are tested."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from metaeval.options import MOST_DECIMALS, MOST_DRAWS, Population, Run, SystemScore, Test, Unit
from metaeval.question import Argument, Option, Question
from warehouse.errors import QuestionError
from warehouse.wording import option

if TYPE_CHECKING:
    from metaeval.answer import Answer
    from metaeval.options import Options
    from metaeval.significance.options import TestOptions
    from queries.selection import Slice
    from warehouse import Warehouse

Alternative = Literal["greater", "two-sided"]
Correction = Literal["none", "holm", "bh"]
DEFAULT_MEASURES = ("spa", "acc_eq(by=item)")  # the organisers' since 2024

WhichData = partial(Option, panel="Which data")
WhichMetrics = partial(Option, panel="Which metrics")
HowComputed = partial(Option, panel="How values are computed")
HowTested = partial(Option, panel="How metrics are tested")

Measures = Annotated[
    tuple[str, ...], Option("Measure, such as spa or acc_eq(by=item); repeatable.", ("measure", "m"), names="measure")
]


@dataclass(frozen=True, kw_only=True)
class EvalsetFields(Question):
    """A test set and language pairs of it."""

    testset: Annotated[str, Argument("Test set, such as wmt23; several by commas, or all.", names="testset")]
    lp: Annotated[str, Argument("Language pair, such as en-de; several by commas, or all.", names="lp")] = "all"

    def answer(self, run: Run) -> "Answer":
        """The answers for all evaluation sets that are named, below each other, each by `_one`.

        Those without an answer are left out, with a note.
        Raises QuestionError: unknown names; no evaluation set has an answer.
        """
        from dataclasses import replace

        from metaeval.answer import stacked
        from queries.evalsets import expand

        if not any("," in one or one == "all" for one in (self.testset, self.lp)):
            return self._one(run)
        human = getattr(self, "human", None)
        with run.opened() as warehouse:
            chosen = expand(warehouse, self.testset, self.lp, human if isinstance(human, str) else None).chosen
        found, faults = {}, {}
        for testset, lp in chosen:
            try:
                found[testset, lp] = replace(self, testset=testset, lp=lp)._one(run)
            except QuestionError as error:
                if len(chosen) == 1:
                    raise
                faults[testset, lp] = error
        if not found:
            raise QuestionError("; ".join(dict.fromkeys(error.text for error in faults.values())))
        if len(chosen) == 1:
            return replace(*found.values(), question=self)
        return stacked(self, found, [f"skipped {' '.join(place)}: {error.text}" for place, error in faults.items()])

    def _one(self, run: Run) -> "Answer":
        """The answer for one evaluation set."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class DataFields(EvalsetFields):
    """Which part of the data is included."""

    human: Annotated[
        str | None,
        WhichData(
            "Human score; NAME:z for one standardised by annotator, rr:ew, rr:bto, rr:trueskill or rr:bt for system "
            "scores from rankings.",
            names="human",
            default="the official one",
        ),
    ] = None
    reference: Annotated[
        str | None,
        WhichData("Reference that metrics used.", ("ref", "reference"), names="reference", default="the official one"),
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
            "Include extra human references as systems, or not.",
            ("with-human-references", "without-human-references"),
            default="as the organisers did",
        ),
    ] = None
    with_outliers: Annotated[bool, WhichData("Keep the organisers' outlier systems.", excludes=("mad_outliers",))] = (
        False
    )
    mad_outliers: Annotated[
        bool, WhichData("Exclude outlier systems by the MAD rule, not by the organisers' list.")
    ] = False
    intersection: Annotated[
        bool, WhichData("Keep metrics with missing scores; use only segments that all of them scored.")
    ] = False

    def slice(self) -> "Slice":
        """The slice that the fields ask for.

        Raises QuestionError: segments in another form than FIRST-LAST.
        """
        from queries.selection import Slice

        return Slice(
            self.testset,
            self.lp,
            human=self.human,
            reference=self.reference,
            domains=self.domain,
            documents=self.document,
            phenomena=self.phenomenon,
            segments=_span(self.segments),
            systems=self.systems,
            human_references=self.human_references,
            outliers="none" if self.with_outliers else "mad" if self.mad_outliers else "organisers",
            intersection=self.intersection,
        )


@dataclass(frozen=True, kw_only=True)
class SliceFields(DataFields):
    """Which part of the data is included, and which metrics."""

    metrics: Annotated[
        tuple[str, ...],
        WhichMetrics(
            "Only these metrics (shell patterns); one named exactly is included whatever its status or reference.",
            names="metric",
        ),
    ] = ()
    kind: Annotated[Literal["reference-based", "reference-free"] | None, WhichMetrics("Only metrics of this kind.")] = (
        None
    )
    status: Annotated[
        Literal["primary", "official", "all"],
        WhichMetrics("Primary and baseline metrics; those of the metrics task; or others, too."),
    ] = "official"
    own: Annotated[bool, WhichMetrics("Include metrics that users added.")] = False

    def slice(self) -> "Slice":
        """The slice that the fields ask for.

        Raises QuestionError: segments in another form than FIRST-LAST.
        """
        from dataclasses import replace

        return replace(
            super().slice(),
            metrics=self.metrics,
            only=self.kind,
            primary=self.status == "primary",
            own=self.own,
            all_metrics=self.status == "all",
        )


METRIC_FIELDS = ("metrics", "kind", "status", "own")


def _span(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and int(first) >= 1):
        raise QuestionError(f"{option('segments')} {text!r}: expected FIRST-LAST, such as 1-100")
    if int(first) > int(last):
        raise QuestionError(f"{option('segments')} {text!r}: the first is after the last")
    return int(first), int(last)


@dataclass(frozen=True, kw_only=True)
class RoundHumanField(Question):
    """Human scores are rounded first."""

    round_human: Annotated[
        int | None,
        HowComputed(
            "Decimals to which human segment scores are rounded first.",
            metavar="DIGITS",
            least=0,
            most=MOST_DECIMALS,
            default="as stored",
        ),
    ] = None

    def computing(self) -> "Options":
        """How values are computed, by those of these fields that the question has."""
        from metaeval.options import Options

        known: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("system_score", "seed", "raw_ties", "round_human")
            if hasattr(self, name)
        }
        return Options(**known)


@dataclass(frozen=True, kw_only=True)
class SystemScoreField(Question):
    """Where metrics' system scores come from."""

    system_score: Annotated[
        SystemScore | None,
        HowComputed("Source of the metrics' system scores.", default="submitted; judged-mean for spa"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SeedField(Question):
    """What is drawn begins with a seed."""

    seed: Annotated[int, HowComputed("Random seed.", least=0)] = 0


@dataclass(frozen=True, kw_only=True)
class ComputeFields(RoundHumanField, SystemScoreField, SeedField):
    """How values are computed."""

    raw_ties: Annotated[bool, HowComputed("Compare system scores without a tolerance.")] = False


@dataclass(frozen=True, kw_only=True)
class DrawsField(Question):
    """Something is resampled."""

    draws: Annotated[int, HowTested("Number of resamples.", least=1, most=MOST_DRAWS)] = 1000


@dataclass(frozen=True, kw_only=True)
class AlphaField(Question):
    """Something is tested at a significance level."""

    alpha: Annotated[float, HowTested("Significance level.", least=0, most=1)] = 0.05


@dataclass(frozen=True, kw_only=True)
class FreshField(Question):
    """Results that are stored are computed anew."""

    fresh: Annotated[bool, HowTested("Recompute even if results are stored.", is_computing=True)] = False


@dataclass(frozen=True, kw_only=True)
class UnitField(Question):
    """Segments, or whole documents, are swapped, resampled or left out (see `metaeval.measures.judged.units_of`)."""

    unit: Annotated[
        Unit | None,
        HowTested(
            "Resampling unit: segment or whole document.",
            default="document where there are at least 10, else segment",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TestFields(UnitField, DrawsField, AlphaField, FreshField):
    """How metrics are tested against each other."""

    __test__ = False  # the name begins with "Test", but it is no test

    test: Annotated[Test | None, HowTested("Significance test.", default="one that holds its level")] = None
    population: Annotated[
        Population | None,
        HowTested(
            "What the result generalises to: new segments of these systems, new systems, or both.", default="segments"
        ),
    ] = None
    alternative: Annotated[
        Alternative | None, HowTested("Alternative hypothesis.", default="two-sided; in protocols greater")
    ] = None
    correction: Annotated[Correction, HowTested("Correction for multiple comparisons.")] = "none"
    plus_one: Annotated[bool, HowTested("(b+1)/(n+1) p-values, which are never 0.")] = False
    mid_p: Annotated[
        bool | None,
        HowTested(
            "Resamples that tie with the data count half.",
            ("mid-p", "no-mid-p"),
            default="half where a measure takes few values, as pa, and no test is named",
        ),
    ] = None
    early_stop: Annotated[bool, HowTested("Early stopping: clear pairs take fewer resamples.")] = False
    legacy_df: Annotated[bool, HowTested("Williams: n-2 degrees of freedom, as in 2014.")] = False
    absolute: Annotated[bool, HowTested("Williams: absolute correlations.")] = False
    threads: Annotated[
        int | None, HowTested("Threads.", least=1, most=1024, default="all cores", is_computing=True)
    ] = None
    dask: Annotated[
        str | None,
        HowTested(
            "Compute on a cluster: Dask's address, or local; Spark's master, such as local[2] (extras dask, spark).",
            metavar="ADDRESS",
            is_computing=True,
        ),
    ] = None

    def testing(self, **more: Any) -> "TestOptions":
        """How metrics are tested. more: further fields of `TestOptions`.

        Raises QuestionError: a number out of its range, or settings that exclude each other.
        """
        from metaeval.significance.options import TestOptions

        found = TestOptions(
            test=self.test,
            population=self.population,
            alternative=self.alternative,
            draws=self.draws,
            alpha=self.alpha,
            correction=self.correction,
            plus_one=self.plus_one,
            mid_p=self.mid_p,
            early_stop=self.early_stop,
            unit=self.unit,
            legacy_df=self.legacy_df,
            absolute=self.absolute,
            n_threads=self.threads,
            **more,
        )
        found.check()
        return found


_BY_ARRAYS = dict.fromkeys(("intersection", "mad_outliers"), "engines read no arrays of scores")


@dataclass(frozen=True, kw_only=True)
class EngineFields(Question):
    """Where scores are read from, and by which engine."""

    folder: Annotated[
        Path | None,
        Option(
            "Read this folder of exported Parquet (`scorehouse export DIR`) instead of the warehouse.",
            ("from",),
            metavar="DIR",
            excludes=_BY_ARRAYS,
        ),
    ] = None
    engine: Annotated[
        Literal["polars", "duckdb", "spark"] | None,
        Option(
            "Polars' lazy queries, DuckDB's SQL, or Spark (with an export); the results are the same.",
            default="polars; counts of a warehouse: numpy",
            excludes=_BY_ARRAYS,
            is_computing=True,
        ),
    ] = None

    @contextmanager
    def data(self, run: Run) -> "Iterator[Warehouse | Path]":
        """The folder of the export if one is given, else the open warehouse."""
        if self.folder is not None:
            yield self.folder
            return
        with run.opened() as warehouse:
            yield warehouse


HOW_TESTED = (
    *("test", "population", "alternative", "alpha", "correction", "plus_one", "mid_p", "early_stop", "unit"),
    *("legacy_df", "absolute", "dask", "fresh"),
)
"""Fields that do something in a test alone; `draws` may have other uses, `threads` changes no result."""


def needing(fields: Iterable[str], *needed: str, **others: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """For `Question.needs`: all these fields need one of those; others: what further fields need."""
    return dict.fromkeys(fields, needed) | others
