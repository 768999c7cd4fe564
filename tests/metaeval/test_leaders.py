"""Who leads a ranking, in words."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.kernels.arrays.checks import Floats
from metaeval.results.answer import Answer
from metaeval.results.sentences import LONGEST, first_of
from metaeval.studies.ranking.headlines import of_several
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
    p = np.triu(np.full((len(values),) * 2, 0.5), 1)
    p[np.tril_indices_from(p)] = np.nan
    for (better, other), one in worse.items():
        p[better, other] = one
    names = "ABCDEFGH"[: len(values)]
    return standings(names, np.array(values), p, "none", 0.05, 0.001)


def _words(found: Standings, **more: Any) -> str:
    return found.in_words("spa", "metric", "new segments", "two-sided", **more)


def test_metrics_that_share_the_first_place_are_not_among_the_others() -> None:
    found = _standings([1.0, 1.0, 1.0, 0.9, 0.8], {(0, 4): 0.01, (1, 3): 0.01})
    assert _words(found) == (
        "A, B and C share first place by spa (1.000). 1 of 2 other metrics does not differ significantly from A: D "
        "(new segments, p > 0.05). None of these is in cluster 1."
    )
    worse = {(at, other): 0.01 for at in range(3) for other in (3, 4)}
    assert _words(_standings([1.0, 1.0, 1.0, 0.9, 0.8], worse)) == (
        "A, B and C share first place by spa (1.000). "
        "Both other metrics are significantly worse (new segments, p ≤ 0.05)."
    )
    found = _standings([1.0, 1.0, 0.9], {(0, 2): 0.01})
    assert _words(found).endswith("The only other metric is significantly worse than A (new segments, p ≤ 0.05).")


def test_metrics_that_judge_nothing_lead_only_where_there_are_no_others() -> None:
    found = _standings([1.0, 0.9, 0.9, 0.8], {})
    said = _words(found, idle={"A", "C"})
    assert said.startswith(
        "B ranks first by spa (0.900). A and C are not counted (sentinel, random or constant). No metric"
    )
    assert _words(found, idle=set("ABCD")).startswith("A ranks first by spa (1.000). No metric ")


def test_who_ranks_first_untested_is_said_to_be_untested_and_who_leads_the_tested() -> None:
    found = _standings([0.9, 0.9, 0.8, 0.7], {(0, 3): 0.01})
    ranked = [("X", 0.95), ("A", 0.9), ("B", 0.9), ("Y", 0.85), ("C", 0.8), ("D", 0.7)]
    assert _words(found, ranked=ranked) == (
        "X ranks first of 6 metrics by spa (0.950), untested. Of the 4 tested, A and B lead (0.900). "
        "1 of 2 other metrics does not differ significantly from A: C (new segments, p > 0.05)."
    )
    assert _words(found, ranked=ranked[1:]).startswith(
        "A and B share first place of 5 metrics by spa (0.900). 1 of 2 other metrics that were tested does not differ"
    )


def test_the_first_cluster_is_counted_where_it_has_fewer_than_do_not_differ() -> None:
    found = _standings([0.9, 0.8, 0.7, 0.6], {(1, 2): 0.01, (0, 3): 0.01})
    assert found.clusters.tolist() == [1, 1, 2, 2]
    assert _words(found).endswith("from it: B and C (new segments, p > 0.05). 1 of these is in cluster 1.")


@pytest.mark.parametrize(
    ("worse", "said"),
    [
        ({}, "No metric that was tested is significantly worse (new segments, p > 0.05)."),
        ({(0, 1): 0.01}, "The only other metric that was tested is significantly worse (new segments, p ≤ 0.05)."),
        ({(0, 1): np.nan}, "No other metric could be tested against it."),
    ],
)
def test_pairs_without_a_test_are_not_among_the_tested(worse: dict[tuple[int, int], float], said: str) -> None:
    found = _standings([0.9, 0.8, 0.7, 0.6], {(0, 2): np.nan, (0, 3): np.nan, **worse})
    assert _words(found) == f"A ranks first by spa (0.900). {said}"


@pytest.mark.parametrize(
    ("values", "p", "said"),
    [
        ([0.8, 0.9], {(0, 1): 0.01}, "A is significantly better than B on the tested means (new segments, p ≤ 0.05)."),
        (
            [0.8, 0.9, 0.7],
            {(0, 1): 0.01},
            "A is significantly better than B on the tested means (new segments, p ≤ 0.05).",
        ),
        (
            [0.8, 0.9, 0.7],
            {(0, 1): 0.01, (1, 2): 0.01},
            "A is significantly better than B on the tested means (new segments, p ≤ 0.05). "
            "1 of 2 other metrics is significantly worse than B (new segments, p ≤ 0.05).",
        ),
        ([0.8, 0.9], {}, "No metric is significantly worse (new segments, p > 0.05)."),
    ],
)
def test_a_metric_that_the_test_puts_before_the_first_is_named(
    values: list[float], p: dict[tuple[int, int], float], said: str
) -> None:
    tested = _standings([0.9, 0.8, 0.7][: len(values)], p)
    order = np.argsort(-np.array(values))
    square = np.ix_(order, order)
    shown = replace(
        tested,
        names=tuple(tested.names[at] for at in order),
        values=np.array(values)[order],
        corrected=tested.corrected[square],
    )
    assert _words(shown).startswith(f"B ranks first by spa (0.900). {said}")
    assert "0 of " not in _words(shown)


def test_a_metric_that_judges_nothing_leads_neither_the_untested_nor_the_tested() -> None:
    found = _standings([0.9, 0.8], {})
    ranked = [("S", 1.0), ("X", 0.95), ("A", 0.9), ("B", 0.8)]
    assert _words(found, ranked=ranked, idle={"S", "A"}).startswith(
        "X ranks first of 3 metrics by spa (0.950), untested. Of the 1 tested, B leads (0.800). S and A are not counted"
    )
    assert _words(found, ranked=ranked, idle={"S", "A", "B"}) == (
        "X ranks first of 3 metrics by spa (0.950). S is not counted (sentinel, random or constant). "
        "No other metric could be tested against it."
    )


def test_the_first_have_the_first_rank_of_the_table() -> None:
    values = [0.9, 0.9 - 0.8e-12, 0.9 - 1.6e-12, 0.8]
    assert first_of("ABCD", values) == (["A", "B", "C"], ["D"], [])


def _ranking(*rows: tuple[str, str, float, int]) -> list[pl.DataFrame]:
    """Rows: language pair, metric, value, cluster; one frame per language pair."""
    frame = pl.DataFrame(rows, schema=["lp", "metric", "value", "cluster"], orient="row")
    return frame.with_columns(measure=pl.lit("spa")).partition_by("lp", maintain_order=True)


_WHAT = ("evaluation set", "evaluation sets")


def test_sets_in_which_only_idle_metrics_lead_are_counted() -> None:
    each = _ranking(("a", "S", 0.9, 1), ("a", "X", 0.5, 2), ("b", "S", 0.9, 1), ("b", "X", 0.8, 1))
    assert of_several(each, [{"S"}] * 2, _WHAT, "metric", None, "spa") == (
        "No metric is in the first cluster by spa in both evaluation sets; X is in 1 of them."
    )
    alone = _ranking(("a", "S", 0.9, 1), ("b", "S", 0.9, 1), ("b", "X", 0.8, 2))
    only = "S is in the first cluster by spa in both evaluation sets."
    assert of_several(alone, [{"S"}] * 2, _WHAT, "metric", None, "spa") == only


def test_a_metric_may_be_idle_in_one_set_alone() -> None:
    each = _ranking(("a", "S", 0.9, 1), ("a", "X", 0.5, 1), ("b", "S", 0.9, 1), ("b", "X", 0.8, 1))
    said = of_several(each, [{"S"}, set()], _WHAT, "metric", None, "spa")
    assert said == "X is in the first cluster by spa in both evaluation sets."


def test_the_only_metric_of_every_set_does_not_rank_first() -> None:
    each = _ranking(("a", "X", 0.9, 1), ("b", "X", 0.9, 1))
    assert of_several(each, [set()] * 2, _WHAT, "metric", None, "spa") == (
        "X is the only metric ranked by spa in both evaluation sets."
    )


SYSTEMS = tuple("ABCDEF")


def _loaded(folder: Path) -> Iterator[Warehouse]:
    """The warehouse of the layout in the folder, open."""
    report = load([folder / "in"], folder / "a.duckdb")
    assert report.is_clean, report.faults
    with Warehouse.open(folder / "a.duckdb") as warehouse:
        yield warehouse


@pytest.fixture(scope="module")
def constant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Systems in the order of their names, so that spa of a metric that ties all, as Asleep does in en-de, is 1."""
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
    awake = {**metrics, "Asleep-src": ScoreTable(SYSTEMS, seg=human, sys=human.mean(axis=1))}
    mqm = {"mqm": ScoreTable(SYSTEMS, seg=human, sys=human.mean(axis=1))}
    for lp, scores, humans in (("en-de", metrics, mqm), ("he-en", awake, mqm), ("zh-en", metrics, {})):
        tiny_layout(
            folder / "in",
            lp=lp,
            systems=SYSTEMS,
            humans=humans,
            metrics=scores,
            documents=[("news", str(number)) for number in range(40)],
            texts=False,
        )
    yield from _loaded(folder)


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
    names = ("Asleep-src", "sentinel-ref-refA")
    assert found.frame.filter(pl.col("metric").is_in(names))["rank"].drop_nulls().is_empty()
    assert not re.search("(Asleep|sentinel).* first", found.summary)
    assert "Fine-src and Good-src" in found.summary
    assert len(found.summary) <= LONGEST


@pytest.mark.parametrize("more", [{"by": "domain"}, {"human": "all"}, {"by": "domain", "human": "all"}])
def test_a_single_domain_or_human_score_is_ranked_and_tested_as_the_whole(
    constant: Warehouse, more: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"measures": ("spa",), "significance": True, "status": "all"}
    whole = metaeval.rank(constant, "tiny24", "en-de", **asked)
    assert metaeval.rank(constant, "tiny24", "en-de", **asked, **more).summary == whole.summary


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "Fine and Good each rank first by spa in 2 of 2 evaluation sets, Asleep in 1; "),
        ({"significance": True}, "Fine and Good are in the first cluster by spa in both evaluation sets."),
        ({"pool": "mean"}, "Asleep, Fine and Good share first place of 5 metrics by spa (1.000), pooled by mean over"),
    ],
)
def test_a_metric_that_is_constant_in_one_evaluation_set_may_lead_in_another(
    constant: Warehouse, more: dict[str, Any], said: str
) -> None:
    found = metaeval.rank(constant, "tiny24", "en-de,he-en", measures=("spa",), status="all", **more)
    assert found.summary.startswith(said)


@pytest.mark.parametrize("measure", ["spa", "spa(n=inf)", "spa(n=saddlepoint)", "spa(binary=yes)"])
def test_a_value_that_the_order_of_names_decides_has_no_rank_and_no_test(constant: Warehouse, measure: str) -> None:
    asked: dict[str, Any] = {"measures": (measure,), "status": "all"}
    rows = metaeval.rank(constant, "tiny24", "en-de", **asked).frame.filter(metric="Asleep-src")
    assert (rows["value"].count(), rows["rank"].count()) == (1, 0)
    pooled = metaeval.rank(constant, "tiny24", "en-de", pool="mean", **asked).frame.filter(base_metric="Asleep")
    assert (pooled["value"].count(), pooled["rank"].count()) == (1, 0)
    if measure == "spa":
        both = metaeval.compare(constant, "tiny24", "en-de", metrics=("Asleep-src", "Fine-src"), measure=measure)
        assert both.summary == (
            "Fine-src and Asleep-src cannot be compared by spa: Asleep-src has no value to compare."
        )
        assert both.frame.select("p", "difference", "low", "value_other").row(0) == (None,) * 4


@pytest.fixture(scope="module")
def nearly_constant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Dozing scores all systems alike but on 1 of 40 segments, where it is right; Rare on 28, too, and is a judge."""
    folder = tmp_path_factory.mktemp("nearly")
    human = np.arange(6.0)[:, None] + np.random.default_rng(0).normal(size=(6, 40))
    noise = np.random.default_rng(1).normal(size=(6, 40))
    dozing, rare = np.zeros((6, 40)), np.zeros((6, 40))
    dozing[:, 7], rare[:, :12] = human[:, 7], human[:, :12]
    seg = {"Dozing-src": dozing, "Rare-src": rare, "Good-src": human + noise, "Fair-src": human + 2 * noise}
    metrics = {name: ScoreTable(SYSTEMS, seg=one, sys=one.mean(axis=1)) for name, one in seg.items()}
    mqm = {"mqm": ScoreTable(SYSTEMS, seg=human, sys=human.mean(axis=1))}
    documents = [("news", str(number)) for number in range(40)]
    tiny_layout(folder / "in", systems=SYSTEMS, humans=mqm, metrics=metrics, documents=documents, texts=False)
    yield from _loaded(folder)


@pytest.mark.parametrize("measure", ["kendall(by=item)", "pearson(by=item)", "spearman(by=item)"])
@pytest.mark.parametrize("also", [(), ("pearson",)])
def test_what_is_left_out_and_the_few_groups_of_a_value_are_said(
    nearly_constant: Warehouse, measure: str, also: tuple[str, ...]
) -> None:
    found = metaeval.rank(nearly_constant, "tiny24", "en-de", measures=(*also, measure), status="all")
    assert found.frame.filter(measure=measure, metric="Dozing-src")["rank"].to_list() == [1]
    assert "Dozing-src is not counted (sentinel, random or constant)." in found.summary
    assert f"by {measure} (1.000 from 12 of 40 groups)" in found.summary
    assert f"{measure} is based on few groups: Dozing-src on 1 of 40, Rare-src on 12 of 40" in found.notes
    said = dict(found.for_reading().frame.select("metric", f"groups {measure}").rows())
    assert said == {"Dozing-src": "1 of 40 groups", "Rare-src": "12 of 40 groups", "Good-src": None, "Fair-src": None}
    compared = metaeval.compare(nearly_constant, "tiny24", "en-de", measure=measure, status="all")
    assert any("is based on few groups: Dozing-src on 1 of 40" in note for note in compared.notes)


@pytest.mark.parametrize("more", [{"measure": "pearson"}, {"measure": "pearson(by=none)"}, {"metric": "Rare-src"}])
def test_what_judges_nothing_correlates_neither_most_nor_least(
    nearly_constant: Warehouse, more: dict[str, str]
) -> None:
    found = metaeval.correlations(nearly_constant, "tiny24", "en-de", status="all", **more)
    assert "Dozing" not in found.summary
    assert "1 that judges no translation is not counted." in found.summary


def test_the_verb_agrees_with_how_many_sets_are_ranked(constant: Warehouse) -> None:
    said = metaeval.rank(constant, "tiny24", "en-de,zh-en", measures=("spa",)).summary
    assert said.endswith(" 1 of 2 evaluation sets is ranked.")
    said = metaeval.rank(constant, "tiny24", "all", measures=("spa",)).summary
    assert said.endswith(" 2 of 3 evaluation sets are ranked.")


def test_a_metric_next_to_what_judges_nothing_is_the_only_one_ranked(constant: Warehouse) -> None:
    names = ("Asleep*", "Fine*")
    said = metaeval.rank(constant, "tiny24", "en-de", measures=("spa",), metrics=names, status="all").summary
    assert said == "Fine-src is the only metric ranked by spa (1.000)."


def test_what_judges_nothing_leads_no_pooled_ranking(constant: Warehouse) -> None:
    found = metaeval.rank(constant, "tiny24", "en-de", measures=("spa",), pool="mean", status="all")
    assert re.match("Fine(-src)? and Good(-src)? share first place of 4 metrics by spa", found.summary)


def test_no_metric_is_advised_that_scores_all_systems_alike(constant: Warehouse) -> None:
    found = metaeval.advise(constant, "tiny24", "en-de", measure="acc_eq(by=item)")
    assert set(found.frame["metric"]) == {"Fine-src", "Good-src", "Weak-src", "Worst-src"}
    (note,) = [note for note in found.notes if "not counted, as they judge no translation" in note]
    assert note.endswith("tiny24 en-de: not counted, as they judge no translation: Asleep-src, sentinel-ref-refA")


@pytest.mark.parametrize(
    ("question", "more", "said"),
    [
        ("advise", {"measure": "spa"}, "Fine-src and Good-src share first place for en-de in 2024 (tiny24 mqm, "),
        ("thresholds", {}, "Fine-src and Good-src have the highest acc_eq(by=item) of 6 metrics (1.000), "),
        (
            "correlations",
            {"measure": "spearman"},
            "3 pairs, such as Corpus-src and Fine-src, correlate most of 5 metrics (spearman 1.000), "
            "3 pairs, such as Corpus-src and Worst-src, least (-1.000).",
        ),
    ],
)
def test_equal_values_share_the_first_place(
    constant: Warehouse, question: str, more: dict[str, Any], said: str
) -> None:
    status = {} if question == "advise" else {"status": "all"}
    assert getattr(metaeval, question)(constant, "tiny24", "en-de", **status, **more).summary.startswith(said)


def test_equal_values_are_among_the_best_without_a_test(constant: Warehouse) -> None:
    found = metaeval.advise(constant, "tiny24", "en-de", measure="spa")
    assert found.frame.filter(value=1.0)["is_among_best"].to_list() == [True, True]
    assert found.summary.endswith("; both others are significantly worse (new documents).")


def test_metrics_that_lead_equally_often_are_named_together() -> None:
    rows = [("pa", lp, name, 1, 1) for lp, name in (("cs-en", "A"), ("de-en", "B"))]
    assert leaders(_frame(*rows)) == "In the top cluster in both language pairs: by pa none (A, B in 1 each)."


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
    assert " 1 more metric cannot be compared." in compared.summary


@pytest.fixture(scope="module")
def two_kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Submitted system scores that differ from the means of segments in en-de, and do not in he-en."""
    folder = tmp_path_factory.mktemp("kinds")
    human = np.arange(6.0)[:, None] + np.random.default_rng(0).normal(size=(6, 40))
    noise = np.random.default_rng(1).normal(size=(4, 6, 40))
    for lp, shift in (("en-de", np.array([0.0, 2, -2, 2, -2, 0])), ("he-en", np.zeros(6))):
        metrics = {
            f"{name}-src": ScoreTable(SYSTEMS, seg=human + 3 * one, sys=(human + 3 * one).mean(axis=1) + shift)
            for name, one in zip("ABC", noise[:3], strict=True)
        }
        worst = noise[3] - human
        metrics["Worst-src"] = ScoreTable(SYSTEMS, seg=worst, sys=worst.mean(axis=1))
        mqm = {"mqm": ScoreTable(SYSTEMS, seg=human, sys=human.mean(axis=1))}
        documents = [("news", str(number)) for number in range(40)]
        tiny_layout(folder / "in", lp=lp, systems=SYSTEMS, humans=mqm, metrics=metrics, documents=documents)
    yield from _loaded(folder)


_OF_MEANS, _SUBMITTED = " by {} of judged means (", " by {} of submitted scores ("


@pytest.mark.parametrize("measure", ["pearson", "pa", "spearman", "kendall"])
@pytest.mark.parametrize(
    ("question", "more", "said"),
    [
        ("rank", {}, _SUBMITTED),
        ("rank", {"significance": True}, _SUBMITTED),
        ("rank", {"system_score": "mean"}, " by {} of means of all segments ("),
        ("rank", {"system_score": "judged-mean"}, _OF_MEANS),
        ("compare", {}, _OF_MEANS),
        ("compare", {"population": "systems"}, _SUBMITTED),
        ("compare", {"metrics": ("A-src", "B-src")}, _OF_MEANS),
    ],
)
def test_the_first_line_names_the_system_scores_where_both_kinds_differ(
    two_kinds: Warehouse, measure: str, question: str, more: dict[str, Any], said: str
) -> None:
    measured = {"measures": (measure,)} if question == "rank" else {"measure": measure}
    both, alike = (
        getattr(metaeval, question)(two_kinds, "tiny24", lp, status="all", **measured, **more).summary
        for lp in ("en-de", "he-en")
    )
    assert said.format(measure) in both
    assert f" by {measure} (" in alike


@pytest.mark.parametrize("measure", ["pearson", "acc_eq(by=item)"])
@pytest.mark.parametrize("pair", [("A-src", "B-src"), ("B-src", "Worst-src"), ("Worst-src", "A-src")])
def test_two_metrics_are_counted_over_all_evaluation_sets(
    two_kinds: Warehouse, measure: str, pair: tuple[str, str]
) -> None:
    found = metaeval.compare(two_kinds, "tiny24", "all", metrics=pair, measure=measure, status="all")
    significant = found.frame.filter(pl.col("p") <= 0.05)
    counts = {name: significant.filter(better=name).height for name in pair}
    n = found.frame["p"].count()
    first, second = sorted(pair, key=lambda name: -counts[name])
    if significant.is_empty():
        assert " do not differ significantly " in found.summary
        assert " in both evaluation sets (p > 0.05, new documents)." in found.summary
    else:
        said = f"in {counts[first]} of 2 evaluation sets, {second.removesuffix('-src')} in {counts[second]}"
        assert found.summary.startswith(f"{first.removesuffix('-src')} is significantly better than ")
        assert said in found.summary
        assert (f"do not differ significantly in {n - significant.height}" in found.summary) == (n > significant.height)
    assert sum(f"by {measure}" in note for note in found.notes) >= 2  # the sentence of each set


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
