"""`add` and `remove`: what they write, and what they refuse in one line."""

import re
from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import LP, TESTSET, metric_tables, tiny_bytes, tiny_layout, together
from tests.sharing import written

ROWS = "".join(f"{system}\t{value}\n" for system in ("Ash", "Beech", "Cherry") for value in range(5))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with scores of one's own beside a warehouse with the tiny task, which is the default one."""
    monkeypatch.setenv("SCOREHOUSE_DB", str(tmp_path / "tiny.duckdb"))
    tiny_layout(tmp_path)
    written(tmp_path / "tiny.duckdb", tiny_bytes())
    path = tmp_path / "mine.seg.score"
    path.write_text(ROWS)
    return path


@pytest.mark.slow
def test_an_own_metric_is_ranked_on_demand_and_named_as_such(scorehouse: Scorehouse, own: Path) -> None:
    words = ("--metric", "Mine", "--ref", "refA", "--testset", TESTSET, "--lp", LP)
    (row,) = scorehouse("add", own, *words, "--format", "json").json
    assert (row["status"], row["files"], row["scores"]) == ("added", 1, 15)
    measure = ("-m", "acc23(by=item)")
    assert "Mine" not in scorehouse("rank", TESTSET, LP, *measure).out
    ranked = scorehouse("rank", TESTSET, LP, *measure, "--user-metrics")
    assert "Mine-refA" in ranked.out
    assert "your own: Mine-refA" in ranked.notes
    (listed,) = [row for row in scorehouse("list", "metrics", TESTSET, LP, "--format", "json").json if row["is_own"]]
    assert listed["metric"] == "Mine-refA"
    (removed,) = scorehouse("remove", "Mine", "--format", "json").json
    assert (removed["testset"], removed["lp"], removed["files"], removed["scores"]) == (TESTSET, LP, 1, 15)
    refused(scorehouse("remove", "Mine"), 2, "unknown user metric, test set, source or loaded path 'Mine'")


def test_faults_end_with_the_code_of_bad_data(scorehouse: Scorehouse, own: Path) -> None:
    own.write_text(ROWS.replace("Beech", "Birch"))
    ran = scorehouse("add", own, "--metric", "Mine", "--reference-free", "--testset", TESTSET, "--lp", LP)
    assert ran.code == 3
    assert any("mine.seg.score:6: unknown system 'Birch'" in line and "Beech" in line for line in ran.notes)


@together(
    ("words", "hints"),
    [
        (["--metric", "Mine"], ["--ref", "--reference-free"]),
        (["--metric", "Mine", "--ref", "refA", "--reference-free"], ["give either"]),
        (["--ref", "refA"], ["--metric"]),
        (["--metric", "Mine", "--ref", "refA", "--testset", TESTSET, "--lp", "deutsch"], ["--lp", "en-de"]),
        (
            ["--metric", "Rough", "--ref", "refA", "--testset", TESTSET, "--lp", LP],
            ["Rough is already a metric of tiny24"],
        ),
        (["--metric", "Mine", "--ref", "refX", "--testset", TESTSET, "--lp", LP], ["unknown reference 'refX'"]),
    ],
)
def test_a_wrong_command_line_is_one_line(
    words: list[str], hints: list[str], scorehouse: Scorehouse, own: Path
) -> None:
    refused(scorehouse("add", own, *words), 2, *hints)


def test_a_name_that_could_not_be_asked_for_is_one_line_wherever_it_is_given(scorehouse: Scorehouse, own: Path) -> None:
    words = ("--ref", "refA", "--testset", TESTSET, "--lp", LP)
    line = refused(scorehouse("add", own, "--metric", "a*b", *words), 2)
    assert line.startswith("error: 'a*b' is not a valid metric name: ")
    named = own.rename(own.with_name("a*b-refA.seg.score"))
    assert refused(scorehouse("rank", TESTSET, LP, "--with", named), 2) == line


def test_a_missing_file_is_one_line(scorehouse: Scorehouse, own: Path) -> None:
    refused(scorehouse("add", own.with_name("none.tsv"), "--metric", "Mine", "--ref", "refA"), 2, "no such file")


@pytest.mark.slow
def test_what_was_loaded_is_taken_away_after_a_look_at_it(scorehouse: Scorehouse, own: Path) -> None:
    shown = scorehouse("remove", TESTSET, LP, "--dry-run", "--format", "json")
    assert shown.notes == ["nothing was changed: a dry run"]
    (row,) = shown.json
    assert (row["testset"], row["lp"], row["is_gone"]) == (TESTSET, LP, True)
    assert scorehouse("remove", TESTSET, "--format", "json").json == [row]
    refused(scorehouse("remove", TESTSET), 2, f"unknown user metric, test set, source or loaded path '{TESTSET}'")
    assert scorehouse("list", "testsets", "--format", "json").json == []


@pytest.mark.slow
def test_scores_are_checked_without_being_stored(scorehouse: Scorehouse, own: Path) -> None:
    database = own.parent / "tiny.duckdb"
    before = database.read_bytes()
    words = ("--metric", "Mine", "--ref", "refA", "--testset", TESTSET, "--lp", LP, "--dry-run")
    checked = scorehouse("add", own, *words, "--format", "json")
    assert [(row["status"], row["scores"]) for row in checked.json] == [("added", 15)]
    assert "nothing was stored: a dry run" in checked.notes
    own.write_text(ROWS.replace("Ash", "Oak"))
    wrong = scorehouse("add", own, *words)
    assert (wrong.code, "unknown system 'Oak'" in wrong.err) == (3, True)
    assert database.read_bytes() == before


@pytest.mark.slow
def test_a_file_is_ranked_with_the_others_without_being_stored(scorehouse: Scorehouse, own: Path) -> None:
    database = own.parent / "tiny.duckdb"
    before = database.read_bytes()
    measure = ("-m", "acc23(by=item)", "--format", "json")
    path = own.rename(own.with_name("en-de.Mine-refA.seg.score"))
    found = scorehouse("rank", TESTSET, LP, *measure, "--with", path).json
    assert "Mine-refA" in {row["metric"] for row in found}
    others = [{**row, "signature": "", "rank": 0} for row in found if row["metric"] != "Mine-refA"]
    alone = scorehouse("rank", TESTSET, LP, *measure).json
    assert others == [{**row, "signature": "", "rank": 0} for row in alone]
    path.write_text(ROWS.replace("Ash\t3", "Ash\tmany"))
    wrong = scorehouse("rank", TESTSET, LP, "--with", path)
    assert (wrong.code, wrong.out, "'many'" in wrong.err) == (3, "", True)
    own.write_text(ROWS)
    nameless = scorehouse("rank", TESTSET, LP, *measure, "--with", own)
    assert "Mine-refA" in {row["metric"].replace("mine", "Mine") for row in nameless.json}
    assert "mine.seg.score names no reference; assuming refA" in nameless.notes
    assert database.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize(("used", "asked"), [(("refA",), ()), (("refA", "refB"), ("--reference", "refB"))])
def test_where_no_reference_is_official_a_file_is_ranked_with_the_reference_of_the_others(
    used: tuple[str, ...], asked: tuple[str, ...], scorehouse: Scorehouse, own: Path, tmp_path: Path
) -> None:
    metrics = {f"Fine-{reference}": metric_tables()["Fine-src"] for reference in used}
    root = tiny_layout(tmp_path / "layout", metrics=metrics, facts=False)
    database = ("--db", tmp_path / "without.duckdb")
    assert scorehouse(*database, "load", root).code == 0
    path = own.rename(own.with_name("en-de.Mine.seg.score"))
    words = ("rank", TESTSET, LP, "-m", "acc23(by=item)", "--with", path)
    ran = scorehouse(*database, *words, *asked, "--format", "json")
    assert {row["metric"] for row in ran.json} == {f"Mine-{used[-1]}", f"Fine-{used[-1]}"}
    assert f"en-de.Mine.seg.score names no reference; assuming {used[-1]}" in ran.notes
    if asked:
        refused(scorehouse(*database, *words), 2, "named after the metric and its reference")


@pytest.mark.slow
def test_a_file_brings_no_other_metric_of_one_s_own(scorehouse: Scorehouse, own: Path) -> None:
    stored = own.rename(own.with_name("Kept.seg.score"))
    assert scorehouse("add", stored, "--metric", "Kept", "--reference-free", "--testset", TESTSET, "--lp", LP).code == 0
    path = stored.rename(own.with_name("Mine-refA.seg.score"))
    named = ("--metrics", "Kept", "--metrics", "Mine", "--metrics", "Fine")
    for words, expected in (
        ((), {"Mine-refA"}),
        (("--user-metrics",), {"Mine-refA", "Kept-src"}),
        (named, {"Mine-refA", "Kept-src"}),
    ):
        found = scorehouse("rank", TESTSET, LP, "-m", "acc23(by=item)", "--format", "json", "--with", path, *words).json
        assert {row["metric"] for row in found} & {"Mine-refA", "Kept-src"} == expected, words


@pytest.mark.slow
def test_a_file_is_ranked_in_every_evaluation_set_that_it_covers(scorehouse: Scorehouse, own: Path) -> None:
    assert scorehouse("load", tiny_layout(own.parent, lp="de-en")).code == 0
    before = own.with_name("tiny.duckdb").read_bytes()

    def ranked(*lps: str) -> tuple[set[str], list[str]]:
        path = own.with_name("Mine-src.csv")
        cells = [row.split("\t") for row in ROWS.splitlines()]
        rows = [f"{lp},{system},{n % 5 + 1},{value}" for lp in lps for n, (system, value) in enumerate(cells)]
        path.write_text("\n".join(["lp,system,seg,score", *rows, ""]))
        ran = scorehouse("rank", TESTSET, "all", "-m", "acc23(by=item)", "--format", "json", "--with", path)
        assert ran.code == 0, ran.err
        return {row["lp"] for row in ran.json if row["metric"] == "Mine-src"}, ran.notes

    found, notes = ranked(LP, "de-en")
    assert found == {LP, "de-en"}
    assert not any("no scores for" in line for line in notes)
    found, notes = ranked(LP)
    assert found == {LP}
    assert any(line.endswith("Mine-src.csv: no scores for tiny24 de-en") for line in notes)
    assert own.with_name("tiny.duckdb").read_bytes() == before


@pytest.mark.slow
def test_faults_of_a_file_to_rank_are_lines_as_of_one_that_is_added(scorehouse: Scorehouse, own: Path) -> None:
    path = own.rename(own.with_name("en-de.Mine-refA.seg.score"))
    path.write_text(re.sub(r"^(Ash|Beech)\t.*", r"\1\tmany", ROWS, flags=re.M))
    ranked = scorehouse("rank", TESTSET, LP, "--with", path)
    added = scorehouse("add", path, "--metric", "Mine", "--ref", "refA", "--testset", TESTSET, "--lp", LP)
    assert (ranked.code, ranked.out) == (3, "")
    assert len(ranked.notes) > 3
    assert ranked.notes == [line for line in added.notes if line.startswith("error: ")]
    assert "\\x0a" not in ranked.err


@pytest.mark.slow
def test_what_is_written_and_removed_opens_with_a_sentence(scorehouse: Scorehouse, own: Path, tmp_path: Path) -> None:
    words = ("--metric", "Mine", "--ref", "refA", "--testset", TESTSET, "--lp", LP)
    sentences = [
        (("add", own, *words, "--dry-run"), "In this dry run, 1 evaluation set has further files: 15 segment scores "),
        (("add", own, *words), "1 evaluation set has further files: 15 segment scores from 1 file."),
        (("add", own, *words), "1 evaluation set is unchanged."),
        (("export", tmp_path / "out", TESTSET), "1 evaluation set is exported: "),
        (("remove", "Mine", "--dry-run"), "15 scores from 1 file of tiny24 en-de would be removed."),
        (("remove", "Mine"), "15 scores from 1 file of tiny24 en-de are removed."),
    ]
    for asked, said in sentences:
        assert scorehouse(*asked).out.startswith(said), asked


def test_a_test_set_is_no_suggestion_for_a_metric_to_remove(scorehouse: Scorehouse, own: Path) -> None:
    assert "did you mean" not in refused(scorehouse("remove", "MyTiny"), 2)
    assert f"did you mean '{TESTSET}'" in refused(scorehouse("remove", f"{TESTSET}x"), 2)
