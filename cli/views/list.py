"""Listings: on a terminal the most wanted columns; the others are in files."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output

if TYPE_CHECKING:
    from metaeval.results.answer import Answer

_SHOWN = {
    "lps": ("testset", "lp", "standard_reference", "standard_human_seg", "n_systems", "n_metrics"),
    "metrics": ("testset", "lp", "metric", "family", "status", "levels"),
    "systems": ("testset", "lp", "system", "kind", "is_outlier", "n_metrics"),
    "sources": ("testset", "lp", "origin", "n_rows", "status", "licence"),
    "results": ("kind", "testset", "lp", "signature", "stored_at"),
}
_LONGEST = 40  # characters of a path, whose end tells files apart, and of a signature, which begins with the measure
_HEADINGS = {"standard_reference": "reference", "standard_human_seg": "human", "is_outlier": "outlier"}


def show(answer: "Answer[None]", output: Output) -> None:
    """Six columns on a terminal."""
    import polars as pl

    from metaeval.questions.listing import List
    from queries.listing import official_human

    asked = answer.question
    assert isinstance(asked, List)
    if output.is_for_terminal and output.is_for_reading and asked.what in _SHOWN:
        frame = answer.frame.with_columns(official_human("seg")) if asked.what == "lps" else answer.frame
        frame = frame.select(*_SHOWN[asked.what])
        if asked.what == "sources":
            long = pl.col("origin").str.len_chars() > _LONGEST
            end = pl.concat_str(pl.lit("…"), pl.col("origin").str.tail(_LONGEST - 1))
            frame = frame.with_columns(origin=pl.when(long).then(end).otherwise("origin"))
        if asked.what == "results":
            short = pl.col("signature").str.replace(r"\|testset:.*?\|lp:[^|]*", "")
            cut = pl.concat_str(short.str.head(_LONGEST - 1), pl.lit("…"))
            frame = frame.with_columns(
                signature=pl.when(short.str.len_chars() > _LONGEST).then(cut).otherwise(short),
                stored_at=pl.col("stored_at").dt.to_string("%Y-%m-%d %H:%M"),
            )
        answer = replace(answer, reading=frame.rename({k: v for k, v in _HEADINGS.items() if k in frame.columns}))
    output.show_answer(answer)
