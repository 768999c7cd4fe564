"""`scorehouse export` as a user runs it."""

from pathlib import Path

import duckdb
import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_bytes
from tests.sharing import written

LPS = ("cs-en", "de-en", "en-cs", "en-de", "en-ja")


def test_an_export_tells_what_it_wrote(scorehouse: Scorehouse, tmp_path: Path) -> None:
    ran = scorehouse("--format", "json", "export", tmp_path / "out", "sim24", "en-de")
    (row,) = ran.json
    assert (row["testset"], row["lp"]) == ("sim24", "en-de")
    assert row["rows"] > 1000
    assert row["bytes"] == sum(path.stat().st_size for path in (tmp_path / "out").rglob("*.parquet"))


def test_wrong_words_are_refused(scorehouse: Scorehouse, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    refused(scorehouse("export", tmp_path / "file"), 2, "expected a folder")
    below = tmp_path / "file" / "below"
    told = scorehouse("export", below)
    refused(told, 2, str(below))
    assert "Errno" not in told.err


@pytest.mark.slow
def test_evaluation_sets_without_segments_are_excluded_from_the_layout_in_one_line_that_counts_them(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    rows = "".join(f"sim42,{lp},sys,BLEU,{system},0.{n}\n" for lp in LPS for n, system in enumerate("AB", start=1))
    (tmp_path / "own.csv").write_text("testset,lp,level,metric,system,score\n" + rows)
    database = written(tmp_path / "sys.duckdb", tiny_bytes())
    assert scorehouse("--db", database, "load", tmp_path / "own.csv").code == 0
    ran = scorehouse("--db", database, "export", tmp_path / "out", "--format", "mtme")
    assert ran.code == 0
    assert ran.notes == [
        "5 evaluation sets (sim42 cs-en, sim42 de-en, sim42 en-cs and 2 more): "
        "nothing is written, because no segments are known, and the layout needs them",
        f"wrote mtme to {tmp_path / 'out'}",
    ]
    why = "nothing was written for sim42 cs-en: no segments are known, and the layout needs them"
    for lp, more in (((), "; nor for 4 more"), (("cs-en",), "")):
        ran = scorehouse("--db", database, "export", tmp_path / "none", "sim42", *lp, "--format", "mtme")
        assert refused(ran, 2) == f"error: {why}{more}"
        assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("form", ["mtme", "texts"])
@pytest.mark.parametrize("table", ["segment_text", "scorer"])
@pytest.mark.parametrize("name", ["N" * 300, "🙂" * 50, "../../out", "a/b"])
def test_a_name_that_no_file_can_have_leaves_nothing_behind(
    form: str, table: str, name: str, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    database = written(tmp_path / "tiny.duckdb", tiny_bytes())
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            f"UPDATE internal.{table} SET name = $name WHERE name IN ('Ash', 'Fine-src')", {"name": name + "-src"}
        )
    before = sorted(tmp_path.iterdir())
    ran = scorehouse("--db", database, "export", tmp_path / "out", "--format", form)
    left = [path for path in sorted(tmp_path.iterdir()) if path not in before]
    if form == "texts" and (table == "scorer" or "/" in name):  # no file is called as a metric, and the rest is encoded
        assert (ran.code, left) == (0, [tmp_path / "out"])
    else:
        refused(ran, 2, name[:40])
        assert left == []
