"""Options that add tests, intervals, ranges, people, lists or a chart change no value and no order."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from metaeval.measures.registry import DEFINITIONS
from metaeval.python_api import answered
from metaeval.questions.protocol import Protocol
from metaeval.questions.rank import Rank
from metaeval.results.run import Run
from metaeval.studies.protocols import protocols
from tests.helpers import together
from warehouse import QuestionError, Warehouse
from warehouse.fields import fields_of

TESTED: tuple[dict[str, Any], ...] = ({"test": "perm-inputs"}, {"population": "systems"}, {"unit": "document"})
ADDING: tuple[dict[str, Any], ...] = (
    *({name: True} for name in ("significance", "intervals", "ranges", "ceiling", "charted", "verbose")),
    *({"significance": True, **one} for one in TESTED),
    {"significance": True, "correction": "holm", "intervals": True, "ranges": True, "ceiling": True},
)
OTHERS = {"without_optimised", "wide", "explain", "strict", "user_metrics"}  # which choose, or show something else
SHOWN = ("testset", "lp", "measure", "metric", "value", "epsilon", "rank", "system_score", "n_systems", "n_segments")


def _values(database: Path, testset: str, lp: str, measures: tuple[str, ...], **more: Any) -> pl.DataFrame:
    run = Run(lambda: Warehouse.open(database), None, lambda what, done, total: None)
    draws = {"resamples": 20} if set(more) - {"verbose", "ceiling"} else {}
    frame = answered(Rank, {"testset": testset, "lp": lp, "measures": measures, **more, **draws}, run).frame
    return (frame.filter(kind="metric") if "kind" in frame.columns else frame).select(SHOWN)


def _adds_nothing_else(database: Path, testset: str, lp: str, measure: str) -> None:
    plain = _values(database, testset, lp, (measure,))
    n_answered = 0
    for added in ADDING:
        try:
            found = _values(database, testset, lp, (measure,), **added)
        except QuestionError:  # the measure has no such test
            continue
        assert found.equals(plain), f"{measure} {added}: {found} instead of {plain}"
        n_answered += 1
    assert n_answered > 3


def test_every_option_that_adds_something_is_tried() -> None:
    switches = {one.name for one in fields_of(Rank).values() if one.element is bool and one.option.panel == "Options"}
    assert switches - OTHERS <= {name for one in ADDING for name in one}


@together("measure", ["pearson", "acc_eq(by=item)"])
def test_what_is_added_changes_no_value_and_no_order(measure: str, simulated_database: Path) -> None:
    _adds_nothing_else(simulated_database, "sim24", "en-de", measure)


@pytest.mark.slow
@pytest.mark.every(6)
@pytest.mark.parametrize(
    "measure", [name for name in DEFINITIONS if name not in ("pearson", "acc_eq", "tau_rr", "acc_rr")]
)
def test_nor_does_it_for_any_other_measure(measure: str, simulated_database: Path) -> None:
    _adds_nothing_else(simulated_database, "sim24", "en-de", str(DEFINITIONS[measure].measure))


@pytest.mark.slow
def test_nor_on_wmt20_where_most_metrics_have_submitted_scores_alone(real_load: tuple[Path, object]) -> None:
    _adds_nothing_else(real_load[0], "wmt20", "de-en", "pearson")


ADDING_TO_PROTOCOLS: tuple[dict[str, Any], ...] = (
    *({name: True} for name in ("significance", "verbose")),
    *({"significance": True, **one} for one in ({"population": "segments"}, {"unit": "document"})),
)


def _protocol_as_it_is_and_with_more(database: Path, rules: str) -> None:
    run = Run(lambda: Warehouse.open(database), None, lambda what, done, total: None)
    asked = {"rules": rules, "on": "sim24", "lp": ("cs-uk",)}
    plain = answered(Protocol, asked, run).frame.drop("missing", strict=False)
    n_answered = 0
    for added in ADDING_TO_PROTOCOLS:
        draws = {"resamples": 20} if "significance" in added else {}
        try:
            found = answered(Protocol, {**asked, **added, **draws}, run).frame
        except QuestionError:  # the protocol has no such test
            continue
        assert found.select(plain.columns).equals(plain), f"{rules} {added}: {found} instead of {plain}"
        n_answered += 1
    assert n_answered > 1


@together("rules", ["wmt07", "wmt12"])
def test_nor_does_what_is_added_change_the_scores_of_a_protocol(rules: str, simulated_database: Path) -> None:
    _protocol_as_it_is_and_with_more(simulated_database, rules)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [name for name in protocols() if name not in ("wmt07", "wmt12")])
def test_nor_those_of_a_protocol_of_any_other_year(rules: str, simulated_database: Path) -> None:
    _protocol_as_it_is_and_with_more(simulated_database, rules)
