"""`rank --significance`: clusters beside the ranking, from the same scores as the ranking."""

import re
from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_warehouse, together


@pytest.fixture
def ranked(scorehouse: Scorehouse, default_database: Path) -> Scorehouse:
    return lambda *words: scorehouse("--db", default_database, *words)


def test_clusters_are_those_of_compare(ranked: Scorehouse) -> None:
    words = ("sim24", "en-de", "-m", "pa", "--resamples", 60, "--format", "json")
    rows = ranked("rank", *words, "--significance").json
    shape = ranked("compare", *words).json
    expected = dict(zip(shape["metrics"], shape["clusters"], strict=True))
    assert {row["metric"]: row["cluster"] for row in rows} == expected
    plain = ranked("rank", "sim24", "en-de", "-m", "pa", "--format", "json").json
    assert all(row["cluster"] is None for row in plain)
    assert [list(row) for row in rows] == [list(row) for row in plain]


@pytest.mark.slow
@together("test", ["perm-inputs", "perm-both", "perm-systems"])
def test_clusters_follow_the_values_of_the_ranking_whatever_system_scores_are_tested(
    ranked: Scorehouse, test: str
) -> None:
    words = ("sim24", "en-de", "-m", "pearson", "--format", "json")
    testing = ("--test", test, "--resamples", 30)
    ran = ranked("rank", *words, *testing, "--significance")
    told = "pearson: tested on means over annotated segments, not on the system scores of the values: they differ most"
    assert any(note.startswith(told) for note in ran.notes) == (test != "perm-systems")
    rows = ran.json
    clusters = [row["cluster"] for row in rows if row["value"] is not None]
    assert clusters == sorted(clusters)
    assert {row["system_score"] for row in rows} == {"submitted"}
    plain = ranked("rank", *words).json
    for row, before in zip(rows, plain, strict=True):
        assert row["signature"].startswith(f"{before['signature']}|")
        assert f"|test:{test}|" in row["signature"]
        assert ("|tested_system_score:judged-mean|" in row["signature"]) == (test != "perm-systems")
    assert [(row["metric"], row["value"]) for row in rows] == [(row["metric"], row["value"]) for row in plain]
    means = ranked("rank", *words, *testing, "--significance", "--system-score", "judged-mean").json
    shape = ranked("compare", *words, *testing, "--system-score", "judged-mean").json
    assert [row["value"] for row in means] == pytest.approx(shape["values"], nan_ok=True)
    known = [one for one, value in zip(shape["clusters"], shape["values"], strict=True) if value is not None]
    assert [row["cluster"] for row in means if row["value"] is not None] == known


@pytest.mark.slow
def test_a_ranking_with_tests_says_what_is_tested_and_what_is_not(scorehouse: Scorehouse, tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        database = warehouse.path
    ran = scorehouse("rank", "tiny24", "en-de", "-m", "pa", "--resamples", 20, "--significance", "--db", database)
    assert ran.code == 0, ran.err
    assert "pa: Only-src is not tested and in no cluster (†)" in ran.notes
    (untested,) = (line for line in ran.table if "Only-src" in line)
    assert untested.endswith("1.0000")  # four segments have no test, so that nobody has a cluster
    assert any("there is no test: 4 segments" in note for note in ran.notes)
    assert "¹" not in ran.out
    n_metrics = len(ran.table) - 2
    whole, tested = ran.notes[:2]
    assert f"|n_metrics:{n_metrics}|" in whole
    assert tested.startswith(whole)
    assert f"|tested_n_metrics:{n_metrics - 1}|" in tested
    assert "|test:" in tested


@pytest.mark.slow
def test_several_measures_and_language_pairs_each_have_their_own(ranked: Scorehouse) -> None:
    words = ("sim24", "cs-uk,en-de", "-m", "pa", "-m", "acc_eq(by=item)", "--resamples", 30, "--metrics", "sim*")
    rows = ranked("rank", *words, "--metrics", "Mar*", "--significance", "--format", "json").json
    groups = {(row["lp"], row["measure"]) for row in rows}
    assert len(groups) == 4
    for group in groups:
        clusters = [row["cluster"] for row in rows if (row["lp"], row["measure"]) == group]
        assert clusters[0] == 1
        assert clusters == sorted(clusters)


@pytest.mark.slow
def test_the_table_shows_clusters_raised(ranked: Scorehouse) -> None:
    ran = ranked("rank", "sim24", "en-de", "-m", "pa", "--resamples", 60, "--significance")
    assert all(re.search("[¹²³⁴⁵⁶⁷⁸⁹]$", line.rstrip()) for line in ran.table[2:])
    assert any(note.startswith("pa: generalises to: new documents of these systems") for note in ran.notes)
    of_systems = ranked(
        "rank", "sim24", "en-de", "-m", "pa", "--resamples", 60, "--significance", "--population", "systems"
    )
    assert any(note.startswith("pa: generalises to: new systems on these segments") for note in of_systems.notes)


@pytest.mark.slow
@together(
    ("words", "said"),
    [
        (("--pool", "mean"), ["--significance and --pool cannot be combined"]),
        (("-m", "spa(binary=yes)"), ["has no significance test"]),
        (("--metrics", "simBLEU-refA"), ["needs two metrics; only simBLEU-refA"]),
        (("-m", "spa", "-m", "acc_eq(by=item)", "--test", "pairs"), ["'pairs' does not apply to measure 'spa'"]),
    ],
)
def test_bad_questions_end_with_code_2_and_one_line(
    ranked: Scorehouse, words: tuple[str, ...], said: list[str]
) -> None:
    refused(ranked("rank", "sim24", "en-de", "--significance", *words), 2, *said)


@pytest.mark.slow
def test_clusters_come_with_their_warning_in_rankings(ranked: Scorehouse) -> None:
    words = ("sim24", "en-de", "-m", "pa", "--resamples", 60)
    shape = ranked("compare", *words, "--format", "json").json
    values, p, clusters = shape["values"], shape["p"], shape["clusters"]
    hidden = [
        (i, j)
        for i, row in enumerate(p)
        for j, one in enumerate(row)
        if one is not None and one > 0.05 and clusters[i] != clusters[j] and values[j] is not None
    ]
    assert hidden
    first, second = (shape["metrics"][place] for place in hidden[0])
    warning = (
        f"{len(hidden)} pairs of metrics are in different clusters without a significant difference, such as "
        f"{first} and {second}"
    )
    assert warning in ranked("compare", *words).notes
    assert f"pa: {warning}" in ranked("rank", *words, "--significance").notes
    several = ranked("rank", "sim24", "cs-uk,en-de", "-m", "pa", "--resamples", 60, "--significance")
    assert f"sim24 en-de: pa: {warning}" in several.notes


def test_notes_on_several_language_pairs_name_theirs(ranked: Scorehouse) -> None:
    ran = ranked("rank", "sim24", "cs-uk,en-de", "-m", "pa", "--metrics", "sim*", "--metrics", "Steady-src")
    out = [note for note in ran.notes if "excluded (--explain says why)" in note]
    assert [note.partition(": ")[0] for note in out] == ["sim24 cs-uk", "sim24 cs-uk", "sim24 en-de", "sim24 en-de"]
    alone = ranked("rank", "sim24", "en-de", "-m", "pa", "--metrics", "sim*", "--metrics", "Steady-src")
    assert {f"sim24 en-de: {note}" for note in alone.notes if "are excluded" in note} <= set(out)


def test_a_ranking_of_nothing_ends_with_code_2_and_the_reasons(ranked: Scorehouse) -> None:
    ran = ranked("rank", "sim24", "en-de", "-m", "pa", "--reference", "refB", "--metrics", "simTER*")
    refused(ran, 2, "no metric of sim24 en-de can be ranked", "not with reference refB", "not selected")
