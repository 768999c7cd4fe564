"""`systems`: systems against systems by one scorer."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import together


def test_json_is_shaped_as_that_of_metrics(scorehouse: Scorehouse) -> None:
    shape = scorehouse("systems", "sim24", "cs-uk", "--resamples", 50, "--format", "json").json
    n = len(shape["systems"])
    assert shape["values"] == sorted(shape["values"], reverse=True)
    assert [[p is None for p in row] for row in shape["p"]] == [[i >= j for j in range(n)] for i in range(n)]
    assert len(shape["clusters"]) == n
    assert (shape["scorer"], shape["test"]) == ("mqm", "permutation")


def test_systems_in_different_clusters_without_a_significant_difference_are_counted(scorehouse: Scorehouse) -> None:
    words = ("systems", "sim24", "cs-uk", "--resamples", 50)
    shape = scorehouse(*words, "--format", "json").json
    clusters, p = shape["clusters"], shape["p"]
    n = len(clusters)
    hidden = [(i, j) for i in range(n) for j in range(i + 1, n) if clusters[i] != clusters[j] and p[i][j] > 0.05]
    lines = [
        note for note in scorehouse(*words).notes if "in different clusters without a significant difference" in note
    ]
    assert [int(line.split()[0]) for line in lines] == ([len(hidden)] if hidden else [])


@pytest.mark.slow
@together("test", ["permutation", "bootstrap", "wilcoxon"])
def test_a_metric_scores_systems_by_each_test(scorehouse: Scorehouse, test: str) -> None:
    drawn = () if test == "wilcoxon" else ("--resamples", 30)
    ran = scorehouse("systems", "sim24", "cs-uk", "--scorer", "simchrF", "--test", test, *drawn)
    assert ran.code == 0
    assert ran.table[0].split()[:4] == ["rank", "system", "value", "cluster"]
    assert any("pairs of systems differ significantly" in line for line in ran.notes)


@together(
    ("words", "said"),
    [
        (("--scorer", "BLUE"), ["unknown scorer 'BLUE'"]),
        (("--alpha", "0"), ["alpha 0.0"]),
    ],
)
def test_bad_questions_end_with_code_2_and_one_line(
    scorehouse: Scorehouse, words: tuple[str, ...], said: list[str]
) -> None:
    refused(scorehouse("systems", "sim24", "cs-uk", *words), 2, *said)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["permutation", "wilcoxon"])
def test_rank_ranges_hold_the_ranks(scorehouse: Scorehouse, test: str, tmp_path: Path) -> None:
    words = ("systems", "sim24", "en-de", "--test", test)
    found = scorehouse(*words, "--ranges", "--format", "json").json
    assert "rank_ranges" not in scorehouse(*words, "--format", "json").json
    n = len(found["systems"])
    for rank, (low, high) in zip(found["ranks"], found["rank_ranges"], strict=True):
        assert 1 <= low <= rank <= high <= n
    assert any(low < high for low, high in found["rank_ranges"])
    scorehouse(*words, "--ranges", "--chart", chart := tmp_path / "chart.json")
    (low, high), name = found["rank_ranges"][0], found["systems"][0]
    assert f'"1 ({low}-{high}). {name}"' in chart.read_text("utf-8")


def test_a_gate_ends_with_1_where_the_new_version_is_significantly_worse_alone(scorehouse: Scorehouse) -> None:
    words = ("systems", "sim24", "cs-uk")
    shape = scorehouse(*words, "--format", "json").json
    best, best_but_one = shape["systems"][:2]
    worst = [name for name, p in zip(shape["systems"], shape["p"][0], strict=True) if p == 0][-1]
    ran = scorehouse(*words, best, worst, "--gate", "--format", "csv")
    assert (ran.code, ran.out.splitlines()[1].rpartition(",")[2]) == (1, "worse")
    assert scorehouse(*words, worst, best, "--gate").code == 0
    by_metric = scorehouse(*words, "simchrF", best, best_but_one, "--gate", "--format", "csv")
    assert by_metric.out.splitlines()[1].startswith(f"simchrF-refA,{best},{best_but_one},")
    refused(scorehouse(*words, best, "--gate"), 2, "needs two systems")
    refused(scorehouse(*words, best, "nobody", "--gate"), 2, "unknown system 'nobody'")
    refused(scorehouse(*words, "simchrF", best), 2, "unknown system 'simchrF'")
    refused(scorehouse(*words, "--scorer", "simchrF", "--scorer", "simBLEU", best, worst, "--gate"), 2, "one value")


def test_a_gate_by_several_metrics_fails_where_all_say_worse_or_a_trusted_one_does(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    words = ("systems", "sim24", "cs-uk")
    shape = scorehouse(*words, "--scorer", "simchrF", "--format", "json").json
    best, *_, worst = shape["systems"]
    gate = (*words, best, worst, "--gate", "--trust", "simchrF")
    ran = scorehouse(*gate, "--junit", tmp_path / "gate.xml", "--format", "markdown")
    assert ran.code == 1
    assert ran.out.startswith(f"{worst} fails: it is significantly worse than {best} by simchrF-refA (")
    said = f"{worst} is significantly worse than {best} by simchrF-refA ("
    (suite,) = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    (failure,) = suite.iterfind("testcase/failure")
    assert (failure.text or "").startswith(said)
    assert failure.get("message") == failure.text
    both = scorehouse(*words, "simBLEU", "Onlooker", worst, best, "--gate", "--trust", "simchrF", "--format", "json")
    assert [(row["scorer"], row["trusted"]) for row in both.json] == [
        ("simBLEU-refA", False), ("Onlooker-src", False), ("simchrF-refA", True),
    ]  # fmt: skip
    everywhere = ("systems", "sim24", "cs-uk,en-de", worst, best, "--gate", "--trust", "simchrF")
    several = scorehouse(*everywhere, "--junit", tmp_path / "all.xml", "--format", "json")
    suite = ElementTree.parse(tmp_path / "all.xml").getroot()[0]
    assert [one.get("name") for one in suite.iter("testcase")] == [
        f"sim24 {row['lp']}: simchrF-refA" for row in several.json
    ]
    assert several.code == int(any(row["verdict"] == "worse" for row in several.json))
    refused(scorehouse(*words, "--junit", tmp_path / "gate.xml"), 2, "--junit does nothing without --gate")
    passing = scorehouse(*words, "simBLEU", worst, best, "--gate")
    values = [f"{row['value_new']:.3f} against {row['value_old']:.3f}" for row in both.json[:1]]
    assert passing.out.startswith(f"{best} passes: it is ")
    assert f" by simBLEU-refA ({values[0]}, " in passing.out
    right = f"the metrics come first, then the old and the new system: `simBLEU 'two words' {worst} {best}`"
    refused(scorehouse(*words, worst, best, "simBLEU", "two words", "--gate"), 2, right)
    refused(scorehouse(*gate, "--junit", tmp_path / "no" / "gate.xml"), 2, "there is no folder")
    refused(scorehouse(*words, "--trust", "simchrF"), 2, "--trust", "--gate")
    refused(scorehouse(*words, "simchrF", best, worst, "--gate", "--trust", "simchrF"), 2, "named twice")


@pytest.mark.slow
def test_two_systems_head_to_head_are_shown_part_by_part(scorehouse: Scorehouse) -> None:
    two = scorehouse("systems", "sim24", "cs-uk", "--format", "json").json["systems"][:2]
    words = ("systems", "sim24", "cs-uk", *two, "--resamples", 20)
    text = scorehouse(*words).out
    headings = ("By domain", "Segments that differ most", "Errors marked for mqm")
    assert [text.index(one) for one in headings] == sorted(text.index(one) for one in headings)
    shape = scorehouse(*words, "--format", "json").json
    for row in shape["segments"]:
        for by, a, b in (("human", row["human_a"], row["human_b"]), ("metrics", row["metrics_a"], row["metrics_b"])):
            assert a is None or f"{by} {a:.3f}" in text
            assert b is None or f"{by} {b:.3f}" in text
        assert f"   source: {row['source']}\n   {two[0]} (" in text
        assert f"): {row['output_a']}\n   {two[1]} (" in text
        assert f"): {row['output_b']}\n" in text
    assert list(shape) == ["systems", "scorers", "domains", "segments", "errors", "signature", "summary"]
    assert shape["systems"] == two
    assert len(shape["scorers"]) == len(scorehouse(*words, "--format", "csv").out.splitlines()) - 1


@together(
    ("words", "said"),
    [
        (("A", "A"), "name exactly two systems"),
        (("A", "B", "C"), "name exactly two systems"),
        (("nobody", "B"), "unknown system 'nobody'"),
        (("refA", "Dogwood"), "system 'refA' of sim24 cs-uk is excluded: not judged by mqm"),
        (("A", "B", "--ranges"), "--ranges does nothing with two systems"),
        (("A", "B", "--view", "domains"), "--view does nothing with two systems"),
    ],
)
def test_what_is_no_pair_of_systems_is_refused(scorehouse: Scorehouse, words: tuple[str, ...], said: str) -> None:
    refused(scorehouse("systems", "sim24", "cs-uk", *words), 2, said)
