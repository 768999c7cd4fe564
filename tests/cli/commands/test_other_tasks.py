"""Sets that are no translation: without a language pair, with several human scores, with other systems on each item."""

import csv
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import metaeval
from tests.cli.running import Scorehouse
from tests.helpers import beside_data
from tests.sharing import made_once
from warehouse import LoadHints, QuestionError, Warehouse, load

SYSTEMS, N_ITEMS = ("A", "B", "C", "D"), 30
DIMENSIONS = ("coherence", "fluency")


def items(rng: np.random.Generator) -> list[dict[str, Any]]:
    """A third of the outputs are not there; the metric of a dimension is near its human score."""
    found = []
    for number in range(N_ITEMS):
        for system in rng.permutation(SYSTEMS)[: 2 + number % 3]:
            scores = {name: float(rng.integers(1, 6)) for name in DIMENSIONS}
            near = {name: value + float(rng.normal()) for name, value in scores.items()}
            found.append({"source": f"text {number}", "system_id": str(system), "system_output": "x", "scores": scores})
            found[-1]["predict_scores"] = near
    return found


@pytest.fixture(scope="module")
def dialogue(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    folder, rows = tmp_path_factory.mktemp("dialogue"), items(np.random.default_rng(5))
    (folder / "talk.json").write_text(json.dumps(rows))
    facts = 'name = "talk"\nyear = 2024\ntask = "Dialogue"\nlicence = "MIT"\nstandard_human = { seg = "fluency" }\n'
    (folder / "testset.toml").write_text(facts)
    report = load([folder], folder / "scores.duckdb")
    assert report.is_clean
    return folder / "scores.duckdb", rows


@pytest.fixture(scope="module")
def talk(dialogue: tuple[Path, list[dict[str, Any]]]) -> Iterator[Warehouse]:
    with Warehouse.open(dialogue[0]) as warehouse:
        yield warehouse


def test_each_human_score_ranks_the_metrics(talk: Warehouse, dialogue: tuple[Path, list[dict[str, Any]]]) -> None:
    frame = metaeval.rank(talk, "talk", human="all", measures=["pearson(by=none)"]).frame
    for human, metric, value in frame.select("human", "base_metric", "value").rows():
        pairs = [(row["scores"][human], row["predict_scores"][metric]) for row in dialogue[1]]
        assert value == pytest.approx(stats.pearsonr(*zip(*pairs, strict=True)).statistic, abs=1e-12)
    assert set(frame["human"]) == set(DIMENSIONS)
    assert frame["lp"].null_count() == frame.height == 4


def test_human_scores_are_correlated_with_each_other(talk: Warehouse, dialogue: tuple[Path, Any]) -> None:
    pairs = [tuple(row["scores"][name] for name in DIMENSIONS) for row in dialogue[1]]
    frame = metaeval.correlations(talk, "talk", human="all").frame
    assert frame["human"].to_list() == list(DIMENSIONS)
    assert frame["fluency"][0] == pytest.approx(stats.pearsonr(*zip(*pairs, strict=True)).statistic, abs=1e-12)


def test_human_scores_of_systems_are_correlated_too(talk: Warehouse, dialogue: tuple[Path, Any]) -> None:
    means = [
        [np.mean([row["scores"][name] for row in dialogue[1] if row["system_id"] == system]) for system in SYSTEMS]
        for name in DIMENSIONS
    ]
    frame = metaeval.correlations(talk, "talk", human="all", measure="pearson").frame
    assert frame["fluency"][0] == pytest.approx(np.corrcoef(means)[0, 1], abs=1e-12)


def test_one_human_score_cannot_be_compared_with_others(talk: Warehouse) -> None:
    with pytest.raises(QuestionError, match=r"goes with none of pool, explain and ceiling"):
        metaeval.rank(talk, "talk", human="all", pool="mean")


def test_an_incomplete_design_is_said_once(talk: Warehouse, dialogue: tuple[Path, list[dict[str, Any]]]) -> None:
    notes = metaeval.rank(talk, "talk", measures=["pearson(by=none)", "acc_eq(by=item)"]).notes
    n = len(dialogue[1])
    (said,) = [note for note in notes if "incomplete" in note]
    assert said.startswith(
        f"the design is incomplete, with {n} of {4 * N_ITEMS} outputs: items have 2 to 4 of 4 systems"
    )


def test_nothing_names_a_language_pair(scorehouse: Scorehouse, dialogue: tuple[Path, Any]) -> None:
    for words in (
        ("rank", "talk"),
        ("compare", "talk"),
        ("means", "talk"),
        ("list",),
        ("audit", "talk"),
        ("show", "talk", "3"),
    ):
        ran = scorehouse("--db", dialogue[0], *words)
        assert ran.code == 0, ran.err
        assert "no-lp" not in ran.out + ran.err, words
        assert "segment of these" not in ran.out + ran.err
    listed = scorehouse("--db", dialogue[0], "list", "--format", "json").json
    assert [(one["kind"], one["description"], one["year"]) for one in listed] == [
        ("other task", "Dialogue, licence MIT", 2024)
    ]


def test_human_without_a_name_is_all(scorehouse: Scorehouse, dialogue: tuple[Path, Any]) -> None:
    first = scorehouse("--db", dialogue[0], "rank", "talk", "--human", "-m", "pearson(by=none)")
    assert first.table[0].split() == ["metric", *DIMENSIONS]
    assert scorehouse("--db", dialogue[0], "correlations", "talk", "--human").out.startswith("coherence and fluency")


def test_a_table_may_name_its_human_scores(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("system,segment,fluency,coherence,M\n" + "A,1,1,2,3\nA,2,2,1,1\nB,1,3,2,2\n")
    report = load([tmp_path], tmp_path / "x.duckdb", given=LoadHints(testset="mine", human="fluency,coherence"))
    assert report.is_clean
    with Warehouse.open(tmp_path / "x.duckdb") as warehouse:
        assert warehouse.rows("SELECT human FROM humans ORDER BY human") == [("coherence",), ("fluency",)]


def test_williams_test_over_outputs_is_that_of_the_formula(talk: Warehouse, dialogue: tuple[Path, Any]) -> None:
    from metaeval.kernels.resampling.published_tests import williams_p, williams_t

    columns = np.array(
        [[row["scores"]["fluency"], *(row["predict_scores"][one] for one in DIMENSIONS[::-1])] for row in dialogue[1]]
    )
    r = np.corrcoef(columns.T)
    p = williams_p(williams_t(r[0, 1], r[0, 2], r[1, 2], len(columns)), len(columns))
    found = metaeval.compare(
        talk, "talk", metrics=["fluency-src", "coherence-src"], measure="pearson(by=none)", test="williams"
    )
    assert found.frame["p"][0] == pytest.approx(2 * float(p), abs=1e-12)


# The published values.


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = beside_data("more", "other-tasks")

    def make(folder: Path) -> None:
        assert load([data], folder / "scores.duckdb").is_clean
        ratings = LoadHints(testset="simplicity", human="simplicity", may_lack_end=True)
        assert load(
            [data / "simplification" / "simplicity_DA_ratings.csv"], folder / "scores.duckdb", given=ratings
        ).is_clean

    return made_once(tmp_path_factory, "other-tasks", make) / "scores.duckdb"


def _printed(name: str) -> list[dict[str, str]]:
    path = beside_data("expected", "other-tasks", name)
    return list(csv.DictReader(path.read_text().splitlines(), delimiter="\t"))


@pytest.mark.slow
def test_correlations_of_unieval_are_those_printed(published: Path) -> None:
    with Warehouse.open(published) as warehouse:
        for row in _printed("unieval.tsv"):
            measures = {"pearson": "pearson", "spearman": "spearman", "kendall_tau_b": "kendall"}
            frame = metaeval.rank(
                warehouse, row["set"], human=row["dimension"], measures=[f"{one}(by=none)" for one in measures.values()]
            ).frame.filter(base_metric=row["dimension"])
            assert [f"{value:.6f}" for value in frame["value"]] == [f"{float(row[name]):.6f}" for name in measures]


@pytest.mark.slow
def test_correlations_of_simplification_are_those_printed_and_so_is_the_winner(published: Path) -> None:
    with Warehouse.open(published) as warehouse:
        printed = {row["metric"]: row for row in _printed("simplification.tsv")}
        names = [f"{name}-asset-ref" for name in printed]
        found = metaeval.compare(
            warehouse, "simplicity-da", metrics=names, measure="pearson(by=none)", test="williams", absolute=True
        ).result
        assert {
            name.removesuffix("-asset-ref"): f"{abs(value):.6f}"
            for name, value in zip(found.names, found.values, strict=True)
        } == {name: f"{float(row['pearson']):.6f}" for name, row in printed.items()}
        first = [
            name.removesuffix("-asset-ref")
            for name, cluster in zip(found.names, found.clusters, strict=True)
            if cluster == 1
        ]
        assert first == [name for name, row in printed.items() if row["is_winner"] == "True"]


@pytest.mark.slow
def test_the_reliability_of_simplicity_ratings_is_that_printed(published: Path) -> None:
    printed = json.loads(beside_data("expected", "other-tasks", "simplification_icc.json").read_text())
    with Warehouse.open(published) as warehouse:
        notes = metaeval.annotators(warehouse, "simplicity", view="variance", human="simplicity:z").notes
    (said,) = [note for note in notes if note.startswith("ICC(1)")]
    assert said.startswith(f"ICC(1): {printed['icc1']:.3f} ")
    assert f"{printed['icc1k']:.3f} [" in said
    assert f"of {printed['n_ratings']}, over {printed['n_outputs']} outputs" in said


@pytest.mark.slow
def test_correlations_of_summarisers_are_those_of_scipy(published: Path) -> None:
    columns = {"pearson_sys": "pearson", "kendall_sys": "kendall", "spearman_sys": "spearman"}
    columns |= {
        "pearson_item": "pearson(by=item)",
        "kendall_item": "kendall(by=item)",
        "pearson_none": "pearson(by=none)",
    }
    # BERTScores, of single precision, stand in the table with noise in the ninth decimal, where identical outputs tie
    single = "tau_b(by=item, epsilon=1e-08)"
    with Warehouse.open(published) as warehouse:
        frame = metaeval.rank(warehouse, "realsumm", measures=[*columns.values(), single]).frame
        scores = warehouse.sql(
            "SELECT base_metric, min(value), median(value), max(value), avg(value) FROM scores "
            "WHERE testset = 'realsumm' GROUP BY ALL"
        )
    of_metric = {row[0]: row[1:] for row in scores.rows()}
    for row in _printed("realsumm.tsv"):
        for name, measure in columns.items():
            is_single = name == "kendall_item" and row["metric"].startswith("bert_")
            measure = single if is_single else measure
            (value,) = frame.filter(base_metric=row["metric"], measure=measure)["value"]
            assert f"{value:.6f}" == row[name], (row["metric"], name)
        assert [f"{value:.6f}" for value in of_metric[row["metric"]]] == [
            row[name] for name in ("min", "median", "max", "mean")
        ]


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print_and_its_numbers_are_theirs(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also each number of the prose: three digits behind a point, up to the part on judges."""
    data = beside_data("more", "other-tasks")
    for path in ("unieval/topical_chat_result.json", "simplification/wide.en-en.tsv", "realsumm/realsumm.wide.tsv"):
        shutil.copy(data / path, tmp_path)
    shutil.copy(data / "simplification" / "simplicity_DA_ratings.csv", tmp_path)
    shutil.copytree(beside_data("more", "xq-meval", "merged_result"), tmp_path / "merged_result")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).resolve().parents[3] / "docs" / "other-tasks.md").read_text(encoding="utf-8")
    page = page.partition("## Is my judge")[0]
    printed = ""
    for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL):
        again = ""
        for command in re.findall(r"^\$ (scorehouse .*)$", block, re.MULTILINE):
            ran = scorehouse("--db", "page.duckdb", *shlex.split(command)[1:])
            assert ran.code == 0, ran.err
            again += f"$ {command}\n" + ("" if " load " in command or " compute " in command else ran.out)
            printed += ran.out + ran.err
        assert again == block
    numbers = [float(one) for one in re.findall(r"\d*\.\d+", printed)]
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    said = [float(one) for one in re.findall(r"(?<!\d)\.\d{3}\b", prose)]
    assert len(said) == 11
    assert [one for one in said if not any(abs(one - number) < 0.00051 for number in numbers)] == []
    for count in ("360", "302", "600", "25", "100"):
        assert count in printed
