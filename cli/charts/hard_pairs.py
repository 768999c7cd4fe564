"""The chart of hard pairs: for every pair of systems, people's difference and the share of metrics that see it."""

from typing import TYPE_CHECKING

from cli.charts.specification import Spec, chart, field, named

if TYPE_CHECKING:
    from metaeval.pairs.hard_pairs import HardPairs

_KINDS = {"told apart by people": "#0072b2", "not told apart": "#bbbbbb", "not tested": "#e69f00"}


def hard_pairs_chart(found: "HardPairs", at_most: int) -> Spec:
    """Points: all pairs that people score differently; triangles: those that at most so many metrics get right."""
    points = [
        {
            "pair": f"{row['testset']} {row['lp']}: {row['better']} over {row['worse']}",
            "difference": row["in_sd"],
            "share": row["n_right"] / row["n_metrics"],
            "people": _kind(row["significant"]),
            "is": "hard" if row["n_right"] <= at_most else "other",
            "right": f"{row['n_right']} of {row['n_metrics']}",
        }
        for row in found.every.rows(named=True)
    ]
    shown = [kind for kind in _KINDS if any(point["people"] == kind for point in points)]
    return chart(
        "Which pairs of systems do metrics order as people do?",
        found.signature.splitlines(),
        {"pairs": points},
        f"triangles: at most {at_most} of the metrics right",
        width=520,
        height=340,
        data=named("pairs"),
        mark={"type": "point", "filled": True, "opacity": 1, "size": 28},
        encoding={
            "x": field("difference", "Q", "people's difference, in standard deviations of human system scores"),
            "y": field("share", "Q", "metrics that order the pair as people do", axis={"format": "%"}),
            "color": field("people", "N", "people", scale={"domain": shown, "range": [_KINDS[kind] for kind in shown]}),
            "shape": {
                "field": "is",
                "type": "nominal",
                "legend": None,
                "scale": {"domain": ["hard", "other"], "range": ["triangle-up", "circle"]},
            },
            "tooltip": [{"field": "pair"}, {"field": "right"}],
        },
    )


def _kind(significant: bool | None) -> str:
    if significant is None:
        return "not tested"
    return "told apart by people" if significant else "not told apart"
