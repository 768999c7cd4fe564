"""All measures, family by family."""

from collections.abc import Mapping
from types import MappingProxyType

from metaeval.measures import (
    calibrated,
    group_correlations,
    pair_counts,
    pairwise_accuracy,
    pairwise_differences,
    soft_pairwise,
    system_correlations,
    top_systems,
    top_weighted,
)
from metaeval.measures.measure import Definition

_DEFINITIONS: tuple[Definition, ...] = (
    *system_correlations.DEFINITIONS,
    pairwise_accuracy.DEFINITION,
    system_correlations.WEIGHTED_TAU,
    top_weighted.DEFINITION,
    soft_pairwise.DEFINITION,
    top_systems.DEFINITION,
    *group_correlations.DEFINITIONS,
    *pair_counts.DEFINITIONS,
    *calibrated.DEFINITIONS,
    pairwise_differences.DEFINITION,
    pair_counts.KENDALL_LIKE,
    pair_counts.TABULAR,
)
#: By the measure at its defaults, as printed: of definitions with one name the first that has all given parameters.
DEFINITIONS: Mapping[str, Definition] = MappingProxyType(
    {str(definition.measure): definition for definition in _DEFINITIONS}
)
