"""Questions about evaluation sets, answered on many machines by the workers of a Dask scheduler.

A task is a folder of exported Parquet and a question about one of its evaluation sets, seed included; its result is an
answer. Each worker reads what it needs from the folder, so that no scores travel; and answers do not depend on who
computed them, as long as all run the same program: its files and libraries are compared before and with each answer.
"""

import hashlib
import logging
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from metaeval.results.run import Run
from queries.opening import opening
from warehouse.errors import QuestionError, WarehouseError
from warehouse.progress import Progress
from warehouse.wording import option

if TYPE_CHECKING:
    from metaeval.results.answer import Answer

PATIENCE = 30.0  # seconds without a worker, or without the scheduler's answer, after which the question ends
_LOOK = 0.2  # seconds between two looks at the workers
_TASKS_EACH = 8  # of a worker's thread: few enough that opening a folder counts little, enough to share out evenly
_PACKAGES = ("migrations", "warehouse", "queries", "metaeval")
_LIBRARIES = ("numpy", "scipy", "polars", "duckdb")
Asking = Callable[[Any, Sequence[tuple[str, str]], Progress | None], "Iterator[Answer[Any] | QuestionError]"]
"""Asks a question about each of some evaluation sets, in their order."""


@cache
def versions() -> dict[str, str]:
    """All that numbers may depend on: versions of the program and its libraries, a checksum of the program's files."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        found = find_spec(package)
        assert found is not None
        assert found.origin is not None
        root = Path(found.origin).parent
        for path in sorted(one for kind in ("*.py", "*.sql", "*.toml") for one in root.rglob(kind)):
            digest.update(f"{package}/{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    libraries = {name: version(name) for name in _LIBRARIES}
    own = {"scorehouse": version("scorehouse"), "its files": digest.hexdigest()[:12]}
    return {**own, "Python": platform.python_version(), **libraries}


@dataclass(frozen=True)
class Task:
    """A question about a few evaluation sets of a folder, which are opened together."""

    folder: Path
    question: Any
    places: Sequence[tuple[str, str]]


def perform(task: Task) -> "tuple[dict[str, str], list[Answer[Any] | QuestionError]]":
    """The answers of a task, or why there are none, with the versions they may depend on."""
    answers: list[Answer[Any] | QuestionError] = []
    with opening(task.folder, lambda _: task.places, is_export=True) as opened:
        for testset, lp in task.places:
            try:
                answers.append(replace(task.question, testset=testset, lp=lp).answer_one_evalset(Run(opened)))
            except QuestionError as error:
                answers.append(error)
    return versions(), answers


@contextmanager
def workers_at(address: str, folder: Path) -> Iterator[Asking]:
    """Ask evaluation sets of a folder on the workers of a Dask scheduler, which can all read it.

    Raises QuestionError: the extra is missing, no scheduler or worker answers, or a worker has other files or versions.
    """
    try:
        import distributed
    except ImportError as error:
        raise QuestionError(
            f'{option("workers")} needs the dask extra: python3 -m pip install "scorehouse[dask]"'
        ) from error
    where = f"{option('workers')} {address}"
    for name in ("distributed", "distributed.client", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # errors are raised here, with one line each
    try:
        client = _within(2 * PATIENCE, lambda: distributed.Client(address, timeout=PATIENCE))  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise QuestionError(f"{where}: no scheduler answers there: {_line(error)}") from error
    try:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise QuestionError(f"{where}: no workers for {PATIENCE:g} s; start some on its address") from error
        for name, found in client.run(versions, on_error="return").items():
            if isinstance(found, BaseException):
                raise QuestionError(f"{where}: worker {name} cannot run scorehouse: {_line(found)}")
            _check_same(where, name, found)
        yield lambda question, places, progress: _asked(client, where, folder, question, places, progress)
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.close(timeout=_LOOK)


def _within(seconds: float, act: Callable[[], Any]) -> Any:
    """The return value of a function within some seconds, in a separate thread: a silent server would block for ever.

    Raises TimeoutError; what the function raises.
    """
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(act())
        except Exception as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return done.result(seconds)
    except TimeoutError:
        raise TimeoutError(f"no answer within {seconds:g} s") from None


def _asked(
    client: Any,
    where: str,
    folder: Path,
    question: Any,
    places: Sequence[tuple[str, str]],
    progress: Progress | None,
) -> "Iterator[Answer[Any] | QuestionError]":
    size = -(-len(places) // (_TASKS_EACH * max(1, sum(client.nthreads().values()))))
    groups = [places[start : start + size] for start in range(0, len(places), size)]
    futures = [client.submit(perform, Task(folder.resolve(), question, group), pure=False) for group in groups]
    seen = time.monotonic()
    while not all(future.done() for future in futures):
        if progress is not None:
            progress(f"{question.name} on workers", sum(future.done() for future in futures), len(futures))
        try:
            n_workers = len(client.scheduler_info(n_workers=-1)["workers"]) if client.status == "running" else 0
        except (OSError, TimeoutError, ValueError, KeyError):
            n_workers = 0
        seen = time.monotonic() if n_workers else seen
        if time.monotonic() - seen > PATIENCE:
            raise QuestionError(f"{where}: the last worker was lost, and no other came for {PATIENCE:g} s")
        time.sleep(_LOOK)
    for group, future in zip(groups, futures, strict=True):
        try:
            there, answers = future.result()
        except WarehouseError:
            raise
        except CancelledError as error:
            raise QuestionError(f"{where}: the scheduler was lost; ask again once it runs") from error
        except Exception as error:
            named = " ".join(group[0])
            raise QuestionError(f"{where}: {named} was not answered: {type(error).__name__}: {_line(error)}") from error
        _check_same(where, " ".join(group[0]), there)
        yield from answers


def _check_same(where: str, name: str, found: dict[str, str]) -> None:
    """Raises QuestionError: a worker's program or libraries are not ours."""
    own = versions()
    if apart := [f"{one} {found.get(one)}, here {own[one]}" for one in own if found.get(one) != own[one]]:
        raise QuestionError(f"{where}: worker {name} runs another program: {'; '.join(apart)}")


def _line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
