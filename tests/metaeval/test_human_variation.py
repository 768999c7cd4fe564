"""Where people leave a measure nothing to agree with, it says so, whichever measure it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import metaeval
from metaeval.measures.registry import DEFINITIONS
from tests.cli.odd_warehouses import odd_warehouse
from warehouse import QuestionError, Warehouse

SET = ("tiny24", "en-de")
NOTHING = ("equal_humans", "one_system", "one_judged_each")
"""Odd warehouses in which no segment has two outputs with different human scores."""


@pytest.fixture(scope="module", params=NOTHING)
def odd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Warehouse]]:
    with Warehouse.open(odd_warehouse(request.param, tmp_path_factory.mktemp("odd"))) as warehouse:
        yield request.param, warehouse


def test_every_measure_says_it_and_tells_no_metrics_apart(odd: tuple[str, Warehouse]) -> None:
    name, warehouse = odd
    for measure in DEFINITIONS:
        if DEFINITIONS[measure].needs_spans:
            with pytest.raises(QuestionError, match=r"^no errors were marked for 'mqm' of tiny24 en-de$"):
                metaeval.rank(warehouse, *SET, measure, status="all")
            continue
        if DEFINITIONS[measure].needs_preferences:
            with pytest.raises(QuestionError, match=r"^human score 'mqm' of tiny24 en-de has no preferences$"):
                metaeval.rank(warehouse, *SET, measure, status="all")
            continue
        if name == "one_judged_each" and not DEFINITIONS[measure].needs_segments:
            continue  # system scores differ
        if name != "equal_humans" and DEFINITIONS[measure].measure.groups == "none":
            continue  # outputs of different segments differ
        ranked = metaeval.rank(warehouse, *SET, measure, status="all")
        (why,) = (
            note
            for note in ranked.notes
            if note.startswith((f"{measure}: ", f"{measure} is not defined: ")) and "mqm" in note and "25" not in note
        )
        assert "mqm gives all" in why or "mqm puts all" in why or "mqm has scores of" in why
        values = ranked.frame["value"]
        assert ranked.frame["rank"].to_list() == [None if value is None else 1 for value in values]
        assert values.null_count() == (0 if "only ties count" in why else len(values))
        if DEFINITIONS[measure].measure.tests:
            compared = metaeval.compare(warehouse, *SET, measure=measure, resamples=20, status="all", threads=1)
            p = compared.frame.select("^Noise.*$").to_numpy().astype(float)
            assert not (p <= 0.05).any()  # NaN where nothing was compared


def test_a_protocol_finds_no_pair(odd: tuple[str, Warehouse]) -> None:
    name, warehouse = odd
    if name == "equal_humans":
        found = metaeval.protocol(
            warehouse, "wmt24", on=SET[0], lp=SET[1], all_metrics=True, significance=True, resamples=20
        )
        assert "0 pairs of metrics differ significantly in the overall score" in found.notes
        assert found.frame["rank"].to_list() == [1, 1, 1]
        return
    with pytest.raises(QuestionError, match="can be scored by wmt24: not defined, mqm has scores of"):
        metaeval.protocol(warehouse, "wmt24", on=SET[0], lp=SET[1], all_metrics=True)


@pytest.mark.parametrize("name", ["equal_systems", "one_system"])
def test_measures_of_systems_say_it(name: str, tmp_path: Path) -> None:
    with Warehouse.open(odd_warehouse(name, tmp_path)) as warehouse:
        found = metaeval.rank(warehouse, *SET, ["pearson", "pa"], status="all")
        why = "gives all systems the same score" if name == "equal_systems" else "has scores of one system alone"
        assert [note for note in found.notes if "not defined" in note] == [
            f"{measure} is not defined: mqm {why}" for measure in ("pearson", "pa")
        ]
        assert found.frame["value"].null_count() == len(found.frame)
