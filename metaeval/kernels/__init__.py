"""Statistics on plain arrays: only numpy and SciPy, without files or the names of metrics and systems."""

from metaeval.kernels.calibration.tie_calibration import Calibration, calibrate, calibration_curve

from .agreement.alternative_annotator import AlternativeAnnotator, alternative_annotator_test
from .agreement.correlation import (
    correlation_matrix,
    kendall,
    pairwise_difference_pearson,
    pearson,
    spearman,
    system_correlation,
)
from .agreement.pair_counts import PairCounts, pair_counts, thresholded_pair_counts
from .agreement.preferences import (
    JudgeAgreement,
    better_than_others,
    bradley_terry,
    expected_wins,
    judge_agreement,
    judge_consistency,
    preference_counts,
    preference_pair_counts,
)
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
from .agreement.variance_components import (
    IntraclassCorrelation,
    VarianceComponents,
    error_of_difference,
    intraclass_correlations,
    variance_components,
)
from .arrays.grouping import Grouping, group_labels
from .arrays.scales import autorank, mad_outliers
from .resampling.assisted_means import AssistedMean, assisted_mean
from .resampling.confidence_sequences import confidence_sequence
from .resampling.saddlepoint import saddlepoint_p_values
from .resampling.system_tests import draw_signs, normal_p_values, sign_flip_p_values
from .resampling.trueskill import clusters_of_ranges, trimmed_rank_ranges, trueskill
from .spans import span_precision_recall

__all__ = [
    "AlternativeAnnotator",
    "AssistedMean",
    "Calibration",
    "CrossedSlope",
    "GroupMean",
    "Grouping",
    "IntraclassCorrelation",
    "JudgeAgreement",
    "PairCounts",
    "PairwiseAgreement",
    "PooledCorrelation",
    "RandomEffects",
    "VarianceComponents",
    "YearTrend",
    "acc23",
    "accuracy",
    "accuracy_with_half_ties",
    "alternative_annotator_test",
    "assisted_mean",
    "autorank",
    "average",
    "better_than_others",
    "bradley_terry",
    "calibrate",
    "calibration_curve",
    "clusters_of_ranges",
    "confidence_sequence",
    "correlation_matrix",
    "crossed_slope",
    "draw_signs",
    "error_of_difference",
    "expected_wins",
    "group_labels",
    "group_mean",
    "hunter_schmidt",
    "intraclass_correlations",
    "judge_agreement",
    "judge_consistency",
    "kendall",
    "leave_one_out",
    "mad_outliers",
    "normal_p_values",
    "pair_counts",
    "pairwise_accuracy",
    "pairwise_difference_pearson",
    "pearson",
    "preference_counts",
    "preference_pair_counts",
    "random_effects",
    "saddlepoint_p_values",
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
    "trimmed_rank_ranges",
    "trueskill",
    "variance_components",
    "year_trend",
]
