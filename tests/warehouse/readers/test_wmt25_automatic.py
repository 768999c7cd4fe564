import json
from pathlib import Path

import pytest

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import answer as asked
from tests.warehouse.readers.reading import read
from warehouse.readers.automatic_scores import UNSUBMITTED
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.wmt25_automatic import Wmt25AutomaticReader

PATH = Path("wmt25-general-mt/data/automatic_scores/GPT-4.1.jsonl")
READER = Wmt25AutomaticReader()


def document(scores: object, lp: object = "en-bho_IN", domain: object = "news", name: object = "doc.7") -> str:
    content = {"language_pair": lp, "domain": domain, "document_id": name, "metric_scores": scores}
    return json.dumps(content) + "\n"


def test_every_paragraph_and_metric_has_a_row() -> None:
    records = read(READER, PATH, document({"CometKiwi-XL": [0.5, None], "chrF++": [40, 41.5]}))
    assert records.faults == []
    columns = ["line", "testset", "lp", "level", "kind", "scorer", "reference", "system"]
    assert records.scores.select(columns).unique(maintain_order=True).rows() == [
        (1, "wmt25", "en-bho_IN", "seg", "metric", "CometKiwi-XL", None, "GPT-4.1"),
        (1, "wmt25", "en-bho_IN", "seg", "metric", "chrF++", "refA", "GPT-4.1"),
    ]
    places = records.scores.select("scorer", "domain", "document", "index", "value").rows()
    assert places == [
        ("CometKiwi-XL", "news", "doc.7", 1, 0.5),
        ("CometKiwi-XL", "news", "doc.7", 2, None),
        ("chrF++", "news", "doc.7", 1, 40.0),
        ("chrF++", "news", "doc.7", 2, 41.5),
    ]


def test_metrics_took_no_part_in_the_metrics_task() -> None:
    claim = asked(READER, PATH, document({}).encode(), LoadHints())
    assert isinstance(claim, Claim)
    assert claim.status == "no entry"
    assert claim.reader.partition("/")[0] in UNSUBMITTED
    assert claim.origin == "wmt25/automatic_scores/GPT-4.1.jsonl"


def test_packed_files_have_the_same_system() -> None:
    records = read(READER, PATH.with_name("GPT-4.1.jsonl.gz"), document({"chrF++": [1]}))
    assert records.scores["system"].to_list() == ["GPT-4.1"]


def test_a_document_without_paragraphs_brings_nothing() -> None:
    records = read(READER, PATH, document({"chrF++": []}))
    assert records.faults == []
    assert records.scores.is_empty()


@together(
    ("line", "found"),
    [
        ("{broken\n", "not a JSON object"),
        ("[1]\n", "not a JSON object"),
        ("\n", "a blank line"),
        (document({}, lp=3), "language_pair 3.0"),
        (document({}, name=None), "document_id None"),
        (document([1]), "no metric_scores"),
        (document({"chrF++": 1}), "chrF++ without numbers"),
        (document({"chrF++": ["1"]}), "chrF++ without numbers"),
        (document({"chrF++": [True]}), "chrF++ without numbers"),
        (document({"chrF++": [1e999]}), "chrF++ inf"),
        (document({"chrF++": [1]}).replace("[1]", "[1" + "0" * 400 + "]"), "chrF++ inf"),
        (document({"A": [1], "B": [1, 2]}), "lists of several lengths (A 1, B 2)"),
        (document({"A": [1]}, lp="English"), "language pair 'English'"),
    ],
)
def test_a_line_that_does_not_fit_is_a_fault(line: str, found: str) -> None:
    records = read(READER, PATH, document({"chrF++": [1]}) + line)
    (fault,) = records.faults
    assert fault.line == 2
    assert found in fault.found
    assert 1.0 in records.scores["value"].to_list()


def test_nan_is_missing() -> None:
    records = read(READER, PATH, document({"chrF++": [float("nan"), 2]}))
    assert records.faults == []
    assert records.scores["value"].to_list() == [None, 2.0]


@pytest.mark.slow
def test_real_files_are_read_whole() -> None:
    folder = real_data("wmt25-general-mt", "data", "automatic_scores")
    n_rows = n_missing = n_values = n_null = 0
    for path in sorted(folder.glob("*.jsonl")):
        records = read(READER, path)
        assert records.faults == []
        n_rows += records.scores.height
        n_missing += records.scores["value"].null_count()
        for line in path.read_text(encoding="utf-8").splitlines():
            for values in json.loads(line)["metric_scores"].values():
                n_values += len(values)
                n_null += values.count(None)
    assert (n_rows, n_missing) == (n_values, n_null)
    assert (n_rows, n_missing) == (571_828, 3)
