"""Agreement of preferences between and within annotators, and of judging metrics with people."""

import csv
import io
import json
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import scorehouse
from cli.ending import run_program
from cli.main import program
from metaeval.studies.people.headlines import _of_preferring
from metaeval.studies.people.preference_agreement import _uses, agreement, judges
from queries.preferences import fetch_preferences
from tests.helpers import beside_data
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

HEADER = "segment,system_a,system_b,answer,annotator\n"
PEOPLE = HEADER + "1,A,B,A,ann\n1,A,B,A,bob\n1,B,A,tie,ann\n2,A,C,B,bob\n2,A,C,tie,bob\n"
JUDGE = "metric,segment,system_a,system_b,answer\nJ,1,A,B,A\nJ,1,B,A,tie\nJ,2,A,C,C\nJ,2,B,C,B\n"


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "judge.csv").write_text(JUDGE)
    said = LoadHints(testset="lab", lp="en-de", human="arena")
    load([tmp_path / "people.csv", tmp_path / "judge.csv"], tmp_path / "w.duckdb", given=said)
    return tmp_path / "w.duckdb"


def test_agreement_between_and_within_annotators_by_hand(arena: Path) -> None:
    """Of A, B in this order two judgements agree; of A, C bob's two do not; B, A is another item."""
    with Warehouse.open(arena) as warehouse:
        rows = (
            agreement(warehouse, "lab", "en-de")
            .frame.select("unit", "between", "n_agree", "n_comparable", "n_ties")
            .rows()
        )
    assert rows == [("systems", "annotators", 1, 2, 2), ("systems", "the same annotator", 0, 1, 1)]


def test_where_people_only_compared_outputs_their_agreement_is_the_first_view(arena: Path) -> None:
    with Warehouse.open(arena) as warehouse:
        asked = scorehouse.annotators(warehouse, "lab", "en-de")
        expected = scorehouse.annotators(warehouse, "lab", "en-de", view="agreement")
    assert asked.frame.equals(expected.frame)
    assert asked.summary == expected.summary


def test_judgements_stay_the_first_view_where_outputs_were_scored(simulated_warehouse: Warehouse) -> None:
    assert "kappa" not in scorehouse.annotators(simulated_warehouse, "sim24", "en-de").frame.columns


@pytest.mark.slow
def test_a_judges_use_of_preferences_and_its_agreement_with_people_by_hand(arena: Path) -> None:
    with Warehouse.open(arena) as warehouse:
        frame = judges(warehouse).frame
    row = frame.row(by_predicate=pl.col("kind") == "metric", named=True)
    assert (row["n_preferences"], row["ties"], row["first"]) == (4, 0.25, 2 / 3)
    assert (row["n_swapped"], row["consistent"], row["n_repeated"], row["decided"]) == (1, 0.0, 1, 0.0)
    # segment 1: {A, tie} with {A, A, tie}; segment 2: {C} with {C, tie}
    assert (row["human"], row["n_common"], row["agrees"], row["agrees_decided"]) == ("arena", 8, 4 / 8, 1.0)


def test_ties_of_identical_outputs_are_counted_apart(arena: Path) -> None:
    with Warehouse.open(arena) as warehouse:
        (number, scorer), *_ = warehouse.rows(
            "SELECT v.evalset_id, v.scorer_id FROM internal.preference AS p "
            "JOIN internal.vector AS v ON v.vector_id = p.vector_a ORDER BY ALL"
        )
        found = fetch_preferences(warehouse, number, scorer)
    same = np.arange(len(found)) < 2
    uses = _uses(replace(found, is_same_output=same, answer=np.where(same, 0, found.answer)))
    assert (uses["n_same_output"], uses["n_preferences"]) == (2, len(found) - 2)
    row = {"scorer": "arena", "kind": "human", "agrees": None, "human": None, **uses}
    said = _of_preferring(pl.DataFrame([row], schema_overrides={"agrees": pl.Float64}))
    assert said.endswith(" of them. 2 pairs of identical outputs are not counted.")


def test_a_warehouse_without_preferences_is_told_how_to_get_some(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="no preferences of sim24 are loaded"):
        agreement(simulated_warehouse, "sim24")


@pytest.mark.slow
def test_the_agreement_that_wmt15_printed_comes_out_of_the_command_exactly(tmp_path: Path) -> None:
    load([beside_data("more", "rankings", "wmt15", "wmt15.xml.gz")], tmp_path / "w.duckdb")
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out):
        run_program(
            program(),
            ["--db", str(tmp_path / "w.duckdb"), "--format", "json", "annotators", "wmt15", "--view", "agreement"],
        )
    out.seek(0)
    who = {"annotators": "inter", "the same annotator": "intra"}
    ours = {(row["lp"], row["unit"], who[row["between"]]): row for row in json.loads(out.read())}
    with beside_data("expected", "rankings", "wmt15_agreement.tsv").open(newline="") as file:
        printed = list(csv.DictReader(file, delimiter="\t"))
    assert len(printed) == 24
    for row in printed:
        one = ours[row["lp"], row["unit"], row["kind"]]
        counts = [one[name] for name in ("n_agree", "n_comparable", "n_ties", "n_judgements")]
        assert counts == [int(row[name]) for name in ("agree", "comparable", "ties", "total")], row
        shares = [f"{one[name]:.3f}" for name in ("p_agree", "p_chance", "kappa")]
        assert shares == [row[name] for name in ("p_agree", "p_chance", "kappa")], row
