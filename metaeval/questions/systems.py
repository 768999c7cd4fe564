"""`systems`: systems against each other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import (
    METRIC_FIELDS,
    AlphaField,
    DrawsField,
    RoundHumanField,
    SeedField,
    SliceFields,
    Unit,
    needing,
)
from metaeval.question import Option
from metaeval.run import Run

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Systems(SliceFields, DrawsField, AlphaField, SeedField, RoundHumanField, name="systems"):
    """Compare every pair of systems by one scorer: p-values and clusters of systems.

    Example: scorehouse systems sim24 en-de --test wilcoxon
    """

    needs = needing(METRIC_FIELDS, "intersection", **needing(("draws", "seed"), "test=permutation", "test=bootstrap"))

    scorer: Annotated[
        str | None,
        Option(
            "Metric to score systems with.",
            ("scorer",),
            panel="Arguments",
            names="metric",
            default="the human score",
        ),
    ] = None
    test: Annotated[
        Literal["permutation", "bootstrap", "wilcoxon", "paired-t"], Option("Significance test, one-sided.")
    ] = "permutation"
    system_score: Annotated[
        Literal["mean", "judged-mean"] | None,
        Option(
            "A metric's mean over all segments that it scored, or over annotated segments.",
            default="mean",
            needs=("scorer",),
        ),
    ] = None
    unit: Annotated[Unit, Option("What is resampled and compared: segments, or whole documents.")] = "segment"

    ranges: Annotated[bool, Option("Add rank ranges: over resamples, or what wilcoxon or paired-t leave open.")] = False

    def answer(self, run: Run) -> "Answer":
        return self.each(run, Systems._one)

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import Answer
        from metaeval.significance.systems import compare_systems, systems_frame, systems_json

        with run.opened() as warehouse:
            found = compare_systems(
                warehouse,
                self.slice(),
                self.scorer,
                self.test,
                self.computing(),
                draws=self.draws,
                alpha=self.alpha,
                whole_documents=self.unit == "document",
                ranges=self.ranges,
            )
        return Answer(
            systems_frame(found),
            found.signature,
            (found.summary, *found.notes),
            question=self,
            found=found,
            shape=systems_json(found),
            digits=3,
            least=dict.fromkeys(found.systems, [found.least] * len(found.systems)),
        )

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.significance import systems_matrix

        return systems_matrix(answer.found, self.alpha)
