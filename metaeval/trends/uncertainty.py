"""How sure a measure's values are: the same resamples for all metrics, so that their differences are known too."""

from dataclasses import dataclass

import numpy as np

from metaeval.evaluation import Evaluation
from metaeval.intervals import within_range
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.bootstrap import Resample, bootstrap, interval
from metaeval.measures import Measure
from metaeval.options import Options, Population
from queries.blocks import Block
from warehouse import QuestionError
from warehouse.progress import Progress

_STREAM = 5  # of the seed: draws of their own, which no test shares


@dataclass(frozen=True)
class Resampled:
    """values: (M,) of the metrics. draws: (M, n) the same on resamples, only those where all are defined; n is 0
    without any.

    resampled: what was: "systems", "both", systems and segments, or "inputs", segments. reason: why there is nothing.
    """

    measure: Measure
    values: Floats
    draws: Floats
    resampled: Resample
    reason: str | None = None

    @property
    def population(self) -> Population:
        """What intervals, and tests beside them, generalise to."""
        return "segments" if self.resampled == "inputs" else self.resampled

    @property
    def is_empty(self) -> bool:
        return bool(self.draws.shape[1] < 2)

    def interval(self) -> tuple[Floats, Floats]:
        """Ends of the 95% interval of each metric's value, (M,), by the measure's own type of interval."""
        if self.is_empty:
            return np.full(len(self.values), np.nan), np.full(len(self.values), np.nan)
        found = [
            interval(float(value), own, method=self.measure.interval)
            for value, own in zip(self.values, self.draws, strict=True)
        ]
        return within_range(self.measure, np.array([one.low for one in found]), np.array([one.high for one in found]))

    def covariance(self) -> Floats:
        """(M, M) covariance of the metrics' values; NaN without resamples."""
        n = len(self.draws)
        return np.full((n, n), np.nan) if self.is_empty else np.atleast_2d(np.cov(self.draws))


def resamples(
    measure: Measure,
    block: Block,
    evaluation: Evaluation,
    options: Options,
    n_draws: int,
    progress: Progress | None = None,
) -> Resampled:
    """Values of a measure on resamples of a block whose metrics are those of the evaluation, all with a value.

    System scores that are not means over judged segments are resampled by systems; everything else by systems and
    segments, but by segments alone where no test of the measure is for both.
    """
    none = np.empty((len(block.metrics), 0))
    by_systems = None
    if options.system_score != "judged-mean":
        by_systems = measure.resampled_systems(block, options)
    advance = None if progress is None else lambda done, total: progress("resamples", done, total)
    rng = np.random.default_rng([options.seed, _STREAM])
    of_segments: Resample = "inputs" if measure.holding_test("both") is None else "both"
    what: Resample = of_segments if by_systems is None else "systems"
    try:
        epsilon = evaluation.epsilon if measure.is_calibrated else None
        statistic = by_systems or measure.resampled(block, options, epsilon)
        drawn = bootstrap(statistic, what, rng=rng, n_draws=n_draws, progress=advance)
    except (QuestionError, ValueError) as error:
        return Resampled(
            measure, evaluation.value, none, what, error.text if isinstance(error, QuestionError) else str(error)
        )
    draws = drawn.draws[:, ~np.isnan(drawn.draws).any(axis=0)]
    reason = None if draws.shape[1] > 1 else "no resample has a value for every metric"
    return Resampled(measure, evaluation.value, draws, what, reason)
