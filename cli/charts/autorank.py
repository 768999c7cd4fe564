"""The chart of AutoRank: systems of each language pair by their rank, best at the top."""

from typing import TYPE_CHECKING

from cli.charts.specification import BLUE, Spec, chart, field, named, rows_of, tooltip

if TYPE_CHECKING:
    from metaeval.tables.autorank import AutoRanks


def autorank_chart(found: "AutoRanks") -> Spec:
    """One panel for each language pair."""
    datasets, panels = {}, []
    for (lp,), rows in found.frame.group_by("lp", maintain_order=True):
        data = f"systems of {lp}"
        datasets[data] = rows_of(rows.select("system", "autorank", "z"))
        panels.append(
            {
                "title": {"text": lp, "fontSize": 12},
                "width": 320,
                "height": {"step": 15},
                "data": named(data),
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 45, "color": BLUE},
                "encoding": {
                    "x": field(
                        "autorank", "Q", "AutoRank (1 is best)", scale={"zero": False, "nice": False, "padding": 8}
                    ),
                    "y": field(
                        "system",
                        "N",
                        scale={"domain": rows["system"].to_list()},
                        axis={"labelOverlap": False, "grid": True},
                    ),
                    "tooltip": tooltip("system", "autorank", "z"),
                },
            }
        )
    return chart("Systems ranked by metrics alone", found.signature.splitlines(), datasets, concat=panels, columns=2)
