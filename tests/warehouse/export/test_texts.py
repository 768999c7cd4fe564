"""Texts as plain lines: those that were loaded, in the order in which scores of a metric come back."""

from pathlib import Path

import duckdb
import pytest

from tests.helpers import LP, SYSTEMS, TESTSET, tiny_bytes, tiny_layout
from tests.sharing import written
from warehouse import QuestionError, Warehouse
from warehouse.export import export
from warehouse.own.scores import add

OUTPUTS = Path(TESTSET, "system-outputs", LP)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return written(tmp_path / "w.duckdb", tiny_bytes())


def exported(database: Path, *statements: str) -> tuple[Path, tuple[str, ...]]:
    """The folder of texts of the tiny task, after statements on its tables; and the notes."""
    with duckdb.connect(str(database)) as connection:
        connection.execute("SET search_path = 'internal'")
        for one in statements:
            connection.execute(one)
    (item,) = export(database, database.parent / "out", "texts", TESTSET, LP)
    files = [path for path in (database.parent / "out").rglob("*") if path.is_file()]
    assert (item.n_files, item.n_bytes) == (len(files), sum(path.stat().st_size for path in files))
    return database.parent / "out", item.notes


def test_the_files_are_those_that_were_loaded_and_a_scored_reference_is_a_system(
    database: Path, tmp_path: Path
) -> None:
    layout = tiny_layout(tmp_path / "layout")
    out, notes = exported(database)
    assert notes == ()
    for path in (Path("sources/en-de.txt"), Path("references/en-de.refA.txt"), Path("documents/en-de.docs")):
        assert (out / TESTSET / path).read_bytes() == (layout / path).read_bytes()
    assert sorted(path.stem for path in (out / OUTPUTS).iterdir()) == sorted(SYSTEMS)
    assert (out / OUTPUTS / "Ash.txt").read_bytes() == (layout / "system-outputs" / LP / "Ash.txt").read_bytes()
    assert (out / OUTPUTS / "refA.txt").read_bytes() == (layout / "references/en-de.refA.txt").read_bytes()
    assert not (out / TESTSET / "segments").exists()


def test_whatever_ends_a_line_inside_a_text_is_a_space_and_told(database: Path) -> None:
    ends = ("chr(10)", "chr(13) || chr(10)", "chr(11)", "chr(133)", "chr(8232)")
    out, notes = exported(
        database,
        *(
            f"UPDATE segment_text SET text = 'a' || {end} || 'b' WHERE name = 'Ash' AND segment = {number}"
            for number, end in enumerate(ends, start=1)
        ),
    )
    text = (out / OUTPUTS / "Ash.txt").read_bytes().decode()
    assert text == "a b\n" * 5
    assert text.splitlines() == ["a b"] * 5
    assert notes == ("line breaks are written as spaces in 5 texts",)


def test_texts_that_lack_segments_are_excluded_and_systems_without_any_are_counted(database: Path) -> None:
    out, notes = exported(
        database,
        "DELETE FROM segment_text WHERE kind = 'output' AND name = 'Ash' AND segment IN (2, 3)",
        "DELETE FROM segment_text WHERE kind = 'output' AND name = 'Beech'",
        "UPDATE segment_text SET text = '' WHERE kind = 'output' AND name = 'Cherry' AND segment = 1",
    )
    assert notes == (
        "1 scored system has no texts: Beech",
        "files with missing texts are excluded: system-outputs/en-de/Ash.txt (2 of 5 segments)",
    )
    assert sorted(path.stem for path in (out / OUTPUTS).iterdir()) == ["Cherry", "refA"]
    assert (out / OUTPUTS / "Cherry.txt").read_text().startswith("\nCherry 2\n")


def test_names_that_no_file_can_have_are_encoded_and_listed(database: Path) -> None:
    out, notes = exported(
        database,
        "UPDATE segment_text SET name = '../a:b' WHERE name = 'Ash'",
        "UPDATE system SET name = '../a:b' WHERE name = 'Ash'",
    )
    assert notes == ("names that are not valid file names are percent-encoded: %2E.%2Fa%3Ab.txt has system '../a:b'",)
    assert (out / OUTPUTS / "%2E.%2Fa%3Ab.txt").read_text().startswith("Ash 1\n")


def test_an_evaluation_set_without_texts_is_refused_and_leaves_nothing(database: Path) -> None:
    with pytest.raises(QuestionError, match=r"^nothing was written for tiny24 en-de: no texts are loaded$"):
        exported(database, "DELETE FROM segment_text")
    assert not (database.parent / "out").exists()


def _added(database: Path, path: Path) -> list[tuple[object, ...]]:
    report = add([path], database, "Mine", reference="refA", testset=TESTSET, lp=LP)
    assert report.is_clean, report.faults
    with Warehouse.open(database) as warehouse:
        return warehouse.rows(
            "SELECT s.system, t.text, s.value FROM scores AS s JOIN texts AS t USING (testset, lp, segment) "
            "WHERE s.base_metric = 'Mine' AND t.kind = 'output' AND t.name = s.system ORDER BY ALL"
        )


EXPECTED = [(system, f"{system} {n}", float(n)) for system in SYSTEMS[:3] for n in range(1, 6)]


@pytest.mark.slow
def test_scores_in_the_order_of_the_lines_come_back_to_their_texts(database: Path, tmp_path: Path) -> None:
    out, _ = exported(database)
    files = sorted((out / OUTPUTS).glob("*.txt"), reverse=True)
    scores = [f"{path.stem}\t{line.split()[1]}\n" for path in files for line in path.read_text().splitlines()]
    (tmp_path / "Mine.seg.score").write_text("".join(scores))
    assert _added(database, tmp_path / "Mine.seg.score") == EXPECTED


@pytest.mark.slow
def test_where_lines_are_no_positions_a_table_of_segments_says_which_they_are(database: Path, tmp_path: Path) -> None:
    """Documents n1 and n2 have 2 and 1 segments, s1 has 2; a table of documents and indices brings the scores back."""
    out, notes = exported(database, "UPDATE segment SET position = NULL")
    assert notes == ("line numbers differ from segment numbers; segments/en-de.tsv maps them",)
    lines = [row.split("\t") for row in (out / TESTSET / "segments/en-de.tsv").read_text().splitlines()]
    assert lines[0] == ["line", "position", "domain", "document", "index"]
    assert lines[4] == ["4", "", "speech", "s1", "1"]
    rows = [
        f"{path.stem},{document},{index},{text.split()[1]}\n"
        for path in (out / OUTPUTS).glob("*.txt")
        for (_, _, _, document, index), text in zip(lines[1:], path.read_text().splitlines(), strict=True)
    ]
    (tmp_path / "mine.csv").write_text("system,document,index,score\n" + "".join(rows))
    assert _added(database, tmp_path / "mine.csv") == EXPECTED
