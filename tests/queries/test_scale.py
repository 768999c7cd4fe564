"""What the page on scale says of exported Parquet."""

import re
from pathlib import Path

import duckdb
import pytest

from warehouse import Warehouse


@pytest.mark.slow
def test_the_page_on_scale_tells_what_works(
    exported_evalsets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its SQL and Python run as they stand there, on an export in a folder `scores`."""
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    page = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|sql)\n(.*?)```", page, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["python", "sql", "python", "python"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores").symlink_to(exported_evalsets)
    for kind, text in blocks:
        if kind == "python":
            exec(text, {})
        else:
            with duckdb.connect() as connection:
                assert len(connection.execute(text).fetchall()) > 10
    assert "SELECT" in capsys.readouterr().out
    with Warehouse.open(tmp_path / "again.duckdb") as warehouse:
        assert warehouse.rows("SELECT count(*) > 0 FROM scores") == [(True,)]
