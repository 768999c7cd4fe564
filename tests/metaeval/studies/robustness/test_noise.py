"""Noise injected into metrics of the simulated task: known truths, what a measure must not see, spreads, refusals."""

import math

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.studies.robustness.noise import DEFAULT_MEASURES, HUMAN, noise, reading
from metaeval.studies.robustness.settings import NoiseSettings
from queries.slices import Slice
from warehouse import QuestionError, Warehouse

EN_DE = Slice("sim24", "en-de")
MEASURES = [parse_measure(text) for text in (*DEFAULT_MEASURES, "spa(n=inf)")]


@pytest.fixture(scope="module")
def of_people(simulated_warehouse: Warehouse) -> pl.DataFrame:
    what = NoiseSettings(strengths=(0.5, 1.0, 2.0), shares=(0.01, 0.05), simulations=8)
    return noise(simulated_warehouse, EN_DE, None, MEASURES, Options(), what).frame


@pytest.mark.slow
def test_without_noise_the_human_score_is_a_perfect_metric(of_people: pl.DataFrame) -> None:
    clean = of_people.filter(pl.col("strength") == 0)
    assert clean["value"].to_list() == pytest.approx([1.0] * clean.height)
    assert set(clean["metric"]) == {HUMAN}
    assert clean["n_draws"].unique().to_list() == [1]


def test_independent_noise_lowers_pearson_as_its_theory_says(of_people: pl.DataFrame) -> None:
    """corr(h, h + strength · sd(h) · z) = 1 / √(1 + strength²); its sampling error over 3000 scores is below .02."""
    rows = of_people.filter((pl.col("kind") == "independent") & (pl.col("measure") == "pearson(by=none)"))
    for strength, value in rows.select("strength", "value").rows():
        assert value == pytest.approx(1 / math.sqrt(1 + strength**2), abs=0.02)


@pytest.mark.parametrize("measure", ["pdp", "pearson(by=item)", "acc_eq(by=item)"])
def test_measures_within_segments_do_not_see_biases_of_segments(of_people: pl.DataFrame, measure: str) -> None:
    rows = of_people.filter((pl.col("kind") == "segment") & (pl.col("measure") == measure))
    assert rows["value"].to_list() == pytest.approx([1.0] * rows.height, abs=1e-6)


def test_more_noise_is_never_better(of_people: pl.DataFrame) -> None:
    for (kind, measure), rows in of_people.group_by("kind", "measure"):
        values = rows.sort("strength")["value"].to_numpy()
        assert (np.diff(values) <= 0.02).all(), (kind, measure)  # up to chance: 8 draws
    assert (of_people["low"] <= of_people["value"] + 1e-12).all()
    assert (of_people["value"] <= of_people["high"] + 1e-12).all()
    assert of_people["lost"].to_list() == pytest.approx((1 - of_people["value"]).to_list())


def test_without_noise_a_metric_has_the_value_of_its_ranking(simulated_warehouse: Warehouse) -> None:
    ranked = metaeval.rank(
        simulated_warehouse, "sim24", "en-de", list(DEFAULT_MEASURES), metrics="Kestrel-24"
    ).frame.select("measure", "value")
    found = metaeval.noise(
        simulated_warehouse, "sim24", "en-de", "Kestrel-24", kinds=["system"], strengths=[1.0], simulations=2
    ).frame
    clean = found.filter(pl.col("strength") == 0).select("measure", "value")
    assert dict(clean.rows()) == pytest.approx(dict(ranked.rows()))
    assert found["metric"].unique().to_list() == ["Kestrel-24-refA"]


def test_a_table_for_reading_has_a_line_for_each_strength_and_a_column_for_each_measure(
    of_people: pl.DataFrame,
) -> None:
    wide = reading(of_people)
    assert wide.columns == ["kind", "strength", *map(str, MEASURES)]
    assert wide.height == 3 * 4 + 3


@pytest.mark.parametrize(
    ("metric", "what", "message"),
    [
        ("Kestrel-25", NoiseSettings(), "unknown metric"),
        ("Kestrel*", NoiseSettings(), "several metrics"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    metric: str | None, what: NoiseSettings, message: str, simulated_warehouse: Warehouse
) -> None:
    with pytest.raises(QuestionError, match=message):
        noise(simulated_warehouse, EN_DE, metric, MEASURES, Options(), what)
    with pytest.raises(QuestionError, match="strengths"):
        NoiseSettings(strengths=(-1.0,))
    with pytest.raises(QuestionError, match="shares"):
        NoiseSettings(shares=(2.0,))
    with pytest.raises(QuestionError, match="means over annotated segments"):
        noise(
            simulated_warehouse, EN_DE, None, MEASURES, Options(system_score="submitted"), NoiseSettings(simulations=1)
        )
    with pytest.raises(QuestionError, match="kinds 'document': expected one of"):
        metaeval.noise(simulated_warehouse, "sim24", "en-de", kinds=["document"])
