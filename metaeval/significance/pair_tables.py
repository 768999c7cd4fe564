"""A comparison of two metrics as a table, and as nested values."""

from typing import Any

import polars as pl

from metaeval.answer import or_none
from metaeval.significance.pairwise import CONFIDENCE, PairwiseComparison


def pair_frame(found: PairwiseComparison) -> pl.DataFrame:
    """One row a test: test, population, alternative, system score, values, p, levels, resamples (0 = exact).

    Behind them what is the same for all: difference of the main test's values, its interval, and the main sentence.
    """
    rows = [
        {
            "test": one.test,
            "population": one.population,
            "alternative": one.alternative,
            "system_score": one.system_score,
            "better": found.metrics[0],
            "other": found.metrics[1],
            "value_better": one.values[0],
            "value_other": one.values[1],
            "p": one.p,
            "level_equal": one.level_equal,
            "level_exchangeable": one.level_exchangeable,
            "resamples": one.draws,
            "difference": found.difference,
            "low": found.low,
            "high": found.high,
            "sentence": found.words[0],
        }
        for one in found.tests
    ]
    schema = {
        **dict.fromkeys(("test", "population", "alternative", "system_score", "better", "other"), pl.String),
        **dict.fromkeys(("value_better", "value_other", "p", "level_equal", "level_exchangeable"), pl.Float64),
        "resamples": pl.Int64,
        **dict.fromkeys(("difference", "low", "high"), pl.Float64),
        "sentence": pl.String,
    }
    return pl.DataFrame(rows, schema=schema).fill_nan(None)


def pair_json(found: PairwiseComparison) -> dict[str, Any]:
    """A pairwise comparison as nested values."""
    return {
        "metrics": list(found.metrics),
        "values": list(found.values),
        "difference": found.difference,
        "interval": {
            "confidence": CONFIDENCE,
            "resample": found.resample,
            "method": found.interval,
            "low": found.low,
            "high": found.high,
        },
        "value_intervals": [{"low": low, "high": high} for low, high in found.value_intervals],
        "tests": [
            {
                "test": one.test,
                "population": one.population,
                "alternative": one.alternative,
                "system_score": one.system_score,
                "values": list(one.values),
                "p": one.p,
                "level_equal": or_none(one.level_equal),
                "level_exchangeable": or_none(one.level_exchangeable),
                "draws": one.draws,
            }
            for one in found.tests
        ],
        "power": found.power,
        "summary": " ".join(found.words),
        "measure": found.measure,
        "signature": found.signature,
    }
