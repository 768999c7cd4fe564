"""What the organisers declared: the packaged facts, and facts of a user's own."""

import json
from pathlib import Path

import pytest

from tests.helpers import beside_data
from warehouse import SourceError
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts, declared_facts, facts, known_testsets, parse_facts
from warehouse.names import LanguagePair, is_human_name


def test_the_packaged_facts_are_the_public_record() -> None:
    record = json.loads(beside_data("facts", "test_sets.json").read_text())
    others = ("wmt24.spans", *(f"wmt{year}" for year in range(12, 16)))
    assert known_testsets() == sorted([*record["test_sets"], *others])
    for testset, lps in record["test_sets"].items():
        packaged = facts(testset)
        assert set(packaged.lps) == set(lps), testset
        for lp, declared in lps.items():
            assert packaged.evalset(lp) == EvalsetFacts(
                standard_reference=declared["standard_reference"],
                standard_human=declared["standard_gold"],
                outlier_systems=frozenset(declared["outlier_systems"]),
                ranks_human_references=packaged.evalset(lp).ranks_human_references,
                extra_primary=frozenset(declared.get("extra_primary", ())),
                aliases=packaged.evalset(lp).aliases,
            ), (testset, lp)
            if "metric_set" in declared:
                lists = record["metric_sets"][declared["metric_set"]]
                assert packaged.primary == frozenset(lists["primary"]), testset
                assert packaged.baseline == frozenset(lists["baseline"]), testset
            else:
                assert packaged.primary is None, testset


def test_wmt12_has_its_released_human_score_for_two_language_pairs_and_rankings_for_the_others() -> None:
    standard = EvalsetFacts(standard_reference="ref", standard_human={"sys": "HUMAN"})
    ranked = EvalsetFacts(standard_reference="ref", standard_human={"sys": "rr:bto", "seg": "rr"})
    lps = facts("wmt12").lps
    assert {lp: lps[lp] for lp in ("en-fr", "es-en")} == {"en-fr": standard, "es-en": standard}
    assert {lp: lps[lp] for lp in lps if lp not in ("en-fr", "es-en")} == dict.fromkeys(
        ("cs-en", "de-en", "en-cs", "en-de", "en-es", "fr-en"), ranked
    )
    assert facts("wmt12").status("es-en", "BLEU") is None


def test_every_packaged_test_set_has_a_year_a_description_and_sound_language_pairs() -> None:
    for testset in known_testsets():
        packaged = facts(testset)
        assert packaged.name == testset
        assert str(packaged.year)[2:] == testset[3:5]
        assert packaged.description
        assert [str(LanguagePair.parse(lp)) for lp in packaged.lps] == list(packaged.lps)


def test_aliases_join_human_translations_alone() -> None:
    """Spellings of systems join by rule; which human translation a word means, only a declaration can tell."""
    declared = [evalset.aliases for testset in known_testsets() for evalset in facts(testset).lps.values()]
    names = {name for aliases in declared for pair in aliases.items() for name in pair}
    assert {"HUMAN", "HUMAN-C", "Human-P.0", "ref-A", "refA"} <= names
    assert all(is_human_name(name) for name in names)
    assert facts("wmt20").evalset("en-de").aliases["HUMAN-C"] == "Human-P.0"


def test_extra_human_references_are_ranked_where_the_official_task_did() -> None:
    assert facts("wmt23").evalset("he-en").ranks_human_references
    assert facts("wmt24").evalset("en-de").ranks_human_references
    assert not facts("wmt23").evalset("en-de").ranks_human_references


def test_a_metric_is_primary_baseline_or_contrastive() -> None:
    assert facts("wmt23").status("en-de", "COMET") == "baseline"
    assert facts("wmt23").status("en-de", "GEMBA-MQM") == "primary"
    assert facts("wmt23").status("en-de", "UniTE") == "contrastive"
    assert facts("wmt21.news").status("zh-en", "RoBLEURT") == "primary"
    assert facts("wmt21.news").status("en-de", "RoBLEURT") == "contrastive"
    assert facts("wmt20").status("en-de", "COMET") is None


def test_a_test_set_that_nobody_knows_has_its_name_alone() -> None:
    assert facts("mine26") == TestsetFacts("mine26")
    assert facts("mine26").evalset("en-de") == EvalsetFacts()
    assert facts("mine26").status("en-de", "BLEU") is None


NOT_UNDERSTOOD: list[tuple[str, str]] = [
    ("name = ", "not valid TOML"),
    ("", "name: missing"),
    ("name = 3", "name: found 3"),
    ('name = ""', "name: missing"),
    ('name = "t"\nyears = 3', "years: unknown key"),
    ('name = "t"\nyear = "2024"', "year: found .*, expected a number"),
    ('name = "t"\nyear = true', "year: found .*, expected a number"),
    ('name = "t"\n[metrics]\nprimery = ["BLEU"]', "metrics.primery: unknown key"),
    ('name = "t"\n[lps.english]', "lps.english: 'english' is not a language pair such as en-de"),
    ('name = "t"\n[lps.EN-DE]', "lps.EN-DE: 'EN-DE' is not a language pair"),
    ('name = "t"\n[lps.ces_Latn---deu_Latn]', "lps.ces_Latn---deu_Latn: expected ces_Latn-deu_Latn"),
    ('name = "t"\ndescription = 3', "description: found 3"),
    ('name = "t"\nmetrics = 3', "metrics: found 3, expected a table"),
    ('name = "t"\nlps = []', "lps: found"),
    ('name = "t"\n[metrics]\nprimary = "BLEU"', "metrics.primary: found 'BLEU', expected a list of strings"),
    ('name = "t"\n[metrics]\nbaseline = [3]', "metrics.baseline: found"),
    ('name = "t"\n[lps]\nen-de = 3', "lps.en-de: found 3, expected a table"),
    ('name = "t"\n[lps.en-de]\nreference = "refA"', "lps.en-de.reference: unknown key"),
    ('name = "t"\n[lps.en-de]\nstandard_reference = 1', "standard_reference: found 1"),
    ('name = "t"\n[lps.en-de]\nstandard_human = "mqm"', "standard_human: found 'mqm'"),
    ('name = "t"\n[lps.en-de.standard_human]\nword = "mqm"', "standard_human.word: unknown key"),
    ('name = "t"\n[lps.en-de]\noutlier_systems = "x"', "outlier_systems: found 'x'"),
    ('name = "t"\n[lps.en-de]\nranks_human_references = 1', "ranks_human_references: found 1"),
    ('name = "t"\n[lps.en-de]\nextra_primary = {}', "extra_primary: found {}"),
]


def test_facts_that_are_not_understood_are_refused_with_the_place() -> None:
    for text, words in NOT_UNDERSTOOD:
        with pytest.raises(SourceError, match=words) as told:
            pytest.fail(f"{text}: {parse_facts(text, 'here.toml')}")
        assert str(told.value).startswith("here.toml"), text


def test_a_folders_own_facts_go_before_the_packaged_ones(tmp_path: Path) -> None:
    assert declared_facts("wmt23", tmp_path) == facts("wmt23")
    assert declared_facts("mine26", tmp_path) is None
    (tmp_path / "testset.toml").write_text('name = "wmt23"\nyear = 1999\n')
    assert declared_facts("wmt23", tmp_path) == TestsetFacts("wmt23", 1999)
    with pytest.raises(SourceError, match="name is 'wmt23', expected 'wmt24'"):
        declared_facts("wmt24", tmp_path)
    (tmp_path / "testset.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(SourceError, match="cannot be read"):
        declared_facts("wmt23", tmp_path)
