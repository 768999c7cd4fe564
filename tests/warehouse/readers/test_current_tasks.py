"""Scores of the current tasks as the released files have them, read off by hand."""

import polars as pl
import pytest

from tests.helpers import beside_data
from tests.warehouse.readers.reading import read
from warehouse.readers.recognition import RecordReader
from warehouse.readers.submissions import SubmissionReader
from warehouse.readers.wmt25_automatic import Wmt25AutomaticReader

pytestmark = pytest.mark.slow

CHALLENGE = "more/wmt25-challenge/4-to_return"
NEWS = "en-ja_JP_#_news_#_brisbanetimes.com.au.306576"
AUTOMATIC = "more/wmt25-general-mt-automatic/automatic_scores/Shy.jsonl"


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("SSA-MTE/baseline/chrF.tsv", {"lp": "en-amh", "system": "hyp1", "document": "0", "segment": 1}, 29.4423),
        ("SSA-MTE/baseline/chrF.tsv", {"lp": "en-amh", "system": "hyp1", "document": "99", "segment": 100}, 38.5441),
        ("SSA-MTE/baseline/chrF.tsv", {"lp": "en-amh", "system": "hyp1", "document": "1165", "index": 1}, 26.7893),
        ("mslc-b1/primary/MetricX-25.tsv", {"system": "hyp-1", "document": NEWS, "index": 5}, -19.074039459228516),
        ("mslc-b1/primary/MetricX-25.tsv", {"system": "hyp-2", "document": NEWS, "index": 5}, -31.710819244384766),
    ],
)
def test_results_on_challenge_sets(name: str, place: dict[str, object], value: float) -> None:
    found = value_at(SubmissionReader(), f"{CHALLENGE}/{name}", place)
    assert found == (f"challengeset2025.{name.partition('/')[0]}", value)


@pytest.mark.parametrize(
    ("metric", "document", "index", "value"),
    [
        ("CometKiwi-XL", "edu02178", 1, 0.34948140382766724),
        ("XCOMET-XL", "edu02178", 5, 0.9140826463699341),
        ("GEMBA-ESA-CMDA", "edu02178", 3, 64.0),
        ("MetricX-24-Hybrid-XL", "edu02178", 2, -3.197035789489746),
        ("XCOMET-XL", "edu02176", 1, 0.060679081827402115),
    ],
)
def test_paragraphs_of_the_general_task(metric: str, document: str, index: int, value: float) -> None:
    place = {"lp": "cs-uk_UA", "scorer": metric, "document": document, "index": index}
    assert value_at(Wmt25AutomaticReader(), AUTOMATIC, place) == ("wmt25", value)


def value_at(reader: RecordReader, name: str, place: dict[str, object]) -> tuple[str, float]:
    """Test set and value of the one score at a place."""
    frame = read(reader, beside_data(name)).scores
    ((testset, value),) = (
        frame.filter(pl.col(key) == said for key, said in place.items()).select("testset", "value").rows()
    )
    return testset, value
