"""Systems that humans judged and no metric scored, or the other way round: joins of names that may have failed."""

from collections.abc import Mapping, Sequence
from functools import partial

from warehouse.database.stage import Batch
from warehouse.database.statements import statement
from warehouse.staging.spelling import nearest
from warehouse.wording import counted

_sql = partial(statement, __package__)
_Row = tuple[str, str, int, int]  # system, its kind, numbers of human and metric vectors


def unjoined(batch: Batch, evalset_ids: Mapping[int, int]) -> None:
    """Note for each side of an evaluation set the systems that the other side lacks; with the nearest names there.

    evalset_ids: number on the stage -> evalset_id, of those to be looked at.
    References that nobody judged are no news. Nothing where there are only metric scores, or only human ones. Scores
    that are no entry of the metrics task, and texts that teach annotators, do not count.
    """
    if not evalset_ids:
        return
    rows = batch.rows(
        _sql("scored_sides"),
        {"evalsets": list(evalset_ids.values())},
    )
    systems: dict[int, list[_Row]] = {}
    for evalset_id, *row in rows:
        systems.setdefault(evalset_id, []).append(tuple(row))
    for stage in batch.stages:
        found = systems.get(evalset_ids.get(stage.evalset_no, -1), [])
        stage.notes += _lines(f"{stage.evalset.testset} {stage.evalset.lp}", found)


def _lines(where: str, rows: Sequence[_Row]) -> list[str]:
    """One line for each side that lacks systems of the other."""
    judged = {name: kind for name, kind, n_human, n_metric in rows if n_human and not n_metric}
    scored = {name: kind for name, kind, n_human, n_metric in rows if n_metric and not n_human}
    if not any(n_human for _, _, n_human, _ in rows) or not any(n_metric for _, _, _, n_metric in rows):
        return []
    lines = []
    for names_here, others, what in (
        (judged, scored, "judged by humans but scored by no metric"),
        (scored, judged, "scored by metrics but judged by no human"),
    ):
        for kind, noun in (("mt", "system"), ("human", "human translation")):
            names = [name for name in names_here if names_here[name] == kind]
            if names and (kind == "mt" or names_here is judged):
                lines.append(f"{where}: {counted(len(names), noun)} {what}: {_shown(names, others)}")
    return lines


def _shown(names: list[str], others: dict[str, str]) -> str:
    shown = []
    for name in names:
        near = nearest(name, others)
        shown.append(f"{name} (nearest: {', '.join(near)})" if near else name)
    return ", ".join(shown)
