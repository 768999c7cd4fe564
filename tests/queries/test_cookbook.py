"""The cookbook: every example answers its question, on the simulated task and on the real data."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from docs.generate import output_of
from queries.adhoc import answer
from queries.cookbook import recipes
from tests.helpers import rank
from warehouse import LoadReport, QuestionError, Warehouse

RECIPES = recipes()
NOTHING_SIMULATED = {"annotator-agreement", "category-agreement", "missing-scores", "scales", "string-metrics-win"}
"""Examples of cases that the simulated task does not have."""
NOTHING_PUBLISHED = {"category-agreement", "marked-alone", "missed-categories", "over-annotation", "severity-confusion"}
"""Examples of spans of metrics, or of two people in one output, which the real data do not have."""
ON_REAL_DATA = [
    pytest.param(name, marks=() if name in NOTHING_SIMULATED else pytest.mark.long("examples on real data: 40 seconds"))
    for name in RECIPES
    if name not in NOTHING_PUBLISHED
]


def example(database: Path, name: str) -> pl.DataFrame:
    return answer(database, RECIPES[name].query)


@pytest.fixture(scope="module")
def real(real_load: tuple[Path, LoadReport]) -> Path:
    return real_load[0]


def pearsons(database: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The official Pearson correlations, by `rank`: evaluation set -> metric -> value, where defined."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with Warehouse.open(database) as warehouse:
        for testset, lp in warehouse.rows("SELECT testset, lp FROM evalsets"):
            try:
                frame = rank(warehouse, testset, lp, ["pearson"])
            except QuestionError:
                continue
            values = {row["metric"]: row["value"] for row in frame.iter_rows(named=True) if row["value"] is not None}
            found |= {(testset, lp): values} if values else {}
    return found


def kinds(database: Path) -> dict[tuple[str, str], str]:
    with Warehouse.open(database) as warehouse:
        return {
            (testset, metric): kind
            for testset, metric, kind in warehouse.rows(
                "SELECT DISTINCT m.testset, m.metric, f.kind FROM metrics AS m "
                "JOIN metric_facts AS f ON f.testset = m.testset AND f.base_metric = m.base_metric"
            )
        }


def assert_best_metrics_are_those_of_rank(database: Path) -> None:
    expected = pearsons(database)
    found = {(row["testset"], row["lp"]): row for row in example(database, "best-metric").iter_rows(named=True)}
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key]["n_metrics"] == len(values)
        assert math.isclose(found[key]["pearson"], max(values.values()), abs_tol=1e-9)
        assert math.isclose(values[found[key]["best"]], max(values.values()), abs_tol=1e-9)
    of_kind = kinds(database)
    won = {}
    for (testset, lp), values in expected.items():
        string = max((v for m, v in values.items() if of_kind[testset, m] == "string"), default=math.nan)
        other = max((v for m, v in values.items() if of_kind[testset, m] != "string"), default=math.nan)
        if string > other:
            won[testset, lp] = string - other
    gaps = {
        (row["testset"], row["lp"]): row["gap"] for row in example(database, "string-metrics-win").iter_rows(named=True)
    }
    assert gaps == pytest.approx(won, abs=1e-9)
    against = sorted(value for values in expected.values() for value in values.values() if value < 0)[:20]
    assert example(database, "negative-agreement")["pearson"].to_list() == pytest.approx(against, abs=1e-9)


def test_there_are_at_least_thirty_questions_each_of_its_own() -> None:
    assert len(RECIPES) >= 30
    assert len({one.title for one in RECIPES.values()}) == len(RECIPES)
    assert [one.name for one in RECIPES.values() if not one.title.endswith("?")] == []


def test_recipes_are_read_easily() -> None:
    for name, one in RECIPES.items():
        lines = one.query.splitlines()
        assert max(map(len, lines)) <= 120, name
        assert len(lines) <= 60, name
        assert "internal." not in one.query, name
        assert "ORDER BY" in lines[-1] or "ORDER BY" in lines[-2] or "LIMIT" in lines[-1], name


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_an_example_has_a_short_answer_on_the_simulated_task(name: str, simulated_database: Path) -> None:
    """Such as one page can show; `docs.reference` does."""
    frame = example(simulated_database, name)
    assert frame.height <= 60
    assert frame.is_empty() == (name in NOTHING_SIMULATED)
    header = output_of(["sql", "--example", name], simulated_database).splitlines()[0]
    assert header.split() == frame.columns


@pytest.mark.parametrize("name", ON_REAL_DATA)
def test_an_example_has_an_answer_on_the_real_data(name: str, real: Path) -> None:
    found = example(real, name)
    assert found.height > 0
    assert not any(found[column].is_nan().any() for column, kind in found.schema.items() if kind == pl.Float64)


@pytest.mark.slow
def test_best_metrics_of_the_simulated_task_are_those_of_rank(simulated_database: Path) -> None:
    assert_best_metrics_are_those_of_rank(simulated_database)


@pytest.mark.long("rankings of all real evaluation sets: 10 seconds")
def test_best_real_metrics_are_those_of_rank(real: Path) -> None:
    assert_best_metrics_are_those_of_rank(real)


@pytest.mark.slow
def test_best_metrics_by_two_measures_are_the_first_of_rank(simulated_database: Path) -> None:
    rows = example(simulated_database, "best-by-two-measures").iter_rows(named=True)
    with Warehouse.open(simulated_database) as warehouse:
        for row in rows:
            ranked = rank(warehouse, row["testset"], row["lp"], ["pearson", "pa"])
            values = {
                measure: dict(ranked.filter(measure=measure).select("metric", "value").drop_nulls().iter_rows())
                for measure in ("pearson", "pa")
            }
            assert values["pearson"][row["best_by_pearson"]] == pytest.approx(max(values["pearson"].values()))
            assert values["pa"][row["best_by_accuracy"]] == pytest.approx(max(values["pa"].values()))
            assert (row["pearson"], row["accuracy"]) == pytest.approx([max(values[one].values()) for one in values])
            assert row["its_accuracy"] == pytest.approx(values["pa"][row["best_by_pearson"]])


@pytest.mark.slow
def test_ensembles_are_those_of_plain_arrays(simulated_database: Path) -> None:
    with Warehouse.open(simulated_database) as warehouse:
        rows = warehouse.rows(
            "SELECT metric, system, human_score, metric_score FROM ranked_scores "
            "WHERE testset = 'sim22' AND lp = 'ja-en' ORDER BY metric, system"
        )
    human = np.array([row[2] for row in rows if row[0] == "Kestrel-22-refA"])
    scores = {name: np.array([row[3] for row in rows if row[0] == name]) for name in {row[0] for row in rows}}
    z = {name: (one - one.mean()) / one.std(ddof=1) for name, one in scores.items() if np.ptp(one) > 0}
    values = {
        (one, other): float(np.corrcoef(human, z[one] + z[other])[0, 1]) for one, other in combinations(sorted(z), 2)
    }
    best = max(values, key=lambda pair: values[pair])
    (found,) = example(simulated_database, "ensembles").filter(testset="sim22", lp="ja-en").iter_rows(named=True)
    assert found["best_pair"] == " + ".join(best)
    assert math.isclose(found["pearson_of_pair"], values[best], abs_tol=1e-9)


def test_shares_of_human_ties_are_those_of_plain_loops(simulated_database: Path) -> None:
    with Warehouse.open(simulated_database) as warehouse:
        rows = warehouse.rows(
            "SELECT segment, value FROM human_scores WHERE testset = 'sim23' AND lp = 'cs-uk' AND value IS NOT NULL"
        )
    pairs = [
        one == other
        for segment in {row[0] for row in rows}
        for one, other in combinations([value for number, value in rows if number == segment], 2)
    ]
    (found,) = example(simulated_database, "human-ties").filter(testset="sim23", lp="cs-uk").iter_rows(named=True)
    assert found["n_pairs"] == len(pairs)
    assert math.isclose(found["share_tied"], float(np.mean(pairs)), abs_tol=1e-12)


def test_real_protocols_of_english_german_agree_as_in_another_computation(real: Path) -> None:
    found = example(real, "two-protocols").filter(testset="wmt20", lp="en-de", human_b="wmt-z").row(0, named=True)
    assert (found["human_a"], found["n_systems"], round(found["pairwise_accuracy"], 3)) == ("mqm", 7, 0.667)
    changed = example(real, "protocol-change").filter(testset="wmt20", lp="en-de", base_metric="BLEU", human_b="wmt-z")
    assert [(round(row[6], 3), round(row[7], 3)) for row in changed.rows()] == [(0.857, 0.714)]


def test_errors_of_excluded_judgements_have_their_status(real: Path) -> None:
    counted = "SELECT status, count(*) AS n FROM spans GROUP BY ALL ORDER BY status"
    of_judgements = (
        "SELECT status, sum(n_errors)::BIGINT AS n FROM judgements GROUP BY ALL HAVING n > 0 ORDER BY status"
    )
    assert answer(real, counted).rows() == answer(real, of_judgements).rows()
    assert len(answer(real, counted)) > 1
