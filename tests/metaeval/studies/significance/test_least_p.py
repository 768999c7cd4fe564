"""Data so few that no p-value could be at or below alpha: there is no test, and no word on what it would have found."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import metaeval
from metaeval.measures.judged import least_p_value
from metaeval.studies.trends.headlines import of_trends
from warehouse import QuestionError, Warehouse

FIVE: dict[str, Any] = {"segments": "1-5", "unit": "segment"}
EN_DE = ("sim24", "en-de")
NO_VERDICT = "there is no test: of 5 segments permutation makes no p below 0.0625"


def test_the_least_p_value_is_that_of_one_sign_pattern_or_two() -> None:
    assert [least_p_value(n, "two-sided") <= 0.05 for n in (5, 6)] == [False, True]
    assert [least_p_value(n, "greater") <= 0.05 for n in (4, 5)] == [False, True]


@pytest.mark.parametrize("test", ["permutation", "wilcoxon"])
def test_systems_are_not_tested_on_fewer_segments_than_could_differ(simulated_warehouse: Warehouse, test: Any) -> None:
    found = metaeval.systems(simulated_warehouse, *EN_DE, test=test, **FIVE)
    assert "differ significantly" not in " ".join([found.summary, *found.notes])
    assert any(
        note.startswith(f"there is no test: of 5 segments {test} makes no p below 0.0625") for note in found.notes
    )
    standings = found.facts["standings"]
    assert standings.n_significant == 0
    one_sided = metaeval.systems(simulated_warehouse, *EN_DE, test=test, alternative="greater", **FIVE)
    assert not any("no test" in note for note in one_sided.notes)


def test_neither_are_two_systems_nor_two_versions(simulated_warehouse: Warehouse) -> None:
    names = metaeval.systems(simulated_warehouse, *EN_DE, **FIVE).frame["system"]
    two = (*EN_DE, names[0], [names[-1]])
    found = metaeval.systems(simulated_warehouse, *two, **FIVE)
    assert found.frame["p"].null_count() == found.frame.height
    assert found.summary.startswith(f"Too few segments of {names[0]} and {names[-1]} have mqm for a test (")
    with pytest.raises(QuestionError, match=NO_VERDICT):
        metaeval.systems(simulated_warehouse, *two, gate=True, **FIVE)


@pytest.mark.parametrize(("test", "of"), [("perm-inputs", "5 segments"), ("perm-systems", "4 systems")])
def test_neither_are_metrics(simulated_warehouse: Warehouse, test: Any, of: str) -> None:
    names = metaeval.systems(simulated_warehouse, *EN_DE, **FIVE).frame["system"].to_list()
    data = {"segments": "1-5"} if test == "perm-inputs" else {"systems": tuple(names[:4])}
    options: dict[str, Any] = {"test": test, "alternative": "two-sided", "resamples": 40, **data}
    found = metaeval.compare(simulated_warehouse, *EN_DE, "simBLEU", "Oriole", measure="pearson", **options)
    assert "significantly" not in found.summary
    why = f"there is no test: of {of} with human scores, {test} makes no p below"
    assert any(why in text for text in (found.summary, *found.notes))


def _trends(*groups: tuple[str, int, float, float]) -> str:
    """The sentence on groups: name, years, p and least possible p."""
    schema = ["group", "n_years", "p", "least_p"]
    frame = pl.DataFrame(groups, schema=schema, orient="row").with_columns(slope=pl.lit(0.01), protocol=pl.lit("mqm"))
    history: Any = SimpleNamespace(anchor="BLEU")
    return of_trends(history, frame)


def test_three_years_are_too_few_for_a_trend_and_do_not_count_among_the_tests() -> None:
    few = ("YiSi", 3, 0.1667, 0.1667)
    assert _trends(few, few).startswith("No trend can be tested: 3 years with a gap to BLEU are too few")
    assert "(p > 0.05, 1 test; 1 other has too few years)" in _trends(few, ("chrF", 6, 0.4, 0.0014))
    assert "for chrF (+0.0100 a year, mqm) (p ≤ 0.05, 1 test; 2 others" in _trends(few, few, ("chrF", 6, 0.002, 0.0014))
