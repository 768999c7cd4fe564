"""Counting engines: Polars, DuckDB or Spark, over a warehouse or an export, all answering the same questions.

Every question is asked of one relation, `grid_score` (scorer_id, system_id, segment, human, metric): the segment scores
of some scorers where a grid has a (system, segment) pair, beside the human score. Polars has it as a lazy frame, DuckDB
and Spark as a view that the SQL of `queries/sql/grid_*.sql` reads.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from queries import catalog
from queries.spark import ask_spark
from warehouse import QuestionError, SourceError, Warehouse
from warehouse.database.opening import literal, plain_path
from warehouse.errors import unknown
from warehouse.export.reimport import Source, open_export
from warehouse.wording import option

Unit = Literal["item", "system", "none"]
COUNTS = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")


def pairs(scores: pl.LazyFrame, by: Unit, epsilon: float) -> pl.LazyFrame:
    """Pair counts of each scorer and group.

    scores: columns scorer_id, system_id, segment, human, metric. Columns: scorer_id, unit (the segment's number, the
    system's identifier, or 0) and the five counts, sorted by both; a group without a pair has no row. A pair is tied on
    the metric when its scores differ by at most epsilon; where the human or the metric score is missing there is none.
    """
    group = {"item": pl.col("segment"), "system": pl.col("system_id"), "none": pl.lit(0, dtype=pl.Int32)}[by]
    counted = scores.filter(pl.col("metric").is_not_null() & pl.col("human").is_not_null()).with_columns(unit=group)
    is_first = (pl.col("system_id") < pl.col("system_id_right")) | (
        (pl.col("system_id") == pl.col("system_id_right")) & (pl.col("segment") < pl.col("segment_right"))
    )
    human_tied = pl.col("human") == pl.col("human_right")
    metric_tied = (pl.col("metric") - pl.col("metric_right")).abs() <= epsilon
    agree = (pl.col("human") > pl.col("human_right")) == (pl.col("metric") > pl.col("metric_right"))
    return (
        counted.join(counted, on=["scorer_id", "unit"])
        .filter(is_first)
        .group_by("scorer_id", "unit")
        .agg(
            n_concordant=(~human_tied & ~metric_tied & agree).sum(),
            n_discordant=(~human_tied & ~metric_tied & ~agree).sum(),
            n_tied_human=(human_tied & ~metric_tied).sum(),
            n_tied_metric=(~human_tied & metric_tied).sum(),
            n_tied_both=(human_tied & metric_tied).sum(),
        )
        .sort("scorer_id", "unit")
    )


def means(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Means of each scorer and system.

    Columns: scorer_id, system_id, mean, judged_mean (over the segments that the human score judged), n_segments (scores
    in mean), n_judged (scores in judged_mean), n_missing; sorted by the first two. Scores are added up in the order of
    segments, so that means are the same to the last digit every time.
    """
    there = pl.col("metric").drop_nulls()
    judged = pl.col("metric").filter(pl.col("human").is_not_null()).drop_nulls()
    return (
        scores.sort("scorer_id", "system_id", "segment")
        .group_by("scorer_id", "system_id", maintain_order=True)
        .agg(
            mean=there.mean(),
            judged_mean=judged.mean(),
            n_segments=there.len(),
            n_judged=judged.len(),
            n_missing=pl.col("metric").null_count(),
        )
    )


Engine = Literal["polars", "duckdb", "spark"]
ENGINES: tuple[Engine, ...] = get_args(Engine)


@dataclass(frozen=True)
class Grid:
    """What is counted over, of one evaluation set.

    scorers: identifiers. outputs: columns system_id, segment (int32), human (float64, null where not judged), one row
    per system and segment that is included.
    """

    evalset_id: int
    scorers: tuple[int, ...]
    outputs: pl.DataFrame

    def of(self, scorers: Sequence[int]) -> "Grid":
        """The grid with other scorers."""
        return Grid(self.evalset_id, tuple(scorers), self.outputs)


@contextlib.contextmanager
def opened(where: Warehouse | Source | str | Path, testset: str, lp: str) -> Iterator[Source]:
    """Where the scores of an evaluation set are: a warehouse as it is open, or the folder of an export.

    A source that is open already is given as it is.

    Raises SourceError, QuestionError: see `open_export`.
    """
    if isinstance(where, Warehouse | Source):
        yield Source(where) if isinstance(where, Warehouse) else where
        return
    with open_export(Path(where), testset, lp) as source:
        yield source


class Counter:
    """An engine at a source.

    Raises QuestionError: an unknown engine, or Spark over a warehouse.
    """

    def __init__(self, source: Source, engine: Engine) -> None:
        if engine not in ENGINES:
            raise unknown("engine", engine, ENGINES)
        if engine == "spark" and source.scores is None:
            raise QuestionError(
                f"{option('engine', 'spark')} reads exported Parquet: `scorehouse export DIR`, then "
                f"{option('folder', 'DIR')}; or {option('engine', 'polars')}"
            )
        self._source, self._engine = source, engine

    def pairs(self, grid: Grid, by: Unit, epsilon: float) -> pl.DataFrame:
        """Columns scorer_id, unit (segment, system_id, or 0) and the five counts (int64); sorted."""
        found = self._answer("grid_pairs", grid, {"by": by, "epsilon": epsilon})
        return found.with_columns(pl.col("scorer_id", "unit").cast(pl.Int32), pl.col(*COUNTS).cast(pl.Int64))

    def means(self, grid: Grid) -> pl.DataFrame:
        """Columns scorer_id, system_id, mean, judged_mean, n_segments, n_judged, n_missing; sorted."""
        found = self._answer("grid_means", grid, {})
        return found.with_columns(
            pl.col("scorer_id", "system_id").cast(pl.Int32),
            pl.col("mean", "judged_mean").cast(pl.Float64),
            pl.col("n_segments", "n_judged", "n_missing").cast(pl.Int64),
        )

    def n_scored(self, grid: Grid) -> dict[int, int]:
        """How many judged (system, segment) scores each scorer has."""
        return dict.fromkeys(grid.scorers, 0) | dict(_ask_duckdb(self._source, "grid_judged", grid, {}).rows())

    def _answer(self, question: str, grid: Grid, values: Mapping[str, object]) -> pl.DataFrame:
        if self._engine == "polars":
            return _ask_polars(self._source, question, grid, values)
        if self._engine == "duckdb":
            return _ask_duckdb(self._source, question, grid, values)
        text = catalog.questions()[question].text
        return ask_spark(text, values, "grid_score", _spark_scores(self._source, grid))


def _ask_duckdb(source: Source, question: str, grid: Grid, values: Mapping[str, object]) -> pl.DataFrame:
    with source.catalogue.alone(), _grid_view(source, grid):
        return source.catalogue.sql(catalog.questions()[question].text, values)


_VECTORS = """
SELECT vector_id, scorer_id, system_id
FROM vector
WHERE evalset_id = $evalset AND level = 'seg' AND scorer_id IN (SELECT unnest($scorers::INTEGER[]))
"""
_SCORES = """
SELECT s.vector_id, s.segment, s.value
FROM vector AS v
JOIN score AS s ON s.vector_id = v.vector_id
WHERE v.evalset_id = $evalset AND v.level = 'seg' AND v.scorer_id IN (SELECT unnest($scorers::INTEGER[]))
"""
_GRID_VIEW = """
CREATE OR REPLACE TEMP VIEW grid_score AS
SELECT v.scorer_id, v.system_id, s.segment, c.human, s.value AS metric
FROM grid_vector AS v
JOIN {scores} AS s ON s.vector_id = v.vector_id
JOIN grid_cell AS c ON c.system_id = v.system_id AND c.segment = s.segment
"""


_GRID_CELLS = """
SELECT
  unnest($systems::INTEGER[]) AS system_id,
  unnest($segments::INTEGER[]) AS segment,
  unnest($humans::DOUBLE[]) AS human
"""


@contextlib.contextmanager
def _grid_view(source: Source, grid: Grid) -> Iterator[None]:
    """The relation `grid_score` in DuckDB for as long as the block runs; temporary, so that no file is written."""
    ask = source.catalogue.rows
    path = source.scores
    scores = "score" if path is None else f"read_parquet({literal(plain_path(path))}, hive_partitioning = false)"
    systems, segments, humans = (grid.outputs[name].to_list() for name in ("system_id", "segment", "human"))
    try:
        ask(f"CREATE OR REPLACE TEMP TABLE grid_vector AS {_VECTORS}", _vectors_of(grid))
        ask(
            f"CREATE OR REPLACE TEMP TABLE grid_cell AS {_GRID_CELLS}",
            {"systems": systems, "segments": segments, "humans": humans},
        )
        ask(_GRID_VIEW.format(scores=scores))
        yield
    finally:
        ask("DROP VIEW IF EXISTS temp.grid_score")
        ask("DROP TABLE IF EXISTS temp.grid_cell")
        ask("DROP TABLE IF EXISTS temp.grid_vector")


def _vectors_of(grid: Grid) -> dict[str, object]:
    return {"evalset": grid.evalset_id, "scorers": list(grid.scorers)}


def _polars_scores(source: Source, grid: Grid) -> pl.LazyFrame:
    """The relation `grid_score` as a lazy frame."""
    vectors = source.catalogue.sql(_VECTORS, _vectors_of(grid))
    if source.scores is None:
        scores = source.catalogue.sql(_SCORES, _vectors_of(grid)).lazy()
    else:
        # vectors lie one after the other in the file, so that statistics say which parts of it are not read
        chosen = pl.col("vector_id").is_in(vectors["vector_id"].to_list())
        scores = pl.scan_parquet(source.scores, hive_partitioning=False).filter(chosen)
    return (
        scores.select("vector_id", "segment", metric=pl.col("value"))
        .join(vectors.lazy(), on="vector_id")
        .join(grid.outputs.lazy(), on=["system_id", "segment"])
        .select("scorer_id", "system_id", "segment", "human", "metric")
    )


def _spark_scores(source: Source, grid: Grid) -> Callable[[Any], Any]:
    """The relation `grid_score` as a frame of Spark, given its session."""
    vectors = source.catalogue.rows(_VECTORS, _vectors_of(grid))

    def made(session: Any) -> Any:
        of_vectors = session.createDataFrame(vectors, "vector_id INT, scorer_id INT, system_id INT")
        of_outputs = session.createDataFrame(grid.outputs.rows(), "system_id INT, segment INT, human DOUBLE")
        scores = session.read.schema("vector_id INT, segment INT, value DOUBLE").parquet(str(source.scores))
        joined = scores.join(of_vectors, "vector_id").join(of_outputs, ["system_id", "segment"])
        return joined.selectExpr("scorer_id", "system_id", "segment", "human", "value AS metric")

    return made


def _ask_polars(source: Source, question: str, grid: Grid, values: Mapping[str, Any]) -> pl.DataFrame:
    try:
        return _LAZY[question](_polars_scores(source, grid), **values).collect(engine="streaming")
    except pl.exceptions.PolarsError as error:
        raise SourceError(f"{source.scores}: not a readable Parquet file: {str(error).splitlines()[0]}") from error


_LAZY: Mapping[str, Callable[..., pl.LazyFrame]] = {"grid_pairs": pairs, "grid_means": means}
