"""What leaves the warehouse: vectors with all that hangs on them."""

from functools import partial

import duckdb

from warehouse.database import statement

_sql = partial(statement, __package__)


def remove_vectors(connection: duckdb.DuckDBPyConnection) -> None:
    """Delete the vectors of temp.removed_vector (vector_id) with their scores, judgements and marked errors.

    To be called inside a transaction; sources, systems, scorers and entries stay.
    """
    connection.execute(_sql("delete_vectors"))
