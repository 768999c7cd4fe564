"""What is known of metrics: every name that the organisers declare and the real files have is listed."""

import gzip
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import beside_data, real_data
from warehouse.facts import packaged
from warehouse.facts.metrics import KINDS, MetricFacts, _by_rule, _listed, describe
from warehouse.facts.testsets import facts, known_testsets
from warehouse.names import MetricVariant


def _names() -> list[str]:
    """All listed names, as the files have them."""
    return sorted({facts.name for meanings in _listed().values() for _, facts in meanings})


def _unknown(names: set[str], year: int | None) -> list[str]:
    return sorted(name for name in names if not describe(name, year).is_known)


def test_every_metric_that_the_organisers_declare_is_listed() -> None:
    for declared in map(facts, known_testsets()):
        names = (declared.primary or frozenset()) | declared.baseline
        names = names.union(*(evalset.extra_primary for evalset in declared.lps.values()))
        assert _unknown(set(names), declared.year) == [], declared.name


def _variants_of_wmt23() -> set[MetricVariant]:
    folder = real_data("mt-metrics-eval-v2", "wmt23", "metric-scores")
    return {MetricVariant.parse(path.name.rsplit(".", 2)[0]) for path in folder.glob("*/*.score")}


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return lines.readlines()


def _in_real_files() -> Iterator[tuple[int, set[str]]]:
    """Years and the names of metrics in their files."""
    yield 2023, {variant.base_name for variant in _variants_of_wmt23()}
    of_wmt20 = real_data("wmt20-metrics", "final-metric-scores").rglob("*.score.gz")
    yield 2020, {line.split("\t", 1)[0] for path in of_wmt20 for line in _lines(path)}
    of_wmt19 = real_data("wmt19-sys-scores").glob("*.csv")
    yield 2019, {name for path in of_wmt19 for name in _lines(path)[0].split()[3:]}
    yield 2012, {line.split("\t")[0] for line in _lines(real_data("wmt12-es-en", "mt-systems-scored-by-metrics"))[1:]}
    for year in (2021, 2022, 2023):
        table = real_data(f"wmt{year % 100}-news-systems", "scores", "automatic-scores.tsv")
        yield year, {line.rstrip("\n").split("\t")[4].rsplit("-", 1)[0] for line in _lines(table)[1:]}
    of_wmt25 = real_data("wmt25-general-mt", "data", "automatic_scores").glob("*.jsonl")
    yield 2025, {name for path in of_wmt25 for line in _lines(path) for name in json.loads(line)["metric_scores"]}


@pytest.mark.slow
def test_every_metric_of_the_real_files_is_listed() -> None:
    found = [*_in_real_files()]
    assert [(year, _unknown(names, year)) for year, names in found if _unknown(names, year)] == []
    assert [len(names) for _, names in found] == [45, 37, 34, 12, 2, 3, 2, 6]


def test_wmt23_metrics_are_without_reference_where_their_files_say_src() -> None:
    told = {variant: describe(variant.base_name, 2023).is_reference_free for variant in _variants_of_wmt23()}
    assert [each for each, is_free in told.items() if is_free not in (None, each.reference is None)] == []


def test_every_kind_is_one_that_is_announced() -> None:
    assert {describe(name).kind for name in _names()} <= set(KINDS)


def test_a_name_has_one_meaning_in_each_year() -> None:
    for name, meanings in _listed().items():
        meant = {(year, replace(meaning, name="")) for chosen, meaning in meanings for year in (chosen or {None})}
        assert len(meant) == len({year for year, _ in meant}), name


def test_error_measures_are_told_as_such() -> None:
    names = ("TER", "WER", "PER", "CDER", "CharacTER", "EED", "BlockErrCats")
    assert [name for name in names if not describe(name).is_error_measure] == []


@pytest.mark.parametrize("name", ["BLEU", "chrF", "TerrorCat", "MetricX-23"])
def test_scores_that_grow_with_quality_are_no_error_measures(name: str) -> None:
    assert not describe(name).is_error_measure


def test_one_name_in_different_years_may_be_different_versions() -> None:
    assert describe("COMET", 2020).version == "20"
    assert describe("COMET", 2023).version == "22"
    assert describe("COMET").version is None
    assert describe("COMET", 2021).version is None


def test_spellings_that_differ_in_case_and_dashes_are_one_name() -> None:
    assert describe("bert-score") == MetricFacts(
        "bert-score",
        "BERTScore",
        kind="embedding",
        is_reference_free=False,
        publication_year=2020,
        publication="Zhang et al. 2020: BERTScore (cited in Kocmi et al. 2021)",
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
    found = describe(name)
    assert (found.family, found.kind, found.is_reference_free, found.is_known) == (family, kind, free, False)


def test_the_rules_alone_give_the_same_families_as_the_list() -> None:
    """A rule never puts a listed name into an earlier family: the order of the families is right."""
    # nothing in these names tells
    exceptions = {"BERT-base-L2", "BERT-large-L2", "mBERT-L2", "tokengram_F", "sacreBLEU-TER"}
    wrong = {}
    for name in _names():
        found = _by_rule(name)
        if found.family != describe(name).family and name not in exceptions:
            wrong[name] = found.family
    assert wrong == {}


@pytest.mark.parametrize(
    ("name", "campaign", "year"),
    [
        ("BLEU", 2019, 2002),
        ("sacreBLEU-chrF", 2019, 2015),
        ("COMET", 2020, 2020),
        ("COMET", 2023, 2022),
        ("COMET", None, None),  # another metric in another year
        ("Meteor", 2012, 2011),
        ("Meteor", 2023, None),  # later versions: no source at hand
        ("YiSi-1", 2023, 2019),
        ("NIST", 2019, 2002),
        ("sentBLEU", 2020, 2002),  # an implementation of BLEU
        ("USFD", 2019, 2019),  # no paper known: its first entry
        ("MyBLEU", None, None),  # a family found by rule has no year
    ],
)
def test_publication_years_are_those_of_cited_papers_or_first_entries_or_unknown(
    name: str, campaign: int | None, year: int | None
) -> None:
    found = describe(name, campaign)
    assert found.publication_year == year
    assert (found.publication is None) == (year is None)


def test_every_publication_is_used_and_says_who_cites_it() -> None:
    data = packaged("metrics.toml")
    used = {metric["published"] for family in data["family"] for metric in family["metrics"] if "published" in metric}
    assert used == set(data["publications"])
    for paper in data["publications"].values():
        assert str(paper["year"]) in paper["paper"].replace("first entry in WMT", "20")
        assert set(paper) == {"year", "paper", "cited_in"}


PAPERS = {  # beside the real data; findings papers of the shared tasks are not there
    "Deutsch et al. 2023": "deutsch-2023-ties-matter.txt",
    "Di Ianni and Deutsch 2025": "diianni-deutsch-2025-pairwise-difference-pearson.txt",
    "Graham and Baldwin 2014": "graham-baldwin-2014-williams-test.txt",
    "Kocmi et al. 2021": "kocmi-2021-to-ship-or-not-to-ship.txt",
    "Thompson et al. 2024": "thompson-2024-soft-pairwise-accuracy.txt",
}


def _plain(text: str) -> str:
    """Without accents and what stands for them in papers, in small letters."""
    split = unicodedata.normalize("NFD", text.replace("-\n", "").replace("´", "").replace("ˇ", ""))
    return "".join(sign for sign in split if not unicodedata.combining(sign)).lower()


@pytest.mark.parametrize("citing", PAPERS)
def test_publications_are_cited_with_their_year_where_the_registry_says(citing: str) -> None:
    text = _plain(beside_data("papers", PAPERS[citing]).read_text(encoding="utf-8"))
    cited = [paper for paper in packaged("metrics.toml")["publications"].values() if paper["cited_in"] == citing]
    assert cited
    for paper in cited:
        author = re.escape(_plain(paper["paper"].split(" ")[0]))
        assert re.search(rf"\b{author}\b[^;()]{{0,45}}\(?\s*,?\s*{paper['year']}", text), paper


def test_no_metric_is_published_after_a_campaign_that_its_name_is_kept_for() -> None:
    for family in packaged("metrics.toml")["family"]:
        for metric in family["metrics"]:
            year = describe(metric["names"][0], min(metric.get("years", [2100]))).publication_year
            assert year is None or year <= min(metric.get("years", [2100]))


def _system_scores() -> Iterator[tuple[int, str, float]]:
    """Year, metric and score of the organisers' tables of system scores."""
    for path in real_data("wmt19-sys-scores").glob("*.csv"):
        names, *rows = (line.split() for line in _lines(path))
        yield from ((2019, name, float(score)) for row in rows for name, score in zip(names[3:], row[3:], strict=True))
    for path in real_data("wmt20-metrics", "final-metric-scores").rglob("*.sys.score.gz"):
        cells = (line.rstrip("\n").split("\t") for line in _lines(path))
        yield from ((2020, name, float(score)) for name, _, _, _, _, score, *_ in cells)
    for path in real_data("mt-metrics-eval-v2", "wmt23", "metric-scores").glob("*/*.sys.score"):
        name = MetricVariant.parse(path.name.rsplit(".", 2)[0]).base_name
        yield from ((2023, name, float(score)) for line in _lines(path) if (score := line.split("\t")[1]) != "None\n")


@pytest.mark.slow
def test_metrics_whose_years_have_other_scales_are_those_that_the_facts_name() -> None:
    reach: dict[tuple[str, str | None], dict[int, tuple[float, float]]] = {}
    for year, name, score in _system_scores():
        if np.isfinite(score):
            facts = describe(name, year)
            of_years = reach.setdefault((facts.family, facts.version), {})
            low, high = of_years.get(year, (score, score))
            of_years[year] = min(low, score), max(high, score)
    found = {
        key: {year for year, (_, high) in of_years.items() if high <= 1}
        for key, of_years in reach.items()
        if min(low for low, _ in of_years.values()) >= 0 and max(high for _, high in of_years.values()) > 20
    }
    assert {key: years for key, years in found.items() if years} == {("BLEU", None): {2019}, ("chrF", "2"): {2020}}
    assert describe("BLEU", 2019).share_years == {2019}
    assert describe("chrF", 2020).share_years == {2020}
