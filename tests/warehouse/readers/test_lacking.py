"""A file that nobody reads says what it lacks to be one that is near."""

from pathlib import Path

from tests.helpers import together
from warehouse.readers.claims import LoadHints
from warehouse.readers.recognition import claim
from warehouse.wording import option

ADD = f"`scorehouse add FILE {option('metric', 'NAME')}` adds it as a metric of your own"
NO_NAMES = "systems and scores without column names; name the file METRIC.seg.score or METRIC.sys.score"
GIVEN = LoadHints(testset="mine24", lp="en-de")
OWN = LoadHints(testset="mine24", lp="en-de", metric="Mine", is_own=True)


@together(
    ("name", "text", "lack"),
    [
        ("README", "Scores of our task.\nOne, two, three.\n", "text without columns"),
        ("a.json", '{"hyp.txt": [{"src": "a", "mt": "b", "COMET": 0.5}]}', f"output of a metric program; {ADD}"),
        ("a.out", "hyp.txt\tSegment 0\tscore: 0.5\n", f"output of a metric program; {ADD}"),
        (
            "a.jsonl",
            '{"source": "a", "hypothesis": "b", "prediction": 0.5}\n',
            f"JSON lines without a key system; {ADD}",
        ),
        ("a.txt", "0.5\n0.25\n", f"numbers only; {ADD}"),
        ("a.json", '{\n  "a": 1\n}\n', "JSON that is not one object per line"),
        ("a.jsonl", '{"a": 1, "b": 2}\n', "JSON lines without a key system"),
        ("a.csv", "segment,score\n1,0.5\n", "a table without a column system"),
        ("a.csv", "system,comment\nA,good\n", "a table without a column of scores"),
        ("a.tsv", "Ash\t0.5\nBeech\t0.25\n", NO_NAMES),
    ],
)
def test_a_load_says_what_is_lacking(tmp_path: Path, name: str, text: str, lack: str) -> None:
    (tmp_path / name).write_text(text)
    assert claim(tmp_path / name, GIVEN) == f"not a known score format: {lack}"


@together(
    ("name", "text", "lack"),
    [
        ("README", "Scores of our task.\nOne, two, three.\n", "text without columns"),
        ("a.csv", "system,comment\nA,good\n", "a table without a column of scores"),
        ("a.tsv", "Ash\t0.5\nBeech\t0.25\n", NO_NAMES),
    ],
)
def test_so_does_an_own_metric(tmp_path: Path, name: str, text: str, lack: str) -> None:
    (tmp_path / name).write_text(text)
    assert claim(tmp_path / name, OWN) == f"not a known score format: {lack}"


@together(
    ("name", "text"),
    [
        ("a.jsonl", '{"system": "A", "segment": 1, "source": "a", "hypothesis": "b", "prediction": 0.5}\n'),
        ("a.csv", "system,segment,prediction\nA,1,0.5\n"),
        ("a.tsv", "system\tCOMET\tprediction\nA\t0.5\t0.25\n"),
    ],
)
def test_a_load_takes_no_errors_for_a_metric_named_prediction(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    way_out = f"`scorehouse add FILE {option('metric', 'NAME')}` stores them negated"
    assert claim(tmp_path / name, GIVEN) == f"errors of an unknown metric in 'prediction'; {way_out}"
