"""What attacks share: how a try ends, what it is made of, and how the worst of an attack is kept."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warehouse import Warehouse, load
from warehouse.errors import WarehouseError
from warehouse.export import export, import_parquet
from warehouse.export.mtme import ScoreTable, write_evalset

LP = "en-de"
LONGEST = 2000  # characters of a message
WORST: dict[str, str] = {}  # by attack: what its worst try took, where that says more than its time


@dataclass(frozen=True)
class Attack:
    """name: what is tried; expected: what counts as survived; run: in a folder, yields whether each try survived.

    n_tries: of an attack that draws its tries at random; `run` takes that many.
    """

    name: str
    expected: str
    run: Callable[..., Iterator[bool]]
    n_tries: int | None = None


@dataclass(frozen=True)
class Outcome:
    attack: Attack
    n_tries: int
    n_survived: int
    worst_seconds: float


def layout(folder: Path, n_segments: int = 40, n_metrics: int = 3) -> Path:
    """A small evaluation set in the organisers' layout."""
    rng = np.random.default_rng(0)
    systems = ["A", "B", "C"]
    tables = {
        f"M{number}-src": ScoreTable(systems, seg=rng.normal(size=(3, n_segments)).round(3))
        for number in range(n_metrics)
    }
    human = ScoreTable(systems, seg=-rng.integers(0, 25, size=(3, n_segments)).astype(float))
    documents = [("news", f"d{number // 10}") for number in range(n_segments)]
    write_evalset(folder / "task24", LP, documents=documents, humans={"mqm": human}, metrics=tables)
    return folder / "task24"


def scores(database: Path) -> list[tuple[Any, ...]]:
    with Warehouse.open(database) as warehouse:
        return warehouse.rows("SELECT metric, system, segment, value FROM scores ORDER BY ALL")


@dataclass(frozen=True)
class Ending:
    """How one try ended: with a value, with a refusal for the user, or with neither, which is a traceback."""

    value: Any = None
    refusal: str | None = None
    is_traceback: bool = False

    @property
    def is_refusal(self) -> bool:
        """Whether it is one short line for the user."""
        return self.refusal is not None and "\n" not in self.refusal and len(self.refusal) < LONGEST


def ending(action: Callable[[], Any]) -> Ending:
    """Try something; the one place where anything but the program's own errors counts as a traceback."""
    try:
        return Ending(action())
    except WarehouseError as error:
        return Ending(refusal=str(error))
    except Exception:
        return Ending(is_traceback=True)


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def exported(folder: Path) -> Path:
    load([layout(folder / "layout")], folder / "w.duckdb")
    export(folder / "w.duckdb", folder / "out")
    return folder / "out"


def spoiled(files: Sequence[Path], rng: random.Random, n_tries: int) -> Iterator[int]:
    """Again and again one bit of one of these files is flipped, and put right after the try."""
    for number in range(n_tries):
        path = rng.choice(files) if len(files) > 1 else files[0]
        whole = path.read_bytes()
        path.write_bytes(flipped(whole, rng))
        yield number
        path.write_bytes(whole)


def imported(out: Path, back: Path) -> list[tuple[Any, ...]]:
    import_parquet(out, back)
    return scores(back)
