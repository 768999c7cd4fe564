"""The chart of hard pairs: for every pair of systems, the human difference and the share of metrics that agree."""

from typing import TYPE_CHECKING

import altair as alt

from metaeval.charts.parts import tips, titled

if TYPE_CHECKING:
    from metaeval.results.answer import Result

_KINDS = {"significant": "#0072b2", "not significant": "#bbbbbb", "not tested": "#e69f00"}


def hard_pairs_chart(found: "Result", at_most: int) -> alt.VConcatChart:
    """Points: all pairs with different human scores; triangles: pairs that at most `at_most` metrics get right."""
    points = [
        {
            "pair": f"{row['testset']} {row['lp']}: {row['better']} over {row['worse']}",
            "difference": row["in_sd"],
            "share": row["n_right"] / row["n_metrics"],
            "human": _kind(row["significant"]),
            "is": "hard" if row["n_right"] <= at_most else "other",
            "right": f"{row['n_right']} of {row['n_metrics']}",
        }
        for row in found.facts["every"].rows(named=True)
    ]
    shown = [kind for kind in _KINDS if any(point["human"] == kind for point in points)]
    is_hard = alt.Shape("is:N").scale(domain=["hard", "other"], range=["triangle-up", "circle"]).legend(None)
    body = (
        alt.Chart(alt.NamedData("pairs"), width=620, height=380)
        .mark_point(size=28)
        .encode(
            x=alt.X("difference:Q").title("human difference, in standard deviations of human system scores"),
            y=alt.Y("share:Q").title("metrics that order the pair as human scores do").axis(format="%"),
            color=alt.Color("human:N")
            .title("human difference")
            .scale(domain=shown, range=[_KINDS[kind] for kind in shown]),
            shape=is_hard,
            tooltip=tips("pair:N", "right:N"),
        )
    )
    title = "Which pairs of systems do metrics order as human scores do?"
    lines = [f"triangles: at most {at_most} of the metrics right"] if any(one["is"] == "hard" for one in points) else []
    return titled(body, title, found.signature, {"pairs": points}, *lines)


def _kind(significant: bool | None) -> str:
    if significant is None:
        return "not tested"
    return "significant" if significant else "not significant"
