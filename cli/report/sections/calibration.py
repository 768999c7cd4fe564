"""Tie thresholds: calibration curves of the best metrics, thresholds of all."""

from functools import partial

from cli.report.content import Part, figure, grid
from cli.report.desk import Desk
from cli.report.making import Section, detailed_jobs
from metaeval.charts.thresholds import calibration_curves
from metaeval.measures import parse_measure
from metaeval.tables.thresholds import curve, thresholds
from queries.longitudinal import EvalsetState
from queries.selection import Slice

MOST = 12  # curves that are drawn
POINTS = 60
_MEASURE = "acc_eq(by=item)"
_COLUMNS = {
    "metric": "metric",
    "value": "value",
    "value_at_zero": "value at ε = 0",
    "epsilon": "ε",
    "epsilon_high": "as good up to",
    "epsilon_sd": "ε in standard deviations",
}


def _part(desk: Desk, state: EvalsetState) -> Part:
    asked = Slice(state.testset, state.lp)
    measure = parse_measure(_MEASURE)
    with desk.opened() as warehouse:
        optima = thresholds(warehouse, asked, measure, desk.options)
        values = curve(warehouse, asked, measure, desk.options, POINTS)
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
    )


SECTION = Section(
    "calibration",
    "Tie thresholds",
    f"Differences of a metric up to ε count as ties; {_MEASURE} takes the ε that gives each metric its best value.",
    partial(detailed_jobs, "calibration", _part),
)
