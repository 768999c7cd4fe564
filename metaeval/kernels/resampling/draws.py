"""Draws: blocks, the threads that compute them, resample counts, and halves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Literal, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from metaeval.kernels.arrays import checks
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.kernels.arrays.cores import n_cores

_controller = cache(ThreadpoolController)


def single_blas_thread() -> AbstractContextManager[Any]:
    """A context in which matrix products run in the calling thread."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


Alternative = Literal["greater", "two-sided"]
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")
Advance = Callable[[int, int], None]  # how many resamples are done, how many there are

#: Draws that share one random stream; they are always computed together.
BLOCK = 25
#: Seconds; handing a task to a thread takes longer than doing one that ends sooner.
BRIEF = 0.002
#: With an early stop, pairs are looked at each time this many blocks are done.
BLOCKS_BETWEEN_LOOKS = 4


def blocks(rng: np.random.Generator, n_draws: int) -> list[tuple[np.random.Generator, int]]:
    """Random streams and sizes of the blocks into which n_draws are divided.

    >>> [size for _, size in blocks(np.random.default_rng(0), 60)]
    [25, 25, 10]
    """
    sizes = [min(BLOCK, n_draws - start) for start in range(0, checks.count(n_draws, "n_draws"), BLOCK)]
    return list(zip(rng.spawn(len(sizes)), sizes, strict=True))


def resample_counts(stream: np.random.Generator, n_draws: int, n_units: int) -> Floats:
    """(n_draws, n_units) how often each unit is drawn among n_units with replacement."""
    return times_drawn(stream.integers(0, n_units, size=(n_draws, n_units)), n_draws, n_units)


def times_drawn(picks: Ints | None, n_draws: int, n_units: int) -> Floats:
    """(n_draws, n_units) how often each unit was picked; once each if nothing is resampled. A pick of -1 is ignored."""
    if picks is None:
        return np.ones((n_draws, n_units))
    places = picks + 1 + (n_units + 1) * np.arange(n_draws)[:, np.newaxis]
    counts = np.bincount(places.ravel(), minlength=n_draws * (n_units + 1))
    return counts.reshape(n_draws, n_units + 1)[:, 1:].astype(np.float64)


class ShareComputedError(BaseException):
    """Ends a computation of which only a share of one resampling was asked; no handler of errors may catch it.

    Its argument is the list of the share's outcomes.
    """


@dataclass(frozen=True)
class Share:
    """One share of a computation that resamples, so that several machines do it together.

    Each repeats what comes before a resampling, which is the same everywhere, computes every n-th task of that from its
    number on, and ends with these outcomes. n: 0 if the computation goes on alone. known: outcomes of all tasks of the
    resamplings before.
    """

    number: int
    n: int
    known: Sequence[Sequence[Any]] = ()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A context in which only this share is computed.

        Raises ShareComputedError: it is; unless the computation came to its end by what is known.
        """
        token = _SHARE.set((self, iter(self.known)))
        try:
            yield
        finally:
            _SHARE.reset(token)


ALONE = Share(0, 0)
_SHARE: ContextVar[tuple[Share, Iterator[Sequence[Any]]] | None] = ContextVar("_SHARE", default=None)


@contextmanager
def outcomes_in_order(
    work: Callable[[Task], Outcome],
    tasks: Sequence[Task],
    n_threads: int | None,
    *,
    is_shared: bool = True,
) -> Iterator[Iterator[Outcome]]:
    """Results of all tasks in their order.

    is_shared: by several machines, where a share is taken; not if the tasks depend on the machine.
    On exit, including by an exception, tasks that have not begun are cancelled, and others waited for, except after
    Ctrl-C.
    """
    if is_shared and (taken := _SHARE.get()) is not None:
        share, known = taken
        for outcomes in known:
            yield iter(outcomes)
            return
        if share.n:
            own = tasks[share.number :: share.n]
            with outcomes_in_order(work, own, n_threads, is_shared=False) as computed:
                raise ShareComputedError(list(computed))
    threads = min(n_threads or n_cores(), len(tasks))
    if threads <= 1:
        yield (work(task) for task in tasks)
        return
    pool = ThreadPoolExecutor(max_workers=threads)
    is_waited_for = True
    try:
        first = pool.submit(work, tasks[0])
        wait([first], timeout=BRIEF)
        if first.done():
            yield chain([first.result()], (work(task) for task in tasks[1:]))
        else:
            futures = [first, *(pool.submit(work, task) for task in tasks[1:])]
            yield (future.result() for future in futures)
    except KeyboardInterrupt:
        is_waited_for = False  # a task may take minutes
        raise
    finally:
        pool.shutdown(wait=is_waited_for, cancel_futures=True)


def half_of_annotators(rng: np.random.Generator, raters: Ints) -> Bools:
    """(n,) whether each judgement is in the first half, which has half of the annotators.

    raters: (n,) numbers of annotators from 0, without gaps; if their number is odd, the first half has one fewer.
    """
    n_raters = int(raters.max(initial=-1)) + 1
    return np.asarray((rng.permutation(n_raters) < n_raters // 2)[raters])


def half_of_judgements(rng: np.random.Generator, outputs: Ints) -> Bools:
    """(n,) whether each judgement is in the first half; each output's judgements are split evenly, at random.

    outputs: (n,) the judged output of each judgement. The halves of each output, and the two halves overall, differ by
    at most one judgement.
    """
    order = np.lexsort((rng.permutation(len(outputs)), rng.permutation(int(outputs.max(initial=-1)) + 1)[outputs]))
    first = np.empty(len(outputs), dtype=np.bool_)
    first[order] = np.arange(len(outputs)) % 2 == rng.integers(2)
    return first


@dataclass(frozen=True)
class Origins:
    """Which system each row and which segment each column of a resample comes from; None = not resampled."""

    systems: Ints | None = None
    segments: Ints | None = None

    def system_pairs(self, n_systems: int) -> Bools:
        """(n_pairs,) for the pairs of rows i < j in row order, whether they are two different systems."""
        first, second = np.triu_indices(n_systems, 1)
        if self.systems is None:
            return np.ones(first.size, dtype=np.bool_)
        return np.asarray(self.systems[first] != self.systems[second])


ORIGINAL = Origins()
