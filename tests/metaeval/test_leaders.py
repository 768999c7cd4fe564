"""Who leads a ranking, in words."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.kernels.arrays.checks import Floats
from metaeval.results.answer import Answer
from metaeval.results.sentences import LONGEST
from metaeval.studies.ranking.rankings import leaders
from metaeval.studies.significance.standings import Standings, standings
from tests.helpers import tiny_layout
from warehouse import Warehouse, load
from warehouse.export.mtme import ScoreTable


def _frame(*rows: tuple[str, str, str, int | None, int | None]) -> pl.DataFrame:
    """Rows: measure, language pair, metric, rank, cluster."""
    names = ("measure", "lp", "base_metric", "rank", "cluster")
    schema = {**dict.fromkeys(names[:3], pl.String), "rank": pl.Int64, "cluster": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return frame.with_columns(value=pl.when(pl.col("rank").is_not_null()).then(0.5))


def test_those_in_the_top_cluster_of_every_language_pair_are_named_by_their_mean_rank() -> None:
    found = _frame(
        ("spa", "en-de", "A", 1, 1), ("spa", "en-de", "B", 2, 1), ("spa", "en-de", "C", 3, 2),
        ("spa", "he-en", "B", 1, 1), ("spa", "he-en", "A", 3, 1), ("spa", "he-en", "C", 2, 1),
        ("pa", "en-de", "C", 1, 1), ("pa", "he-en", "C", 1, 1),
    )  # fmt: skip
    assert leaders(found) == "In the top cluster in both language pairs: by spa B, A; by pa C."


def test_where_no_metric_leads_everywhere_the_one_that_leads_most_often_is_named() -> None:
    rows = [("pa", lp, name, 1, 1) for lp, name in (("cs-en", "A"), ("de-en", "B"), ("en-cs", "B"))]
    assert leaders(_frame(*rows)) == "In the top cluster in all 3 language pairs: by pa none (B in 2)."


def test_without_clusters_the_first_rank_counts_and_many_names_are_counted() -> None:
    assert leaders(_frame(("pa", "en-de", "A", 1, None), ("pa", "en-de", "B", 2, None))) == "First in en-de: by pa A."
    many = [("spa", "en-de", name, rank, 1) for rank, name in enumerate("ABCDE", start=1)]
    assert leaders(_frame(*many)) == "In the top cluster in en-de: by spa A, B, C and 2 more."


def test_sentinels_and_random_scores_lead_nowhere() -> None:
    rows = [("spa", "en-de", "sentinel-src", 1, 1), ("spa", "en-de", "A", 2, 1), ("spa", "en-de", "B", 3, 1)]
    assert leaders(_frame(*rows)) == "In the top cluster in en-de: by spa A, B."
    assert leaders(_frame(*((*row[:4], None) for row in rows))) == "First in en-de: by spa A."


def test_metrics_without_a_value_lead_nowhere() -> None:
    assert leaders(_frame(("spa", "en-de", "A", None, None))) == ""


def _standings(values: list[float], worse: dict[tuple[int, int], float]) -> Standings:
    """Metrics A, B, C … with these values; worse: p-values other than 0.5."""
    p = np.full((len(values),) * 2, 0.5)
    for (better, other), one in worse.items():
        p[better, other] = p[other, better] = one
    names = "ABCDEFGH"[: len(values)]
    return standings(names, np.array(values), p, "none", 0.05, 0.001)


def _words(found: Standings, **more: Any) -> str:
    return found.in_words("spa", "metric", "new segments", "two-sided", **more)


def test_metrics_that_share_the_first_place_are_not_among_the_others() -> None:
    found = _standings([1.0, 1.0, 1.0, 0.9, 0.8], {(0, 4): 0.01, (1, 3): 0.01})
    assert _words(found) == (
        "A, B and C share first place by spa (1.000). "
        "Both other metrics are significantly worse (new segments, p ≤ 0.05)."
    )
    assert "1 of 2 other metrics does not differ significantly from them: D" in _words(
        _standings([1.0, 1.0, 1.0, 0.9, 0.8], {(1, 4): 0.01})
    )


def test_metrics_that_judge_nothing_lead_only_where_there_are_no_others() -> None:
    found = _standings([1.0, 0.9, 0.9, 0.8], {})
    said = _words(found, idle={"A", "C"})
    assert said.startswith("B ranks first by spa (0.900). A and C judge no translation and are not counted. No metric")
    assert _words(found, idle=set("ABCD")).startswith("A ranks first by spa (1.000). No metric ")


def test_who_ranks_first_untested_is_said_to_be_untested_and_who_leads_the_tested() -> None:
    found = _standings([0.9, 0.9, 0.8, 0.7], {(0, 3): 0.01})
    ranked = [("X", 0.95), ("A", 0.9), ("B", 0.9), ("Y", 0.85), ("C", 0.8), ("D", 0.7)]
    assert _words(found, ranked=ranked) == (
        "X ranks first of 6 metrics by spa (0.950), untested. Of the 4 tested, A and B lead (0.900). "
        "1 of 2 other metrics does not differ significantly from them: C (new segments, p > 0.05)."
    )
    assert _words(found, ranked=ranked[1:]).startswith(
        "A and B share first place of 5 metrics by spa (0.900). 1 of 2 other metrics that were tested does not differ"
    )


def test_the_first_cluster_is_counted_where_it_has_fewer_than_do_not_differ() -> None:
    found = _standings([0.9, 0.8, 0.7, 0.6], {(1, 2): 0.01, (0, 3): 0.01})
    assert found.clusters.tolist() == [1, 1, 2, 2]
    assert _words(found).endswith("from it: B and C (new segments, p > 0.05). 1 of these is in cluster 1.")


SYSTEMS = tuple("ABCDEF")


@pytest.fixture(scope="module")
def constant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Systems in the order of their names, so that spa of a metric that ties all of them is 1."""
    folder = tmp_path_factory.mktemp("constant")
    human = 3 * np.arange(6.0)[:, None] + np.random.default_rng(0).normal(size=(6, 40))
    noise = np.random.default_rng(1).normal(size=(6, 40))
    seg: dict[str, Floats] = {
        "Asleep-src": np.tile(noise[:1], (6, 1)),
        "sentinel-ref-refA": np.tile(noise[1:2], (6, 1)),
        "Fine-src": human + 0.1 * noise,
        "Good-src": human + 0.2 * noise,
        "Weak-src": human + 20 * noise,
        "Worst-src": -human,
    }
    metrics = {name: ScoreTable(SYSTEMS, seg=one, sys=one.mean(axis=1)) for name, one in seg.items()}
    metrics["Corpus-src"] = ScoreTable(SYSTEMS, seg=None, sys=human.mean(axis=1))
    tiny_layout(
        folder / "in",
        systems=SYSTEMS,
        humans={"mqm": ScoreTable(SYSTEMS, seg=human, sys=human.mean(axis=1))},
        metrics=metrics,
        documents=[("news", str(number)) for number in range(40)],
        texts=False,
    )
    report = load([folder / "in"], folder / "a.duckdb")
    assert report.is_clean, report.faults
    with Warehouse.open(folder / "a.duckdb") as warehouse:
        yield warehouse


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("rank", {"measures": ("spa",)}),
        ("rank", {"measures": ("pearson", "spa")}),
        ("rank", {"measures": ("spa",), "significance": True}),
        ("compare", {"measure": "spa", "metrics": ("[!C]*",)}),
    ],
)
def test_a_metric_that_scores_all_systems_alike_shares_no_first_place(
    constant: Warehouse, question: str, more: dict[str, Any]
) -> None:
    found: Answer[Any] = getattr(metaeval, question)(constant, "tiny24", "en-de", status="all", **more)
    values = dict(found.frame.filter(pl.col("rank") == 1).select("metric", "value").rows())
    if more.get("measures") != ("pearson", "spa"):
        assert {"Asleep-src", "sentinel-ref-refA", "Fine-src"} <= set(values)
        assert "Asleep-src and sentinel-ref-refA judge no translation and are not counted." in found.summary
    assert not re.search("(Asleep|sentinel).* first", found.summary)
    assert "Fine-src and Good-src" in found.summary
    assert len(found.summary) <= LONGEST


def test_no_metric_is_advised_that_scores_all_systems_alike(constant: Warehouse) -> None:
    found = metaeval.advise(constant, "tiny24", "en-de", measure="spa")
    assert set(found.frame["metric"]) == {"Fine-src", "Good-src", "Weak-src", "Worst-src"}


def test_the_first_sentence_and_the_table_have_the_same_leader(constant: Warehouse) -> None:
    found = metaeval.rank(constant, "tiny24", "en-de", measures=("pearson",), significance=True, status="all")
    rows = found.frame.drop_nulls("value")
    tested = rows.drop_nulls("cluster")
    assert rows.row(0, named=True)["metric"] == "Corpus-src"
    assert found.summary.startswith("Corpus-src ")
    assert f"first of {rows.height} metrics by pearson (1.000), untested. " in found.summary
    assert f"Of the {tested.height} tested, {tested['metric'][0]} " in found.summary
    compared = metaeval.compare(constant, "tiny24", "en-de", measure="pearson", status="all")
    assert f"{tested['metric'][0]} ranks first of {tested.height} metrics" in compared.summary
    assert "; 1 other cannot be compared." in compared.summary


def test_without_segment_scores_the_population_is_new_systems_and_a_note_says_why(constant: Warehouse) -> None:
    only = {"measures": ("pearson",), "significance": True, "metrics": ("Corpus*", "Fine*"), "status": "all"}
    said = "; new segments cannot be tested, because 1 metric has segment scores"
    assert [said in note for note in metaeval.rank(constant, "tiny24", "en-de", **only).notes].count(True) == 1
    more = {**only, "metrics": ("Fine*", "Weak*")}
    assert not [note for note in metaeval.rank(constant, "tiny24", "en-de", **more).notes if "cannot be tested" in note]


def test_where_no_metric_has_a_value_the_first_sentence_says_why(constant: Warehouse) -> None:
    one = {"systems": ("A",), "status": "all"}
    why = "mqm has scores of no two outputs of a segment."
    ranked = metaeval.rank(constant, "tiny24", "en-de", measures=("spa",), **one)
    assert ranked.summary == (
        f"No metric has a value of spa: {why} pearson(by=none) ranks metrics on the outputs of a single system."
    )
    assert metaeval.compare(constant, "tiny24", "en-de", measure="spa", **one).summary.endswith(f"of spa: {why}")
    assert (
        metaeval.thresholds(constant, "tiny24", "en-de", **one).summary
        == f"No metric has a value of acc_eq(by=item): {why}"
    )
    marked = metaeval.rank(constant, "tiny24", "en-de", measures=("f_beta",), **one).summary
    assert marked.startswith("No metric has a value of f_beta: mqm has no marked errors")
    assert marked.endswith("use good=NUMBER.")
