"""Systems against systems; for two head to head also domains, segments and errors, below each other."""

from typing import TYPE_CHECKING, Any

from cli.options.output import Output
from cli.render import Format, format_for

if TYPE_CHECKING:
    import polars as pl

    from metaeval.results.answer import Answer

_HEADINGS = {
    "domains": "By domain",
    "segments": "Segments that differ most, by the human score and by the mean of the metrics",
}


def show(answer: "Answer[Any]", output: Output) -> None:
    """The rows; for two systems every part, with their names in the column headings."""
    if "errors" not in answer.facts or not output.is_for_reading:
        output.show_answer(answer)
        return
    kind = format_for(output.format, output.output)
    systems, texts = answer.facts["systems"], []
    headings = _HEADINGS | {"errors": f"Errors marked for {answer.facts['errors_of']}"}
    for heading, frame in (("", answer.frame), *((text, answer.facts[name]) for name, text in headings.items())):
        if frame.is_empty():
            continue
        if output.is_for_terminal and "source" in frame.columns:
            frame = _stacked(frame, systems)
        least = {"p": answer.least["p"][:1] * frame.height} if "p" in frame.columns else None
        lead = f"{heading}\n" if heading else ""
        is_page = kind is Format.TABLE and output.width is None and "source" in frame.columns
        texts.append(
            lead + (_blocks(frame, systems) if is_page else _text(_named(frame, systems), kind, output, least))
        )
    output.show_answer(answer, page={kind: "\n".join(texts)})


def _stacked(frame: "pl.DataFrame", systems: tuple[str, str]) -> "pl.DataFrame":
    """A row for each output of a segment, so that a terminal has room for both texts."""
    import polars as pl

    numbered = frame.with_row_index()
    sides = [
        numbered.select(
            "index",
            "by",
            "segment",
            "domain",
            pl.lit(name).alias("system"),
            human=f"human_{side}",
            output=f"output_{side}",
        )
        for side, name in zip("ab", systems, strict=True)
    ]
    return pl.concat(sides).sort("index", maintain_order=True).drop("index")


def _blocks(frame: "pl.DataFrame", systems: tuple[str, str]) -> str:
    """Lines for each segment: its source and both outputs with their scores, whole texts, as in files and pipes."""
    from cli.render.cells import number_text, one_line
    from cli.render.outputs import NO_TEXT

    lines = []
    for row in frame.iter_rows(named=True):
        place = [f"{name} {row[name]}" for name in ("segment", "document", "domain") if row[name] is not None]
        lines += [f"by {row['by']}: {', '.join(place)}", f"   source: {row['source'] or NO_TEXT}"]
        for side, name in zip("ab", systems, strict=True):
            scores = [
                f"{by} {number_text(row[f'{by}_{side}'], 3)}"
                for by in ("human", "metrics")
                if row[f"{by}_{side}"] is not None
            ]
            lines.append(f"   {name} ({', '.join(scores)}): {row[f'output_{side}'] or NO_TEXT}")
    return "".join(f"{one_line(line)}\n" for line in lines)


def _named(frame: "pl.DataFrame", systems: tuple[str, str]) -> "pl.DataFrame":
    """The frame with the systems' names for a and b."""
    names = {}
    for column in frame.columns:
        what, _, side = column.rpartition("_")
        if side in ("a", "b") and what:
            name = systems["ab".index(side)]
            names[column] = name if what == "value" else f"{what} {name}"
    return frame.rename(names)


def _text(frame: "pl.DataFrame", kind: Format, output: Output, least: Any) -> str:
    from cli.render import latex, markdown, table

    digits = 3
    if kind is Format.MARKDOWN:
        return markdown.markdown_text(frame, digits, least)
    if kind is Format.LATEX:
        return latex.latex_text(frame, digits, least)
    if output.width is None:
        return table.table_text(frame, digits, least)
    return table.fitted_text(frame, digits, output.width, least=least, every_row=output.every_row)
