"""`protocol`: tasks, overall scores, significance, missing metrics, other years' rules."""

import shutil
from pathlib import Path

import pytest

from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_bytes
from tests.sharing import written


@pytest.fixture
def protocol(scorehouse: Scorehouse, database: Path) -> Scorehouse:
    """`protocol` on a copy of the simulated task."""
    return lambda *words: scorehouse("--db", database, "protocol", *words)


SIM = ("wmt23", "--on", "sim24", "--lp", "en-de", "--lp", "cs-uk")


def test_json_has_the_documented_shape(protocol: Scorehouse) -> None:
    shape = protocol(*SIM, "--format", "json").json
    assert list(shape) == ["protocol", "testset", "tasks", "metrics", "signature", "summary"]
    assert (shape["protocol"], shape["testset"]) == ("wmt23", "sim24")
    assert {"lps", "level", "measure", "weight"} <= set(shape["tasks"][0])
    assert shape["tasks"][0]["lps"] == ["en-de", "cs-uk"]
    assert [task["level"] for task in shape["tasks"]] == ["sys"] * 3 + ["seg"] * 4
    for row in shape["metrics"]:
        assert {"metric", "overall", "rank", "cluster", "values", "missing"} <= set(row)
        assert row["cluster"] is None
        assert len(row["values"]) == 7
        assert not row["metric"].endswith(("-refA", "-src"))
    overall = [row["overall"] for row in shape["metrics"] if row["overall"] is not None]
    assert overall == sorted(overall, reverse=True)


@pytest.mark.slow
def test_significance_brings_clusters_to_every_task_and_the_whole(protocol: Scorehouse) -> None:
    ran = protocol(*SIM, "--significance", "--resamples", 30, "--format", "json")
    best, *_ = ran.json["metrics"]
    assert (best["rank"], best["cluster"]) == (1, 1)
    assert all(cluster >= 1 for cluster in best["clusters"])
    clusters = [row["cluster"] for row in ran.json["metrics"] if row["overall"] is not None]
    assert clusters == sorted(clusters)
    assert any("pairs of metrics differ significantly in the overall score" in line for line in ran.notes)
    assert any("null hypothesis is that metrics are exchangeable; --population segments" in line for line in ran.notes)


@pytest.mark.slow
def test_a_missing_metric_is_listed_with_the_reason(scorehouse: Scorehouse, tmp_path: Path) -> None:
    path = written(tmp_path / "tiny.duckdb", tiny_bytes())
    words = ("--db", path, "protocol", "wmt24", "--on", "tiny24", "--all-metrics")
    ran = scorehouse(*words, "--format", "json")
    rows = {row["metric"]: row for row in ran.json["metrics"]}
    assert "Only" not in rows  # it is in no task, and that is said
    assert "Only is missing in every task: en-de: no segment scores" in ran.notes
    mixed = scorehouse("--db", path, "protocol", "wmt14", "--on", "tiny24", "--all-metrics", "--format", "json", "-v")
    rows = {row["metric"]: row for row in mixed.json["metrics"]}
    assert rows["Only"]["overall"] is None
    assert rows["Only"]["values"][1] is None
    assert [one["task"] for one in rows["Only"]["missing"]] == [1]
    (line,) = [note for note in mixed.notes if note.startswith("Only is missing in ")]
    assert line == ("Only is missing in en-de tau_14(by=item, pool=pairs): no segment scores")
    primary = ("--db", path, "protocol", "wmt24", "--on", "tiny24")
    assert "2 metrics are excluded (contrastive, neither primary nor baseline); --verbose names them" in (
        scorehouse(*primary).notes
    )
    assert "2 metrics are excluded (contrastive, neither primary nor baseline): Only, Wrong" in (
        scorehouse(*primary, "--verbose").notes
    )


OTHERS = [
    pytest.param(name, marks=pytest.mark.long("what `protocol` says of every year's rules: 2 seconds"))
    for name in ("wmt10", "wmt13", "wmt16", "wmt17", "wmt20", "wmt21")
]


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["wmt07", "wmt14", "wmt22", *OTHERS])
def test_earlier_years_rules_apply_to_a_later_test_set(protocol: Scorehouse, name: str) -> None:
    ran = protocol(name, "--on", "sim24", "--lp", "cs-uk")
    assert ran.code == 0
    assert (f"{name} published no overall score; here it is the mean over its tasks" in ran.notes) == (name != "wmt22")


@pytest.mark.slow
def test_language_pairs_may_be_joined_by_commas(protocol: Scorehouse) -> None:
    one = protocol(*SIM, "--format", "json")
    other = protocol("wmt23", "--on", "sim24", "--lp", "en-de,cs-uk", "--format", "json")
    assert one.out == other.out


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("wmt06",), ["unknown protocol 'wmt06'"]),
        (("wmt24",), ["test set 'wmt24' is not loaded", "--on sim2", "scorehouse download wmt24"]),
        (("wmt14",), ["test set 'wmt14' is not loaded", "--on sim2", "scorehouse load PATH"]),
        (("wmt23", "--on", "wmt25"), ["test set 'wmt25' is not loaded", "loaded: sim2", "scorehouse download wmt25"]),
        (("wmt16", "--on", "sim24", "--significance", "--alternative", "two-sided"), ["one-sided"]),
        (("wmt23", "--on", "sim24", "--significance", "--absolute"), ["--absolute applies to williams"]),
    ],
)
def test_bad_questions_end_with_code_2_and_one_line(
    protocol: Scorehouse, words: tuple[str, ...], said: list[str]
) -> None:
    refused(protocol(*words), 2, *said)


def test_an_official_language_pair_that_is_not_loaded_is_reported(
    scorehouse: Scorehouse, wmt23_database: Path, tmp_path: Path
) -> None:
    copy = shutil.copy(wmt23_database, tmp_path / "copy.duckdb")
    ran = scorehouse("--db", copy, "protocol", "wmt23", "--lp", "zh-en")
    refused(ran, 2, "language pair 'zh-en' of wmt23 is not loaded", "loaded: en-de, he-en", "scorehouse download wmt23")


def test_protocols_are_listed(scorehouse: Scorehouse) -> None:
    listed = scorehouse("list", "protocols", "--format", "json").json
    assert {"wmt23", "wmt24", "wmt25", "aces"} <= {row["protocol"] for row in listed}
    refused(scorehouse("protocol", "acess"), 2, "did you mean 'aces'?")


@pytest.mark.slow
def test_wmt23_by_its_own_rules_names_what_is_not_loaded(
    scorehouse: Scorehouse, wmt23_database: Path, tmp_path: Path
) -> None:
    copy = shutil.copy(wmt23_database, tmp_path / "copy.duckdb")
    ran = scorehouse("--db", copy, "protocol", "wmt23", "--significance", "--format", "json")
    assert ran.json["metrics"][0]["metric"] == "XCOMET-Ensemble"
    assert ran.json["metrics"][0]["cluster"] == 1
    assert len(ran.json["metrics"]) == 32
    assert "the score covers only en-de, he-en and is not the official one: zh-en is not loaded" in ran.notes
    assert "13 metrics are excluded (contrastive, neither primary nor baseline); --verbose names them" in ran.notes
    (warning,) = [note for note in ran.notes if note.startswith("overall: ")]
    assert " pairs of metrics are in different clusters without a significant difference, such as " in warning
