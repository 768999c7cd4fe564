"""Outputs, references and sources under the names of the translation task's own releases."""

from collections.abc import Mapping
from pathlib import Path

from tests.warehouse.building import ask
from warehouse import load

TEXTS = {
    "system-outputs/cs-en/newstest2012.cs-en.cu-bojar": "one\ntwo\n",
    "system-outputs/cs-en/newstest2012.cs-en.online-A.12": "eins\nzwei\n",
    "system-outputs/de-en/newstest2012.online-A.0.de-en.txt": "1\n2\n",
    "references/newstest2012-ref.en": "uno\ndue\n",
    "sources/newstest2012-src.cs": "jedna\ndva\n",
}
HELD = "SELECT lp, kind, name, segment, text FROM texts ORDER BY ALL"


def _written(folder: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / "wmt12" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "wmt12"


def test_released_texts_are_those_of_their_systems_and_a_reference_is_of_every_pair_into_its_language(
    tmp_path: Path,
) -> None:
    root, database = _written(tmp_path, TEXTS), tmp_path / "w.duckdb"
    report = load([root], database)
    assert (report.faults, report.skipped) == ([], [])
    rows = ask(database, HELD)
    assert {row[:3] for row in rows if row[1] == "output"} == {
        *(("cs-en", "output", "cu-bojar"), ("cs-en", "output", "online-A"), ("de-en", "output", "online-A"))
    }
    assert {row[:3] for row in rows if row[1] == "reference"} == {
        ("cs-en", "reference", "ref"),
        ("de-en", "reference", "ref"),
    }
    assert [row for row in rows if row[1] == "source"] == [
        ("cs-en", "source", None, 1, "jedna"),
        ("cs-en", "source", None, 2, "dva"),
    ]
    assert {one.status for one in load([root], database).evalsets} == {"unchanged"}


def test_systems_that_differ_by_their_number_alone_keep_it_and_a_source_without_outputs_is_told(tmp_path: Path) -> None:
    texts = {
        "system-outputs/cs-en/newstest2012.cs-en.X.1": "a\n",
        "system-outputs/cs-en/newstest2012.cs-en.X.2": "b\n",
        "sources/newstest2012-src.fr": "c\n",
    }
    report = load([_written(tmp_path, texts)], tmp_path / "w.duckdb")
    assert {row[2] for row in ask(tmp_path / "w.duckdb", HELD)} == {"X.1", "X.2"}
    assert [reason for _, reason in report.skipped] == [
        "expected outputs of its language pairs in system-outputs/LP, such as fr-xx"
    ]
