"""The threads that compute draws."""

import threading
import time

import pytest

from metaeval.kernels.resampling.draws import outcomes_in_order
from tests.helpers import refused


def test_results_come_in_the_order_of_the_tasks() -> None:
    def work(task: int) -> int:
        time.sleep(0.01 * (3 - task))
        return 10 * task

    with outcomes_in_order(work, [0, 1, 2], 3) as outcomes:
        assert list(outcomes) == [0, 10, 20]


def test_ctrl_c_does_not_wait_for_a_task_that_runs() -> None:
    begun, may_end = threading.Event(), threading.Event()
    ended: list[int] = []

    def work(task: int) -> int:
        begun.set()
        assert may_end.wait(60)
        ended.append(task)
        return task

    def interrupted() -> None:
        with outcomes_in_order(work, [0, 1, 2], 2):
            assert begun.wait(60)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ended == []
    may_end.set()


def test_any_other_error_waits_for_what_runs_and_begins_nothing_more() -> None:
    begun = threading.Event()
    ended: list[int] = []

    def work(task: int) -> int:
        begun.set()
        time.sleep(0.05)
        ended.append(task)
        return task

    def failed() -> None:
        with outcomes_in_order(work, list(range(50)), 2):
            assert begun.wait(60)
            raise ValueError("no")

    refused("no", failed)
    assert 1 <= len(ended) < 50


def test_tasks_that_end_soon_are_not_handed_to_threads_one_by_one() -> None:
    threads = set[int]()

    def work(task: int) -> int:
        threads.add(threading.get_ident())
        return task

    with outcomes_in_order(work, list(range(50)), 4) as outcomes:
        assert list(outcomes) == list(range(50))
    assert len(threads) <= 2
