"""The first sentence on a history: who leads which metrics."""

from metaeval.studies.trends.groups import By, grouped
from metaeval.studies.trends.headlines import of_slopes, of_years
from metaeval.studies.trends.within import within
from tests.metaeval.studies.trends.histories import made_history, made_point

VALUES = {"BLEU": 0.7, "YiSi-0": 0.95, "YiSi-1": 0.9, "COMET": 0.9, "Random-sysname": 0.99}
ONE = made_history(
    (2019, made_point("wmt19", "en-de", {"BLEU": 0.7, "YiSi-1": 0.9})), (2020, made_point("wmt20", "en-de", VALUES))
)


def words(*by: By) -> str:
    return of_years(ONE, grouped(ONE, by))


def test_families_lead_families_and_the_highest_of_all_metrics_follows() -> None:
    said = (
        "In 2020, COMET and YiSi lead by pa (0.900; highest of all metrics 0.950) among 3 families, one metric each, "
    )
    for by in (("family",), ("family", "kind")):
        assert words(*by).startswith(f"{said}0.200 above BLEU on the same data")


def test_a_metric_leads_all_metrics_that_judge_translations() -> None:
    said = "In 2020, YiSi-0 leads by pa (0.950), 0.250 [0.150, 0.350] above BLEU on the same data; before: "
    assert words("version").startswith(said)
    assert "families" not in words("version")
    assert words("family", "version").startswith(said)


def test_a_leader_leads_on_the_same_sets_as_the_others() -> None:
    history = made_history(
        (2020, made_point("wmt20", "en-de", {"BLEU": 0.7, "COMET": 0.8})),
        (2020, made_point("wmt20", "de-en", {"BLEU": 0.7, "COMET": 0.8, "ESIM": 0.99})),
    )
    said = of_years(history, grouped(history, ("family",)))
    assert said == "In 2020, COMET leads by pa (0.800, mean of 2 sets), 0.100 above BLEU on the same data."


def test_progress_in_few_sets_cannot_be_told() -> None:
    dated = {"BLEU": 0.6, "TER": 0.5, "chrF": 0.7, "YiSi-1": 0.8, "BERTScore": 0.8, "BLEURT-20": 0.9}
    points = [(year, made_point(f"wmt{year % 100}", "en-de", dated)) for year in (2022, 2023, 2024)]
    said = of_slopes(within(made_history(*points[:1])))
    assert said.startswith("Whether newer reference-based metrics are better on the same data by pa cannot be told (")
    assert "only 1 set; +0." in said
    assert "only 2 sets; +0." in of_slopes(within(made_history(*points[:2])))
    assert "cannot be told" not in of_slopes(within(made_history(*points)))
