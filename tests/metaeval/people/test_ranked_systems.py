"""System scores made of preferences: by hand, through the questions that rank by them, and as printed."""

import csv
from pathlib import Path

import numpy as np
import pytest

from metaeval.inputs import Inputs
from metaeval.people.ranked_systems import ranked_systems
from metaeval.system_scores import system_scores
from queries.evalsets import BY_PREFERENCES
from queries.listing import listing, names
from queries.slices import Slice
from tests.helpers import beside_data
from tests.sharing import made_once
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

PAIRS = ("A,B,A", "A,B,A", "A,B,B", "A,C,A", "C,A,B", "B,C,tie", "B,C,A", "C,B,A")
"""A beats B 2 to 1 and C 2 to 0; B and C win one each and tie once."""


def _table(folder: Path) -> None:
    rows = "".join(f"{number % 4 + 1},{pair},ann,arena\n" for number, pair in enumerate(PAIRS))
    (folder / "arena.csv").write_text("segment,system_a,system_b,answer,annotator,human\n" + rows)
    (folder / "plain.csv").write_text("human,system,segment,score\nplain,A,1,3\nplain,B,1,2\n")
    files = [folder / "arena.csv", folder / "plain.csv"]
    load(files, folder / "w.duckdb", given=LoadHints(testset="lab", lp="en-de"))


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "arena", _table) / "w.duckdb"


def _scores(database: Path, human: str, **restricted: object) -> dict[str, float]:
    with Warehouse.open(database) as warehouse:
        block = Inputs(warehouse, Slice("lab", "en-de", human=human, **restricted)).of_level("sys")  # type: ignore[arg-type]
    return dict(zip(block.systems, system_scores(block, "submitted").human.round(6).tolist(), strict=True))


def test_scores_of_systems_are_those_worked_out_by_hand(arena: Path) -> None:
    assert _scores(arena, "arena:ew") == pytest.approx({"A": 5 / 6, "B": 5 / 12, "C": 1 / 4}, abs=1e-6)
    assert _scores(arena, "arena:bto") == pytest.approx({"A": 4 / 5, "B": 2 / 5, "C": 1 / 4}, abs=1e-6)
    assert _scores(arena, "arena:boe") == pytest.approx({"A": 4 / 5, "B": 3 / 6, "C": 2 / 5}, abs=1e-6)


def test_only_preferences_between_the_chosen_systems_count(arena: Path) -> None:
    assert _scores(arena, "arena:bto", systems=("B", "C")) == {"B": 0.5, "C": 0.5}


def test_ranges_hold_the_rank_and_every_run_counts(arena: Path) -> None:
    with Warehouse.open(arena) as warehouse:
        for how in ("ew", "trueskill"):
            found = ranked_systems(warehouse, Slice("lab", "en-de", human=f"arena:{how}"), draws=50)
            assert found.frame["system"][0] == "A"
            assert found.frame.select((found.frame["rank_low"] <= found.frame["rank_high"]).all()).item()
            assert found.frame.select("n_won", "n_tied", "n_lost").row(0) == (4, 0, 1)


def test_a_human_score_that_preferences_do_not_make_is_refused_with_those_that_they_do(arena: Path) -> None:
    with Warehouse.open(arena) as warehouse:
        with pytest.raises(QuestionError, match="arena:ew"):
            ranked_systems(warehouse, Slice("lab", "en-de", human="arena"))
        with pytest.raises(QuestionError, match="leave nothing out"):
            ranked_systems(warehouse, Slice("lab", "en-de", human="arena:ew"), draws=5)


@pytest.mark.slow
def test_better_than_others_is_as_wmt12_printed_it(tmp_path: Path) -> None:
    rankings = beside_data("more", "rankings", "wmt12", "wmt12.RNK_results.csv")
    path = tmp_path / "wmt12.csv"
    lines = rankings.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], *(line for line in lines if line.startswith("Czech,English"))]))
    load([path], tmp_path / "w.duckdb")
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = ranked_systems(warehouse, Slice("wmt12", "cs-en"), draws=100).frame
    with beside_data("expected", "rankings", "wmt12_cs-en.tsv").open(newline="") as file:
        printed = list(csv.DictReader(file, delimiter="\t"))
    values = dict(found.select("system", "value").iter_rows())
    assert {row["system"]: round(values[row["system"]], 2) for row in printed} == {
        row["system"]: float(row["better_than_others"]) for row in printed
    }
    assert np.all(np.diff(found["value"].to_numpy()) < 0)


def test_better_than_others_is_the_human_score_that_wmt12_released(tmp_path: Path) -> None:
    """Of two language pairs the released table has people's scores to four decimals, on a scale to 100."""
    rankings = beside_data("more", "rankings", "wmt12", "wmt12.RNK_results.csv")
    wanted = ("rank", "Spanish,English", "English,French")
    lines = rankings.read_text().splitlines(keepends=True)
    (tmp_path / "wmt12.csv").write_text("".join([lines[0], *(one for one in lines if one.startswith(wanted))]))
    load([tmp_path / "wmt12.csv"], tmp_path / "w.duckdb")
    with beside_data("data", "wmt12-es-en", "mt-systems-scored-by-humans").open(newline="") as file:
        released = [row for row in csv.DictReader(file, delimiter="\t") if row["METRIC"] == "HUMAN"]
    assert len(released) == 27
    for lp in ("es-en", "en-fr"):
        with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
            block = Inputs(warehouse, Slice("wmt12", lp, human="rr:bto")).of_level("sys")
        found = dict(zip(block.systems, system_scores(block, "submitted").human.tolist(), strict=True))
        scores = {row["SYSTEM"]: float(row["SCORE"]) / 100 for row in released if row["LP"] == lp}
        assert {name: found[name] for name in scores} == pytest.approx(scores, abs=1e-6)


def test_scores_made_of_preferences_are_listed_and_completed_of_human_scores_that_have_them(arena: Path) -> None:
    with Warehouse.open(arena) as warehouse:
        listed = listing(warehouse, "humans")["human"].to_list()
        made = sorted(f"arena:{how}" for how in BY_PREFERENCES)
        assert listed == names(warehouse, "human") == ["arena", *made, "plain"]
