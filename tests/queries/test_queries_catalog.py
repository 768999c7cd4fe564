"""The catalogue of questions, the listings and the data dictionary: each says what it is, and is what it says."""

import itertools
import re

import polars as pl
import pytest
import sqlglot

from queries.catalog import ask, questions
from queries.listing import LISTINGS, dictionary, listing, names
from tests.helpers import LP, TESTSET
from warehouse import QuestionError, Warehouse

QUESTIONS = sorted(questions())


def test_questions_say_their_purpose_their_parameters_and_what_a_row_is() -> None:
    missing = []
    for name, question in questions().items():
        header = itertools.takewhile(lambda line: line.startswith("--"), question.text.splitlines())
        purpose = " ".join(line.removeprefix("--").removeprefix(" ") for line in header)
        if not (question.text.startswith("-- ") and purpose[0].isupper()):
            missing.append((name, "purpose"))
        if not re.search(r"\bOne row( per\b| a\b| for\b|\.)", purpose):
            missing.append((name, "what is one row"))
        missing += [(name, parameter) for parameter in question.parameters if f"${parameter}" not in purpose]
    assert missing == []


def test_correlations_of_rows_in_any_order_are_rounded() -> None:
    rows_in_any_order = {
        name: re.findall(r"^.*(?<!round\()corr\((?!.*ORDER BY).*$", questions()[name].text, re.MULTILINE)
        for name in QUESTIONS
        if not name.endswith("_shown")  # these are queries for people to run and change
    }
    assert {name: lines for name, lines in rows_in_any_order.items() if lines} == {}


def test_questions_are_one_statement_that_only_reads() -> None:
    for name, question in questions().items():
        (statement,) = filter(None, sqlglot.parse(question.text, read="duckdb"))
        assert isinstance(statement, sqlglot.exp.Query), name


def test_rows_come_in_a_stated_order_unless_an_array_or_a_join_takes_them() -> None:
    in_any_order = {name for name, question in questions().items() if "ORDER BY" not in question.text}
    assert in_any_order <= {"slice_scores", "scores", "unstandardised", "diff_values", "diff_judgements"}


def test_a_question_is_asked_by_name(tiny: Warehouse) -> None:
    coverage = ask(tiny, "coverage", evalset=1)
    assert coverage.columns == ["scorer_id", "kind", "scorer", "system_id", "system", "level", "n_values", "n_missing"]
    (row,) = coverage.filter(scorer="mqm", level="seg", system="refA").rows(named=True)
    assert (row["n_values"], row["n_missing"]) == (3, 2)


def test_a_question_refuses_parameters_that_it_does_not_have(tiny: Warehouse) -> None:
    with pytest.raises(ValueError, match=r"question 'coverage' takes \['evalset'\], got \[\]"):
        ask(tiny, "coverage")
    with pytest.raises(ValueError, match="got"):
        ask(tiny, "coverage", evalset=1, lp="en-de")
    with pytest.raises(KeyError):
        ask(tiny, "nothing")


@pytest.mark.parametrize("what", LISTINGS)
def test_a_listing_narrows_from_all_to_one_evaluation_set(what: str, simulated_warehouse: Warehouse) -> None:
    everything = listing(simulated_warehouse, what)
    of_testset = listing(simulated_warehouse, what, "sim24")
    assert of_testset.height <= everything.height
    assert of_testset.columns == everything.columns
    if what != "testsets":
        of_evalset = listing(simulated_warehouse, what, "sim24", "en-de")
        assert of_evalset.height <= of_testset.height
        assert set(of_evalset["lp"]) <= {"en-de"}


def test_listings_refuse_names_that_there_are_not(tiny: Warehouse) -> None:
    with pytest.raises(QuestionError, match="unknown listing 'metric'; did you mean 'metrics'"):
        listing(tiny, "metric")
    with pytest.raises(QuestionError, match="unknown test set 'tiny'; did you mean 'tiny24'"):
        listing(tiny, "metrics", "tiny")
    with pytest.raises(QuestionError, match="unknown language pair 'en-fr'"):
        listing(tiny, "metrics", TESTSET, "en-fr")


def test_names_for_completion_are_sorted(simulated_warehouse: Warehouse) -> None:
    assert names(simulated_warehouse, "testset") == ["sim21", "sim22", "sim23", "sim24"]
    assert names(simulated_warehouse, "lp") == ["cs-uk", "en-de", "ja-en"]


def test_the_listing_of_metrics_tells_their_part_in_the_task(tiny: Warehouse) -> None:
    rows = {row["metric"]: row for row in listing(tiny, "metrics", TESTSET, LP).rows(named=True)}
    assert (rows["Fine-src"]["status"], rows["Fine-src"]["reference"]) == ("primary", None)
    assert (rows["Flat-src"]["status"], rows["Rough-refA"]["reference"]) == ("baseline", "refA")
    assert rows["Wrong-src"]["status"] == "contrastive"
    assert (rows["Only-src"]["levels"], rows["Only-src"]["n_scores"]) == ("sys", 0)


def test_everything_in_the_dictionary_has_a_meaning_and_every_column_a_type(tiny: Warehouse) -> None:
    found = dictionary(tiny)
    assert found.columns == ["kind", "name", "column", "type", "meaning"]
    for row in found.rows(named=True):
        assert row["meaning"], f"{row['name']} {row['column']} has no meaning"
        assert row["meaning"].endswith((".", ")")) or row["kind"] == "macro"
        assert (row["column"] is None) == (row["type"] is None)


@pytest.mark.slow
def test_every_view_can_be_read(tiny: Warehouse) -> None:
    found = dictionary(tiny)
    for name in found.filter(pl.col("column").is_null(), kind="view")["name"]:
        columns = found.filter(kind="view", name=name)["column"].drop_nulls().to_list()
        assert tiny.sql(f"SELECT * FROM {name} LIMIT 1").columns == columns
