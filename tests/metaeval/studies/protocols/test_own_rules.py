"""Rules of one's own, from a file."""

from pathlib import Path

import pytest

from metaeval import protocol
from metaeval.studies.protocols import own_protocol, protocol_named
from tests.helpers import tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse

MINE = """
overall = "values"
tasks = [{ measure = "pa", weight = 3 }, { measure = "pearson(by=none)" }]
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_overall_score_is_the_weighted_mean_by_hand(simulated_warehouse: Warehouse, tmp_path: Path) -> None:
    found = protocol(simulated_warehouse, str(_written(tmp_path, MINE)), on="sim24", lp=["en-de"])
    assert found.frame.height > 5
    for row in found.frame.iter_rows(named=True):
        r = (row["en-de pearson(by=none)"] + 1) / 2
        assert row["overall"] == pytest.approx((3 * row["en-de pa"] + r) / 4, abs=1e-12)
    assert "|tasks:pa weight=3; pearson(by=none)|" in found.signature


@pytest.mark.slow
def test_official_rules_in_a_file_give_the_official_scores(simulated_warehouse: Warehouse, tmp_path: Path) -> None:
    rules = protocol_named("wmt24").rules
    tasks = ", ".join(f'{{ measure = "{rule.measure}" }}' for rule in rules)
    own = protocol(simulated_warehouse, str(_written(tmp_path, f"tasks = [{tasks}]")), on="sim24", lp=["en-de"])
    official = protocol(simulated_warehouse, "wmt24", on="sim24", lp=["en-de"])
    assert own.frame.equals(official.frame)


def test_tasks_of_one_level_are_scored_alone(simulated_warehouse: Warehouse) -> None:
    found = protocol(simulated_warehouse, "wmt24", on="sim24", lp=["en-de"], level="seg")
    assert found.frame.columns == ["rank", "metric", "overall", "en-de acc_eq(by=item)"]
    assert "|level:seg|" in found.signature
    assert "the overall score covers only the tasks of level seg, so it is not the official one" in found.notes
    with pytest.raises(QuestionError, match="wmt07 has no task of level seg"):
        protocol(simulated_warehouse, "wmt07", on="sim24", level="seg")


def test_its_own_language_pairs_are_scored(simulated_warehouse: Warehouse, tmp_path: Path) -> None:
    mine = _written(tmp_path, 'default_lps = ["cs-uk", "de-ja"]' + MINE)
    found = protocol(simulated_warehouse, str(mine), on="sim24")
    assert found.frame.columns[3:5] == ["cs-uk pa", "cs-uk pearson(by=none)"]
    assert "the score covers only cs-uk, not all of mine.toml's: de-ja is not loaded" in found.notes
    _written(tmp_path, 'default_lps = ["de-ja"]' + MINE)
    with pytest.raises(QuestionError, match=r"none of the language pairs of mine\.toml is loaded in sim24: de-ja"):
        protocol(simulated_warehouse, str(mine), on="sim24")


def test_language_pairs_that_lack_only_human_scores_are_not_called_unloaded(tmp_path: Path) -> None:
    layouts = [tiny_layout(tmp_path / "one"), tiny_layout(tmp_path / "two", lp="de-en", humans={})]
    with tiny_warehouse(tmp_path, *layouts) as warehouse:
        mine = _written(tmp_path, 'default_lps = ["en-de", "de-en"]' + MINE)
        found = protocol(warehouse, str(mine), on="tiny24")
        assert any(note.endswith("de-en is not loaded with official human scores") for note in found.notes)
        _written(tmp_path, 'default_lps = ["de-en"]' + MINE)
        with pytest.raises(QuestionError, match=r"mine\.toml has an official human score in tiny24"):
            protocol(warehouse, str(mine), on="tiny24")


def test_an_overall_score_that_is_a_mean_rank_is_called_so(simulated_warehouse: Warehouse) -> None:
    assert "(mean rank " in protocol(simulated_warehouse, "wmt22", on="sim24").summary
    assert "(overall " in protocol(simulated_warehouse, "wmt24", on="sim24").summary


@pytest.mark.slow
def test_its_tasks_and_overall_score_are_tested(simulated_warehouse: Warehouse, tmp_path: Path) -> None:
    text = 'tasks = [{ measure = "spa" }, { measure = "pearson", test = "perm-both" }]'
    mine = str(_written(tmp_path, text))
    found = protocol(simulated_warehouse, mine, on="sim24", lp=["en-de"], significance=True, resamples=30)
    assert {"cluster", "cluster en-de spa", "cluster en-de pearson"} <= set(found.frame.columns)
    assert "|tasks:spa; pearson test=perm-both|" in found.signature


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tasks = [", "mine.toml: "),
        ("", r"mine\.toml: expected tasks = "),
        ("tasks = []", "expected tasks = "),
        ("tasks = [1]", "expected tasks = "),
        ('tasks = [{ measure = "pax" }]', r"task 1: unknown measure 'pax'; did you mean 'pa'"),
        ("tasks = [{ weight = 1 }]", "task 1: expected measure = "),
        ('tasks = [{ measure = "pa" }, { measure = "pa", wieght = 1 }]', "task 2: key 'wieght': .*'weight'"),
        ('tasks = [{ measure = "pa", weight = 0 }]', "weight 0: expected a number above 0, n_lps or halved"),
        ('tasks = [{ measure = "pa", weight = "much" }]', "weight 'much': expected a number above 0"),
        ('tasks = [{ measure = "pa", lps = "pool" }]', "lps 'pool': expected one of each, pooled"),
        ('tasks = [{ measure = "pa", test = "williams" }]', "test of pa 'williams': expected one of"),
        ('tasks = [{ measure = "pa", early_stop = 1 }]', "early_stop: expected true or false"),
        ('overal = "ranks"\ntasks = [{ measure = "pa" }]', "key 'overal': .*'overall'"),
        ('overall = "rank"\ntasks = [{ measure = "pa" }]', "overall 'rank': .*'ranks'"),
        ('default_lps = "en-de"\ntasks = [{ measure = "pa" }]', "default_lps: expected a list"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=said) as told:
        own_protocol(_written(tmp_path, text))
    assert "\n" not in str(told.value)


def test_a_file_is_there_and_a_test_set_is_named(simulated_warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=r"none\.toml: No such file"):
        protocol(simulated_warehouse, str(tmp_path / "none.toml"), on="sim24")
    with pytest.raises(QuestionError, match="your own rules name no test set"):
        protocol(simulated_warehouse, str(_written(tmp_path, MINE)))
