"""Error spans that metrics predict: how well they meet those that people marked, and the outputs that differ most."""

from functools import partial

from cli.report.content import Part, grid
from cli.report.desk import Desk
from cli.report.making import Section, detailed_jobs
from metaeval.measures import parse_measure
from metaeval.tables.span_tables import span_table
from queries.longitudinal import EvalsetState
from queries.selection import Slice

_MEASURE = "mpp"
_MET = {
    "metric": "metric",
    "precision": "precision",
    "recall": "recall",
    "f": "F",
    "predicted": "predicted an output",
    "marked": "marked an output",
    "n_outputs": "outputs",
}
_OUTPUTS = {
    "metric": "metric",
    "system": "system",
    "segment": "segment",
    "apart": "not matched",
    "predicted": "predicted",
    "marked": "marked",
    "f": "F",
}


def _part(desk: Desk, state: EvalsetState) -> Part:
    asked, measure = Slice(state.testset, state.lp), parse_measure(_MEASURE)
    with desk.opened() as warehouse:
        met = span_table(warehouse, asked, measure)
        outputs = span_table(warehouse, asked, measure, "outputs")
    heading = f"{state.testset} {state.lp}"
    return Part(
        heading,
        (),
        (grid(f"Spans, {heading}", met.frame, _MET), grid("Outputs that differ most", outputs.frame, _OUTPUTS)),
        tuple(dict.fromkeys((*met.notes, *outputs.notes))),
        (*met.signature.splitlines(), *outputs.signature.splitlines()),
    )


SECTION = Section(
    "spans",
    "Error spans",
    f"F of predicted error spans by {_MEASURE}, and the ten outputs with most that is not matched.",
    partial(detailed_jobs, "spans", _part),
)
