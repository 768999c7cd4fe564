"""The warehouse opened read-only for queries, with results as frames, columns or rows; and the result store."""

import contextlib
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import duckdb

from warehouse.database.frames import frame, with_frame
from warehouse.database.opening import answer_error, answered, check_statement, check_there, default_path
from warehouse.database.updating import Mark, current, in_memory, mark_of, writing
from warehouse.errors import LimitError, QuestionError, SchemaError, WarehouseError, check_parameters
from warehouse.names import LARGEST_SCORE
from warehouse.wording import first_line

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

LOCK_TIMEOUT = 1.0  # seconds to wait for another process before a result is not stored
POLL_INTERVAL = 0.05  # seconds between two calls to a query to stop
_N_KEPT = 64  # answers that are kept, of a few evaluation sets each
_MOST_BYTES = 2**27  # of their arrays and rows together: all answers about WMT's scores take 2 / 3 of it
_BYTES_OF_ROW = 200  # a few numbers and texts

_Answer = TypeVar("_Answer")


class Warehouse:
    """An open warehouse. Use it in a `with` block; results are Polars frames, numpy columns or plain rows."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection | None, path: Path, beside: contextlib.ExitStack | None = None
    ) -> None:
        """connection: None for a file that is opened when something is asked. beside: closed with the warehouse."""
        self._connection = connection
        self._beside = contextlib.ExitStack() if beside is None else beside
        self.path = path
        self.is_closed = False
        self._turn = threading.RLock()  # of threads: what one of them executes, it fetches
        self._kept: dict[Hashable, Any] = {}
        self._sizes: dict[Hashable, int] = {}
        self._mark: Mark | None = None  # of the file when it was opened

    @classmethod
    def open(cls, path: str | Path | None = None, *, patience: float = 0.0, writes_below: Path | None = None) -> Self:
        """Open for questions: read-only, with any number of other readers, and without access to other files.

        path: the file; by default the one in the user's data folder.
        writes_below: a folder in which queries may write files, for exports.
        patience: seconds to wait for a process that is writing to the file.
        A file of an earlier version is migrated first (see `current`).
        Raises SchemaError: no such file, not a warehouse, damaged, made by a newer program, or locked.
        """
        path = default_path() if path is None else Path(path)
        check_there(path)
        mark = _mark_of_scores(path)
        opened = cls(current(path, patience, below=writes_below), path)
        opened._mark = mark
        return opened

    def opened_again(self) -> "Warehouse":
        """The file of this closed warehouse opened as by `open`; if it has not changed, what was asked `once` is known.

        The file is then opened when something else is asked. Results that this process stored are no change.
        """
        if self._mark is None or _mark_of_scores(self.path) != self._mark:
            return Warehouse.open(self.path)
        again = Warehouse(None, self.path)
        again._kept, again._sizes, again._mark = self._kept, self._sizes, self._mark
        return again

    @property
    def _open_connection(self) -> duckdb.DuckDBPyConnection:
        if self.is_closed:
            raise QuestionError("the warehouse is closed")
        if self._connection is None:
            self._connection = current(self.path)
            if _mark_of_scores(self.path) != self._mark:
                raise SchemaError(f"{self.path}: another process changed it in the meantime; ask again")
        return self._connection

    def sql(self, query: str, parameters: Mapping[str, object] | None = None) -> "pl.DataFrame":
        """Result of a query as a Polars frame; parameters are `$name` in the text.

        For trusted queries: they cannot change the warehouse, read files or reach the network, but their time and
        memory are not limited. Use `queries.adhoc.answer`, as `scorehouse sql` does, for queries that others wrote.
        Raises QuestionError: DuckDB refuses the query. LimitError: it runs out of memory.
        """
        try:
            if self.path.is_dir():  # unlike in a warehouse file, tables in memory and exported files can be written
                with self._turn:
                    check_statement(self._open_connection, query)
            return self._frame(query, parameters)
        except duckdb.Error as error:
            raise answer_error(self.path, error) from error

    def _frame(self, query: str, parameters: Mapping[str, object] | None) -> "pl.DataFrame":
        import polars as pl

        check_parameters(parameters or {})
        with self._turn:
            # DuckDB 1.4 renames the second of two columns with one name as soon as it gets parameters, even none
            relation = self._open_connection.sql(query, params=dict(parameters) if parameters else None)
            return pl.DataFrame() if relation is None else frame(relation)

    def frame(self, query: str, parameters: Mapping[str, object] | None = None) -> "pl.DataFrame":
        """Result of one of the program's own queries as a Polars frame. Raises: as `rows`."""
        with answered(self.path):
            return self._frame(query, parameters)

    def rows(self, query: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """Result of one of the program's own queries as plain rows.

        Raises SchemaError: DuckDB refuses the query, which is no fault of a question. LimitError: memory runs out.
        """
        with answered(self.path), self._turn:
            return self._open_connection.execute(query, dict(parameters or {})).fetchall()

    def columns(self, query: str, parameters: Mapping[str, object] | None = None) -> "dict[str, np.ndarray[Any, Any]]":
        """Result of one of the program's own queries as numpy columns; NULL numbers are NaN, so they must be floats.

        Raises: as `rows`. SchemaError: also a number that no load accepts and statistics cannot use.
        """
        import numpy as np

        with answered(self.path), self._turn:
            found = self._open_connection.execute(query, dict(parameters or {})).fetchnumpy()
        # DuckDB masks NULL alone; without any, numpy.ma need not be imported to ask whether a column is masked
        columns = {name: one.filled(np.nan) if hasattr(one, "filled") else one for name, one in found.items()}
        for column in columns.values():
            if column.dtype.kind == "f" and column.size and np.fmax.reduce(np.abs(column)) > LARGEST_SCORE:
                raise SchemaError(
                    f"{self.path} has scores beyond {LARGEST_SCORE:g}, which scorehouse never stores: another program "
                    "changed the file. Load your score files into a new one."
                )
        return columns

    def once(self, question: Hashable, ask: Callable[[], _Answer]) -> _Answer:
        """The answer of `ask` from scores, cached per question, because a file does not change while it is open.

        It must not depend on stored results. Of the last answers, a few are kept, fewer if large; do not modify them.
        """
        kept = self._kept.pop(question, None)
        answer: _Answer = ask() if kept is None else kept
        if kept is None:
            self._forget()
        self._kept[question] = answer  # the last asked is the last
        return answer

    def _forget(self) -> None:
        """Make room for an answer: forget those that were needed longest ago."""
        left = _MOST_BYTES
        for n, (question, answer) in enumerate(reversed(list(self._kept.items())), start=1):
            if n <= _GROWING or question not in self._sizes:  # arrays are added to answers soon after the first use
                self._sizes[question] = _size(answer)
            left -= self._sizes[question]
            if n >= _N_KEPT or left < 0:
                self._kept.pop(question, None)
                self._sizes.pop(question, None)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Block other threads' queries, because all threads share the connection's temporary tables."""
        with self._turn:
            yield

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Stop the block's queries at a time limit.

        Raises LimitError: the time limit was reached.
        """
        ended, late, connection = threading.Event(), threading.Event(), self._open_connection

        def stop() -> None:
            if not ended.wait(seconds):
                late.set()
                while not ended.wait(POLL_INTERVAL):  # a query that has not begun yet does not hear the first call
                    connection.interrupt()

        watch = threading.Thread(target=stop, daemon=True)
        self._turn.acquire()
        watch.start()
        try:
            yield
        except Exception as error:
            if late.is_set():
                raise LimitError(f"{self.path}: no answer after {seconds:g} s, stopped") from error
            raise
        finally:
            ended.set()
            watch.join()
            self._turn.release()

    def close(self) -> None:
        with self._turn:
            self.is_closed = True
            if self._connection is not None:
                self._connection.close()
            self._beside.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_FEW = 8
_GROWING = 3  # answers


def _size(answer: Any) -> int:
    """About how many bytes the arrays and rows in an answer take."""
    if isinstance(answer, Mapping):  # some may have thousands of small parts, which are much alike
        few = [_size(one) for one in islice(answer.values(), _FEW)]
        return len(answer) * sum(few) // max(1, len(few))
    if isinstance(answer, list | tuple):
        return _BYTES_OF_ROW * len(answer)
    return int(getattr(answer, "nbytes", 0)) or sum(map(_size, getattr(answer, "__dict__", {}).values()))


@dataclass(frozen=True)
class StoredResult:
    """A result: payload is JSON; key, kind, signature and so on as the columns of table `result`."""

    key: str
    kind: str
    testset: str
    lp: str
    signature: str
    payload: str
    program_version: str
    seconds: float


def stored_payloads(warehouse: Warehouse, keys: Collection[str]) -> dict[str, str]:
    """The payloads stored under keys, those that there are."""
    return dict(
        warehouse.rows(
            "SELECT key, payload FROM result WHERE key IN (SELECT unnest($keys::VARCHAR[]))", {"keys": list(keys)}
        )
    )


_BEFORE_RESULTS: dict[Mark, Mark] = {}
"""The mark of a file in which this process stored results, and its mark before them, with the same scores."""


def _mark_of_scores(path: Path) -> Mark | None:
    """The mark of a file without the results that this process stored."""
    mark = mark_of(path)
    return mark if mark is None else _BEFORE_RESULTS.get(mark, mark)


_STORE = """
    INSERT OR REPLACE INTO result
    SELECT
      key, kind, testset, lp, signature, payload, program_version, seconds, (now() AT TIME ZONE 'UTC')::TIMESTAMP
    FROM inserted_frame
"""


def store_results(path: Path, results: Sequence[StoredResult]) -> str | None:
    """Store results in one short transaction, replacing results with the same keys.

    No warehouse may be open on the file in this process. Returns None, or the reason why the results could not be
    stored.
    """
    import polars as pl

    if not path.exists():
        return f"{path}: the warehouse no longer exists"
    try:
        with in_memory(path) as connection, writing(path, connection, patience=LOCK_TIMEOUT):
            before = _mark_of_scores(path)  # other processes cannot write until DETACH
            rows = {result.key: result.__dict__ for result in results}
            with_frame(connection, pl.DataFrame([*rows.values()]), _STORE)
            connection.execute("CHECKPOINT")
            if before is not None and (after := mark_of(path)) is not None:
                _BEFORE_RESULTS[after] = before
    except (WarehouseError, duckdb.Error) as error:
        return first_line(error)
    return None
