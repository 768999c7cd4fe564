"""Who is included in a ranking and who is not, and why."""

from collections.abc import Mapping, Sequence

import polars as pl

from metaeval.evaluation import rankable
from metaeval.human_variation import lines_on
from metaeval.inputs import Inputs
from metaeval.measures import Measure
from metaeval.notes import EXPLAIN, Excluded, hinted
from metaeval.options import Options
from metaeval.study import Result
from metaeval.table import Table, table_signature
from queries.reasons import Exclusion
from queries.selection import MetricChoice, Slice, SystemChoice
from warehouse import Warehouse


def explanation(
    warehouse: Warehouse, asked: Slice, measures: Sequence[Measure], options: Options | None = None
) -> Table:
    """Every system and metric of an evaluation set, included in a ranking or not, and why not.

    Columns: kind (system or metric), name, included ("yes", "no", or "partly": for some of the measures), reason;
    sorted by kind, included ones first, and name. Also where there is no human score to rank by.
    options: those of the ranking, as the source of system scores decides who has some.
    Raises QuestionError: see `queries.selection.select`.
    """
    options = options or Options()
    inputs = Inputs(warehouse, asked, options.round_human, human="optional")
    reasons: dict[tuple[str, str], dict[str, Exclusion | None]] = {}
    notes: dict[str, None] = {}
    for measure in measures:
        block = inputs.block(measure)
        notes |= dict.fromkeys(block.selection.notes)
        if block.selection.human is not None:
            notes |= dict.fromkeys(lines_on([measure], block, options))
        _, missing = rankable(measure, block, options)
        for system in block.selection.systems:
            reasons.setdefault(("system", system.name), {})[str(measure)] = system.reason
        for metric in block.selection.metrics:
            reason = metric.reason or missing.get(metric.name)
            reasons.setdefault(("metric", metric.name), {})[str(measure)] = reason
    rows = [(kind, name, *_included(found)) for (kind, name), found in reasons.items()]
    schema = {"kind": pl.String, "name": pl.String, "included": pl.String, "reason": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort(
        pl.col("kind").replace_strict({"system": 0, "metric": 1}),
        pl.col("included").replace_strict({"yes": 0, "partly": 1, "no": 2}),
        "name",
    )
    what = ("explanation", ",".join(map(str, measures)))
    signature = table_signature(what, block, ("system_score", options.system_score))
    return Table(frame, signature, tuple(notes))


def _included(reasons: Mapping[str, Exclusion | None]) -> tuple[str, str]:
    """ "yes", "no" or "partly", and the reason (for each measure where they differ)."""
    distinct = set(reasons.values())
    if distinct == {None}:
        return "yes", ""
    if len(distinct) == 1:
        return "no", str(*distinct)
    why = [f"{measure}: {reason or 'included'}" for measure, reason in reasons.items()]
    return ("no" if None not in distinct else "partly"), "; ".join(why)


def excluded(result: Result, verbose: bool) -> list[str]:
    """Lines that say which systems and metrics of the evaluation set a result excludes.

    verbose: with names and reasons; else only how many, and where to see more.
    """
    selection = result.selection
    lines: list[str] = []
    for kind, choices in (("systems", selection.systems), ("metrics", selection.metrics)):
        out = [choice for choice in choices if choice.reason is not None]
        included = {_base_of(choice) for choice in choices if choice.reason is None}
        if not out:
            continue
        if not verbose:
            are = "is" if len(out) == 1 else "are"
            text = f"{len(out)} of {len(choices)} {kind} {are} excluded"
            lines.append(Excluded(text, EXPLAIN, kind.removesuffix("s"), len(out)))
            named = (*selection.slice.metrics, *selection.slice.systems)
            lines += [
                hinted(f"{choice.name} is excluded: {choice.reason.sentence}", choice.reason.hint)
                for choice in out
                if choice.reason is not None and (choice.name in named or _base_of(choice) in {*named} - included)
            ]
            continue
        by_reason: dict[str, list[str]] = {}
        for choice in out:
            by_reason.setdefault(str(choice.reason), []).append(choice.name)
        lines += [
            Excluded(f"{kind} excluded, {reason}: {', '.join(names)}", "", kind.removesuffix("s"), len(names), names)
            for reason, names in sorted(by_reason.items())
        ]
    return lines


def _base_of(choice: MetricChoice | SystemChoice) -> str:
    """The name without the reference of a metric; a system's own."""
    return choice.base_name if isinstance(choice, MetricChoice) else choice.name
