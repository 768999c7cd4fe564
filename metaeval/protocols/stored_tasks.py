"""Tests of single tasks in the result store, so that an interrupted run of many tasks goes on where it ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from metaeval.cache import DAMAGED, Question, key
from metaeval.kernels.arrays.checks import Floats
from metaeval.options import Options
from metaeval.significance.options import TestOptions
from queries.blocks import Block
from warehouse import Warehouse


@dataclass(frozen=True)
class TaskP:
    """p-values (M, M) of one task, [i, j] of metric i against j; names of the metrics are in the signature."""

    p: Floats
    signature: str


@dataclass
class StoredTasks:
    """The store of one run. fresh: what was stored before does not count. is_closed: it took no result before."""

    database: Path
    testset: str
    fresh: bool = False
    is_closed: bool = False

    def p_values(
        self,
        blocks: Sequence[Block],
        lps: Sequence[str],
        described: Sequence[object],
        options: Options,
        testing: TestOptions,
        compute: Callable[[], Floats],
    ) -> Floats:
        """The task's p-values: stored before, or computed and stored now. described: what else they depend on."""
        kind, pairs = "protocol task", ",".join(lps)
        question = Question(key(kind, blocks, *described, options, testing), kind, self.testset, pairs, TaskP)
        if not self.fresh:
            with Warehouse.open(self.database) as warehouse:
                if (kept := question.stored(warehouse)) is not None:
                    return kept.p
        signature = "|".join([self.testset, pairs, *map(str, described)])
        found, refused = question.computed(
            None if self.is_closed else self.database, lambda: TaskP(compute(), signature)
        )
        self.is_closed |= bool(set(refused) - {DAMAGED})
        return found.p
