"""Old rules on new data: who would have won a test set by the rules of each year."""

from collections.abc import Sequence
from functools import partial

from cli.report.content import Figure, Part, figure, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section
from metaeval.charts.heat_map import heat_map
from metaeval.protocols.matrix import Matrix, agreement_frame, matrix, matrix_table, winners_frame
from warehouse import QuestionError

_COLUMNS = {
    "protocol": "rules of",
    "winner": "winner",
    "overall": "overall score",
    "n_metrics": "metrics",
    "kendall": "Kendall's τ with the year's own rules",
    "tasks": "measures",
    "lps": "language pairs",
}


def _jobs(desk: Desk) -> Sequence[Job]:
    testsets = dict.fromkeys(one.testset for one in desk.humans)
    return [
        Job(
            "protocols",
            testset,
            tuple(one for one in desk.every if one.testset == testset),
            desk.computing,
            partial(_part, desk, testset),
        )
        for testset in testsets
    ]


def _part(desk: Desk, testset: str) -> Part:
    found = matrix(
        desk.opened, testset, desk.options, database=desk.database, fresh=desk.settings.fresh, progress=desk.progress
    )
    frame = winners_frame(found)
    table = matrix_table(found, frame, "matrix", desk.options)
    answered = frame.filter(frame["winner"].is_not_null())
    if not answered.height:
        raise QuestionError("no protocol has its inputs: " + "; ".join(table.notes))
    lps = answered["lps"].unique()
    said = f", {lps[0]}" if len(lps) == 1 else ""
    columns = {name: heading for name, heading in _COLUMNS.items() if name != "lps" or not said}
    chart = _agreement(found, testset, table.signature)
    return Part(
        testset,
        () if chart is None else (chart,),
        (grid(f"{testset} by the rules of each year{said}", answered, columns),),
        table.notes,
        tuple(table.signature.splitlines()),
    )


def _agreement(found: Matrix, testset: str, signature: str) -> Figure | None:
    """How far the rankings of two protocols agree; None where there are fewer than three."""
    names = [cell.protocol for cell in found.of(testset)]
    if len(names) < 3:
        return None
    rows = agreement_frame(found).rows(named=True)
    cells = [
        {"rules": row[first], "versus": row[second], "value": row["kendall"], "n_metrics": row["n_common"]}
        for row in rows
        for first, second in (("protocol", "versus"), ("versus", "protocol"))
    ]
    chart = heat_map(
        cells,
        rows=("rules", names),
        columns=("versus", names),
        value="Kendall's τ",
        title=f"How far do the rankings of {testset} by two protocols agree?",
        signature=signature,
        lines=["Kendall's τ of the two rankings, of the metrics that both rank"],
    )
    return figure(chart, is_folded=True)


SECTION = Section(
    "protocols",
    "Old rules on new data",
    "Each test set by the rules of every year that has its inputs: who wins, and how far the ranking is from that by "
    "the year's own rules.",
    _jobs,
    lambda desk: (
        "Of all language pairs that the rules take, whichever the report is on; without significance tests, which "
        "`scorehouse protocol --significance` has.",
    ),
)
