"""System scores made of preferences: by hand, through the questions that rank by them, and as printed."""

import csv
import gzip
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metaeval.measures.preference_scores import as_published
from metaeval.measures.system_scores import system_scores
from metaeval.results.inputs import Inputs
from metaeval.studies.people.ranked_systems import ranked_systems
from queries.blocks import fetch_block
from queries.evalsets import BY_PREFERENCES
from queries.listing import listing, names
from queries.preference_blocks import preferences_in
from queries.preferences import NOBODY, Preferences
from queries.selection import select
from queries.slices import Slice
from tests.helpers import beside_data
from tests.metaeval.kernels.rankings import converted_pairs
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


def test_a_ranking_submitted_twice_in_a_row_counts_as_often_as_wmt15_counted_it() -> None:
    # Rankings 1 and 2 are the same; 3 is another annotator's, 5 comes later, 6 has another answer.
    rankings = [(1, 0, 1), (2, 0, 1), (3, 1, 1), (5, 1, 1), (6, 1, 0)]
    ranking, rater, answer = (np.array(values) for values in zip(*rankings, strict=True))
    one, other = np.zeros(5, dtype=np.int64), np.ones(5, dtype=np.int64)
    found = Preferences(("A", "B"), ("ann", "bob"), one, other, one, ranking, rater, answer, one == 1)
    counted, (line,) = as_published(found, "wmt15")
    assert counted.ranking.tolist() == [1, 1, 1, 1, 2, 2, 2, 2, 3, 5, 6]
    assert line.startswith("2 rankings submitted twice in a row")
    assert as_published(found, "wmt14") == (found, [])
    nobody = replace(found, rater=np.full(5, NOBODY))
    assert as_published(nobody, "wmt15") == (nobody, [])


@pytest.mark.slow
def test_preferences_count_as_the_organisers_converted_them(tmp_path: Path) -> None:
    """But for pairs of a system with itself, which no match is of."""
    wanted = Counter(frozenset([(one, answer), (other, -answer)]) for one, other, answer in converted_pairs("ru-en"))
    text = gzip.decompress(beside_data("more", "rankings", "wmt15", "wmt15.xml.gz").read_bytes()).decode()
    start, *hits = re.split("(?=<HIT )", text.removesuffix("</WMT15-results>\n"))
    hits = [hit for hit in hits if 'source-language="rus"' in hit]
    (tmp_path / "wmt15.xml").write_text(f"{start}{''.join(hits)}</WMT15-results>\n")
    load([tmp_path / "wmt15.xml"], tmp_path / "w.duckdb")
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        block = fetch_block(warehouse, select(warehouse, Slice("wmt15", "ru-en", human="rr:trueskill"), "sys"))
        found = as_published(preferences_in(warehouse, block), "wmt15")[0]
    spelt = {name: f"newstest2015.{name}" for name in found.systems}
    full = {
        name: next(one for pair in wanted for one, _ in pair if one.startswith(f"{spelt[name]}.")) for name in spelt
    }
    names = [full[name] for name in found.systems]
    pairs = zip(found.first.tolist(), found.second.tolist(), found.answer.tolist(), strict=True)
    counts = Counter(frozenset([(names[one], answer), (names[other], -answer)]) for one, other, answer in pairs)
    assert counts == wanted


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
