"""`compare`: metrics against each other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.fields import ComputeFields, SliceFields, TestFields
from metaeval.options import Run
from metaeval.question import Argument, Option
from warehouse.errors import QuestionError

if TYPE_CHECKING:
    import altair as alt

    from metaeval.answer import Answer


@dataclass(frozen=True, kw_only=True)
class Compare(SliceFields, ComputeFields, TestFields, name="compare"):
    """Test whether metrics differ significantly.

    Every pair of metrics is tested and clusters are formed; two metrics are compared by every applicable test.

    With exactly two metrics: their difference with its confidence interval, and every applicable test.

    Example: scorehouse compare sim24 en-de -m "acc_eq(by=item)"
    """

    metrics: Annotated[
        tuple[str, ...],
        Argument("Metrics (shell patterns); two are compared in depth.", ("metrics",), names="metric", default="all"),
    ] = ()
    measure: Annotated[str, Option("Measure, such as spa or acc_eq(by=item).", ("measure", "m"), names="measure")] = (
        "spa"
    )
    resample: Annotated[
        Literal["inputs", "systems", "both"] | None,
        Option("Two metrics: what is resampled for their intervals.", default="what the test generalises to"),
    ] = None
    interval: Annotated[
        Literal["percentile", "normal", "centred"] | None,
        Option("Two metrics: type of confidence interval.", default="the test's own, else percentile"),
    ] = None

    def check_fields(self) -> None:
        super().check_fields()
        if len(self.metrics) == 1 and not set(self.metrics[0]) & set("*?[,") and self.metrics[0].lower() != "all":
            raise QuestionError(f"compare needs two metrics; you named one: {self.metrics[0]}")

    def _one(self, run: Run) -> "Answer":
        from metaeval.answer import Answer
        from metaeval.measures import parse_measure
        from metaeval.significance.cached import compared
        from metaeval.significance.comparison import as_json, matrix_frame, pair_frame, pair_json
        from metaeval.significance.options import executing

        measure = parse_measure(self.measure)
        with executing(self.testing(resample=self.resample, interval=self.interval), self.dask) as testing:
            found = compared(run, self.slice(), measure, self.computing(), testing, fresh=self.fresh)
        if found.pairwise is not None:
            two = found.pairwise
            return Answer(
                pair_frame(two),
                two.signature,
                (*two.words, *two.notes, *found.notes),
                question=self,
                found=two,
                shape=pair_json(two),
                least={"p": [row.least for row in two.tests]},
            )
        assert found.comparison is not None
        several = found.comparison
        return Answer(
            matrix_frame(several),
            several.signature,
            (several.summary, *several.notes, *found.notes),
            question=self,
            found=several,
            shape=as_json(several),
            least={name: several.least[:, place].tolist() for place, name in enumerate(several.metrics)},
        )

    def chart(self, answer: "Answer") -> "alt.VConcatChart":
        from metaeval.charts.significance import significance_matrix
        from metaeval.significance.comparison import Comparison

        if not isinstance(answer.found, Comparison):
            raise QuestionError("a chart of compare is a matrix of one language pair; two metrics have none")
        return significance_matrix(answer.found)
