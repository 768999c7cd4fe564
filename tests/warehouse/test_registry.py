"""The registry: every metric name there is in the catalogue and the real files is listed; facts are consistent."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from migrations import sql_files
from tests.helpers import real_data, tiny_layout
from warehouse import Warehouse, catalogue, load, registry
from warehouse.connection import writing
from warehouse.names import MetricVariant


def _unknown(names: set[str], year: int | None) -> list[str]:
    return sorted(name for name in names if not registry.describe(name, year).is_known)


@pytest.mark.parametrize("testset", catalogue.known_testsets())
def test_every_metric_of_the_catalogue_is_listed(testset: str) -> None:
    facts = catalogue.facts(testset)
    names = (facts.primary or frozenset()) | facts.baseline
    names = names.union(*(evalset.extra_primary for evalset in facts.lps.values()))
    assert _unknown(set(names), facts.year) == []


@pytest.mark.parametrize("testset", catalogue.known_testsets())
def test_every_test_set_of_the_catalogue_is_described_with_its_year_and_official_human_scores(testset: str) -> None:
    facts, described = catalogue.facts(testset), registry.testsets()[testset]
    official = {name for lp in facts.lps.values() for name in lp.standard_human.values()}
    assert described.year == facts.year
    assert official <= set(described.protocols)


@pytest.mark.parametrize("testset", catalogue.known_testsets())
def test_both_languages_of_every_pair_of_the_catalogue_are_listed(testset: str) -> None:
    assert [lp for lp in catalogue.facts(testset).lps if registry.language_pair(lp) is None] == []


def test_every_metric_file_of_wmt23_is_listed() -> None:
    folder = real_data("mt-metrics-eval-v2", "wmt23", "metric-scores")
    variants = {MetricVariant.parse(path.name.rsplit(".", 2)[0]) for path in folder.glob("*/*.score")}
    names = {variant.base_name for variant in variants}
    assert len(names) > 40
    assert _unknown(names, 2023) == []


def test_wmt23_metrics_are_without_reference_where_their_files_say_src() -> None:
    folder = real_data("mt-metrics-eval-v2", "wmt23", "metric-scores")
    wrong = []
    for path in folder.glob("*/*.score"):
        variant = MetricVariant.parse(path.name.rsplit(".", 2)[0])
        told = registry.describe(variant.base_name, 2023).is_reference_free
        if told is not None and told != (variant.reference is None):
            wrong.append(path.name)
    assert wrong == []


def test_every_metric_submitted_to_wmt20_is_listed() -> None:
    names = set()
    for path in real_data("wmt20-metrics", "final-metric-scores").rglob("*.score.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            names |= {line.split("\t", 1)[0] for line in lines}
    assert {"bleurt-Yisi-combi", "OpenKiwi-XLMR"} <= names
    assert _unknown(names, 2020) == []


def test_every_metric_of_the_wmt19_tables_is_listed() -> None:
    names = set()
    for path in real_data("wmt19-sys-scores").glob("*.csv"):
        names |= set(path.read_text(encoding="utf-8").split("\n", 1)[0].split()[3:])
    assert "LP" in names
    assert _unknown(names, 2019) == []


def test_every_metric_of_wmt12_is_listed() -> None:
    lines = real_data("wmt12-es-en", "mt-systems-scored-by-metrics").read_text(encoding="utf-8").splitlines()
    names = {line.split("\t")[0] for line in lines[1:]}
    assert len(names) == 12
    assert _unknown(names, 2012) == []


@pytest.mark.parametrize("year", [2021, 2022, 2023])
def test_every_metric_of_the_automatic_scores_is_listed(year: int) -> None:
    path = real_data(f"wmt{year % 100}-news-systems", "scores", "automatic-scores.tsv")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    names = {row[4].rsplit("-", 1)[0] for row in rows[1:]}
    assert _unknown(names, year) == []


def test_every_metric_of_the_wmt25_automatic_scores_is_listed() -> None:
    names = set()
    for path in real_data("wmt25-general-mt", "data", "automatic_scores").glob("*.jsonl"):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                names |= set(json.loads(line)["metric_scores"])
    assert len(names) == 6
    assert _unknown(names, 2025) == []


def test_every_kind_is_one_that_is_announced() -> None:
    assert {registry.describe(name).kind for name in registry.known_metrics()} <= set(registry.KINDS)


def test_a_name_has_one_meaning_in_each_year() -> None:
    for name, meanings in registry._listed().items():
        meant = {(year, replace(facts, name="")) for chosen, facts in meanings for year in (chosen or {None})}
        assert len(meant) == len({year for year, _ in meant}), name


@pytest.mark.parametrize("name", ["TER", "WER", "PER", "CDER", "CharacTER", "EED", "BlockErrCats"])
def test_error_measures_are_told_as_such(name: str) -> None:
    assert registry.describe(name).is_error_measure


@pytest.mark.parametrize("name", ["BLEU", "chrF", "TerrorCat", "MetricX-23"])
def test_scores_that_grow_with_quality_are_no_error_measures(name: str) -> None:
    assert not registry.describe(name).is_error_measure


def test_one_name_in_different_years_may_be_different_versions() -> None:
    assert registry.describe("COMET", 2020).version == "20"
    assert registry.describe("COMET", 2023).version == "22"
    assert registry.describe("COMET").version is None
    assert registry.describe("COMET", 2021).version is None


def test_spellings_that_differ_in_case_and_dashes_are_one_name() -> None:
    assert registry.describe("bert-score") == registry.MetricFacts(
        "bert-score", "BERTScore", kind="embedding", is_reference_free=False
    )


@pytest.mark.parametrize(
    ("name", "family", "kind", "free"),
    [
        ("cometkiwi-24-XXL", "COMETKiwi", "trained", True),
        ("xcomet-qe-new", "xCOMET", "trained", True),
        ("bleurt-30", "BLEURT", "trained", False),
        ("superBLEU", "BLEU", "string", False),
        ("MetricX-27-QE", "MetricX", "trained", True),
        ("sentinel-src-v2", "sentinel", "sentinel", True),
        ("FooBar_3", "FooBar", "unknown", None),
        ("FooBar-QE", "FooBar", "unknown", True),
        ("123", "123", "unknown", None),
    ],
)
def test_a_name_that_is_not_listed_gets_a_family_by_rule_and_is_flagged(
    name: str, family: str, kind: str, free: bool | None
) -> None:
    facts = registry.describe(name)
    assert (facts.family, facts.kind, facts.is_reference_free, facts.is_known) == (family, kind, free, False)


def test_the_rules_alone_give_the_same_families_as_the_list() -> None:
    """A rule never puts a listed name into an earlier family: the order of the families is right."""
    # nothing in these names tells
    exceptions = {"BERT-base-L2", "BERT-large-L2", "mBERT-L2", "tokengram_F", "sacreBLEU-TER"}
    wrong = {}
    for name in registry.known_metrics():
        found = registry._by_rule(name)
        if found.family != registry.describe(name).family and name not in exceptions:
            wrong[name] = found.family
    assert wrong == {}


def test_a_language_takes_its_script_from_the_code_where_that_names_one() -> None:
    scripts = {}
    for code in ("sr", "sr_Latn_RS", "sr_Cyrl_RS", "zh_TW"):
        found = registry.language(code)
        assert found is not None
        scripts[code] = found.script
    assert scripts == {"sr": "Cyrl", "sr_Latn_RS": "Latn", "sr_Cyrl_RS": "Cyrl", "zh_TW": "Hant"}
    assert registry.language("tlh") is None


@pytest.mark.parametrize(
    ("lp", "direction", "in_training"),
    [
        ("en-de", "from-english", True),
        ("zh-en", "into-english", True),
        ("cs-uk", "other", False),
        ("en-he", "from-english", False),
    ],
)  # fmt: skip
def test_a_language_pair_tells_direction_and_whether_trained_metrics_have_seen_it(
    lp: str, direction: str, in_training: bool
) -> None:
    facts = registry.language_pair(lp)
    assert facts is not None
    assert (facts.direction, facts.in_da_training) == (direction, in_training)


def test_every_issue_concerns_a_described_test_set_and_a_listed_scorer() -> None:
    for issue in registry.issues():
        described = registry.testsets()[issue.testset]
        if issue.scorer is not None:
            assert issue.scorer in described.protocols or registry.describe(issue.scorer).is_known, issue


def test_registering_an_evaluation_set_writes_families_languages_and_issues_once(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    assert load([tiny_layout(tmp_path, testset="wmt23", facts=False)], database).is_clean
    with duckdb.connect() as connection:
        for _ in range(2):
            with writing(database, connection):
                connection.execute("BEGIN")
                registry.register(connection, [1])
                connection.execute("COMMIT")
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows("SELECT base_metric, family, kind, is_known FROM metric_facts ORDER BY base_metric")
        assert rows == [
            ("Fine", "Fine", "unknown", False),
            ("Flat", "Flat", "unknown", False),
            ("Only", "Only", "unknown", False),
            ("Rough", "Rough", "unknown", False),
            ("Wrong", "Wrong", "unknown", False),
        ]
        families = warehouse.rows("SELECT DISTINCT family FROM scorer WHERE kind = 'metric' ORDER BY family")
        assert families == [("Fine",), ("Flat",), ("Only",), ("Rough",), ("Wrong",)]
        assert warehouse.rows("SELECT * FROM language ORDER BY code") == [
            ("de", "German", "Latn", True),
            ("en", "English", "Latn", True),
        ]
        known = [issue for issue in registry.issues() if issue.testset == "wmt23"]
        assert warehouse.rows("SELECT count(*) FROM known_issues") == [(len(known),)]


def test_the_migration_of_the_registry_can_follow_the_ones_before_it() -> None:
    with duckdb.connect() as connection:
        for _, _, text in sql_files():
            connection.execute(text)
        columns = connection.execute(
            "SELECT count(*) FROM duckdb_columns() WHERE table_name IN ('metric_fact', 'metric_facts', 'language') "
            "AND comment IS NULL"
        ).fetchall()
    assert columns == [(0,)]
