"""Answers over data that are not all there say so before anything else, and rank what is comparable."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metaeval
from metaeval.results.sentences import LONGEST
from metaeval.studies.papers.items import Cell, PrintedValue
from metaeval.studies.papers.running import with_printed
from tests.helpers import ScoreTable, tiny_layout, tiny_warehouse
from warehouse import Warehouse


def test_a_protocol_says_first_how_many_metrics_have_every_task(tmp_path: Path) -> None:
    rules = tmp_path / "mine.toml"
    rules.write_text('overall = "values"\ntasks = [{ measure = "pa" }, { measure = "acc_eq(by=item)" }]\n')
    with tiny_warehouse(tmp_path) as warehouse:
        found = metaeval.protocol(warehouse, str(rules), on="tiny24", lp=["en-de"], all_metrics=True)
    n, n_ranked = found.frame.height, found.frame["rank"].drop_nulls().len()
    assert 0 < n_ranked < n
    assert found.notes[0] == f"partial: {n_ranked} of {n} metrics have scores for both tasks, and only these are ranked"
    assert found.notes[0].removeprefix("partial: ") in found.summary
    assert found.frame["missing"].str.len_chars().to_list()[n_ranked:] > [0] * (n - n_ranked)


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Two language pairs, one metric in both."""
    folder, scores = tmp_path_factory.mktemp("gaps"), np.arange(20.0).reshape(4, 5)
    systems = ("Ash", "Beech", "Cherry", "Dogwood")
    for lp, names in (("en-de", ("Both-src", "One-src")), ("en-uk", ("Both-src", "Other-src"))):
        tiny_layout(
            folder / lp,
            lp=lp,
            systems=systems,
            humans={"mqm": ScoreTable(systems, seg=scores, sys=scores.mean(axis=1))},
            metrics={name: ScoreTable(systems, seg=scores % 7, sys=(scores % 7).mean(axis=1)) for name in names},
        )
    with tiny_warehouse(folder, folder / "en-de", folder / "en-uk") as warehouse:
        yield warehouse


def test_a_pooled_ranking_says_first_what_it_pools(gaps: Warehouse) -> None:
    first = "partial: 1 of 3 metrics has a value in both evaluation sets"
    found = metaeval.rank(gaps, "tiny24", "all", "pa", pool="mean", status="all")
    assert any("pa has no pooled value for One" in note and "Other" in note for note in found.notes)
    assert found.notes[0] == first
    assert found.frame["metric"].to_list() == ["Both", "One", "Other"]
    assert found.partial == (first,)
    assert first.removeprefix("partial: ")[1:] in found.summary


def test_a_paper_compares_what_depends_on_all_rows_where_all_are_loaded() -> None:
    printed = [
        PrintedValue("t", row, column, "wmt25", "en-de", value, 1, "1", "value", 0.0, "")
        for row in ("A", "B")
        for column, value in (("AutoRank", 1.0), ("mean", 0.5))
    ]
    cells = [Cell("A", "AutoRank", "wmt25", "en-de", 2.0), Cell("A", "mean", "wmt25", "en-de", 0.7)]
    rows = with_printed(cells, printed, {}, relative={"AutoRank"})
    assert [(row.cell.column, row.verdict) for row in rows[:2]] == [("AutoRank", "not_loaded"), ("mean", "differs")]
    assert rows[0].remark == "1 of 2 rows is loaded, and the value depends on all"


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Two of five metrics have segment scores in one language pair, all in the other."""
    folder, systems = tmp_path_factory.mktemp("few"), ("Ash", "Beech", "Cherry", "Dogwood", "Elm", "Fir")
    human = np.arange(6.0)[:, None] + np.random.default_rng(0).normal(size=(6, 12))
    noise = np.random.default_rng(1).normal(size=(5, *human.shape))
    for lp, n in (("en-de", 2), ("en-uk", 5)):
        scores = {f"{name}-src": human + one for name, one in zip("ABCDE", noise, strict=True)}
        metrics = {
            name: ScoreTable(systems, seg=one if place < n else None, sys=one.mean(axis=1))
            for place, (name, one) in enumerate(scores.items())
        }
        mqm = {"mqm": ScoreTable(systems, seg=human, sys=human.mean(axis=1))}
        documents = [("news", str(number)) for number in range(12)]
        tiny_layout(folder / lp, lp=lp, systems=systems, humans=mqm, metrics=metrics, documents=documents)
    with tiny_warehouse(folder, folder / "en-de", folder / "en-uk") as warehouse:
        yield warehouse


RANKING = [
    ("rank", {"measures": ("spa",)}),
    ("rank", {"measures": ("pearson", "acc_eq(by=item)")}),
    ("rank", {"measures": ("spa",), "significance": True}),
    ("compare", {"measure": "spa"}),
    ("compare", {"measure": "acc_eq(by=item)"}),
    ("advise", {"measure": "spa"}),
    ("segments", {}),
    ("segments", {"by": "system"}),
    ("correlations", {}),
    ("counts", {}),
    ("thresholds", {}),
    ("thresholds", {"ties": True}),
    ("autorank", {}),
]


@pytest.mark.parametrize(("question", "more"), RANKING)
def test_the_first_line_says_how_few_of_the_metrics_have_what_is_needed(
    few: Warehouse, question: str, more: dict[str, Any]
) -> None:
    asked = {} if question == "advise" else {"status": "all"}
    found, whole = (
        getattr(metaeval, question)(few, "tiny24", lp, **asked, **more).summary for lp in ("en-de", "en-uk")
    )
    assert "2 of 5 metrics" in found
    assert "of 5 metrics have" not in whole
    assert max(len(found), len(whole)) <= LONGEST


def test_several_sets_are_counted_in_which_most_metrics_lack_scores(few: Warehouse) -> None:
    found = metaeval.rank(few, "tiny24", "all", "spa", status="all")
    assert found.summary.endswith(" In 1 of 2 sets, the scores needed are missing for most metrics.")
