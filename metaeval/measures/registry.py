"""All measures, family by family, and the parser of measure names."""

import copyreg
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from metaeval.measures import (
    calibrated,
    decisions,
    group_correlations,
    pair_counts,
    pairwise_accuracy,
    preference_agreement,
    span_agreement,
    system_level,
)
from metaeval.measures.measure import Definition, Measure
from metaeval.measures.parameters import Parameter, Value
from warehouse import QuestionError
from warehouse.errors import NEAR, unknown

_OF_PAPERS = dict.fromkeys(("acc_t", "acc*", "acc*_eq", "acc_eq*"), "acc_eq")
_FORM = re.compile(r"\s*([A-Za-z_0-9*-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_DEFINITIONS: tuple[Definition, ...] = (
    *system_level.CORRELATIONS,
    pairwise_accuracy.PA,
    system_level.WEIGHTED_TAU,
    system_level.TAU_AP,
    pairwise_accuracy.SPA,
    system_level.TOP_PEARSON,
    *group_correlations.DEFINITIONS,
    *pair_counts.DEFINITIONS,
    pair_counts.ACCURACY,
    *calibrated.DEFINITIONS,
    group_correlations.PDP,
    *decisions.DEFINITIONS,
    *span_agreement.DEFINITIONS,
    pair_counts.KENDALL_LIKE,
    *preference_agreement.DEFINITIONS,
    pair_counts.TABULAR,
)
#: By the measure at its defaults, as printed: of definitions with one name the first that has all given parameters.
DEFINITIONS: Mapping[str, Definition] = MappingProxyType(
    {str(definition.measure): definition for definition in _DEFINITIONS}
)


def parse_measure(text: str) -> Measure:
    """Read a measure by name, in any case, with dashes, or as in papers; parameters choose between several definitions.

    Raises QuestionError: unknown measure or parameter, or an invalid value.
    >>> [str(parse_measure(text)) for text in ("acc_eq", "spa(n=1000)", "tau_b(epsilon=0.5,by=none)")]
    ['acc_eq(by=item)', 'spa', 'tau_b(by=none, epsilon=0.5)']
    >>> {str(parse_measure(text)) for text in ("acc-t", "acc_t", "acc*", "acc-eq", "ACC*_eq")}
    {'acc_eq(by=item)'}
    """
    form = _FORM.fullmatch(text)
    if form is None:
        raise QuestionError(f"measure {text!r}: expected NAME or NAME(parameter=value, ...)")
    name, given = _OF_PAPERS.get(spelt := form[1].lower().replace("-", "_"), spelt), _arguments(form[2] or "", text)
    named = [definition for definition in DEFINITIONS.values() if definition.name == name]
    if not named:
        raise unknown("measure", form[1], {definition.name for definition in DEFINITIONS.values()})
    known = {parameter.name for definition in named for parameter in definition.parameters}
    for key in given:
        if key not in known:
            raise unknown("parameter", key, known, where=f"measure {name!r}")
    matching = [one for one in named if set(given) <= {parameter.name for parameter in one.parameters}]
    if not matching:
        raise QuestionError(f"measure {text!r}: {' and '.join(given)} cannot be combined")
    return matching[0].family(matching[0], tuple(_parameter_value(one, given, text) for one in matching[0].parameters))


def _parameter_value(parameter: Parameter, given: dict[str, str], text: str) -> Value:
    if parameter.name not in given:
        return parameter.default
    try:
        return parameter.parse(given[parameter.name])
    except ValueError as error:
        found = f"{parameter.name}={given[parameter.name]}"
        meant = _OTHER_WORDS.get(given[parameter.name].lower()) if parameter.name == "by" else None
        way_out = f"{NEAR} {meant}?" if meant else ""
        raise QuestionError(f"measure {text!r}: found {found}, expected {error}", way_out=way_out) from error


_OTHER_WORDS = {
    **dict.fromkeys(("segment", "seg", "segments"), "'item', the outputs of a segment"),
    **dict.fromkeys(("document", "documents"), "'doc'"),
}
"""Groupings as users may call them."""


def _arguments(inside: str, text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in inside.split(","))):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not key or not value:
            raise QuestionError(f"measure {text!r}: found {part!r}, expected parameter=value")
        if key in given:
            raise QuestionError(f"measure {text!r}: parameter {key!r} is given twice")
        given[key] = value
    return given


def _as_printed(measure: Measure) -> tuple[Callable[[str], Measure], tuple[str]]:
    """Pickle measures in their printed form, so that they can be sent to worker processes."""
    return parse_measure, (str(measure),)


for _definition in _DEFINITIONS:
    copyreg.pickle(_definition.family, _as_printed)
