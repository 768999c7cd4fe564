"""The chart of AutoRank: systems of each language pair by their rank, best at the top."""

from typing import TYPE_CHECKING

import altair as alt

from metaeval.charts.parts import TIGHT, names, tips, titled

if TYPE_CHECKING:
    from metaeval.results.answer import Result


def autorank_chart(found: "Result") -> alt.VConcatChart:
    """One panel for each language pair."""
    datasets, panels = {}, []
    for (lp,), rows in found.frame.group_by("lp", maintain_order=True):
        data = f"systems of {lp}"
        datasets[data] = rows.select("system", "autorank", "z").rows(named=True)
        points = alt.Chart(alt.NamedData(data), title=str(lp), width=320, height=alt.Step(15)).mark_point()
        panels.append(
            points.encode(
                x=alt.X("autorank:Q").title("AutoRank (1 is best)").scale(TIGHT),
                y=names(alt.Y("system:N"), rows["system"].to_list(), grid=True),
                tooltip=tips("system:N", "autorank:Q", "z:Q"),
            )
        )
    return titled(alt.concat(*panels, columns=2), "Systems ranked by metrics only", found.signature, datasets)
