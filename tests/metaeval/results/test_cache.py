"""Keys hold all that a result depends on and nothing else; results come back from JSON as they went in."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest

from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.results import cache
from metaeval.results.inputs import Inputs
from metaeval.results.notes import Decisive, ExclusionNote, NoteWithHint, Partial
from metaeval.studies.significance.comparison import Comparison
from metaeval.studies.significance.pairwise import PairwiseComparison, compare_pair
from queries.blocks import Block
from queries.selection import Selection
from queries.slices import Slice
from tests.comparing import compare
from tests.helpers import together
from warehouse import Warehouse

SIM = Slice("sim24", "cs-uk")
PEARSON = parse_measure("pearson")


@dataclass
class Noted:
    """Something that is stored with notes."""

    notes: tuple[str, ...]


def test_each_kind_of_note_is_stored_with_what_it_knows() -> None:
    excluded = ExclusionNote("without A", "explain=True says why", "metric", 1, ("A",))
    partial = Partial("not loaded: zh-en")
    notes = (
        "2 are excluded",
        NoteWithHint("3 are", "explain=True says why"),
        Decisive("wrong sign"),
        excluded,
        partial,
    )
    found = cache.decoded(Noted, cache.encoded(Noted(notes))).notes
    assert found == notes
    assert [type(note) for note in found] == [str, NoteWithHint, Decisive, ExclusionNote, Partial]
    _, hinted, _, without, _ = found
    assert isinstance(hinted, NoteWithHint)
    assert (hinted.text, hinted.hint) == ("3 are", "explain=True says why")
    assert isinstance(without, ExclusionNote)
    assert (without.text, without.what, without.n, tuple(without.names)) == ("without A", "metric", 1, ("A",))


@pytest.fixture(scope="module")
def block(simulated_warehouse: Warehouse) -> Block:
    return Inputs(simulated_warehouse, SIM).block(PEARSON)


def key_of(block: Block, **changed: object) -> str:
    parts = {"measure": "pearson", "options": Options(), "testing": TestOptions(), **changed}
    return cache.key("compare", [block], *parts.values())


CHANGES = {
    "a human score": lambda block: replace(block, human=bumped(block.human)),
    "a judgement that is gone": lambda block: replace(block, human=bumped(block.human, np.nan)),
    "a metric's score": lambda block: replace(block, scores=bumped(block.scores)),
    "a submitted score": lambda block: replace(block, submitted=bumped(block.submitted)),
    "a submitted human score": lambda block: replace(block, human_submitted=bumped(block.human_submitted)),
    "the name of a system": lambda block: replace(block, systems=("Other", *block.systems[1:])),
    "the name of a metric": lambda block: replace(
        block, metrics=(replace(block.metrics[0], name="Other-src"), *block.metrics[1:])
    ),
    "the numbers of segments": lambda block: replace(block, segments=block.segments + 1),
    "documents": lambda block: replace(
        block, selection=replace(block.selection, documents=("x", *block.selection.documents[1:]))
    ),
    "the slice that is quoted": lambda block: replace(
        block, selection=replace(block.selection, slice=replace(SIM, status="primary"))
    ),
    "why a metric is out": lambda block: replace(block, selection=with_another_reason(block.selection)),
}


def with_another_reason(selection: Selection) -> Selection:
    last = replace(selection.metrics[-1], reason="other")
    return replace(selection, metrics=(*selection.metrics[:-1], last))


def bumped(array: np.ndarray, to: float | None = None) -> np.ndarray:
    changed = array.copy()
    place = tuple(np.argwhere(~np.isnan(array))[0])
    changed[place] = np.nextafter(changed[place], np.inf) if to is None else to
    return changed


def test_the_key_changes_with_the_block(block: Block) -> None:
    assert [what for what, change in CHANGES.items() if key_of(change(block)) == key_of(block)] == []


def test_the_key_changes_with_a_parameter(block: Block) -> None:
    options = {"seed": 1, "system_score": "mean", "raw_ties": True, "round_human": 3}
    testing = {
        "resamples": 999,
        "alternative": "two-sided",
        "alpha": 0.01,
        "correction": "bh",
        "plus_one": True,
        "test": "perm-both",
        "early_stop": True,
        "legacy_df": True,
        "absolute": True,
    }
    changes: list[dict[str, object]] = [
        {"measure": "pa"},
        *({"options": replace(Options(), **{name: value})} for name, value in options.items()),  # type: ignore[arg-type]
        *({"testing": replace(TestOptions(), **{name: value})} for name, value in testing.items()),  # type: ignore[arg-type]
    ]
    assert [changed for changed in changes if key_of(block, **changed) == key_of(block)] == []


def test_the_key_does_not_know_who_computes(block: Block) -> None:
    assert key_of(block, testing=TestOptions(threads=2)) == key_of(block)


def test_the_key_knows_the_version_and_the_kind(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(block)
    assert cache.key("pairwise", [block], "pearson", Options(), TestOptions()) != before
    monkeypatch.setattr(cache, "program_version", lambda: "99")
    assert key_of(block) != before


@pytest.mark.slow
def test_the_key_is_the_same_in_every_process(simulated_database: Path, block: Block) -> None:
    program = (
        "import sys; from metaeval.results import cache; from metaeval.results.inputs import Inputs\n"
        "from warehouse import Warehouse\n"
        "from metaeval.measures.registry import parse_measure; from queries.slices import Slice\n"
        "from metaeval.results.evaluation import Options; from metaeval.measures.options import TestOptions\n"
        "with Warehouse.open(sys.argv[1]) as w: block = Inputs(w, Slice('sim24', 'cs-uk')).block(parse_measure('pa'))\n"
        "print(cache.key('compare', [block], 'pearson', Options(), TestOptions()))"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # another than this process has
    ran = subprocess.run(
        [sys.executable, "-c", program, str(simulated_database)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert ran.stdout.strip() == key_of(block)


def test_a_comparison_comes_back_as_it_went_in(simulated_warehouse: Warehouse) -> None:
    found = compare(simulated_warehouse, SIM, PEARSON, Options(), TestOptions(resamples=50, correction="holm"))
    assert np.isnan(found.values).any()  # a constant metric
    back = cache.decoded(Comparison, cache.encoded(found))
    for item in fields(Comparison):
        one, other = getattr(found, item.name), getattr(back, item.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other, equal_nan=True)
        else:
            assert one == other
            assert type(one) is type(other)


@together(
    ("name", "value"),
    [
        ("metrics", [1]),
        ("notes", [10**400]),
        ("parts", [["measure", 2**63]]),
        ("alpha", "NaN"),
        ("clusters", [2**63]),
        ("values", [1e308]),
        ("resamples", True),
        ("p", "x"),
    ],
)
def test_a_stored_result_of_another_type_is_damaged(name: str, value: object, simulated_warehouse: Warehouse) -> None:
    """What a stranger's file may hold; the result is then computed again."""
    found = compare(simulated_warehouse, SIM, PEARSON, Options(), TestOptions(resamples=50, correction="holm"))
    shape = {**json.loads(cache.encoded(found)), name: value}
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError, ArithmeticError)):
        cache.decoded(Comparison, json.dumps(shape))


@pytest.mark.parametrize("text", ["pearson", "tau_b(by=doc)"])
def test_a_pairwise_comparison_comes_back_as_it_went_in(simulated_warehouse: Warehouse, text: str) -> None:
    asked = replace(SIM, metrics=("simBLEU-refA", "Steady-src"), segments="1-30")
    measure = parse_measure(text)
    block = Inputs(simulated_warehouse, asked).block(measure)
    found = compare_pair(block, asked, measure, Options(), TestOptions(resamples=20))
    back = cache.decoded(PairwiseComparison, cache.encoded(found))
    for name in ("metrics", "words", "notes", "measure", "signature"):
        assert getattr(found, name) == getattr(back, name)
    np.testing.assert_array_equal(found.values, back.values)
    for name in ("difference", "low", "high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(back, name))
    assert [str(one) for one in found.tests] == [str(one) for one in back.tests]
