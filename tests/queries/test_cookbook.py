"""The cookbook: every example answers its question, on the simulated task and on the real data, within seconds."""

import resource
from pathlib import Path

import polars as pl
import pytest

from queries.adhoc import answer
from queries.cookbook import Recipe, recipes
from warehouse import LoadReport

RECIPES = recipes()
NOTHING_SIMULATED = {"annotator-agreement", "missing-scores", "scales", "string-metrics-win"}
"""Examples of cases that the simulated task does not have."""
SECONDS = 5.0


def example(database: Path, name: str) -> pl.DataFrame:
    return answer(database, RECIPES[name].query)


@pytest.fixture(scope="module")
def real(real_load: tuple[Path, LoadReport]) -> Path:
    return real_load[0]


def test_there_are_at_least_thirty_questions_each_of_its_own() -> None:
    assert len(RECIPES) >= 30
    assert len({one.title for one in RECIPES.values()}) == len(RECIPES)
    assert [one.name for one in RECIPES.values() if not one.title.endswith("?")] == []


@pytest.mark.parametrize("one", RECIPES.values(), ids=list(RECIPES))
def test_a_recipe_is_read_easily(one: Recipe) -> None:
    lines = one.query.splitlines()
    assert max(map(len, lines)) <= 120
    assert len(lines) <= 60
    assert "internal." not in one.query
    assert "ORDER BY" in lines[-1] or "ORDER BY" in lines[-2] or "LIMIT" in lines[-1]


@pytest.mark.parametrize("name", RECIPES)
def test_an_example_answers_the_same_on_the_simulated_task_every_time(name: str, simulated_database: Path) -> None:
    found = example(simulated_database, name)
    assert (found.height == 0) == (name in NOTHING_SIMULATED)
    assert found.height <= 60
    again = example(simulated_database, name)
    assert again.with_columns(pl.selectors.float().round(9)).equals(
        found.with_columns(pl.selectors.float().round(9)), null_equal=True
    )


@pytest.mark.parametrize("name", RECIPES)
def test_an_example_on_the_real_data_takes_less_than_five_seconds(name: str, real: Path) -> None:
    started = resource.getrusage(resource.RUSAGE_SELF)
    found = example(real, name)
    ended = resource.getrusage(resource.RUSAGE_SELF)
    seconds = ended.ru_utime - started.ru_utime + ended.ru_stime - started.ru_stime
    assert found.height > 0
    assert not any(found[column].is_nan().any() for column, kind in found.schema.items() if kind == pl.Float64)
    assert seconds < SECONDS  # of all cores together: what else the machine does does not count
