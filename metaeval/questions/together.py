"""Which options of a question go together: one that would do nothing beside the others is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from metaeval.measures import Measure, parse_measure
from warehouse.errors import QuestionError, unknown

Given = Mapping[str, Any]
OF_TESTS = (
    *("test", "population", "alternative", "alpha", "correction", "plus_one", "mid_p", "early_stop", "unit"),
    *("legacy_df", "absolute", "fresh"),
)
"""Keywords that say how is tested; `draws` may have other uses, `n_threads` changes no result."""


OF_METRICS = ("metrics", "only", "primary", "own", "all_metrics")
"""Keywords of a slice that say which metrics."""


@dataclass(frozen=True)
class Rule:
    """Options that go with some values of the others alone.

    holds: whether they do, of all arguments of a question. why: what is said behind the option's name where they don't.
    """

    names: tuple[str, ...]
    holds: Callable[[Given], bool]
    why: str


def _kinds(given: Given) -> set[str]:
    return {given["kinds"]} if isinstance(given["kinds"], str) else set(given["kinds"])


def _is_of_systems(given: Given) -> bool:
    measure = given["measure"]
    parsed: Measure = parse_measure(measure) if isinstance(measure, str) else measure
    return parsed.level == "sys"


def _is_drawn(given: Given) -> bool:
    """Whether the value of a measure asked for, or of the default, is drawn."""
    measures = given["measures"]
    several = [measures] if isinstance(measures, str | Measure) else measures
    parsed = [parse_measure(one) if isinstance(one, str) else one for one in several]
    return any(one.n_draws is not None for one in parsed)


RULES: Mapping[str, tuple[Rule, ...]] = {
    "rank": (
        Rule(
            ("seed",),
            lambda given: given["significance"] or given["intervals"] or given["ceiling"] or _is_drawn(given),
            "needs something that is drawn: significance, intervals, ceiling or spa",
        ),
        Rule(OF_TESTS, lambda given: given["significance"], "needs significance=True"),
        Rule(
            ("draws",),
            lambda given: given["significance"] or given["intervals"],
            "needs significance=True or intervals=True",
        ),
        Rule(
            ("pool",),
            lambda given: not given["significance"],
            "does not go with significance=True; metaeval.protocol tests pooled scores",
        ),
        Rule(
            ("pool",),
            lambda given: not given["intervals"],
            "does not go with intervals=True: pooled values have no interval yet",
        ),
        Rule(("by",), lambda given: not given["intervals"], "does not go with intervals=True, as on the command line"),
        Rule(
            ("pool",),
            lambda given: not given["ceiling"],
            "does not go with ceiling=True: a pooled ranking has no human ceiling, as people are on other data in each "
            "evaluation set",
        ),
        Rule(
            ("by",),
            lambda given: not given["ceiling"],
            "does not go with ceiling=True: people are on other data in each domain",
        ),
    ),
    "protocol": (Rule((*OF_TESTS, "draws"), lambda given: given["significance"], "needs significance=True"),),
    "systems": (
        Rule(
            ("draws", "seed"),
            lambda given: given["test"] in ("permutation", "bootstrap"),
            "does not go with a test that draws nothing: wilcoxon, paired-t",
        ),
        Rule(
            OF_METRICS,
            lambda given: given["intersection"],
            "needs intersection=True, whose metrics it selects; scorer takes any metric",
        ),
        Rule(
            ("system_score",),
            lambda given: given["scorer"] is not None,
            "needs a scorer: it is about a metric's scores",
        ),
    ),
    "annotators": (
        Rule(
            ("draws", "seed", "halves", "unit"),
            lambda given: given["view"] != "pairs",
            "does not go with view='pairs', which has no interval",
        ),
    ),
    "scatter": (
        Rule(OF_METRICS, lambda given: given["intersection"], "needs intersection=True, whose metrics it selects"),
    ),
    "thresholds": (Rule(("points",), lambda given: given["curve"], "needs curve=True"),),
    "correlations": (Rule(("system_score",), _is_of_systems, "goes with a measure of systems, such as pearson"),),
    "trend": (
        Rule(
            ("published", "without_contaminated", "slope_of"),
            lambda given: given["view"] == "within",
            "needs view='within'",
        ),
        Rule(("pool",), lambda given: given["view"] != "within", "does not go with view='within'"),
        Rule(("pool",), lambda given: given["view"] != "bridges", "does not go with view='bridges'"),
        Rule(("alpha",), lambda given: given["view"] == "years", "needs view='years': it marks gaps of years"),
        Rule(
            ("by", "anchor"),
            lambda given: given["view"] != "within",
            "does not go with view='within', which has slopes over all metrics",
        ),
    ),
    "plan": (
        Rule(
            ("measure", "draws", "system_score"),
            lambda given: given["tell"] != "systems",
            "does not go with tell='systems'",
        ),
    ),
    "noise": (
        Rule(("shares",), lambda given: "outliers" in _kinds(given), "needs 'outliers' among kinds"),
        Rule(("strengths",), lambda given: _kinds(given) != {"outliers"}, "needs another kind than 'outliers'"),
    ),
}
"""By question, in the order in which they are looked at."""

OF_SLICES = (Rule(("all_metrics",), lambda given: not given["primary"], "does not go with primary=True"),)
"""Of every question that takes a slice."""

ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "protocol": dict.fromkeys(
        ("test", "correction", "early_stop"),
        "a protocol brings its own tests: test, correction and early_stop do not go with it",
    ),
}
"""By question: options that it has not for a reason, and the reason."""


def check_known(question: str, given: Given, known: tuple[str, ...]) -> None:
    """Raises QuestionError: a keyword that the question does not take, with near names that it takes."""
    for name in given:
        if name in known:
            continue
        if (why := ELSEWHERE.get(question, {}).get(name)) is not None:
            raise QuestionError(why)
        raise unknown("option", name, known, where=f"metaeval.{question}")


def check_together(rules: tuple[Rule, ...], given: Given, defaults: Given) -> None:
    """Raises QuestionError: an option that does nothing beside the others has another value than its default.

    given, defaults: every option of the question.
    """
    for rule in rules:
        for name in rule.names:
            if name in given and _plain(given[name]) != _plain(defaults[name]) and not rule.holds(given):
                raise QuestionError(f"{name} {rule.why}")


def _plain(value: Any) -> Any:
    """The value, lists and arrays as tuples, so that any two can be compared."""
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str | Mapping) else value
