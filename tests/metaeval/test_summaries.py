"""Every answer opens with a sentence: at most 200 characters, right, and also where the answer is no."""

import re
from typing import Any

import polars as pl
import pytest

from metaeval.python_api import function
from metaeval.questions import QUESTIONS, question_named
from metaeval.questions.question import Question
from metaeval.results.answer import Answer
from metaeval.results.sentences import LONGEST
from tests.metaeval.every_question import ASKED, SIM
from tests.wording import without_source
from warehouse import Warehouse

_CLAIM = re.compile(r"\b(ranks?|share) first|agrees best|finds? the marked error spans best")
_BACKED = re.compile(r"significan|cluster|not tested|rank ranges|only ")
_POPULATION = re.compile(r"new (documents|segments|systems|items)|p [<>≤≥=]|\[")
_ARTEFACT = re.compile(r"\b(?:nan|None|null|inf)\b|\{|\}|\ufffd|<polars|\[\]|  ")


@pytest.fixture(scope="module")
def answers(simulated_warehouse: Warehouse) -> dict[int, Answer[Any]]:
    return {place: function(name)(simulated_warehouse, *args, **more) for place, (name, args, more) in enumerate(ASKED)}


def _check(sentence: str) -> None:
    assert 10 < len(sentence) <= LONGEST, sentence
    assert sentence.endswith("."), sentence
    assert sentence[0].isupper() or sentence[0].isdigit() or " " in sentence, sentence
    assert _ARTEFACT.search(sentence) is None, sentence


@pytest.mark.slow
def test_every_question_opens_with_a_sentence(answers: dict[int, Answer[Any]]) -> None:
    for one in answers.values():
        _check(one.summary)
    assert {name for name, *_ in ASKED} >= set(QUESTIONS) - {"diff"}  # which takes two warehouses


@pytest.mark.slow
def test_who_is_first_is_tested_or_said_to_be_untested(answers: dict[int, Answer[Any]]) -> None:
    claims = [one.summary for one in answers.values() if _CLAIM.search(one.summary)]
    assert len(claims) > 10
    assert [one for one in claims if not _BACKED.search(one)] == []


@pytest.mark.slow
def test_what_is_significant_has_its_population_or_its_p(answers: dict[int, Answer[Any]]) -> None:
    claims = [one.summary for one in answers.values() if " significantly" in one.summary]
    assert len(claims) > 5
    assert [one for one in claims if not _POPULATION.search(one)] == []


def test_every_question_has_a_sentence_of_its_own() -> None:
    assert [name for name in QUESTIONS if question_named(name).headline is Question.headline] == []


@pytest.mark.slow
def test_numbers_of_the_sentence_are_those_of_the_rows(answers: dict[int, Answer[Any]]) -> None:
    cutoffs = [answers[place] for place, (name, _, _) in enumerate(ASKED) if name == "cutoff"]
    safe, cost = cutoffs[1:3]
    compared = answers[11]
    best, p = compared.frame.row(0, named=True), compared.frame.row(0)[5:]
    n_open = sum(one > 0.05 for one in p if one is not None)
    assert f"{best['metric']} ranks first by pearson ({best['value']:.3f})" in without_source(compared.summary)
    assert f"{n_open} of {sum(one is not None for one in p)} other metrics do" in compared.summary
    assert " differ significantly" in answers[6].summary or "significantly worse" in answers[6].summary
    cheapest = cost.frame.filter(is_best=True).row(0, named=True)
    assert f"{cheapest['cost']:.3f}" in cost.summary
    assert safe.summary.startswith(("No: at no threshold of simBLEU-refA is it 97.5% certain", "At threshold "))


@pytest.mark.slow
def test_where_nothing_differs_the_sentence_says_so(simulated_warehouse: Warehouse) -> None:
    found = function("compare")(simulated_warehouse, *SIM, measure="pearson", alpha=1e-300)
    assert "No metric is significantly worse (new documents, p > 1e-300)." in found.summary
    two = function("compare")(simulated_warehouse, *SIM, ("Oriole", "Embermatch"), measure="pearson", alpha=1e-300)
    assert " do not differ significantly by pearson " in two.summary


@pytest.mark.slow
def test_a_single_metric_is_not_said_to_be_the_best(simulated_warehouse: Warehouse) -> None:
    one = {"metrics": ("Oriole",)}
    for name, options in (("rank", {"measures": ("pa",)}), ("counts", {}), ("thresholds", {}), ("means", {})):
        alone = function(name)(simulated_warehouse, *SIM, **options, **one).summary
        several = function(name)(simulated_warehouse, *SIM, **options).summary
        assert not re.search(r"\b(most|highest|first|best|of 1)\b", alone.replace("highest mean", "")), alone
        assert several != alone
        _check(alone)


@pytest.mark.slow
def test_a_single_system_is_not_said_to_be_the_best(simulated_warehouse: Warehouse) -> None:
    name = function("means")(simulated_warehouse, *SIM).frame["system"][0]
    cases: list[tuple[str, dict[str, Any]]] = [
        ("means", {}),
        ("means", {"assisted_by": ("simBLEU",)}),
        ("systems", {"view": "domains"}),
    ]
    for question, options in cases:
        alone = function(question)(simulated_warehouse, *SIM, systems=(name,), **options).summary
        assert name in alone
        assert not re.search(r"\b(most|best|ranks|highest mean by|of 1)\b", alone), alone
        _check(alone)


def test_a_sentence_on_several_sets_names_the_first_and_counts_the_others(simulated_warehouse: Warehouse) -> None:
    found = function("compare")(simulated_warehouse, "sim24", "cs-uk,en-de", measure="pearson")
    assert found.summary.startswith("sim24 cs-uk: ")
    assert found.summary.endswith(" 1 other evaluation set below.")
    _check(found.summary)


def test_shares_of_ties_are_of_one_kind_of_pairs(simulated_warehouse: Warehouse) -> None:
    found = function("thresholds")(simulated_warehouse, "sim24", "en-de", ties=True)
    shares = found.frame.filter(by="item")
    human, metrics = shares.filter(kind="human")["share_tied"][0], shares.filter(kind="metric")["share_tied"]
    assert f"tie in {human:.1%} of pairs of a segment" in found.summary
    assert {f"{metrics.min():.1%}", f"{metrics.max():.1%}"} <= set(re.findall(r"[\d.]+%", found.summary))
    _check(found.summary)


def test_winners_of_several_years_are_no_measure_of_progress(simulated_warehouse: Warehouse) -> None:
    asked = {"measure": "pearson", "anchor": "simBLEU", "resamples": 2}
    several = function("trend")(simulated_warehouse, "all", "cs-uk", **asked)
    one = function("trend")(simulated_warehouse, "sim24", "cs-uk", **asked)
    within = several.summary.endswith(" Years differ in data; within=True compares the same data.")
    assert within or len(set(re.findall(r"\b20\d\d\b", several.summary))) == 1
    assert "years differ in data (within=True measures progress on the same data)" in several.notes
    assert "within" not in one.summary
    assert not [note for note in one.notes if "progress" in note]
    _check(several.summary)


@pytest.mark.parametrize(("by", "pool"), [(("family",), None), (("best",), "random-effects")])
def test_the_leader_of_a_year_has_the_figures_of_its_cell(
    simulated_warehouse: Warehouse, by: tuple[str, ...], pool: str | None
) -> None:
    asked: dict[str, Any] = {"measure": "pearson", "anchor": "simBLEU", "resamples": 2, "by": by, "pool": pool}
    found = function("trend")(simulated_warehouse, "sim24", "cs-uk,en-de", **asked)
    form = r"In (\d+), (.+) leads by pearson \(([\d.]+).*?\)(?: among .+? each)?, ([\d.]+)(?: \[.*?\])? (above|below)"
    said = re.match(form, found.summary)
    assert said is not None
    year, leader, value, gap, side = said.groups()
    cells = found.reading.select(f"^{year} .*$").to_series().to_list()
    best = max(cells)
    assert best.startswith(f"{value} {'+' if side == 'above' else '-'}{gap}")
    if by == ("family",):
        assert found.reading["group"][cells.index(best)].startswith(leader)


def test_notebooks_and_consoles_show_the_sentence_first(simulated_warehouse: Warehouse) -> None:
    found = function("list")(simulated_warehouse)
    assert found.summary in found._repr_html_().split("</p>")[0]
    assert repr(found).splitlines()[0] == found.summary
    assert isinstance(found.frame, pl.DataFrame)
