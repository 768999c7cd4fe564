"""Judgements of real campaigns: components of variance, agreement and reliability are those measured elsewhere."""

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import metaeval
from tests.helpers import beside_data
from warehouse import Warehouse, load
from warehouse.readers.claims import LoadHints

RATINGS = "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv"
WMT23 = LoadHints(testset="wmt23", lp="en-de", human="mqm", numbering="document")


@pytest.mark.slow
def test_variance_of_wmt23_is_as_measured_where_fragments_of_the_source_language_are_free(tmp_path: Path) -> None:
    """The measured values give 0 to all categories with "source" in their name.

    Of these the organisers give 0 to "Source issue" alone: "Source language fragment" is an error of the translation.
    The measured values also add the 25 of a non-translation to the other errors of its output, which it replaces here:
    five major errors stand for it.
    """
    lines = beside_data("more", "google-mqm", RATINGS).read_text(encoding="utf-8").splitlines(keepends=True)
    free = [line.replace("\tAccuracy/Source language fragment\t", "\tSource issue\t") for line in lines]
    assert sum(one != other for one, other in zip(lines, free, strict=True)) == 202
    majors = [f"Accuracy/{name}" for name in ("Addition", "Mistranslation", "Omission")] + ["Other", "Style/Awkward"]
    added = []
    for line in free:
        is_non = "\tNon-translation!\t" in line
        added += [line.replace("Non-translation!", name) for name in majors] if is_non else [line]
    assert len(added) == len(free) + 4
    (tmp_path / RATINGS).write_text("".join(added), encoding="utf-8")
    for path, expected, errors in (
        (tmp_path / RATINGS, (5.823, 13.638, 9.364, 13.493, 11.644), (0.648, 0.515, 0.374)),
        (beside_data("more", "google-mqm", RATINGS), (6.111, 15.398, 9.865, 14.214, 11.876), (0.659, 0.526, 0.381)),
    ):
        database = tmp_path / f"{expected[0]}.duckdb"
        load([path], database, given=WMT23)
        with Warehouse.open(database) as warehouse:
            components = metaeval.annotators(warehouse, "wmt23", "en-de", view="variance").frame
            precision = metaeval.annotators(warehouse, "wmt23", "en-de", view="precision").frame
        assert components["component"].to_list() == ["system", "segment", "system:segment", "segment:rater", "residual"]
        assert components["variance"].to_list() == pytest.approx(expected, abs=0.002)
        for (n, k), error in zip(((100, 1), (100, 3), (300, 1)), errors, strict=True):
            assert precision.filter(n_segments=n, n_raters=k)["error"][0] == pytest.approx(error, abs=6e-4)


REPLACEMENT = {
    "MetricX-23-refA": (0.601, 0.7),
    "XCOMET-Ensemble-refA": (0.591, 0.7),
    "MetricX-23-QE-src": (0.588, 0.5),
    "GEMBA-MQM-src": (0.565, 0.2),
    "BLEURT-20-refA": (0.547, 0.1),
    "COMET-refA": (0.535, 0.1),
    "BLEU-refA": (0.483, 0.0),
}
"""Measured agreement with annotators and winning rates."""


@pytest.mark.slow
def test_metrics_of_wmt23_replace_as_many_annotators_as_measured(wmt23_database: Path, tmp_path: Path) -> None:
    """Measured with items of a segment dependent, epsilon .1, and GPT4-5shot as judged beside ONLINE-W.

    The halves that set tie thresholds differ: agreement is within .007, a winning rate within one of ten annotators.
    """
    lines = beside_data("more", "google-mqm", RATINGS).read_text(encoding="utf-8").splitlines(keepends=True)
    free = [line.replace("\tAccuracy/Source language fragment\t", "\tSource issue\t") for line in lines]
    kept = [line for line in free if not line.startswith(("GPT4-5shot_with_refA\t", "refA\t"))]
    named = [line.replace("GPT4-5shot_with_ONLINE-W\t", "GPT4-5shot\t", 1) for line in kept]
    (tmp_path / RATINGS).write_text("".join(named), encoding="utf-8")
    database = Path(shutil.copy(wmt23_database, tmp_path / "w.duckdb"))
    load([tmp_path / RATINGS], database, given=replace(WMT23, human="mqm3"))
    with Warehouse.open(database) as warehouse:
        frame = metaeval.annotators(
            warehouse, "wmt23", "en-de", human="mqm3", view="replace", rule="clustered", epsilon=0.1
        ).frame
    assert frame.filter(kind="annotator")["agreement"].mean() == pytest.approx(0.591, abs=0.0015)
    found = {
        name: (agreement, rate) for name, agreement, rate in frame.select("name", "agreement", "winning_rate").rows()
    }
    for name, (agreement, rate) in REPLACEMENT.items():
        assert found[name][0] == pytest.approx(agreement, abs=0.007), name
        assert found[name][1] == pytest.approx(rate, abs=0.101), name


@pytest.mark.slow
def test_reliability_of_simplicity_ratings_is_as_printed(tmp_path: Path) -> None:
    """The ratings were standardised by annotator."""
    expected = json.loads(beside_data("expected", "other-tasks", "simplification_icc.json").read_text())
    with beside_data("more", "other-tasks", "simplification", "simplicity_DA_ratings.csv").open(newline="") as file:
        rows = [
            f"{row['sys_name']},{row['sent_id']},{row['rater_id']},{row['simplicity']}\n"
            for row in csv.DictReader(file)
        ]
    (tmp_path / "ratings.csv").write_text("system,segment,annotator,score\n" + "".join(rows))
    given = LoadHints(testset="simplicity", lp="en-en", human="score")
    load([tmp_path / "ratings.csv"], tmp_path / "w.duckdb", given=given)
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        ratings = metaeval.annotators(warehouse, "simplicity", "en-en", human="score:z", view="variance")
    icc = ratings.result.facts["icc"]
    assert (icc.single, icc.mean) == pytest.approx((expected["icc1"], expected["icc1k"]), abs=5e-4)
