"""The score of one task of a protocol: a value, a rank and a cluster for each metric."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import ranks
from metaeval.options import Options
from metaeval.protocols.populations import Beside
from metaeval.protocols.significance import TaskTest, rule_test
from metaeval.protocols.tasks import Job


@dataclass(frozen=True)
class Task:
    """One task of a protocol on a test set: aligned with the protocol score's metrics.

    values: (M,), NaN = missing or undefined; ranks (by what counts) and clusters: (M,), 0 = none. mapped: correlations
    enter an overall score of values as (r + 1) / 2. domain: None = all; human_references: None = as the organisers
    ranked them. beside: by a test that holds its level, if asked for.
    """

    lps: tuple[str, ...]
    level: str
    measure: str
    test: str
    outliers: str
    weight: float
    values: Floats
    mapped: bool
    ranks: Ints
    clusters: Ints
    domain: str | None = None
    human_references: bool | None = None
    beside: Beside | None = None

    @property
    def counted(self) -> Floats:
        """(M,) values in the overall score: an undefined correlation, which a constant metric has, counts as 0.

        Source: the organisers' toolkit (AverageCorrelation.Corr).
        """
        return np.where(self.ranks > 0, np.nan_to_num(self.values), np.nan)

    def among(self, order: Ints) -> "Task":
        """The task with its metrics in another order."""
        return replace(
            self,
            values=self.values[order],
            ranks=self.ranks[order],
            clusters=self.clusters[order],
            beside=self.beside and self.beside.among(order),
        )


def scored_task(job: Job, names: Sequence[str], test: TaskTest | None, beside: Beside | None, options: Options) -> Task:
    """What a job found. names: the protocol's metrics; test: None = not tested."""
    values, mapped = job.values(names), job.rule.measure.definition.is_correlation
    counted = values.copy()
    if mapped:
        counted[job.common(names)] = np.nan_to_num(values[job.common(names)])
    return Task(
        lps=job.lps,
        level=job.rule.measure.level,
        measure=str(job.rule.measure),
        test=rule_test(job.rule, options),
        outliers=job.outliers,
        weight=job.weight,
        values=values,
        mapped=mapped,
        ranks=competition_ranks(counted),
        clusters=np.zeros(len(names), dtype=np.int64) if test is None else test.clusters,
        domain=job.domain,
        human_references=job.human_references,
        beside=beside,
    )


def competition_ranks(values: Floats) -> Ints:
    """Competition ranks, 0 for a metric without a value."""
    found = ranks(values)
    found[np.isnan(values)] = 0
    return found
