"""Rankings: one row per metric, one column per measure or language pair."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cli.options.output import Output
from cli.render import DIGITS, Format, format_for
from cli.render.cells import number_text

if TYPE_CHECKING:
    import polars as pl

    from metaeval.questions.rank import Rank
    from metaeval.results.answer import Answer, Result


def show(answer: "Answer[Result]", output: Output) -> None:
    """The rows; for reading, one per metric."""
    from cli.render.wide import wide_texts
    from metaeval.measures.registry import parse_measure
    from metaeval.questions.rank import Rank
    from metaeval.studies.ranking.wide import wide
    from queries.slices import ALL

    asked = answer.question
    assert isinstance(asked, Rank)
    if asked.explain:
        output.show_answer(answer)
        return
    measures = [parse_measure(one) for one in asked.measures]
    if asked.significance and output.is_for_reading and format_for(output.format, output.output) is Format.TABLE:
        from metaeval.studies.ranking.rankings import UNTESTED

        marked = {note: note.replace(UNTESTED, f"{UNTESTED} (†)") for note in answer.notes if UNTESTED in note}
        answer = replace(answer, notes=tuple(marked.get(note, note) for note in answer.notes))
    is_split = asked.human == ALL or (asked.by is not None and len(measures) == 1)
    if asked.wide or (is_split and output.is_for_reading):
        found = wide(answer.frame)
        texts = wide_texts(found, DIGITS, output.width, every_row=output.every_row)
        mark = "bold, or *: the best of its column"
        if asked.significance:
            is_table = format_for(output.format, output.output) is Format.TABLE
            where, untested = ("raised", _UNTESTED) if is_table else ("in brackets", "")
            mark += f"; {where}: significance cluster{untested}"
        notes = (*answer.notes, mark) if output.is_for_reading else answer.notes
        output.show_answer(replace(answer, frame=found.frame(), reading=None, notes=notes), page=texts)
        return
    if output.is_for_reading and format_for(output.format, output.output) is Format.TABLE:
        answer = replace(answer, reading=_at_a_glance(answer.for_reading().frame, measures))
    legend = _legend(asked) if asked.significance else []
    if output.is_for_terminal and answer.own.intersection(answer.frame["metric"]):
        import polars as pl

        starred = pl.col("metric").replace({name: f"{name} ★" for name in answer.own})
        answer = replace(answer, reading=answer.for_reading().frame.with_columns(starred))
        legend.append("★ your own")
    output.show_answer(answer, below=legend)


_UNTESTED = "; †: not tested"


def _legend(asked: "Rank") -> list[str]:
    """The meaning of raised numbers and brackets."""
    corrected = "uncorrected" if asked.correction == "none" else f"corrected by {asked.correction}"
    text = f"superscript: cluster ({asked.alternative or 'two-sided'} p ≤ {asked.alpha:g}, {corrected}){_UNTESTED}"
    return [text + ("; in brackets: rank" if len(asked.measures) > 1 else "")]


def _at_a_glance(found: "pl.DataFrame", measures: "list[Any]") -> "pl.DataFrame":
    """One row per metric: its rank by the first measure, and for each measure value, interval, cluster and rank."""
    import polars as pl

    keys = found.columns[: found.columns.index("metric") + 1]
    cells = [
        pl.Series(str(one), _cells(found, str(one), with_rank=place > 0), pl.String)
        for place, one in enumerate(measures)
    ]
    return found.select(pl.col(f"rank {measures[0]}").alias("#"), *keys, *cells)


def _cells(table: "pl.DataFrame", measure: str, *, with_rank: bool) -> list[str | None]:
    """One text per row: the value with its cluster raised, its interval, and in brackets rank, range and groups."""
    from cli.render.wide import marks

    clusters = f"cluster {measure}"
    behind = marks(
        table[clusters].to_list() if clusters in table.columns else [None] * table.height, table[measure].to_list()
    )
    found: list[str | None] = []
    numbers = [number_text(value, DIGITS) for value in table[measure].drop_nulls()]
    widest = max(map(len, numbers), default=0)
    for values, mark in zip(table.iter_rows(named=True), behind, strict=True):
        row = {name.removesuffix(f" {measure}"): value for name, value in values.items()}
        if row[measure] is None:
            found.append(None)
            continue
        text = number_text(row[measure], DIGITS).rjust(widest) + (mark if row.get("kind") != "human" else "")
        if row.get("low") is not None:
            text += f" [{number_text(row['low'], 3)}, {number_text(row['high'], 3)}]"
        ranks = str(row["rank"]) if with_rank and row["rank"] is not None else ""
        if row.get("rank_low") is not None:
            ranks += f"{', ' if ranks else ''}{row['rank_low']}-{row['rank_high']}"
        said = "; ".join(filter(None, (ranks, row.get("groups"))))
        found.append(f"{text} ({said})" if said else text)
    return found
