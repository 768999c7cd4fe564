"""Small warehouses: made quickly, asked, and compared whole."""

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.helpers import TESTSET, tiny_layout
from tests.sharing import empty_bytes, written
from warehouse import LoadReport, load
from warehouse.database.opening import find_tables
from warehouse.database.updating import Ask, in_memory, reading
from warehouse.export.mtme import RatingTable, ScoreTable
from warehouse.simulation.evalset import SimulatedEvalset

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Loaded:
    """A folder, a warehouse that has loaded it, and what the load reported; for several tests, which read them only."""

    folder: Path
    database: Path
    report: LoadReport


def scores_of(evalset: SimulatedEvalset, table: ScoreTable) -> NDArray[np.float64]:
    """(n_systems, n_segments) scores in the order of the systems; NaN: not judged, or a system that has none."""
    values = np.full((len(evalset.systems), len(evalset.documents)), np.nan)
    values[[evalset.systems.index(system) for system in table.systems]] = table.seg
    return values


_ALL = {
    "testsets": "FROM testsets",
    "evalsets": "FROM evalsets",
    "segments": "FROM segments",
    "texts": "FROM texts",
    "systems": "FROM systems",
    "metrics": "FROM metrics",
    "humans": "FROM humans",
    "scores": "FROM scores",
    "human_scores": "FROM human_scores",
    "aggregate_scores": "FROM aggregate_scores",
    "judgements": "FROM judgements",
    "annotations": "SELECT * EXCLUDE (annotation) FROM annotations",
    "spans": "SELECT * EXCLUDE (annotation) FROM spans",
    "sources": "SELECT testset, lp, origin, sha256, n_bytes, reader, n_rows, n_missing, status FROM sources",
}
_HANGING = """
        SELECT
          (SELECT count(*) FROM score ANTI JOIN vector USING (vector_id)),
          (SELECT count(*) FROM aggregate_score ANTI JOIN vector USING (vector_id)),
          (SELECT count(*) FROM judgement ANTI JOIN vector USING (vector_id)),
          (SELECT count(*) FROM span ANTI JOIN judgement USING (judgement_id)),
          (SELECT count(*) FROM vector ANTI JOIN source USING (source_id)),
          (SELECT count(*) FROM vector ANTI JOIN system USING (system_id)),
          (SELECT count(*) FROM segment ANTI JOIN source USING (source_id)),
          (SELECT count(*) FROM segment_text ANTI JOIN source USING (source_id))
    """


@contextlib.contextmanager
def asking(database: Path) -> Iterator[Ask]:
    """What answers queries of a file that was just written: to open it takes DuckDB three times as long."""
    with in_memory(database) as memory, reading(database, memory) as answer:
        find_tables(memory)
        yield answer


def ask(database: Path, query: str, **parameters: object) -> Rows:
    """The answer of a query; parameters: values of `$name` in it."""
    with asking(database) as answer:
        return answer(query, parameters)


def held(database: Path) -> dict[str, Rows]:
    """All that a warehouse holds, by names instead of identifiers; asserts that nothing in it hangs loose."""
    with asking(database) as answer:
        assert answer(_HANGING, {}) == [(0,) * 8]
        return held_by(answer)


def held_by(answer: Ask) -> dict[str, Rows]:
    """All that is held by the warehouse that answers."""
    return {name: sorted(answer(query, {}), key=repr) for name, query in _ALL.items()}


def nothing_hangs(database: Path) -> None:
    """Assert that everything in a warehouse belongs to something that is there."""
    assert ask(database, _HANGING) == [(0,) * 8]


def edited(path: Path, edit: Callable[[list[str]], list[str]]) -> Path:
    """Change the lines of a file."""
    path.write_text("".join(f"{line}\n" for line in edit(path.read_text().splitlines())))
    return path


def statuses(report: LoadReport) -> list[str]:
    return [evalset.status for evalset in report.evalsets]


def empty_warehouse(database: Path) -> Path:
    """Put an up-to-date warehouse without content there, much faster than a load makes one; the database."""
    return written(database, empty_bytes())


def loaded(root: Path, database: Path) -> Path:
    """Load a folder that is sound into a warehouse without content; the database."""
    report = load([root], empty_warehouse(database))
    assert (statuses(report), report.faults, report.notes) == (["loaded"], [], [])
    return database


def small(
    folder: Path,
    *,
    humans: dict[str, ScoreTable] | None = None,
    metrics: dict[str, ScoreTable] | None = None,
    ratings: dict[str, RatingTable] | None = None,
    testset: str = TESTSET,
) -> Path:
    """An evaluation set of the tiny test set with these scores alone, and no texts."""
    return tiny_layout(
        folder, testset=testset, humans=humans or {}, metrics=metrics or {}, ratings=ratings, texts=False
    )


def by_cell(rows: Rows) -> dict[tuple[str, int], float | None]:
    """(system, segment) -> value; each once."""
    cells = {(system, segment): value for system, segment, value in rows}
    assert len(cells) == len(rows)
    return cells


def cells_of(systems: tuple[str, ...], values: np.ndarray) -> dict[tuple[str, int], float | None]:
    return {
        (system, segment): None if math.isnan(value) else value
        for system, row in zip(systems, values.tolist(), strict=True)
        for segment, value in enumerate(row, start=1)
    }


MINOR = {"start": 0, "end": 3, "category": "style/odd", "severity": "minor", "score": 1}


MAJOR = {"start": 4, "end": 9, "category": "fluency", "severity": "major", "score": 5.0, "is_source_error": True}


MARKS = RatingTable(
    {"Ash": [[], [MINOR, MAJOR], None, [MAJOR], []], "Beech": [[MINOR], [], [], None, [{"score": 0.1}]]},
    raters={"Ash": ["r1", "r1", None, "r2", None], "Beech": ["r3"] * 5},
)
