"""A simulated evaluation set: the data that organisers would publish, and the truth behind it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset
from warehouse.simulation.plan import Floats


@dataclass(frozen=True)
class SimulatedMetric:
    """The truth about one metric variant in one evaluation set.

    signal_to_noise: standard deviation of true quality inside a segment over that of the metric's own noise;
        0 for a metric that can't tell two translations of a segment apart by their quality.
    """

    name: str
    base_metric: str
    reference: str
    kind: str
    status: str
    signal_to_noise: float


@dataclass(frozen=True, eq=False)
class SimulatedEvalset:
    """One language pair of one year: the data that organisers would publish, and the truth behind it.

    documents: (domain, document) of each segment. systems: all with human scores: MT systems and the human
    reference. humans, metrics: score tables by name; a metric that compares with refA does not score refA.
    strengths: (n_systems,). standard_human: level -> name of the human score that counts there.
    """

    testset: str
    year: int
    lp: str
    documents: tuple[tuple[str, str], ...]
    systems: tuple[str, ...]
    sources: tuple[str, ...]
    references: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, tuple[str, ...]]
    humans: Mapping[str, ScoreTable]
    ratings: Mapping[str, RatingTable]
    predictions: Mapping[str, RatingTable]
    metrics: Mapping[str, ScoreTable]
    strengths: Floats
    metric_facts: tuple[SimulatedMetric, ...]
    standard_reference: str
    standard_human: Mapping[str, str]
    outlier_systems: tuple[str, ...]

    @property
    def primary_metrics(self) -> tuple[str, ...]:
        """Base names of the primary metrics, baselines included, as the organisers list them."""
        return self._base_metrics("primary", "baseline")

    @property
    def baseline_metrics(self) -> tuple[str, ...]:
        return self._base_metrics("baseline")

    def _base_metrics(self, *statuses: str) -> tuple[str, ...]:
        return tuple(sorted({fact.base_metric for fact in self.metric_facts if fact.status in statuses}))

    def write(self, folder: Path) -> list[Path]:
        """Write the organisers' layout of this evaluation set below folder/TESTSET; returns the files."""
        return write_evalset(
            folder / self.testset,
            self.lp,
            documents=self.documents,
            sources=self.sources,
            references=self.references,
            outputs=self.outputs,
            humans=self.humans,
            metrics=self.metrics,
            ratings=self.ratings,
            predictions=self.predictions,
        )
