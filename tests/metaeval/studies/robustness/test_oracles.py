"""Oracles: penalties by hand, their order, errors of another score, further rounds."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.studies.robustness.oracles import ORACLES, _placed, reading
from tests.helpers import tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import RatingTable

ERRORS = pl.DataFrame(  # A's segment 2 has two annotators; B's segment 2 nobody looked at
    {
        "system": ["A", "A", "A", "B", "C"],
        "segment": [1, 2, 2, 1, 1],
        "n_weighted": [2, 1, 0, 0, 9],
        "as_marked": [6.0, 5.0, 0.0, 0.0, 9.0],
        "without_minor": [5.0, 5.0, 0.0, 0.0, 9.0],
        "only_minor": [1.0, 0.0, 0.0, 0.0, 0.0],
    }
)
BLOCK = SimpleNamespace(systems=("A", "B"), segments=np.array([1, 2]))  # C was not selected


def test_penalties_are_means_over_annotators_and_missing_where_nobody_looked() -> None:
    found, one = _placed(ERRORS, BLOCK, seed=0)  # type: ignore[arg-type]
    expected = {
        "as marked": [[6, 2.5], [0, np.nan]],
        "no minor errors": [[5, 2.5], [0, np.nan]],
        "minor errors only": [[1, 0], [0, np.nan]],
        "flat weights": [[2, 0.5], [0, np.nan]],
        "any error": [[1, 0.5], [0, np.nan]],
    }
    assert list(found) == list(expected) == list(ORACLES)
    for name, penalties in expected.items():
        np.testing.assert_array_equal(found[name], penalties)
    assert one is not None
    assert one[0, 1] in (5.0, 0.0)
    np.testing.assert_array_equal(one[[0, 1], [0, 0]], [6.0, 0.0])


def test_which_annotator_is_taken_is_drawn() -> None:
    taken = {float(_placed(ERRORS, BLOCK, seed=seed)[1][0, 1]) for seed in range(20)}  # type: ignore[arg-type,index]
    assert taken == {5.0, 0.0}


def test_without_a_second_annotator_there_is_no_oracle_of_one() -> None:
    assert _placed(ERRORS.filter(pl.col("n_weighted") > 0), BLOCK, seed=0)[1] is None  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def simulated(simulated_warehouse: Warehouse) -> metaeval.Result:
    return metaeval.noise(
        simulated_warehouse, "sim24", "en-de", oracles=True, measures=["pdp", "pearson(by=none)", "acc_eq(by=item)"]
    )


def test_errors_as_marked_are_the_human_score(simulated: metaeval.Result) -> None:
    own = simulated.frame.filter(pl.col("name") == "as marked")
    assert own["value"].to_list() == pytest.approx([1.0] * 3, abs=0.002)  # acc_eq: near-equal averages tie
    assert own["rank"].to_list() == [1, 1, 1]
    assert "errors are those marked for mqm.merged" in simulated.notes
    assert "mqm.merged has the same scores as mqm, so it is no separate round" in simulated.notes
    n = simulated.frame.filter(kind="oracle", measure="pdp").drop_nulls("value").height
    assert f"Of {n} oracles, pdp ranks 'as marked' first (1.000), " in simulated.summary  # rounds are no oracles


def test_oracles_that_know_less_are_ranked_lower_and_rounds_have_no_rank(simulated: metaeval.Result) -> None:
    for _, rows in simulated.frame.filter(pl.col("kind") == "oracle").group_by("measure"):
        values = dict(rows.select("name", "value").rows())
        assert values["as marked"] > values["flat weights"] > values["minor errors only"]
        assert rows.filter(pl.col("value").is_not_null())["value"].is_sorted(descending=True)
    rounds = simulated.frame.filter(pl.col("kind") == "round")
    assert rounds["name"].unique().to_list() == ["mqm.merged"]
    assert rounds["rank"].null_count() == rounds.height
    assert "(1)" in reading(simulated.frame)["pdp"][0]


def test_oracles_are_made_of_the_errors_of_the_same_ratings(tmp_path: Path) -> None:
    """mqm.merged has the ratings that mqm is made of; mqm-1, which comes first by name, is another round."""
    error = {"start": 0, "end": 3, "category": "style", "severity": "Minor", "score": 1.0, "is_source_error": False}
    ratings = {
        name: RatingTable({system: [[error] * n] * 5 for n, system in enumerate(("Ash", "Beech", "Cherry"), at)})
        for name, at in (("mqm-1", 3), ("mqm.merged", 1))
    }
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", ratings=ratings)) as warehouse:
        found = metaeval.noise(warehouse, "tiny24", "en-de", oracles=True, measures="pearson(by=none)")
    assert "errors are those marked for mqm.merged" in found.notes


def test_another_protocol_is_a_round_on_what_both_scored(simulated_warehouse: Warehouse) -> None:
    found = metaeval.noise(
        simulated_warehouse, "sim22", "en-de", oracles=True, measures="pearson(by=none)", human="mqm"
    )
    rounds = found.frame.filter(pl.col("kind") == "round")
    assert set(rounds["name"]) == {"wmt-raw", "wmt-z"}
    (n_common,) = simulated_warehouse.rows(
        """
        SELECT count(*) FROM human_scores AS a JOIN human_scores AS b USING (testset, lp, system, segment)
        WHERE testset = 'sim22' AND lp = 'en-de' AND a.human = 'mqm' AND b.human = 'wmt-raw'
          AND a.value IS NOT NULL AND b.value IS NOT NULL
        """
    )
    assert 0 < rounds["n_scores"][0] <= n_common[0]
    assert (rounds["value"] > 0).all()


def test_without_errors_and_further_rounds_there_is_no_answer(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="neither errors with weights nor a further human score"):
        metaeval.noise(simulated_warehouse, "sim23", "cs-uk", oracles=True)
