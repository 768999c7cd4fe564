"""sacreBLEU's paired tests on texts of the warehouse."""

from dataclasses import replace

import polars as pl
import pytest

from metaeval import annotators, systems
from metaeval.studies.significance.systems import corpus_tests
from metaeval.studies.tables.means import domain_means
from queries.slices import Slice
from warehouse import QuestionError, Warehouse

pytest.importorskip("sacrebleu")
SET = ("sim24", "en-de")


def _three(warehouse: Warehouse) -> tuple[str, ...]:
    names = warehouse.rows(
        "SELECT DISTINCT name FROM texts WHERE (testset, lp, kind) = ('sim24', 'en-de', 'output') ORDER BY name LIMIT 3"
    )
    return tuple(name for (name,) in names)


@pytest.mark.slow
@pytest.mark.parametrize(("test", "words"), [("bs", "bs:"), pytest.param("ar", "ar:", marks=pytest.mark.slow)])
def test_p_values_are_sacrebleu_s(simulated_warehouse: Warehouse, test: str, words: str) -> None:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    systems = _three(simulated_warehouse)
    found = corpus_tests(simulated_warehouse, *SET, "bleu", test, systems=systems, samples=50)  # type: ignore[arg-type]
    assert found.frame.height == 3
    assert (found.frame["difference"] >= 0).all()
    assert f"|{words}50" in found.signature.replace("[", "|")
    texts = {
        (kind, name): [text for _, text in sorted(rows)]
        for kind, name, rows in simulated_warehouse.rows(
            "SELECT kind, name, list((segment, text)) FROM texts WHERE (testset, lp) = ('sim24', 'en-de') GROUP BY ALL"
        )
    }
    for row in found.frame.rows(named=True):
        named = [(name, texts["output", name]) for name in (row["better"], row["worse"])]
        _, scores = PairedTest(named, {"BLEU": BLEU()}, [texts["reference", "refA"]], test, 50)()
        (results,) = (of for name, of in scores.items() if name != "System")
        assert row["value"] == pytest.approx(results[0].score)
        assert row["other"] == pytest.approx(results[1].score)
        assert row["p"] == pytest.approx(results[1].p_value)


def test_what_cannot_be_tested_is_refused(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="unknown metric to compute 'blue'"):
        corpus_tests(simulated_warehouse, *SET, "blue")
    with pytest.raises(QuestionError, match="no two systems"):
        corpus_tests(simulated_warehouse, *SET, systems=("Nobody",))
    with pytest.raises(QuestionError, match="no two systems"):
        corpus_tests(simulated_warehouse, *SET, systems=_three(simulated_warehouse)[:1])


@pytest.mark.slow
def test_systems_has_the_tests_of_the_systems_that_are_ranked(simulated_warehouse: Warehouse) -> None:
    ranked = set(systems(simulated_warehouse, *SET, resamples=20).result.facts["standings"].names)
    found = systems(simulated_warehouse, *SET, "BLEU", view="corpus", test="bootstrap", resamples=20)
    assert set(found.frame["better"]) | set(found.frame["worse"]) <= ranked
    assert "|sacrebleu:[" in found.signature
    assert "bs:20" in found.signature
    with pytest.raises(QuestionError, match="corpus scores have no wilcoxon test"):
        systems(simulated_warehouse, *SET, "bleu", view="corpus", test="wilcoxon")
    with pytest.raises(QuestionError, match="name a scorer whose corpus scores"):
        systems(simulated_warehouse, *SET, view="corpus")
    with pytest.raises(QuestionError, match="view domains uses human scores"):
        systems(simulated_warehouse, *SET, "bleu", view="domains")


def test_systems_has_means_by_domain_and_says_where_there_is_one_round_of_ratings(
    simulated_warehouse: Warehouse,
) -> None:
    found = systems(simulated_warehouse, *SET, view="domains")
    assert found.frame.equals(domain_means(simulated_warehouse, Slice(*SET)).frame)
    unknown = replace(found, frame=found.frame.with_columns(domain=pl.lit(None, pl.String)))
    said = "No segment has a known domain, so the table has one mean per system."
    assert unknown.question.headline(unknown) == said
    with pytest.raises(QuestionError, match="name the ratings to compare, which must be rounds of one design"):
        systems(simulated_warehouse, *SET, view="rounds")
    with pytest.raises(QuestionError, match="no two judgements of outputs"):
        systems(simulated_warehouse, *SET, view="rounds", human="mqm")


def test_annotators_has_the_pace_or_says_that_nobody_kept_times(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="no judgements with times"):
        annotators(simulated_warehouse, *SET, view="pace")
