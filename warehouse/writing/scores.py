"""Scores of a batch in the warehouse: scorers, vectors, scores, judgements; and the proof that all of them arrived."""

from functools import partial

from warehouse.database.stage import Batch
from warehouse.database.statements import statement

_MOST_BITS = 1_000_000  # of one vector, where segments are counted
_sql = partial(statement, __package__)


def write_scores(batch: Batch) -> None:
    """Scorers, vectors and their scores; an evaluation set numbers its vectors in the order (kind, scorer, level,
    system)."""
    for name in ("insert_scorers", "staged_id", "insert_vectors", "insert_scores", "insert_aggregates"):
        batch.connection.execute(_sql(name))


def write_judgements(batch: Batch) -> None:
    """Judgements with the errors marked in them."""
    if not batch.has("judgement"):
        return
    ((n_judgements, first),) = batch.rows(_sql("count_judgements"))
    if n_judgements:
        for name in ("insert_judgements", "insert_ratings"):
            batch.connection.execute(_sql(name), {"first": first})


def check_written(batch: Batch) -> None:
    """Assert that all that was staged arrived, and that each key is there once; facts carry no constraints."""
    ((staged_vectors, staged_scores, last_segment, vectors, scores, repeated),) = batch.rows(_sql("count_written"))
    bits = f"bit_count(bitstring_agg(segment, 1, {last_segment}))"  # one for every number that there can be
    n_segments = bits if last_segment <= _MOST_BITS else "count(DISTINCT segment)"
    ((double,),) = batch.rows(
        f"""
        SELECT coalesce(sum(n_rows - n_segments), 0)
        FROM (SELECT count(*) AS n_rows, {n_segments} AS n_segments FROM temp.staged_score GROUP BY vector_no)
        """
    )
    assert (vectors, scores, repeated, double) == (staged_vectors, staged_scores, 0, 0), (
        f"staged {staged_vectors} vectors and {staged_scores} scores, wrote {vectors} and {scores}; "
        f"{repeated} vectors and {double} segment scores are repeated"
    )
