"""`compare`: what it writes, what it keeps, what it refuses."""

import csv
import io
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_warehouse

KEYS = ("metrics", "values", "p", "clusters", "measure", "test", "alternative", "resamples", "signature")


@pytest.fixture
def compare(scorehouse: Scorehouse, database: Path) -> Scorehouse:
    """`compare` on the copy."""
    return lambda *words: scorehouse("--db", database, "compare", *words)


def test_json_has_the_documented_shape(compare: Scorehouse) -> None:
    shape = compare("sim24", "en-de", "-m", "pa", "--resamples", 50, "--format", "json").json
    assert [key for key in shape if key in KEYS] == list(KEYS)
    n = len(shape["metrics"])
    assert len(shape["values"]) == len(shape["clusters"]) == len(shape["p"]) == n > 10
    for i, row in enumerate(shape["p"]):
        assert len(row) == n
        assert all((p is None) == (i >= j) or shape["values"][j] is None for j, p in enumerate(row))
    values = [value for value in shape["values"] if value is not None]
    assert values == sorted(values, reverse=True)
    assert shape["clusters"][0] == 1
    assert all(b - a in (0, 1) for a, b in zip(shape["clusters"], shape["clusters"][1:], strict=False))
    assert (shape["measure"], shape["test"], shape["alternative"], shape["resamples"]) == (
        "pa",
        "bootstrap-normal",
        "two-sided",
        50,
    )


def test_a_measure_without_a_value_is_null_and_last(compare: Scorehouse) -> None:
    words = ("sim24", "en-de", "-m", "pearson", "--resamples", 20, "--population", "systems", "--format", "json")
    shape = compare(*words).json
    assert shape["metrics"][-2:] == ["Onlooker-src", "Steady-src"]
    assert shape["values"][-2:] == shape["ranks"][-2:] == [None, None]


@pytest.mark.slow
def test_every_format_holds_the_matrix(compare: Scorehouse) -> None:
    for kind in ("table", "csv", "tsv", "markdown", "latex"):
        ran = compare("sim24", "en-de", "sim*", "Marlin*", "-m", "pa", "--resamples", 20, "--format", kind)
        assert ran.code == 0
        for name in ("simBLEU-refA", "Marlin-24-refA"):
            shown = name.replace("_", "\\_")
            assert ran.out.count(shown) >= 2, kind


@pytest.mark.slow
def test_a_p_of_0_is_written_as_below_the_draws_for_reading_and_as_a_number_for_programs(compare: Scorehouse) -> None:
    words = ("sim24", "en-de", "Dice-src", "Marlin*", "simBLEU*", "-m", "pearson(by=item)", "--resamples", 40)
    assert compare(*words, "--format", "json").json["p"][0][-1] == 0
    assert compare(*words, "--format", "csv").out.splitlines()[1].endswith(",0.0")
    shown = {kind: compare(*words, "--format", kind).out for kind in ("table", "markdown", "latex")}
    assert " <0.025" in shown["table"]
    assert "| &lt;0.025 |" in shown["markdown"]
    assert " & $<0.025$" in shown["latex"]
    assert not any("0.0000" in text for text in shown.values())
    two = compare("sim24", "en-de", "Dice-src", "Marlin-24-refA", "-m", "pearson(by=item)", "--resamples", 40)
    assert " <0.025 " in two.out


@pytest.mark.slow
def test_a_long_matrix_stays_out_of_a_table_for_reading(compare: Scorehouse) -> None:
    ran = compare("sim24", "en-de", "-m", "pa", "--resamples", 20)
    assert ran.table[0].split() == ["rank", "metric", "value", "cluster"]
    assert "the matrix of p-values is in --format csv, json or latex, and in --chart FILE" in ran.notes
    wide = compare("sim24", "en-de", "-m", "pa", "--resamples", 20, "--format", "csv")
    assert wide.out.splitlines()[0].count(",") > 12


@pytest.mark.slow
def test_notes_tell_pairs_clusters_and_distinct_values(compare: Scorehouse) -> None:
    ran = compare("sim24", "en-de", "-m", "pa", "--resamples", 50)
    shape = compare("sim24", "en-de", "-m", "pa", "--resamples", 50, "--format", "json").json
    defined = {c for c, v in zip(shape["clusters"], shape["values"], strict=True) if v is not None}
    assert (
        f"{shape['n_significant']} pairs of metrics differ significantly for new documents of these systems, "
        f"{len(defined)} clusters, {shape['n_distinct']} distinct values" in ran.notes
    )
    assert shape["signature"] in ran.notes
    assert any(note.startswith("generalises to: new documents of these systems") for note in ran.notes)


@pytest.mark.slow
def test_a_second_run_says_that_it_comes_from_the_store_and_fresh_does_not(
    compare: Scorehouse, scorehouse: Scorehouse, database: Path
) -> None:
    words = ("sim24", "en-de", "-m", "pa", "--resamples", 50, "--format", "json")
    first, second, third = compare(*words), compare(*words), compare(*words, "--recompute")
    assert first.out == second.out == third.out
    line = "stored result; --recompute computes it again"
    assert [line in ran.notes for ran in (first, second, third)] == [False, True, False]
    listed = scorehouse("--db", database, "list", "results", "--format", "json").json
    assert [(row["kind"], row["testset"], row["lp"]) for row in listed] == [("compare", "sim24", "en-de")]
    assert listed[0]["signature"] == first.json["signature"]


def test_two_metrics_are_compared_in_words(compare: Scorehouse) -> None:
    words = ("sim24", "en-de", "--metrics", "simBLEU-refA", "--metrics", "Marlin-24-refA", "-m", "pearson")
    ran = compare(*words, "--resamples", 100)
    assert ran.code == 0
    assert [line.split()[0] for line in ran.table[2:]] == ["bootstrap-normal"]
    every = compare(*words, "--resamples", 100, "--all-tests")
    assert every.out.splitlines()[0] == ran.out.splitlines()[0]
    assert [line.split()[0] for line in every.table[2:]] == [
        "bootstrap-normal",
        "perm-systems",
        "perm-inputs",
        "perm-both",
        "williams",
        "jackknife-segments",
        "bootstrap",
        "jackknife-systems",
        "jackknife-both",
    ]
    sentence = "Marlin-24-refA is significantly better than simBLEU-refA by pearson of judged means ("
    assert ran.out.startswith(sentence)
    shape = compare(*words, "--resamples", 100, "--format", "json").json
    assert shape["metrics"] == ["Marlin-24-refA", "simBLEU-refA"]
    assert shape["interval"]["low"] < shape["difference"] < shape["interval"]["high"]
    assert shape["summary"] == ran.out.splitlines()[0]
    assert "power" not in shape
    (row, *_) = csv.DictReader(io.StringIO(compare(*words, "--resamples", 100, "--format", "csv").out))
    found = [float(row[name]) for name in ("difference", "low", "high")]
    assert found == [shape["difference"], shape["interval"]["low"], shape["interval"]["high"]]
    assert row["sentence"].startswith("By pearson (means over annotated segments), Marlin-24-refA (")


def test_metrics_without_what_a_test_needs_are_named(scorehouse: Scorehouse, tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        path = warehouse.path
    ran = scorehouse("--db", path, "compare", "tiny24", "en-de", "-m", "pdp", "--resamples", 20)
    assert ran.code == 0
    assert "Only-src is excluded: no segment scores" in ran.notes


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sim24", "en-de", "simBLEU-refA"), ["compare needs two metrics; you named one: simBLEU-refA"]),
        (("sim24", "en-de", "--test", "perm-input"), ["--test 'perm-input'", "did you mean 'perm-inputs'?"]),
        (("sim24", "en-de", "-m", "spa", "--test", "williams"), ["'williams' does not apply", "perm-inputs"]),
        (("sim24", "en-de", "-m", "pearson", "--test", "pairs"), ["'pairs' does not apply", "perm-systems"]),
        (("sim24", "en-de", "--alpha", "1"), ["alpha 1.0"]),
        (("sim24", "en-de", "-m", "pa", "--test", "perm-inputs", "--system-score", "submitted"), ["submitted"]),
        (("sim24", "en-de", "-m", "spa", "--system-score", "submitted"), ["submitted"]),
        (("sim24", "en-de", "-m", "pa", "--resample", "systems"), ["are for two metrics, and this slice has"]),
        (("sim24", "en-de", "--test", "perm-inputs", "--population", "both"), ["for population 'segments', not for"]),
        (("sim24", "en-de", "-m", "weighted_tau", "--population", "both"), ["no test for population 'both'"]),
        (("sim24", "en-de", "-m", "pa", "--legacy-df"), ["--legacy-df applies to williams"]),
        (("sim24", "en-de", "--segments", "1-40", "-m", "pa", "--system-score", "submitted"), ["no submitted system"]),
    ],
)  # fmt: skip
def test_bad_questions_end_with_code_2_and_one_line(
    compare: Scorehouse, words: tuple[str, ...], said: list[str]
) -> None:
    refused(compare(*words), 2, *said)


def test_a_chart_of_two_metrics_is_refused(compare: Scorehouse, tmp_path: Path) -> None:
    ran = compare(
        "sim24", "en-de", "simBLEU-refA", "Dice-src", "-m", "pa", "--resamples", 20, "--chart", tmp_path / "x.svg"
    )
    refused(ran, 2, "two metrics have none")
    assert not (tmp_path / "x.svg").exists()


def test_the_paper_s_command_on_wmt23(scorehouse: Scorehouse, wmt23_database: Path, tmp_path: Path) -> None:
    copy = shutil.copy(wmt23_database, tmp_path / "copy.duckdb")
    words = (
        "compare wmt23 he-en -m pa --test perm-inputs --alternative two-sided --resamples 1000 --kind reference-based"
    )
    ran = scorehouse("--db", copy, *words.split(), "--system-score", "judged-mean", "--format", "json")
    assert 175 <= ran.json["n_significant"] <= 181
    assert max(ran.json["clusters"]) == 5
    assert ran.json["n_distinct"] == 11
