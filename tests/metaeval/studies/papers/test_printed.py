"""PrintedValue values: the files, verdicts, and how cells meet them."""

import re
from pathlib import Path

import pytest

import metaeval.studies.papers
from metaeval.studies.papers import PAPERS
from metaeval.studies.papers.items import Cell, PrintedValue, printed_values, verdict
from metaeval.studies.papers.running import _on_excluded, chosen, with_printed
from queries.longitudinal import EvalsetState
from warehouse import QuestionError


def _printed(value: float, decimals: int = 2, **more: object) -> PrintedValue:
    given = {"kind": "value", "within": 0.0, "reason": "", "row": "a", "column": "b", "testset": "t", "lp": "l"}
    return PrintedValue("table-1", value=value, decimals=decimals, page="1", **{**given, **more})  # type: ignore[arg-type]


def _cell(value: float | None, **more: object) -> Cell:
    return Cell(**{"row": "A", "column": "b", "testset": "t", "lp": "l", "value": value, **more})  # type: ignore[arg-type]


_ITEM = PAPERS["thompson-2024"].items[0]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_printed_value_belongs_to_an_item_has_one_place_and_its_digits(paper: str) -> None:
    found = printed_values(paper)
    assert {one.item for one in found} <= {item.name for item in PAPERS[paper].items}
    assert len({(one.item, *one.place) for one in found}) == len(found)
    for one in found:
        assert round(one.value, one.decimals) == one.value
        assert one.kind in ("value", "input")
        assert bool(one.reason) == bool(one.within)
        assert one.page


@pytest.mark.parametrize("paper", PAPERS)
def test_printed_values_are_of_the_sets_that_an_item_names(paper: str) -> None:
    sets = {item.name: item for item in PAPERS[paper].items}
    for one in printed_values(paper):
        item = sets[one.item]
        assert (one.testset, one.lp) in {*item.sets, ("", "")} or item.unavailable


def test_no_printed_value_of_many_digits_stands_in_the_code() -> None:
    folder = Path(metaeval.studies.papers.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    code = re.sub(r'""".*?"""', "", code, flags=re.DOTALL)  # examples in docstrings
    written = set(re.findall(r"\d+\.\d{3,}", code)) - {"0.025", "0.975", "0.001"}  # quantiles and levels
    printed = {str(one.value) for paper in PAPERS for one in printed_values(paper) if one.decimals >= 3}
    assert not written & printed


@pytest.mark.parametrize(
    ("value", "printed", "expected"),
    [
        (0.974999, _printed(0.97), "met"),
        (0.965, _printed(0.97), "met"),
        (0.9751, _printed(0.97), "differs"),
        (64.0, _printed(60.0, -1), "met"),
        (1.0, _printed(2.0, 0, within=1.0, reason="why"), "explained"),
        (1.0, _printed(2.1, 1, within=1.0, reason="why"), "differs"),
        (None, _printed(2.0, 0), "not_loaded"),
    ],
)
def test_verdicts(value: float | None, printed: PrintedValue, expected: str) -> None:
    assert verdict(_cell(value), printed) == expected


def test_noise_is_three_standard_errors_of_a_difference_of_two_runs() -> None:
    reach = 0.5 + 3 * 2**0.5 * 2.0
    assert verdict(_cell(100 + reach - 0.01, error=2.0), _printed(100.0, 0)) == "noise"
    assert verdict(_cell(100 + reach + 0.01, error=2.0), _printed(100.0, 0)) == "differs"


def test_metrics_are_spelled_in_any_case_and_other_cells_are_new() -> None:
    rows = with_printed([_cell(0.97), _cell(1.0, column="c")], [_printed(0.97)], {})
    assert [(row.verdict, row.cell.column) for row in rows] == [("met", "b"), ("new", "c")]


def test_a_printed_value_without_a_cell_says_what_is_missing() -> None:
    excluded = {("t", "all"): "t is not loaded"}
    (row,) = with_printed([], [_printed(0.97)], excluded)
    assert (row.verdict, row.note) == ("not_loaded", "p. 1; t is not loaded")
    (row,) = with_printed([], [_printed(0.97)], {})
    assert row.note == "p. 1; a is not among what is loaded for t l"
    (row,) = with_printed([], [_printed(0.97)], {}, "never published")
    assert row.note == "p. 1; never published"


def test_with_fewer_inputs_than_the_paper_nothing_of_the_set_is_compared() -> None:
    needed = _printed(10.0, 0, kind="input", column="n_metrics")
    cells = [_cell(2.0, column="n_metrics"), _cell(0.5)]
    rows = with_printed(cells, [needed, _printed(0.97)], {})
    assert [row.verdict for row in rows] == ["not_loaded", "not_loaded"]
    assert rows[1].note == "p. 1; 2 of 10 metrics are loaded"
    more = with_printed([_cell(12.0, column="n_metrics"), _cell(0.97)], [needed, _printed(0.97)], {})
    assert [row.verdict for row in more] == ["differs", "met"]


def test_evaluation_sets_that_are_named_and_cannot_be_used_are_named() -> None:
    def state(testset: str, lp: str, n_metrics: int) -> EvalsetState:
        return EvalsetState(testset, lp, 2024, n_metrics, n_metrics, "")

    states = [state("wmt23", "en-de", 3), state("wmt24", "en-cs", 0)]
    found = chosen(_ITEM, states, "wmt23,wmt24", "en-de,en-cs")
    assert list(found.sets) == [("wmt23", "en-de")]
    assert _on_excluded(found.excluded) == [
        "wmt23 en-cs, wmt24 en-de are excluded: not loaded",
        "wmt24 en-cs is excluded: no human or no metric scores",
    ]
    assert chosen(_ITEM, states[:1], "all", "en-de").excluded == {}
    with pytest.raises(QuestionError, match="not both are loaded for wmt24 en-cs"):
        chosen(_ITEM, states[1:], "wmt24", "en-cs")
