"""Segments, annotators or a metric: numbers that designs need, by hand from the components that the view shows."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import metaeval
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

N, RATERS = 60, 3


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Three systems, 60 segments in 20 documents, three annotators of each output; a metric that helps."""
    folder = tmp_path_factory.mktemp("designs")
    rng = np.random.default_rng(2)
    people, metric = [], []
    for place, system in enumerate("ABC"):
        for segment in range(N):
            quality = place + rng.normal()
            document, line = divmod(segment, 3)
            metric.append(f"{system},d{document},{line + 1},{quality:.4f}\n")
            people += [
                f"{system},d{document},{line + 1},r{rater},{quality + rng.normal():.4f}\n" for rater in range(RATERS)
            ]
    (folder / "people.csv").write_text("system,document,segment,annotator,score\n" + "".join(people))
    (folder / "metric.csv").write_text("system,document,segment,Helper\n" + "".join(metric))
    for name, human in (("metric.csv", None), ("people.csv", "score")):
        given = LoadHints(testset="lab", lp="en-de", human=human, numbering="document")
        load([folder / name], folder / "w.duckdb", given=given)
    with Warehouse.open(folder / "w.duckdb") as warehouse:
        yield warehouse


def test_segments_for_each_number_of_annotators_are_those_of_the_components(lab: Warehouse) -> None:
    options: dict[str, Any] = {"compare": "systems", "unit": "segment"}
    found = metaeval.plan(lab, "lab", "en-de", "A", "B", annotators=3, **options)
    components = dict(
        metaeval.annotators(lab, "lab", "en-de", view="variance").frame.select("component", "variance").rows()
    )
    rows = found.frame.rows(named=True)
    assert [row["n_annotators"] for row in rows] == [1, 2, 3]
    for row in rows:
        k = row["n_annotators"]
        variance = 2 * (components["system:segment"] + components["residual"] / k)
        # The normal quantiles of .975 and .8
        assert row["n_segments"] == math.ceil((1.959964 + 0.841621) ** 2 * variance / row["difference"] ** 2)
        assert row["n_judgements"] == k * row["n_segments"]
        assert row["error"] == pytest.approx(math.sqrt(variance / N))
    assert (rows[0]["first"], rows[0]["second"], rows[0]["n_loaded"]) == ("B", "A", N)
    assert "components:score|" in found.signature
    assert "× 3 annotators" in found.summary


def test_a_metric_that_helps_needs_fewer_segments_and_one_annotator_the_observed_variance(lab: Warehouse) -> None:
    options: dict[str, Any] = {"compare": "systems", "unit": "segment", "assisted_by": ("Helper",)}
    (row,) = metaeval.plan(lab, "lab", "en-de", "A", "B", **options).frame.rows(named=True)
    saved = metaeval.systems(lab, "lab", "en-de", "A", ["B"], assisted_by="Helper").frame["saved"][0]
    assert row["saved"] == pytest.approx(saved)
    assert row["saved"] > 0.4
    plain = (1.959964 + 0.841621) ** 2 * row["error"] ** 2 * N / row["difference"] ** 2
    assert row["n_segments"] == math.ceil(plain)
    assert row["n_segments_assisted"] == math.ceil(plain * (1 - saved))
    both = metaeval.plan(lab, "lab", "en-de", "A", "B", annotators=2, **options)
    assert both.frame.height == 2
    assert (both.frame["n_segments_assisted"] < both.frame["n_segments"]).all()
    assert "by:Helper-ref" in both.signature


def test_documents_of_like_segments_need_more_of_them(lab: Warehouse) -> None:
    options: dict[str, Any] = {"compare": "systems", "annotators": 1}
    of_documents = metaeval.plan(lab, "lab", "en-de", "A", "B", **options)
    of_segments = metaeval.plan(lab, "lab", "en-de", "A", "B", unit="segment", **options)
    assert of_documents.frame["n_segments"][0] >= of_segments.frame["n_segments"][0]
    assert any("design effect" in note for note in of_documents.notes)
    assert "× 1 annotator in documents (" in of_documents.summary
    assert "× 1 annotator if segments are independent (" in of_segments.summary


@pytest.mark.parametrize("unit", ["document", "segment"])
def test_simulated_plans_and_designs_answer_alike(lab: Warehouse, unit: str) -> None:
    options: dict[str, Any] = {"compare": "systems", "unit": unit}
    simulated = metaeval.plan(lab, "lab", "en-de", "A", "B", **options).frame.row(0, named=True)
    design = metaeval.plan(lab, "lab", "en-de", "A", "B", annotators=RATERS, **options).frame.row(-1, named=True)
    per_unit = 3 if unit == "document" else 1
    # Components are means over all systems, and simulated tests of few documents need more than normal ones.
    for column, name in (("needed", "n_segments"), ("data_low", "data_low"), ("data_high", "data_high")):
        assert 0.5 < simulated[column] * per_unit / design[name] < 2


def test_the_interval_of_a_design_has_the_difference_s_uncertainty_and_no_upper_end_if_it_may_be_chance(
    lab: Warehouse,
) -> None:
    options: dict[str, Any] = {"compare": "systems", "unit": "segment", "assisted_by": ("Helper",)}
    row = metaeval.plan(lab, "lab", "en-de", "A", "B", **options).frame.row(0, named=True)
    d = row["difference"] / row["error"]
    assert row["data_low"] == math.ceil(row["n_segments"] * (d / (d + 1.959964)) ** 2)
    assert row["data_high"] == math.ceil(row["n_segments"] * (d / (d - 1.959964)) ** 2)
    few = metaeval.plan(lab, "lab", "en-de", "A", "B", segments="1-12", **options)
    assert few.frame["difference"][0] / few.frame["error"][0] < 1.96
    assert few.frame["data_high"].to_list() == [None]
    assert "95% interval: at least" in few.summary
    assert few.summary.endswith("Their difference may be chance.")


@pytest.mark.parametrize(
    ("systems", "options", "why"),
    [
        (("A", "B"), {"annotators": 2}, "annotators needs compare=.systems"),
        (("A", "D"), {"annotators": 2, "compare": "systems"}, "unknown system 'D'"),
        (("A", "B"), {"assisted_by": "Hlper", "compare": "systems"}, "unknown metric 'Hlper'"),
        (("A", "B"), {"annotators": 2, "compare": "systems", "simulations": 30}, "simulations does nothing"),
        ((), {}, "name two metrics, or two systems"),
    ],
)
def test_designs_that_cannot_be_planned_are_refused(
    lab: Warehouse, systems: tuple[str, ...], options: dict[str, Any], why: str
) -> None:
    with pytest.raises(QuestionError, match=why):
        metaeval.plan(lab, "lab", "en-de", *systems, **options)
