"""`means` and `counts` of a warehouse and of an export, by every engine, as a user runs them."""

import os
import shutil
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import metaeval
from metaeval.questions import question_named
from tests.cli.running import Scorehouse, refused
from warehouse import QuestionError, Warehouse
from warehouse.export import export
from warehouse.export.exported import write_text
from warehouse.fields import fields_of
from warehouse.names import UNFINISHED_EXPORT

SET = ("sim24", "cs-uk")
ENGINES = fields_of(question_named("counts"))["engine"].choices


@pytest.fixture(scope="module")
def exported(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    own = shutil.copyfile(simulated_database, tmp_path_factory.mktemp("own") / simulated_database.name)
    export(own, folder, "parquet", *SET)  # other tests may hold the shared file open
    return folder


@pytest.fixture
def broken(exported: Path, tmp_path: Path) -> Path:
    """A copy of the export, to be damaged."""
    return Path(shutil.copytree(exported, tmp_path / "broken"))


def _needs_spark(engine: str) -> None:
    if engine == "spark":
        pytest.importorskip("pyspark", reason="PySpark (extra `spark`) is not installed")
        home = os.environ.get("JAVA_HOME")
        if shutil.which("java", path=str(Path(home) / "bin") if home else None) is None:
            pytest.skip(f"Spark needs Java, and there is no `java` {'in JAVA_HOME' if home else 'on the PATH'}")


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_counts_of_an_export_are_those_of_the_warehouse(engine: str, scorehouse: Scorehouse, exported: Path) -> None:
    _needs_spark(engine)
    asked = ("counts", *SET, "--metrics", "sim*", "--epsilon", "0.01", "--format", "csv")
    expected, found = scorehouse(*asked), scorehouse(*asked, "--from", exported, "--engine", engine)
    assert (found.code, found.out) == (0, expected.out), found.err
    assert len(found.out.splitlines()) > 50
    assert found.notes == expected.notes


def test_means_show_the_human_score_first_and_say_what_is_covered(scorehouse: Scorehouse) -> None:
    ran = scorehouse("means", *SET, "--metrics", "simBLEU", "--format", "json")
    rows = ran.json
    assert [row["kind"] for row in rows] == ["human"] * (len(rows) // 2) + ["metric"] * (len(rows) // 2)
    assert {row["scorer"] for row in rows} == {"mqm", "simBLEU-refA"}
    for human, metric in zip(rows, rows[len(rows) // 2 :], strict=False):
        assert human["system"] == metric["system"]
        assert human["n_segments"] == human["n_judged"] == metric["n_judged"] <= metric["n_segments"]
        assert human["mean"] == human["judged_mean"]
    assert ran.notes[0].startswith("table:means|testset:sim24|lp:cs-uk|human:mqm|")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["means", "counts"])
def test_what_is_no_whole_export_is_refused_in_one_line(
    command: str, scorehouse: Scorehouse, exported: Path, broken: Path, tmp_path: Path
) -> None:
    refused(scorehouse(command, *SET, "--from", tmp_path / "none"), 3, "none: no such folder", "scorehouse export DIR")
    refused(scorehouse(command, *SET, "--from", tmp_path), 3, "no exported Parquet", "scorehouse export DIR")
    refused(scorehouse(command, "sim23", "cs-uk", "--from", exported), 2, "unknown test set 'sim23'", "'sim24'")
    refused(scorehouse(command, "sim24", "cs-en", "--from", exported), 2, "unknown language pair 'cs-en'", "cs-uk")
    refused(scorehouse(command, *SET, "--from", exported, "--human", "mqn"), 2, "unknown human score", "'mqm'")
    (scores,) = broken.glob("score/*/*/data.parquet")
    whole = scores.read_bytes()
    scores.write_bytes(whole[: len(whole) // 2] + b"?" + whole[len(whole) // 2 + 1 :])
    refused(scorehouse(command, *SET, "--from", broken), 3, "differ from the manifest", "export it again")
    scores.unlink()
    refused(scorehouse(command, *SET, "--from", broken), 3, "missing: score/testset=sim24", "export it again")
    scores.write_bytes(whole)
    write_text(broken / UNFINISHED_EXPORT, "{}\n")
    refused(scorehouse(command, *SET, "--from", broken), 3, "unfinished export", "export it again")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["means", "counts"])
def test_an_engine_that_cannot_be_used_is_refused_with_the_way_out(
    command: str, scorehouse: Scorehouse, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(scorehouse(command, *SET, "--engine", "polar"), 2, "--engine 'polar'", "did you mean 'polars'")
    refused(scorehouse(command, *SET, "--engine", "spark"), 2, "--from DIR", "scorehouse export DIR")
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    ran = scorehouse(command, *SET, "--engine", "spark", "--from", exported)
    refused(ran, 2, "PySpark, which is not installed", "pip install 'scorehouse[spark]'", "--engine polars")


@pytest.mark.long("an export: 1 second")
def test_python_takes_an_exports_folder_where_it_takes_a_warehouse(
    simulated_warehouse: Warehouse, exported: Path
) -> None:
    for question in (metaeval.counts, metaeval.means):
        expected = question(simulated_warehouse, *SET, metrics="sim*", engine="polars")
        assert expected.frame.height > 0
        found = question(str(exported), *SET, metrics="sim*")
        assert_frame_equal(found.frame, expected.frame)
        assert found.signature == expected.signature
        with pytest.raises(QuestionError, match="did you mean 'duckdb'"):
            question(exported, *SET, engine="duckbd")
        with pytest.raises(QuestionError, match="reads exported Parquet"):
            question(simulated_warehouse, *SET, engine="spark")


def test_a_question_leaves_nothing_behind_in_the_connection(simulated_warehouse: Warehouse) -> None:
    metaeval.means(simulated_warehouse, *SET, engine="duckdb")
    left = "SELECT count(*) FROM duckdb_tables() WHERE temporary UNION ALL "
    left += "SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal"
    assert simulated_warehouse.rows(left) == [(0,), (0,)]


def test_many_pairs_are_counted_some_metrics_at_a_time(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metaeval.tables.counts import pair_counts
    from queries.slices import Slice

    asked = Slice(*SET, metrics=("sim*",))
    whole = pair_counts(simulated_warehouse, asked, engine="polars")
    steps: list[tuple[int, int]] = []
    monkeypatch.setattr("queries.counting._MOST_JOINED", 1)
    found = pair_counts(
        simulated_warehouse, asked, engine="polars", progress=lambda what, done, total: steps.append((done, total))
    )
    assert found.frame.equals(whole.frame)
    n = found.frame["metric"].n_unique()
    assert steps == [(done, n) for done in range(n)]
    assert n > 2
