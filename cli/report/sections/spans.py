"""Error spans that metrics predict: how well they meet those that people marked, and the outputs that differ most."""

from functools import partial

from cli.report.content import Part, grid
from cli.report.desk import Desk
from cli.report.making import Section, detailed_jobs
from queries.longitudinal import EvalsetState

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
    met, outputs = desk.ask("spans", state), desk.ask("spans", state, view="outputs")
    heading = f"{state.testset} {state.lp}"
    return Part(
        heading,
        (),
        (grid(f"Spans, {heading}", met.frame, _MET), grid("Outputs that differ most", outputs.frame, _OUTPUTS)),
        tuple(dict.fromkeys((*met.notes, *outputs.notes))),
        (*met.signature.splitlines(), *outputs.signature.splitlines()),
        measures=(met.question.measure,),
    )


SECTION = Section(
    "spans",
    "Error spans",
    "F of predicted error spans by mpp, and the ten outputs with most that is not matched.",
    partial(detailed_jobs, "spans", _part),
)
