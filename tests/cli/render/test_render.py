"""Results as text and files: one golden output a format, and what must not happen to data on the way."""

import csv
import io
import json
import math
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cli.exit_codes import UsageError
from cli.render import Format, note, output, render
from cli.render.delimited import delimited_text
from cli.render.json import json_text
from cli.render.table import fitted_text, table_text

ROOT = Path(__file__).parents[3]
FRAME = pl.DataFrame(
    {
        "metric": ["Kestrel_24-refA", "Dice|src", None],
        "value": [0.123456789012345, math.nan, -2.5],
        "p": [3.2e-9, 1.0, None],
        "rank": [1, 2, None],
        "in": [True, False, None],
    }
)
GOLDEN = {
    "table": (
        "metric             value        p  rank  in\n"
        "───────────────  ───────  ───────  ────  ───\n"
        "Kestrel_24-refA   0.1235  3.2e-09     1  yes\n"
        "Dice|src               -   1.0000     2  no\n"
        "-                -2.5000        -     -  -\n"
    ),
    "csv": (
        "metric,value,p,rank,in\nKestrel_24-refA,0.123456789012345,3.2e-9,1,true\nDice|src,,1.0,2,false\n,-2.5,,,\n"
    ),
    "tsv": (
        "metric\tvalue\tp\trank\tin\n"
        "Kestrel_24-refA\t0.123456789012345\t3.2e-9\t1\ttrue\n"
        "Dice|src\t\t1.0\t2\tfalse\n"
        "\t-2.5\t\t\t\n"
    ),
    "jsonl": (
        '{"metric": "Kestrel_24-refA", "value": 0.123456789012345, "p": 3.2e-09, "rank": 1, "in": true}\n'
        '{"metric": "Dice|src", "value": null, "p": 1.0, "rank": 2, "in": false}\n'
        '{"metric": null, "value": -2.5, "p": null, "rank": null, "in": null}\n'
    ),
    "markdown": (
        "| metric | value | p | rank | in |\n"
        "| --- | ---: | ---: | ---: | --- |\n"
        "| Kestrel\\_24-refA | 0.1235 | 3.2e-09 | 1 | yes |\n"
        "| Dice\\|src | - | 1.0000 | 2 | no |\n"
        "| - | -2.5000 | - | - | - |\n"
    ),
    "latex": (
        "\\begin{tabular}{lrrrl}\n"
        "\\toprule\n"
        "metric & value & p & rank & in \\\\\n"
        "\\midrule\n"
        "Kestrel\\_24-refA & 0.1235 & $3.2\\times 10^{-9}$ & 1 & yes \\\\\n"
        "Dice\\textbar{}src & -- & 1.0000 & 2 & no \\\\\n"
        "-- & $-2.5000$ & -- & -- & -- \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    ),
}


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_each_text_format_looks_as_agreed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    render(FRAME, name)
    assert capsys.readouterr().out.splitlines() == GOLDEN[name].splitlines()


def test_json_is_an_indented_list_of_objects_with_numbers_as_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    render(FRAME.head(2), "json")
    assert capsys.readouterr().out == (
        '[\n  {\n    "metric": "Kestrel_24-refA",\n    "value": 0.123456789012345,\n    "p": 3.2e-09,\n'
        '    "rank": 1,\n    "in": true\n  },\n  {\n    "metric": "Dice|src",\n    "value": null,\n'
        '    "p": 1.0,\n    "rank": 2,\n    "in": false\n  }\n]\n'
    )


def test_data_go_to_stdout_and_everything_else_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    render(FRAME.head(1), "csv", title="a title", signature=["first", "second"], notes=["a note"])
    captured = capsys.readouterr()
    assert captured.out.splitlines() == GOLDEN["csv"].splitlines()[:2]
    assert captured.err.splitlines() == ["a title", "first", "second", "a note"]


def test_a_signature_may_be_one_line_and_quiet_drops_it(capsys: pytest.CaptureFixture[str]) -> None:
    render(FRAME, "csv", signature="one line")
    assert capsys.readouterr().err == "one line\n"
    render(FRAME, "csv", title="a title", signature="one line", notes=["a note"], quiet=True)
    note("another", quiet=True)
    assert capsys.readouterr().err == ""


def test_digits_can_be_given_for_each_column(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"a": [1 / 3], "b": [1 / 3]})
    render(frame, "table", digits={"a": 2})
    assert capsys.readouterr().out.splitlines()[-1].split() == ["0.33", "0.3333"]
    render(frame, "table", digits=1)
    assert capsys.readouterr().out.splitlines()[-1].split() == ["0.3", "0.3"]


def test_a_wide_table_is_not_cut_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({f"column{i}": ["x" * 40] for i in range(20)})
    render(frame)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].split() == ["x" * 40] * 20


@pytest.mark.parametrize("width", [40, 60, 200])
def test_sentences_on_a_terminal_are_folded_to_its_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    frame = pl.DataFrame({"metric": ["Marlin"], "source": ["[bold]long text " * 4], "value": [0.98765]})
    text = fitted_text(frame, 4, width)
    assert max(map(len, text.splitlines())) <= width
    assert "0.9877" in text
    assert text.count("[bold]long") == 4


@given(
    st.lists(st.tuples(st.text("abc[] ", min_size=1, max_size=30), st.booleans()), min_size=1, max_size=8),
    st.integers(10, 120),
)
@example(cells=[("a" * 11, False)], width=10)
@example(cells=[("b ][cacc[][bcc]c", False), ("[][ [ acac a][[ccc  c", False), ("]aacc", False)], width=68)
def test_a_terminal_has_each_column_whole_or_counts_it_below(cells: list[tuple[str, bool]], width: int) -> None:
    values = [len(text) * 1111 if is_number else text for text, is_number in cells]
    frame = pl.DataFrame(
        [pl.Series(f"C{n}", [value, 7 if isinstance(value, int) else "."]) for n, value in enumerate(values)]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        table, _, below = fitted_text(frame, 4, width).partition("… ")
    heading = table.splitlines()[0].split()
    assert heading == [f"C{number}" for number in range(len(heading))]
    shown = values[: len(heading)]
    for sign in "abc[]":
        assert table.count(sign) == sum(value.count(sign) for value in shown if isinstance(value, str))
    assert all(isinstance(value, str) or str(value) in table for value in shown)
    assert (f"{len(values) - len(shown)} more column" in below) == (len(values) > len(shown))
    if len(shown) > 1:
        assert max(map(len, table.splitlines())) <= width


def test_one_row_that_does_not_fit_is_a_line_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    frame = pl.DataFrame({"n_judgements": [12], "x" * 40: [None], "y" * 40: ["a"], "z" * 40: [0.5]})
    assert [line.split() for line in fitted_text(frame, 1, 80).splitlines()[2:]] == [
        ["n_judgements", "12"],
        ["y" * 40, "a"],
        ["z" * 40, "0.5"],
    ]


def test_columns_with_one_value_are_a_line_and_rows_end_with_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    frame = pl.DataFrame({"rank": range(100), "metric": ["A"] * 100, "lp": ["en-de"] * 100})
    lines = fitted_text(frame, 4, 80).splitlines()
    assert lines[:3] == ["metric A, lp en-de", " #", "──"]
    assert (len(lines), lines[-1]) == (60, "… 44 more rows: --all")
    assert len(fitted_text(frame, 4, 80, every_row=True).splitlines()) == 103


def test_the_header_is_bold_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert fitted_text(FRAME, 4, 100).startswith("\x1b[1mmetric")
    assert "\x1b" not in table_text(FRAME, 4)


def test_wide_letters_keep_columns_aligned() -> None:
    text = table_text(pl.DataFrame({"source": ["日本語", "ab"], "n": [1, 2]}), 4)
    assert text.splitlines()[2:] == ["日本語  1", "ab      2"]


@pytest.mark.parametrize("name", [name for name in Format if name is not Format.PARQUET])
def test_a_frame_without_rows_or_columns_is_written(name: Format, capsys: pytest.CaptureFixture[str]) -> None:
    render(FRAME.clear(), name)
    out = capsys.readouterr().out
    if name is Format.JSON:
        assert json.loads(out) == []
    elif name is Format.JSONL:
        assert out == ""
    else:
        assert "metric" in out
    render(pl.DataFrame(), name)
    assert capsys.readouterr().out.strip() in ("", "[]")


@given(st.lists(st.floats(), min_size=1))
def test_floats_read_back_as_they_were_from_csv_and_json(values: list[float]) -> None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.Float64})
    rows = list(csv.DictReader(io.StringIO(delimited_text(frame, ","))))
    read = [float(row["x"]) if row["x"] else math.nan for row in rows]
    np.testing.assert_array_equal(read, values)
    from_json = [row["x"] for row in json.loads(json_text(frame.rows(named=True)))]
    assert from_json == [value if math.isfinite(value) else None for value in values]


@pytest.mark.slow
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\0")), min_size=1))
def test_texts_read_back_as_they_were_from_csv_and_tsv(values: list[str]) -> None:
    frame = pl.DataFrame({"x": values, "y": values})
    for separator in ",\t":
        reader = csv.DictReader(io.StringIO(delimited_text(frame, separator), newline=""), delimiter=separator)
        rows = [(row["x"], row["y"]) for row in reader]
        assert rows == [(value, value) for value in values]


def test_values_of_sql_have_a_form_in_every_format(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "when": [datetime(2024, 5, 1, 12, tzinfo=UTC).replace(tzinfo=None)],
            "day": [date(2024, 5, 1)],
            "for": [timedelta(seconds=90)],
            "list": [["a", None]],
            "structure": [{"x": 1, "y": math.nan}],
            "decimal": [Decimal("1.50")],
            "bytes": [b"\x01\xff"],
            "category": pl.Series(["c"], dtype=pl.Categorical),
        }
    )
    for name in Format:
        out = tmp_path / f"result.{name}"
        render(frame, name, out=out, quiet=True)
        assert out.stat().st_size > 0
    assert json.loads((tmp_path / "result.json").read_text()) == [
        {
            "when": "2024-05-01T12:00:00",
            "day": "2024-05-01",
            "for": 90.0,
            "list": ["a", None],
            "structure": {"x": 1, "y": None},
            "decimal": 1.5,
            "bytes": "01ff",
            "category": "c",
        }
    ]
    [row] = csv.DictReader((tmp_path / "result.csv").read_text().splitlines())
    assert (row["for"], row["bytes"], row["day"]) == ("90.0", "01ff", "2024-05-01")
    assert json.loads(row["structure"]) == {"x": 1, "y": None}
    assert json.loads(row["list"]) == ["a", None]


def test_nested_results_are_written_with_short_lists_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    result = {"metrics": ("A", "B"), "p": np.array([[np.nan, 0.25], [np.nan, np.nan]]), "draws": np.int64(10)}
    render(FRAME, "json", json_shape=result)
    assert capsys.readouterr().out == (
        '{\n  "metrics": ["A", "B"],\n  "p": [\n    [null, 0.25],\n    [null, null]\n  ],\n  "draws": 10\n}\n'
    )
    render(FRAME, "jsonl", json_shape=[result, {}])
    assert [len(json.loads(line)) for line in capsys.readouterr().out.splitlines()] == [3, 0]
    with pytest.raises(TypeError, match="no JSON form for a object"):
        render(FRAME, "json", json_shape={"x": object()})


def test_a_json_shape_takes_the_place_of_the_rows_in_json_only(capsys: pytest.CaptureFixture[str]) -> None:
    render(FRAME, "json", json_shape={"metrics": []})
    assert json.loads(capsys.readouterr().out) == {"metrics": []}
    render(FRAME, "csv", json_shape={"metrics": []})
    assert capsys.readouterr().out.startswith("metric,value")


def test_parquet_goes_to_a_file_or_a_pipe_but_not_to_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "result.parquet"
    render(FRAME, out=out, quiet=True)
    read = pl.read_parquet(out)
    assert read["value"].to_list() == [0.123456789012345, None, -2.5]
    assert read.drop("value").equals(FRAME.drop("value"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with pytest.raises(UsageError, match="parquet is binary: give a file with -o"):
        render(FRAME, "parquet")


@pytest.mark.parametrize(("form", "mark"), [("csv", ","), ("tsv", "\t")])
def test_no_text_in_csv_or_tsv_commands_a_terminal_and_programs_get_it_as_it_is(
    form: str, mark: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = "\x1b]0;title\x07a\tb\nc\r\x9b31m\u202e\u2028"
    frame = pl.DataFrame({"n": [1.5], f"name{commands}": [commands], "list": [[commands]]})
    render(frame, form)
    (header, row) = csv.reader(io.StringIO(capsys.readouterr().out, newline=""), delimiter=mark)
    assert (header[1], row[:2]) == (f"name{commands}", ["1.5", commands])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    render(frame, form)
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) == 2
    assert not [sign for sign in shown.replace(mark, "") if sign != "\n" and not sign.isprintable()]
    assert "title" in shown


FORMULAS = ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", '=HYPERLINK("http://127.0.0.1")', "＝1"]


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_safe_cells_quotes_what_spreadsheets_take_for_formulas_and_nothing_else(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [*FORMULAS, "plain", "a=b", "", "'", "x-1", None]
    frame = pl.DataFrame({"=name": texts, "value": [-1.5] * len(texts), "kind": pl.Series(texts, dtype=pl.Categorical)})
    render(frame, form, safe_cells=True)
    header, *rows = csv.reader(
        io.StringIO(capsys.readouterr().out, newline=""), delimiter="," if form == "csv" else "\t"
    )
    expected = [*(f"'{text}" for text in FORMULAS), "plain", "a=b", "", "'", "x-1", ""]
    assert header == ["'=name", "value", "kind"]
    assert rows == [[text, "-1.5", text] for text in expected]


def test_a_file_is_replaced_whole_and_named_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "result.csv"
    out.write_text("old")
    render(FRAME, out=out)
    assert out.read_text() == GOLDEN["csv"]
    assert capsys.readouterr() == ("", f"wrote 3 rows to {out}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["result.csv"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "result.csv"
    out.write_text("old")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match=r"can't write '.*result\.csv': No space left on device"):
        render(FRAME, out=out)
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result.csv"]


def test_a_missing_folder_and_a_folder_in_its_place_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder '.*missing'$"):
        render(FRAME, out=tmp_path / "missing" / "result.csv")
    with pytest.raises(UsageError, match=r"it is a folder$"):
        render(FRAME, out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_followed_and_kept(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    render(FRAME, out=tmp_path / "link.csv", quiet=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == GOLDEN["csv"]


def test_a_dash_is_stdout_and_a_device_is_written_to(capsys: pytest.CaptureFixture[str]) -> None:
    render(FRAME, "csv", out=Path("-"))
    assert capsys.readouterr() == (GOLDEN["csv"], "")
    output.write("gone", Path(os.devnull))
    assert not Path(os.devnull).is_file()


@pytest.mark.slow
def test_letters_beyond_ascii_are_utf8_in_every_locale() -> None:
    code = "import polars as pl; from cli.render import render\nrender(pl.DataFrame({'x': ['ε']}), signature='τ')"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii:backslashreplace"}
    command = [sys.executable, "-W", "error", "-c", code]
    assert "ε" in subprocess.run(command, capture_output=True, cwd=ROOT, env=environment, check=True).stdout.decode()


def test_columns_that_are_the_answer_are_dropped_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    frame = pl.DataFrame({"set": ["a", "b"], "long" * 5: ["x" * 20, "y" * 20], "more" * 5: [1, 2], "slope": [0.1, 0.2]})
    plain, chosen = fitted_text(frame, 1, 40), fitted_text(frame, 1, 40, important=("slope",))
    assert "slope" not in plain.splitlines()[0]
    assert chosen.splitlines()[0].split() == ["set", "long" * 5, "slope"]
    assert "1 more column" in chosen
