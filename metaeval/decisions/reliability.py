"""Whether calibrated scores mean what they say: probabilities by isotonic regression, cross-fitted by document."""

import numpy as np
import polars as pl

from metaeval.answer import Table, table_signature
from metaeval.decisions.curves import CONFIDENCE, Decided
from metaeval.kernels.agreement.decisions import cross_fitted
from metaeval.kernels.resampling.bootstrap import bootstrap
from metaeval.kernels.resampling.resampled_decisions import WeightedResample
from metaeval.kernels.resampling.resampled_statistics import ratio
from metaeval.measures.decisions import folds_of


def reliability(decision: Decided, *, bins: int = 10, draws: int = 1000, seed: int = 0) -> Table:
    """Calibrated probability beside the observed share of good outputs, in bins of as many outputs each.

    Columns: probability (mean of the bin), observed, low, high (95% of resamples of segments, the bins kept), n; rising
    probabilities. Outputs of one probability are in one bin. The signature has the Brier score.
    """
    kept = decision.block.judged.any(axis=0)
    judged = ~np.isnan(decision.good)
    good, scores = decision.good[judged] == 1, decision.scores[judged]
    folds = folds_of(decision.block)[:, kept][judged]
    p = cross_fitted(good, scores, folds)
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1], method="inverted_cdf"))
    members = (np.searchsorted(edges, p)[np.newaxis] == np.arange(len(edges) + 1)[:, np.newaxis]).astype(np.float64)
    members = members[members.any(axis=1)]
    statistic = WeightedResample(judged, lambda weights: ratio(weights @ (members * good).T, weights @ members.T))
    drawn = bootstrap(statistic, "inputs", rng=np.random.default_rng([seed, 9]), n_draws=draws, n_threads=1)
    ends = [drawn.interval(place, CONFIDENCE) for place in range(len(members))]
    frame = pl.DataFrame(
        {
            "probability": members @ p / members.sum(axis=1),
            "observed": members @ good / members.sum(axis=1),
            "low": [one.low for one in ends],
            "high": [one.high for one in ends],
            "n": members.sum(axis=1).astype(np.int64),
        }
    )
    brier = float(np.mean((p - good) ** 2))
    more = (*decision.said, ("brier", f"{brier:.6g}"), ("resamples", draws), ("seed", seed))
    return Table(frame, table_signature(("decide", "reliability"), decision.block, *more))
