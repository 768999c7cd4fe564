"""The heat map of p-values: of metrics against each other, or of systems by one scorer."""

from typing import TYPE_CHECKING

import altair as alt

from metaeval.charts.parts import Rows, names, placed, tips, titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metaeval.results.answer import Result
    from metaeval.studies.significance.comparison import Comparison
    from metaeval.studies.significance.standings import Standings

_BLUES = ("#08306b", "#2171b5", "#6baed6")  # significant, from the smallest p up
_OTHERS = ("#f0d9b5", "#f5e8d3", "#f3f3f3")
_UNDEFINED = "not defined"


def significance_matrix(comparison: "Comparison") -> alt.VConcatChart:
    """A heat map: cell (row, column) is coloured by p that the row's metric is better than the column's.

    Metrics are sorted best first; lines part the clusters; `=` marks metrics with exactly the same value. Blues are
    significant at the comparison's level.
    """
    title = f"Is the row's metric better than the column's, by {comparison.measure}? ({comparison.test})"
    if comparison.alternative == "two-sided":
        title = f"Do the row's and the column's metric differ, by {comparison.measure}? ({comparison.test})"
    return _heat_map(comparison, title, comparison.signature, [])


def systems_matrix(found: "Result", test: str, alternative: str) -> alt.VConcatChart:
    """A heat map of systems: p of the row's system against the column's, best first, clusters parted.

    found: as of `compare_systems`. Any rank ranges follow the ranks.
    """
    title = f"Is the row's system better than the column's, by {found.facts['scorer']}? ({test}, one-sided)"
    if alternative == "two-sided":
        title = f"Do the row's and the column's system differ, by {found.facts['scorer']}? ({test})"
    return _heat_map(found.facts["standings"], title, found.signature, found.facts["ranges"])


def _heat_map(
    found: "Standings", title: str, signature: str, ranges: "Sequence[tuple[int | None, int | None]]"
) -> alt.VConcatChart:
    legend = "p" if found.correction == "none" else f"p ({found.correction})"
    labels = [
        placed(name, int(rank) if value == value else None, low, high)
        for rank, name, value, (low, high) in zip(
            found.ranks, found.names, found.values, ranges or [(None, None)] * len(found.names), strict=True
        )
    ]
    classes = _classes(found.alpha)
    cells = _cells(found, labels, classes)
    places = range(1, len(labels))
    edges = [{"edge": labels[place]} for place in places if found.clusters[place] != found.clusters[place - 1]]
    size = max(12, min(22, 700 // max(len(labels), 1)))
    colours = {label: colour for _, label, colour in classes} | {_UNDEFINED: "#b8b8c8"}
    shown = [label for label in colours if any(cell["class"] == label for cell in cells)]
    across, down = names(alt.X("worse:N"), labels, labelAngle=-60), names(alt.Y("better:N"), labels)
    base = alt.Chart().encode(x=across, y=down)
    squares = base.mark_rect().encode(
        color=alt.Color("class:N")
        .scale(domain=shown, range=[colours[label] for label in shown])
        .title(legend)
        .legend(symbolType="square", symbolStrokeWidth=0, symbolSize=150),
        tooltip=tips("better:N", "worse:N", "p:N"),
    )
    equal = base.mark_text(fontWeight="bold", color="#222222").encode(text=alt.Text("mark:N"))
    lines = alt.Chart(alt.NamedData("clusters")).mark_rule()
    body = alt.layer(
        squares.properties(data=alt.NamedData("p_values")),
        equal.properties(data=alt.NamedData("equal")),
        lines.encode(x=names(alt.X("edge:N", bandPosition=0), labels, labelAngle=-60)),
        lines.encode(y=names(alt.Y("edge:N", bandPosition=0), labels)),
        width=alt.Step(size),
        height=alt.Step(size),
    )
    datasets = {"p_values": cells, "equal": [cell for cell in cells if cell["mark"]], "clusters": edges}
    of_ranges = "after each rank: its range; " if ranges else ""
    words = f"best first; {of_ranges}lines separate significance clusters; = marks equal values"
    return titled(body, title, signature, datasets, words)


def _cells(found: "Standings", labels: list[str], classes: list[tuple[float, str, str]]) -> Rows:
    places = range(len(labels))
    return [
        {
            "better": labels[row],
            "worse": labels[column],
            "p": _p_text(found.corrected[row, column], found.least[row, column]),
            "class": _class_of(found.corrected[row, column], classes),
            "mark": "=" if found.values[row] == found.values[column] else "",
        }
        for row in places
        for column in range(row + 1, len(labels))
    ]


def _classes(alpha: float) -> list[tuple[float, str, str]]:
    """Upper bound, label and colour of the classes of p, from small to large."""
    blues = [*(bound for bound in (0.001, 0.01) if bound < alpha), alpha]
    others = [bound for bound in (0.1, 0.5) if bound > alpha]
    labelled = [
        *zip(blues, _BLUES[-len(blues) :], strict=True),
        *zip([*others, 1.0], _OTHERS[-len(others) - 1 :], strict=True),
    ]
    last = max(alpha, *others, 0.0)
    return [
        (bound, f"\N{LESS-THAN OR EQUAL TO} {bound:g}" if bound <= last else f"> {last:g}", colour)
        for bound, colour in labelled
    ]


def _p_text(p: float, least: float) -> str | None:
    if p != p:
        return None
    return f"<{least:.2g}" if p == 0 else f"{p:.3g}"


def _class_of(p: float, classes: list[tuple[float, str, str]]) -> str:
    return next((label for bound, label, _ in classes if p <= bound), _UNDEFINED)
