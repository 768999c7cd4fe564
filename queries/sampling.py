"""The segments that `sample` drew, read from its output file."""

from pathlib import Path

import polars as pl

from warehouse import QuestionError
from warehouse.wording import first_line, option

_SUFFIXES = (".csv", ".tsv", ".json", ".parquet")


def sampling_probabilities(path: Path, testset: str, lp: str) -> dict[int, float]:
    """Sampling probability by segment of an evaluation set.

    path: a random sample that the command `sample` wrote: csv, tsv, json or parquet.
    Raises QuestionError: no such file, not a table, or segments that were selected rather than drawn at random.
    """
    if not path.is_file():
        raise QuestionError(f"{path}: no such file")
    if path.suffix not in _SUFFIXES:
        raise QuestionError(f"{path}: expected a file {', '.join(_SUFFIXES)}")
    try:
        if path.suffix == ".json":
            table = pl.read_json(path)
        elif path.suffix == ".parquet":
            table = pl.read_parquet(path)
        else:
            table = pl.read_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise QuestionError(f"{path}: no table: {first_line(error)}") from None
    if "segment" not in table.columns:
        raise QuestionError(f"{path} has no column segment; {option('sample.method', 'random')} writes such a file")
    for column, value in (("testset", testset), ("lp", lp)):
        if column in table.columns:
            table = table.filter(pl.col(column).cast(pl.String) == value)
    if table.is_empty():
        raise QuestionError(f"{path} has no segments of {testset} {lp}")
    if "probability" not in table.columns or table["probability"].null_count():
        raise QuestionError(
            f"{path} has no probabilities: its segments were selected, or fill a budget of words or minutes, and say "
            f"nothing about the others; {option('sample.method', 'random')} draws segments"
        )
    try:
        segments, chances = table["segment"].cast(pl.Int64), table["probability"].cast(pl.Float64)
    except pl.exceptions.InvalidOperationError:
        raise QuestionError(f"{path}: expected numbers as segment and probability") from None
    if not chances.is_between(0, 1, closed="right").all():
        raise QuestionError(f"{path}: expected probabilities above 0 and at most 1")
    return dict(zip(segments.to_list(), chances.to_list(), strict=True))


def probabilities_of(path: Path | None, testset: str, lp: str) -> dict[int, float] | None:
    """The same; None without a file."""
    return None if path is None else sampling_probabilities(path, testset, lp)
