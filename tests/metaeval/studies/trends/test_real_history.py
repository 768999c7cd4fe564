"""The real years: values that another computation gave, and every one of them again by independent SQL."""

from pathlib import Path

import pytest

from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.studies.trends.groups import grouped
from metaeval.studies.trends.history import History, HistorySettings, history
from metaeval.studies.trends.tables import bridges
from queries.slices import Slice
from tests.helpers import reading, real_data
from warehouse import Warehouse, load

QUICK = TestOptions(resamples=20)
SYSTEMS_OF_MQM = (
    *("Huoshan_Translate.832", "OPPO.1535", "Online-A.1574", "Online-B.1590", "Tencent_Translation.1520"),
    *("Tohoku-AIP-NTT.890", "eTranslation.737"),
)


@pytest.fixture(scope="module")
def years(tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = tmp_path_factory.mktemp("years") / "years.duckdb"
    folders = ("wmt19-sys-scores", "wmt20-metrics", "wmt-mqm-human-evaluation", "mt-metrics-eval-v2")
    report = load([real_data(name) for name in folders], database)
    assert not report.faults
    return database


def found(database: Path, measure: str) -> History:
    with Warehouse.open(database) as warehouse:
        settings = HistorySettings(
            asked=Slice("all", "en-de"), measure=parse_measure(measure), options=Options(), testing=QUICK, anchor="BLEU"
        )
        return history(reading(warehouse), settings)


@pytest.mark.long("loads four years of real scores: a minute")
def test_english_german_over_the_years(years: Path) -> None:
    frame = grouped(found(years, "pearson"), ("family",))
    official = frame.filter(frame["bridge"].is_null() & frame["value"].is_not_null())
    values = {(row["testset"], row["group"]): row["value"] for row in official.rows(named=True)}
    expected = {
        "BLEU": {"wmt19": 0.92, "wmt20": 0.82, "wmt23": 0.92},
        "YiSi": {"wmt19": 0.99, "wmt20": 0.89, "wmt23": 0.93},
        "COMET": {"wmt20": 0.86, "wmt23": 0.99},
    }
    for group, by_testset in expected.items():
        for testset, value in by_testset.items():
            assert round(values[testset, group], 2) == value
    with Warehouse.open(years) as warehouse:
        by_sql = {
            (testset, metric): r
            for testset, metric, r in warehouse.rows(
                """
                SELECT m.testset, regexp_replace(m.scorer, '-ref.?$', ''), corr(h.submitted, m.submitted)
                FROM system_scores AS m
                JOIN system_scores AS h ON h.testset = m.testset AND h.lp = m.lp AND h.system = m.system
                JOIN systems AS s ON s.testset = m.testset AND s.lp = m.lp AND s.system = m.system
                WHERE m.lp = 'en-de' AND m.kind = 'metric' AND h.kind = 'human' AND s.kind = 'mt' AND NOT s.is_outlier
                  AND h.scorer = CASE m.testset WHEN 'wmt23' THEN 'mqm' ELSE 'wmt-z' END
                  AND m.scorer IN ('BLEU-ref', 'YiSi-1-ref', 'COMET-ref', 'BLEU-refA', 'YiSi-1-refA', 'COMET-refA')
                GROUP BY ALL
                """
            )
        }
    family = {"BLEU": "BLEU", "YiSi-1": "YiSi", "COMET": "COMET"}
    assert len(by_sql) == 8
    for (testset, metric), r in by_sql.items():
        assert values[testset, family[metric]] == pytest.approx(r, abs=1e-12)


@pytest.mark.long("loads four years of real scores: a minute")
def test_direct_assessment_and_mqm_of_2020_are_a_change_of_protocol(years: Path) -> None:
    history_of_pa = found(years, "pa")
    rows = {
        row["group"]: row
        for row in bridges(grouped(history_of_pa, ("family",))).rows(named=True)
        if row["testset"] == "wmt20"
    }
    assert {row["n_systems"] for row in rows.values()} == {7}
    assert round(rows["BLEU"]["agreement"], 3) == 0.667
    assert (round(rows["BLEU"]["value"], 3), round(rows["BLEU"]["other_value"], 3)) == (0.714, 0.857)
    assert (round(rows["COMET"]["value"], 3), round(rows["COMET"]["other_value"], 3)) == (0.714, 0.857)
    with Warehouse.open(years) as warehouse:
        ((n_agree, n_pairs),) = warehouse.rows(
            """
            WITH mqm AS (
              SELECT system, avg(value) AS score
              FROM human_scores
              WHERE testset = 'wmt20' AND lp = 'en-de' AND human = 'mqm' AND list_contains($systems, system)
              GROUP BY system
            ), da AS (
              SELECT system, submitted AS score
              FROM system_scores
              WHERE testset = 'wmt20' AND lp = 'en-de' AND scorer = 'wmt-z'
            )
            SELECT count(*) FILTER (WHERE (a.score > b.score) = (x.score > y.score)), count(*)
            FROM mqm AS a
            JOIN mqm AS b ON a.system < b.system
            JOIN da AS x ON x.system = a.system
            JOIN da AS y ON y.system = b.system
            """,
            {"systems": list(SYSTEMS_OF_MQM)},
        )
    assert n_pairs == 21
    assert rows["BLEU"]["agreement"] == pytest.approx(n_agree / n_pairs)
