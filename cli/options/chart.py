"""The option that draws a result."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.charts.drawing import check_chart, draw
from cli.options.output import Output

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class ChartFlags:
    """Where a chart of the result goes.

    Raises UsageError: no chart can be drawn into such a file; before anything is computed.
    """

    chart: Annotated[
        Path | None,
        typer.Option(
            help="Draw the result: FILE.svg, .png, .html or .json (Vega-Lite); needs the report extra.",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.chart is not None:
            check_chart(self.chart)

    def draw(self, output: Output, chart: "Callable[[], alt.VConcatChart]") -> None:
        """Draw the chart, if one is wanted, and say so."""
        if self.chart is not None:
            draw(chart(), self.chart)
            output.note(f"chart written to {self.chart}")
