"""Evidence on which metric to use: by hand, and against the comparisons that it stands on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.questions.advise import Advise
from metaeval.results.answer import Answer, Result, answer_of
from metaeval.studies.advice import BEST, SCHEMA, among_best, by_metric
from tests.helpers import tiny_layout
from warehouse import QuestionError, Warehouse, load
from warehouse.export.mtme import ScoreTable


def _row(testset: str, year: int, metric: str, value: float, best: bool | None, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "testset": testset,
        "lp": "en-de",
        "year": year,
        "human": "mqm",
        "metric": metric,
        "value": value,
        "low": value - 0.1,
        "high": value + 0.1,
        "is_among_best": best,
        "needs_reference": False,
        "kind": "llm",
    }
    return dict.fromkeys(SCHEMA) | row | more


ROWS = pl.DataFrame(
    [
        _row("wmt24", 2024, "New-src", 0.9, True, family="A", version="24"),
        _row("wmt24", 2024, "Old-src", 0.8, False, family="B", version="22"),
        _row("wmt23", 2023, "Former-src", 0.7, True, family="B", version="22"),
        _row("wmt23", 2023, "Other-refA", 0.6, None, needs_reference=True, kind=None, low=None, high=None),
    ],
    schema=SCHEMA,
)


def test_a_metric_of_several_years_is_one_row_by_its_newest_name() -> None:
    assert among_best(ROWS).select("metric", "n_best", "n_sets").rows() == [
        ("New-src", 1, 1),
        ("Old-src", 1, 2),
        ("Other-refA", 0, 1),
    ]
    assert by_metric(ROWS).to_dicts() == [
        _shown("New-src", "1 of 1", f"0.900 [0.80, 1.00] {BEST}", None),
        _shown("Old-src", "1 of 2", "0.800 [0.70, 0.90]", f"0.700 [0.60, 0.80] {BEST}"),
        _shown("Other-refA", "0 of 1", None, "0.600", ref="yes", kind="unknown"),
    ]


def test_metrics_of_one_set_that_share_family_and_version_are_rows_of_their_own() -> None:
    both = [_row("wmt24", 2024, f"New({part})-src", 0.9, True, family="A", version="24") for part in ("x", "y")]
    former = _row("wmt23", 2023, "New-src", 0.9, True, family="A", version="24")
    found = by_metric(pl.DataFrame([*both, former], schema=SCHEMA))
    assert found["metric"].to_list() == ["New(x)-src", "New(y)-src", "New-src"]


def _advised(*rows: dict[str, Any], idle: Sequence[str] = (), **more: Any) -> Answer[Any]:
    facts = {
        "generalises_to": {("wmt24", "en-de"): "new documents of these systems"},
        "idle": {("wmt24", "en-de"): idle},
    }
    frame = pl.DataFrame(rows, schema=SCHEMA)
    question = Advise(lp="en-de", **more)
    return answer_of(question, Result(frame, [], facts=facts), reading=by_metric(frame)).with_summary()


def _model(testset: str, year: int, metric: str, value: float, best: bool | None) -> dict[str, Any]:
    return _row(testset, year, metric, value, best, family=metric, version="1")


def test_the_answer_is_the_metric_that_is_best_supported_not_the_newest_set_s_first() -> None:
    rows = (
        _model("wmt24", 2024, "Lucky", 0.9, True),
        _model("wmt24", 2024, "Steady", 0.8, True),
        _model("wmt24", 2024, "Former", 0.7, False),
        _model("wmt23", 2023, "Former", 0.9, True),
        _model("wmt23", 2023, "Steady", 0.8, True),
        _model("wmt22", 2022, "Former", 0.9, True),
    )
    found = _advised(*rows)
    assert found.summary == (
        "For en-de, take Steady: among the best by spa in both of its sets (2023 to 2024, new documents). "
        "Next: Former (2 of 3)."
    )
    assert found.reading is not None
    assert found.reading["metric"].to_list() == ["Steady", "Lucky", "Former"]
    assert found.frame["metric"].to_list()[0] == "Lucky"


def test_metrics_with_as_much_support_are_named_together() -> None:
    rows = [_model(f"wmt{year}", 2000 + year, name, 0.8, True) for year in (24, 23) for name in ("A", "B")]
    assert _advised(*rows, domain=("news",), reference_free=True).summary == (
        "For en-de (news, without a reference), take A or B: each among the best by spa in both of its sets "
        "(2023 to 2024, new documents)."
    )


def test_the_evidence_of_several_language_pairs_is_that_of_the_named_metric() -> None:
    def said(lps: Sequence[str], **more: Any) -> str:
        rows = [_model("wmt24", 2024, "A", 0.8, True) | {"lp": lp} for lp in lps]
        rows += [_model("wmt20", 2020, "B", 0.9, True) | {"lp": lp} for lp in ("cs-en", "de-en", "ja-en", "ru-en")]
        facts = {"generalises_to": {("wmt24", lps[0]): "new documents of these systems"}}
        question = Advise(**more)
        return answer_of(question, Result(pl.DataFrame(rows, schema=SCHEMA), [], facts=facts)).with_summary().summary

    start = "ake A: among the best by spa in "
    assert said(["en-de", "en-es"]) == (
        f"T{start}both of its sets (wmt24 en-de, en-es; new documents). Next: B (4 of 4)."
    )
    assert said(["en-de", "en-es"], reference_free=True).startswith(f"Without a reference, t{start}both")
    assert said(["en-de", "en-es"], domain=("news",)).startswith(f"For news, t{start}both")
    many = said([f"{one}-{other}" for one in ("bg", "cs", "da", "de", "el") for other in ("en", "fr", "zh", "ja")])
    assert many.startswith(f"T{start}all 20 of its sets (20 language pairs of wmt24; new documents).")


def test_where_metrics_of_several_sets_are_mostly_worse_none_is_recommended() -> None:
    rows = (
        _model("wmt24", 2024, "A", 0.9, True),
        _model("wmt24", 2024, "B", 0.8, False),
        _model("wmt23", 2023, "B", 0.9, True),
        _model("wmt23", 2023, "A", 0.8, False),
    )
    assert _advised(*rows).summary == (
        "A ranks first for en-de in 2024 (wmt24 mqm, spa 0.900); the only other is significantly worse "
        "(new documents). "
        "No metric of several sets is more often among the best than worse."
    )


def _shown(metric: str, best: str, new: str | None, old: str | None, **more: str) -> dict[str, Any]:
    row = {"metric": metric, "ref": "no", "kind": "llm", "best": best, "wmt24 mqm": new, "wmt23 mqm": old}
    return row | more


def test_an_untested_metric_is_not_said_to_be_worse() -> None:
    def said(*others: bool | None, idle: Sequence[str] = ()) -> str:
        rows = [_row("wmt24", 2024, f"M{place}", 0.9 - place / 100, best) for place, best in enumerate((True, *others))]
        facts = {
            "generalises_to": {("wmt24", "en-de"): "new documents of these systems"},
            "idle": {("wmt24", "en-de"): idle},
        }
        return answer_of(Advise(), Result(pl.DataFrame(rows, schema=SCHEMA), [], facts=facts)).with_summary().summary

    assert said(False, None).endswith("; 1 of 2 others is significantly worse (new documents).")
    assert said(False, False).endswith("; both others are significantly worse (new documents).")
    assert said(False, None, idle=["S"]).endswith(
        "; 1 of 2 others (1 not counted) is significantly worse (new documents)."
    )
    assert said(True, True, True, idle=["S"]).endswith(", but no other is significantly worse (new documents).")
    assert said(True, True, True, False, idle=["S", "T"]).endswith(
        "; 3 of 4 others (2 not counted) do not differ significantly (new documents)."
    )
    assert said(True, False).endswith("; M1 does not differ significantly (new documents).")


def test_those_among_the_best_are_those_that_compare_finds_no_worse(simulated_warehouse: Warehouse) -> None:
    found = metaeval.advise(simulated_warehouse, "sim24", "cs-uk", measure="pearson")
    compared = metaeval.compare(simulated_warehouse, "sim24", "cs-uk", measure="pearson").frame
    leader, *others = compared["metric"].to_list()
    assert found.frame.row(0, named=True)["metric"] == leader
    assert found.frame.row(0, named=True)["is_among_best"] is True
    p = {name: compared[name][0] for name in others}
    rows = {row["metric"]: row for row in found.frame.to_dicts()[1:]}
    assert set(rows) <= set(p)
    assert {name: row["p"] for name, row in rows.items()} == {name: p[name] for name in rows}
    assert {name for name, row in rows.items() if row["is_among_best"]} == {n for n in rows if p[n] > 0.05}
    assert all(row["low"] < row["value"] < row["high"] for row in rows.values() if row["low"] is not None)


def test_references_domains_and_alpha_restrict_the_evidence(simulated_warehouse: Warehouse) -> None:
    asked: dict[str, Any] = {"testset": "sim24", "lp": "cs-uk", "measure": "pearson"}
    free = metaeval.advise(simulated_warehouse, **asked, reference_free=True)
    assert not free.frame["needs_reference"].any()
    assert " ranks first for cs-uk (without a reference) in 2024 (sim24 " in free.summary
    sure = metaeval.advise(simulated_warehouse, **asked, alpha=1e-300)
    assert sure.frame["is_among_best"].all()
    with pytest.raises(QuestionError):
        metaeval.advise(simulated_warehouse, **asked, domain="no such domain")


def test_sets_without_evidence_are_named_with_the_reason(tmp_path: Path) -> None:
    human = np.arange(6.0)[:, None] + np.random.default_rng(0).normal(size=(6, 12))
    table = ScoreTable(tuple("ABCDEF"), seg=human, sys=human.mean(axis=1))
    for testset, names in (("one24", ("Fine-src", "Fine-refA")), ("two24", ("Fine-src", "Rough-src")), ("none24", ())):
        tiny_layout(
            tmp_path / "in",
            testset=testset,
            systems=table.systems,
            humans={"mqm": table},
            metrics=dict.fromkeys(names, table),
            documents=[("news", str(number)) for number in range(12)],
            texts=False,
        )
    assert load([tmp_path / "in"], tmp_path / "a.duckdb").is_clean
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        found = metaeval.advise(warehouse, measure="pearson", reference_free=True)
        with pytest.raises(QuestionError, match=r"none is loaded \(`scorehouse list lps` shows what has metrics\)"):
            metaeval.advise(warehouse, "none24", measure="pearson", reference_free=True)
    said = (
        "no evidence: none24 en-de (no metric is loaded); one24 en-de (only one reference-free metric can be ranked by "
    )
    assert f"{said}pearson, Fine-src)" in found.notes
