"""Tie thresholds: calibration curves of the best metrics, thresholds of all."""

from functools import partial

from cli.report.content import Part, figure, grid
from cli.report.desk import Desk
from cli.report.making import Section, detailed_jobs
from metaeval.charts.thresholds import calibration_curves
from queries.longitudinal import EvalsetState

MOST = 12  # curves that are drawn
_COLUMNS = {
    "metric": "metric",
    "value": "value",
    "value_at_zero": "value at ε = 0",
    "epsilon": "ε",
    "epsilon_high": "as good up to",
    "epsilon_sd": "ε in standard deviations",
}


def _part(desk: Desk, state: EvalsetState) -> Part:
    values, optima = desk.ask("thresholds", state, charted=True).found
    first = optima.frame.head(MOST)
    drawn = values.frame.filter(values.frame["metric"].is_in(first["metric"].to_list()))
    n = optima.frame.height
    limit = (f"Curves of the {MOST} best of {n} metrics are drawn; the table has all.",) if n > MOST else ()
    heading = f"{state.testset} {state.lp}"
    return Part(
        heading,
        (figure(calibration_curves(drawn, first, optima.signature)),),
        (grid(f"Tie thresholds, {heading}", optima.frame, _COLUMNS),),
        (*limit, *optima.notes),
        tuple(optima.signature.splitlines()),
        measures=("acc_eq(by=item)",),
    )


SECTION = Section(
    "calibration",
    "Tie thresholds",
    "Differences of a metric up to ε count as ties; acc_eq(by=item) takes the ε that gives each metric its best value.",
    partial(detailed_jobs, "calibration", _part),
)
