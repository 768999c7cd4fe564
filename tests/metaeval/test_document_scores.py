"""Scores of documents are treated as segments' scores: values by plain loops, on a tiny task and on WMT20's."""

import gzip
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metaeval
from tests import naive
from tests.helpers import LP, MQM, NAN, SYSTEMS, TESTSET, beside_data, metric_tables, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse, load
from warehouse.export.mtme import ScoreTable

HUMAN = ((-3.0, -5.0, -1.0), (-3.0, -6.0, NAN), (-9.0, -11.0, -25.0))
METRIC = ((0.5, 0.4, 0.9), (0.6, 0.4, 0.8), (0.1, 0.3, 0.2))
SOME = ((0.5, 0.4, 0.9), (0.6, NAN, 0.8), (0.1, 0.3, 0.2))


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("documents")
    mqm = ScoreTable(systems=SYSTEMS[:3], seg=np.array(MQM)[:3], sys=np.array((-1.0, -2.0, -9.0)), doc=np.array(HUMAN))
    tables = {
        name: ScoreTable(systems=SYSTEMS[:3], doc=np.array(of)) for name, of in (("M-src", METRIC), ("S-src", SOME))
    }
    metrics = {"Fine-src": metric_tables()["Fine-src"], **tables}
    root = tiny_layout(folder / "layout", humans={"mqm": mqm}, metrics=metrics)
    with tiny_warehouse(folder, root) as warehouse:
        yield warehouse


@pytest.mark.parametrize(("measure", "by"), [("tau_b(by=none)", "none"), ("tau_b(by=item)", "item")])
def test_values_are_those_of_plain_loops(measure: str, by: str, documents: Warehouse) -> None:
    labels = np.zeros((3, 3)) if by == "none" else np.tile(np.arange(3.0), (3, 1))
    groups = naive.groups(np.array(HUMAN), np.array(METRIC), labels).values()
    taus = [tau for cells in groups if not math.isnan(tau := naive.tau("tau_b", cells))]
    found = metaeval.rank(documents, TESTSET, LP, level="doc", measures=[measure])
    (row,) = found.frame.rows(named=True)
    assert row["metric"] == "M-src"
    assert row["value"] == pytest.approx(math.fsum(taus) / len(taus), abs=1e-12)
    assert "|level:doc|" in found.signature
    assert "|n_segments:3/3|n_missing:1|" in found.signature
    assert "documents are treated as segments" in found.notes


def test_metrics_without_scores_of_documents_are_excluded_with_the_reason(documents: Warehouse) -> None:
    found = metaeval.rank(documents, TESTSET, LP, level="doc", measures=["tau_b(by=item)"], explain=True)
    reasons = dict(found.frame.filter(kind="metric").select("name", "reason").rows())
    assert reasons["Fine-src"] == "no document scores"
    assert reasons["S-src"].startswith("1 (system, document) score missing")
    assert reasons["M-src"] == ""


def test_documents_are_chosen_by_name(documents: Warehouse) -> None:
    found = metaeval.rank(documents, TESTSET, LP, level="doc", document=["n*"], measures=["pearson(by=none)"])
    x, y = np.array(HUMAN)[:, :2].ravel().tolist(), np.array(METRIC)[:, :2].ravel().tolist()
    assert found.frame["value"].item() == pytest.approx(naive.pearson(x, y), abs=1e-12)
    assert "|n_segments:2/3|" in found.signature


def test_what_documents_have_not_is_refused(documents: Warehouse, tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"measures": ["pearson"]}, "pearson uses submitted system scores"),
        ({"measures": ["mcc(good=error_free)"]}, "counts marked errors"),
        ({"measures": ["pdp"], "segments": "1-2"}, "applies to whole documents"),
        ({"measures": ["pdp"], "human": "mqm:z"}, "applies to segments"),
    ]
    for more, says in cases:
        with pytest.raises(QuestionError, match=says):
            metaeval.rank(documents, TESTSET, LP, level="doc", **more)
    with tiny_warehouse(tmp_path) as tiny, pytest.raises(QuestionError, match="no scores of documents"):
        metaeval.rank(tiny, TESTSET, LP, level="doc", measures=["pdp"])


@pytest.mark.slow
def test_kendall_of_documents_of_wmt20_is_that_of_the_files(tmp_path: Path) -> None:
    """Better and worse of each document at least 25 raw points apart, as WMT20's document level counts them."""
    folder = beside_data("more", "wmt20-doc")
    people = folder / "manual-evaluation" / "DA" / "metrics-ad-doc-scores-cs-en.csv"
    metric = folder / "final-metric-scores" / "submissions" / "prism.doc.score.gz"
    report = load([people, metric], tmp_path / "w.duckdb")
    assert not report.faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = metaeval.rank(
            warehouse, "wmt20", "cs-en", level="doc", measures=["kendall_like(threshold=25)"], with_outliers=True
        )
    scores = {}
    for row in (line.split("\t") for line in gzip.decompress(metric.read_bytes()).decode().splitlines()):
        if row[1:4] == ["cs-en", "newstest2020", "newstest2020"]:
            scores[row[4], row[5]] = float(row[6])
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for system, document, raw, *_ in (line.split() for line in people.read_text(encoding="utf-8").splitlines()[1:]):
        if not system.lower().startswith("human"):
            judged[document][system] = float(raw)
    right = wrong = 0
    for document, of in judged.items():
        for better, worse in ((a, b) for a in of for b in of if of[a] - of[b] >= 25):
            agrees = scores[better, document] > scores[worse, document]
            right, wrong = right + agrees, wrong + (not agrees)
    assert found.frame["value"].item() == pytest.approx((right - wrong) / (right + wrong), abs=1e-12)
