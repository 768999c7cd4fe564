"""No load ends with a score whose values are all missing."""

import json
from pathlib import Path

from warehouse import load
from warehouse.readers.claims import LoadHints

HUMEVAL = {"scores": {"Ash": {"human1": None}, "Elm": {"human1": None}}, "doc_id": "en-de_#_a_#_b_#_1"}
FILES = {
    "mine.csv": "testset,lp,metric,system,segment,score\nlab,en-cs,M,A,1,\nlab,en-cs,M,A,2,None\n",
    "humeval.jsonl": json.dumps(HUMEVAL) + "\n",
    "mqm_lab_ende.avg_seg_scores.tsv": "system mqm_avg_score seg_id\nA None 1\nA None 2\n",
    "wmt25/automatic_scores/Ash.jsonl": json.dumps(
        {"metric_scores": {"M": [None]}, "language_pair": "en-de", "domain": "news", "document_id": "d"}
    )
    + "\n",
}


def test_scores_without_any_value_are_refused(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / "lab" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lab" / name).write_text(text)
    report = load([tmp_path / "lab"], tmp_path / "w.duckdb", given=LoadHints(testset="lab"))
    told = {fault.path for fault in report.faults if "missing" in fault.found}
    assert told == {str(tmp_path / "lab" / name) for name in FILES}


def test_an_empty_score_is_found_among_files_of_other_scores_and_lengths(tmp_path: Path) -> None:
    for name, n_segments, value in (("M", 3, "0.5"), ("Other", 40_000, "0.25"), ("Absent", 3, "")):
        rows = "".join(f"{name},A,{n},{value}\n" for n in range(1, n_segments + 1))
        (tmp_path / f"{name}.csv").write_text("metric,system,segment,score\n" + rows)
    report = load(sorted(tmp_path.glob("*.csv")), tmp_path / "w.duckdb", given=LoadHints(testset="lab", lp="en-de"))
    (fault,) = report.faults
    assert fault.found == "every score of Absent is missing (3 rows)"
