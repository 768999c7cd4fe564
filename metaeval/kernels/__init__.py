"""Statistics on plain arrays: numpy and SciPy alone, no files, no names of metrics or systems."""

from metaeval.kernels.calibration.tie_calibration import Calibration, calibrate, calibration_curve

from .agreement.correlation import (
    correlation_matrix,
    kendall,
    pairwise_difference_pearson,
    pearson,
    spearman,
    system_correlation,
)
from .agreement.pair_counts import PairCounts, pair_counts, thresholded_pair_counts
from .agreement.slopes import CrossedSlope, YearTrend, crossed_slope, year_trend
from .agreement.studies import PooledCorrelation, RandomEffects, hunter_schmidt, leave_one_out, random_effects
from .agreement.systems import PairwiseAgreement, pairwise_accuracy, soft_pairwise_accuracy
from .agreement.tau import (
    GroupMean,
    acc23,
    accuracy,
    accuracy_with_half_ties,
    average,
    group_mean,
    tabular,
    tau_10,
    tau_13,
    tau_14,
    tau_23,
    tau_a,
    tau_b,
    tau_c,
)
from .arrays.grouping import Grouping, group_labels
from .arrays.scales import AutoRank, autorank, mad_outliers
from .resampling.system_tests import draw_signs, normal_p_values, sign_flip_p_values
from .spans import span_precision_recall

__all__ = [
    "AutoRank",
    "Calibration",
    "CrossedSlope",
    "GroupMean",
    "Grouping",
    "PairCounts",
    "PairwiseAgreement",
    "PooledCorrelation",
    "RandomEffects",
    "YearTrend",
    "acc23",
    "accuracy",
    "accuracy_with_half_ties",
    "autorank",
    "average",
    "calibrate",
    "calibration_curve",
    "correlation_matrix",
    "crossed_slope",
    "draw_signs",
    "group_labels",
    "group_mean",
    "hunter_schmidt",
    "kendall",
    "leave_one_out",
    "mad_outliers",
    "normal_p_values",
    "pair_counts",
    "pairwise_accuracy",
    "pairwise_difference_pearson",
    "pearson",
    "random_effects",
    "sign_flip_p_values",
    "soft_pairwise_accuracy",
    "span_precision_recall",
    "spearman",
    "system_correlation",
    "tabular",
    "tau_10",
    "tau_13",
    "tau_14",
    "tau_23",
    "tau_a",
    "tau_b",
    "tau_c",
    "thresholded_pair_counts",
    "year_trend",
]
