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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from metaeval.kernels.resampling.draws import ALONE, Share, ShareComputedError
from metaeval.results.run import Run
from queries.opening import groups, opening
from warehouse.errors import QuestionError, WarehouseError
from warehouse.export.opening import named
from warehouse.progress import Progress
from warehouse.wording import first_line, option

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
    root = Path(__file__).parents[2]  # of all packages
    kinds = [f"{package}/**/*.{kind}" for package in _PACKAGES for kind in ("py", "sql", "toml")]
    for path in sorted(one for kind in kinds for one in root.glob(kind)):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    libraries = {name: version(name) for name in _LIBRARIES}
    own = {"scorehouse": version("scorehouse"), "its files": digest.hexdigest()[:12]}
    return {**own, "Python": platform.python_version(), **libraries}


def perform(
    folder: Path,
    is_whole: bool,
    work: "Work[Any]",
    places: "Sequence[Place]",
    share: Share = ALONE,
    known: Sequence[Sequence[list[Any]]] = (),
) -> list[Any]:
    """What is computed of each place of a task, or why there is nothing; before that, the versions it depends on.

    places: a few of the folder, which are opened together. is_whole: all of it is opened, since the work also reads
    evaluation sets that it does not name. share: only this share of the next resampling (`ShareComputedError`). known:
    its outcomes in those before, by share.
    """
    found: list[Any] = [versions()]
    with opening(folder, sorted if is_whole else partial(named, places), is_export=True) as opened:
        for place in places:
            with replace(share, known=[_joined(one) for one in known]).taken():
                try:
                    found.append(work(Run(opened), *place))
                except (QuestionError, ShareComputedError) as error:
                    found.append(error)
    return found


def _joined(shares: Sequence[list[Any]]) -> list[Any]:
    """The outcomes of all tasks of a resampling, in their order."""
    outcomes = [error.args[0] for _, error in shares]
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

    is_whole: see `perform`.

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
        raise QuestionError(f"{where}: no scheduler answers there: {first_line(error)}") from error
    try:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise QuestionError(f"{where}: no workers for {PATIENCE:g} s; start some on its address") from error
        for name, found in client.run(versions, on_error="return").items():
            if isinstance(found, BaseException):
                raise QuestionError(f"{where}: worker {name} cannot run scorehouse: {first_line(found)}")
            _check_same(where, name, found)
        yield _Scheduler(client, where, folder.resolve(), is_whole).computed
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


@dataclass(frozen=True)
class _Scheduler:
    """A client of a scheduler; where: its address, for messages. folder, is_whole: see `perform`."""

    client: Any
    where: str
    folder: Path
    is_whole: bool

    def computed(
        self, work: "Work[Any]", places: "Sequence[Place]", what: str, progress: Progress | None
    ) -> Iterator[Any]:
        """What the work computes of each place, in their order."""
        n_threads = max(1, sum(self.client.nthreads().values()))
        if n_threads >= 2 * len(places):
            for place in places:
                yield self._shared(work, place, n_threads, progress)
            return
        tasks = [*groups(self.folder, places, -(-len(places) // (_TASKS_EACH * n_threads)))]
        futures = [self._begun(work, group) for group in tasks]
        yield from chain.from_iterable(self._results([group[0] for group in tasks], futures, what, progress))

    def _begun(self, work: "Work[Any]", places: "Sequence[Place]", *share: Any) -> Any:
        return self.client.submit(perform, self.folder, self.is_whole, work, places, *share, pure=False)

    def _shared(self, work: "Work[Any]", place: "Place", n: int, progress: Progress | None) -> Any:
        """What the work computes of a place, where each resampling is shared out among the workers."""
        known: list[list[Any]] = []
        while True:
            # what comes before is repeated each time, so simulations that resample again and again go on alone
            shares = [Share(number, n) for number in range(n)] if len(known) < _MOST_SHARED else [ALONE]
            futures = [self._begun(work, [place], share, known) for share in shares]
            briefs = [self.client.submit(_of_all, future, pure=False) for future in futures]
            what = f"resampling {' '.join(place)}"
            found = [one for (one,) in self._results([place] * len(briefs), briefs, what, progress)]
            if found[0] is not None:
                return found[0]
            known.append(futures)

    def _results(
        self, places: "Sequence[Place]", futures: Sequence[Any], what: str, progress: Progress | None
    ) -> Iterator[list[Any]]:
        """What the futures computed of these places, once all are done; on an error or Ctrl-C, workers do not go on.

        Raises QuestionError: no worker is left, a task failed or ran another program. WarehouseError: as the work.
        """
        try:
            self._wait(futures, what, progress)
            for place, future in zip(places, futures, strict=True):
                yield self._result(" ".join(place), future)
        except BaseException:
            with suppress(Exception):
                self.client.cancel(futures, force=True)
            raise

    def _wait(self, futures: Sequence[Any], what: str, progress: Progress | None) -> None:
        seen = time.monotonic()
        while not all(future.done() for future in futures):
            if progress is not None and what:
                progress(f"{what} on workers", sum(future.done() for future in futures), len(futures))
            with suppress(OSError, TimeoutError, ValueError, KeyError):
                if self.client.status == "running" and self.client.scheduler_info(n_workers=-1)["workers"]:
                    seen = time.monotonic()
            if time.monotonic() - seen > PATIENCE:
                raise QuestionError(f"{self.where}: the last worker was lost, and no other came for {PATIENCE:g} s")
            time.sleep(_LOOK)

    def _result(self, place: str, future: Any) -> list[Any]:
        try:
            there, *found = list[Any](future.result())
        except WarehouseError:
            raise
        except CancelledError as error:
            raise QuestionError(f"{self.where}: the scheduler was lost; ask again once it runs") from error
        except Exception as error:
            why = f"{type(error).__name__}: {first_line(error)}"
            raise QuestionError(f"{self.where}: {place} was not answered: {why}") from error
        _check_same(self.where, place, there)
        return found


def _check_same(where: str, name: str, found: dict[str, str]) -> None:
    """Raises QuestionError: a worker's program or libraries are not ours."""
    own = versions()
    if apart := [f"{one} {found.get(one)}, here {own[one]}" for one in own if found.get(one) != own[one]]:
        raise QuestionError(f"{where}: worker {name} runs another program: {'; '.join(apart)}")
