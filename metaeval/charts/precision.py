"""The chart of precision: the error of a difference over judgements, one line per number of annotators."""

from typing import TYPE_CHECKING

import altair as alt

from metaeval.charts.parts import classes, tips, titled
from warehouse.wording import counted

if TYPE_CHECKING:
    from metaeval.results.answer import Result


def precision_chart(found: "Result") -> alt.VConcatChart:
    """Standard errors of a difference of two systems, for 1, 2 and 3 annotators of each output."""
    rows = [
        {**row, "annotators": f"{counted(row['n_raters'], 'annotator')} of each output"}
        for row in found.frame.sort("n_raters", "n_segments").rows(named=True)
    ]
    annotators = list(dict.fromkeys(row["annotators"] for row in rows))
    base = alt.Chart().encode(
        x=alt.X("n_judgements:Q")
        .title("judgements of each system (log scale)")
        .scale(type="log", nice=False, padding=8),
        y=alt.Y("error:Q").title("standard error of a difference").scale(zero=True),
        color=classes(alt.Color("annotators:N"), annotators),
        shape=classes(alt.Shape("annotators:N"), annotators),
        tooltip=tips("n_segments:Q", "n_raters:Q", "n_judgements:Q", "error:Q", "detectable:Q"),
    )
    data = alt.NamedData("precision")
    drawn = [mark.properties(data=data) for mark in (base.mark_line(), base.mark_point())]
    return titled(
        alt.layer(*drawn, width=560, height=320),
        "More segments, or more annotators?",
        found.signature,
        {"precision": rows},
        "standard error of the difference of two systems, from variance components of their judgements",
    )
