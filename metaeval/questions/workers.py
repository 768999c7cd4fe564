"""Questions about evaluation sets, answered on many machines by the workers of a Dask scheduler.

A task is a folder of exported Parquet, the work of a question (`Run.each`), seed included, and a few evaluation sets.
Each worker reads what it needs from the folder, so that no scores travel; and results do not depend on who computed
them, as long as all run the same program: its files and libraries are compared before and with each result.
"""

import hashlib
import logging
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from metaeval.kernels.resampling.draws import Share, ShareComputedError
from metaeval.results.run import Run
from queries.opening import groups, opening, opening_some
from warehouse.errors import QuestionError, WarehouseError
from warehouse.progress import Progress
from warehouse.wording import option

if TYPE_CHECKING:
    from metaeval.results.run import Place, Work, Workers

PATIENCE = 30.0  # seconds without a worker, or without the scheduler's answer, after which the question ends
_LOOK = 0.2  # seconds between two looks at the workers
_TASKS_EACH = 8  # of a worker's thread: few enough that opening a folder counts little, enough to share out evenly
_MOST_SHARED = 4  # resamplings of one evaluation set
_PACKAGES = ("migrations", "warehouse", "queries", "metaeval")
_LIBRARIES = ("numpy", "scipy", "polars", "duckdb")


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
    """Work on a few evaluation sets of a folder, which are opened together.

    is_whole: all of the folder is opened, since the work also reads evaluation sets that it does not name.
    """

    folder: Path
    work: "Work[Any]"
    places: "Sequence[Place]"
    is_whole: bool


def perform(task: Task, share: Share | None = None, known: Sequence[Sequence[list[Any]]] = ()) -> list[Any]:
    """What is computed of each place of a task, or why there is nothing; before that, the versions it depends on.

    share: only this share of the next resampling (`ShareComputedError`). known: its outcomes in those before, by share.
    """
    found: list[Any] = [versions()]
    whole = opening(task.folder, is_export=True)
    with whole if task.is_whole else opening_some(task.folder, task.places) as opened:
        for place in task.places:
            with nullcontext() if share is None else replace(share, known=[_joined(one) for one in known]).taken():
                try:
                    found.append(task.work(Run(opened), *place))
                except (QuestionError, ShareComputedError) as error:
                    found.append(error)
    return found


def _joined(shares: Sequence[list[Any]]) -> list[Any]:
    """The outcomes of all tasks of a resampling, in their order."""
    outcomes = [error.outcomes for _, error in shares]
    joined: list[Any] = [None] * sum(map(len, outcomes))
    for number, own in enumerate(outcomes):
        joined[number :: len(outcomes)] = own
    return joined


def _of_all(found: list[Any]) -> list[Any]:
    """A task's results without outcomes of a share, which only other workers need."""
    return [None if isinstance(one, ShareComputedError) else one for one in found]


@contextmanager
def workers_at(address: str, folder: Path, *, is_whole: bool) -> "Iterator[Workers]":
    """Work on evaluation sets of a folder on the workers of a Dask scheduler, which can all read it.

    is_whole: see `Task`.

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
        yield partial(_computed, client, where, folder.resolve(), is_whole)
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


def _computed(
    client: Any,
    where: str,
    folder: Path,
    is_whole: bool,
    work: "Work[Any]",
    places: "Sequence[Place]",
    what: str,
    progress: Progress | None,
) -> Iterator[Any]:
    n_threads = max(1, sum(client.nthreads().values()))
    if n_threads >= 2 * len(places):
        for place in places:
            yield _shared(client, where, Task(folder, work, [place], is_whole), n_threads, progress)
        return
    tasks = [*groups(folder, places, -(-len(places) // (_TASKS_EACH * n_threads)))]
    futures = [client.submit(perform, Task(folder, work, group, is_whole), pure=False) for group in tasks]
    with _cancelling(client, futures):
        for group, future in zip(tasks, _done(client, where, futures, what, progress), strict=True):
            yield from _result(where, group[0], future)


def _shared(client: Any, where: str, task: Task, n: int, progress: Progress | None) -> Any:
    """What is computed of a task's place, where each resampling is shared out among the workers."""
    known: list[list[Any]] = []
    while True:
        # what comes before is repeated each time, so simulations that resample again and again go on alone
        shares = [Share(number, n) for number in range(n)] if len(known) < _MOST_SHARED else [Share(0, 0)]
        futures = [client.submit(perform, task, share, known, pure=False) for share in shares]
        briefs = [client.submit(_of_all, future, pure=False) for future in futures]
        with _cancelling(client, briefs):
            what = f"resampling {' '.join(task.places[0])}"
            found = [_result(where, task.places[0], one)[0] for one in _done(client, where, briefs, what, progress)]
        if found[0] is not None:
            return found[0]
        known.append(futures)


@contextmanager
def _cancelling(client: Any, futures: Sequence[Any]) -> Iterator[None]:
    """On an error or Ctrl-C, the workers do not go on."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            client.cancel(futures, force=True)
        raise


def _done(client: Any, where: str, futures: Sequence[Any], what: str, progress: Progress | None) -> Sequence[Any]:
    """The futures, all done. Raises QuestionError: no worker is left."""
    seen = time.monotonic()
    while not all(future.done() for future in futures):
        if progress is not None and what:
            progress(f"{what} on workers", sum(future.done() for future in futures), len(futures))
        try:
            n_workers = len(client.scheduler_info(n_workers=-1)["workers"]) if client.status == "running" else 0
        except (OSError, TimeoutError, ValueError, KeyError):
            n_workers = 0
        seen = time.monotonic() if n_workers else seen
        if time.monotonic() - seen > PATIENCE:
            raise QuestionError(f"{where}: the last worker was lost, and no other came for {PATIENCE:g} s")
        time.sleep(_LOOK)
    return futures


def _result(where: str, place: "Place", future: Any) -> list[Any]:
    """What a task computed. Raises QuestionError: nothing, or with another program. WarehouseError: as the work."""
    named = " ".join(place)
    try:
        there, *found = list[Any](future.result())
    except WarehouseError:
        raise
    except CancelledError as error:
        raise QuestionError(f"{where}: the scheduler was lost; ask again once it runs") from error
    except Exception as error:
        raise QuestionError(f"{where}: {named} was not answered: {type(error).__name__}: {_line(error)}") from error
    _check_same(where, named, there)
    return found


def _check_same(where: str, name: str, found: dict[str, str]) -> None:
    """Raises QuestionError: a worker's program or libraries are not ours."""
    own = versions()
    if apart := [f"{one} {found.get(one)}, here {own[one]}" for one in own if found.get(one) != own[one]]:
        raise QuestionError(f"{where}: worker {name} runs another program: {'; '.join(apart)}")


def _line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
