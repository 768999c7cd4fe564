"""People beside the metrics of a ranking: other human scores and halves of judgements, in place and without a rank."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import metaeval
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.inputs import Inputs
from metaeval.studies.people.ceilings import one_annotator, second_humans
from metaeval.studies.ranking.wide import wide
from queries.slices import Slice
from tests.helpers import LP, MQM, TESTSET, mqm_table, tiny_layout, tiny_warehouse
from tests.warehouse.readers.samples import esa
from warehouse import QuestionError, Warehouse, load
from warehouse.export.mtme import ScoreTable


def test_scores_of_the_same_judgements_are_one_protocol_by_the_scale_that_fits_the_measure() -> None:
    suffixes = {"pa": "-z", "pearson": "-z", "acc_eq": "-raw", "kendall(by=item)": "-raw"}
    for base in ("wmt", "da", "mqm", "da-sqm", "esa", "esaai", "appraise", "wmt-appraise", "HUMAN"):
        there = dict.fromkeys((f"{base}-raw", f"{base}-z", "psqm"), (True, True, 0))
        for measure, suffix in suffixes.items():
            assert second_humans(there, "psqm", parse_measure(measure)) == [base + suffix]
            assert second_humans(there, f"{base}-z", parse_measure(measure)) == ["psqm"]


TINY = (TESTSET, LP)
OTHER = ((78.0, 79.0, 76.0, 77.0, 79.0), (79.0, 79.0, 78.0, 77.0, 80.0), (71.0, 75.0, 72.0, 77.0, 71.0))
"""Another human score of Ash, Beech and Cherry: Beech before Ash, unlike MQM."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Three human scores: MQM, one of another protocol, and one that has MQM's scores."""
    folder = tmp_path_factory.mktemp("people")
    seg = np.array(OTHER)
    humans = {"mqm": mqm_table(), "mqm.merged": mqm_table()}
    humans["esa"] = ScoreTable(systems=("Ash", "Beech", "Cherry"), seg=seg, sys=seg.mean(axis=1))
    with tiny_warehouse(folder, tiny_layout(folder / "in", humans=humans)) as opened:
        yield opened


def test_ratings_that_the_human_score_is_made_of_are_no_ceiling_for_it(tmp_path: Path) -> None:
    seg = np.array(OTHER)
    rating = ScoreTable(systems=("Ash", "Beech", "Cherry"), seg=seg, sys=seg.mean(axis=1))
    humans = {"mqm": mqm_table(), "mqm-col1": rating, "mqm-col2_more": rating, "mqm-1": rating, "esa-col1": rating}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", humans=humans)) as opened:
        found = metaeval.rank(opened, *TINY, "pa", ceiling=True)
        column = metaeval.rank(opened, *TINY, "pa", human="mqm-col1", ceiling=True).frame.filter(kind="human")
    assert found.frame.filter(kind="human")["metric"].to_list() == ["human: mqm-1", "human: esa-col1"]
    why = "mqm is made of the same ratings, so it is not independent"
    assert f"pa: mqm-col1, mqm-col2_more have no row: {why}" in found.notes
    assert column["metric"].to_list() == ["human: esa-col1"]  # mqm-1 has the same scores as mqm-col1 here


@pytest.mark.slow
def test_another_human_score_stands_where_its_value_is_without_a_rank(tiny: Warehouse) -> None:
    without = metaeval.rank(tiny, *TINY, "pa")
    found = metaeval.rank(tiny, *TINY, "pa", ceiling=True)
    people = found.frame.filter(kind="human")
    (row,) = people.rows(named=True)
    assert (row["metric"], row["human"], row["n_systems"]) == ("human: esa", "mqm", 3)
    assert row["value"] == pytest.approx(2 / 3)  # of three pairs of systems, Ash and Beech are the other way round
    assert (row["rank"], row["cluster"], row["base_metric"]) == (None, None, None)
    assert "human_row:esa|n_systems:3|n_segments:4" in row["signature"]
    metrics = found.frame.filter(kind="metric").drop("kind")
    assert metrics.equals(without.frame)
    values = [value for value in found.frame["value"] if value is not None]
    assert values == sorted(values, reverse=True)
    assert "pa: mqm.merged has no row: mqm is made of the same ratings, so it is not independent" in found.notes
    assert "pa: there is no split-half agreement: no single judgements behind mqm are loaded" in found.notes
    assert found.signature.splitlines()[:1] == without.signature.splitlines()
    assert found.signature.splitlines()[1:] == [row["signature"]]


def test_measures_of_segments_are_on_what_both_judged(tiny: Warehouse) -> None:
    found = metaeval.rank(tiny, *TINY, "tau_b(by=none)", ceiling=True).frame.filter(kind="human")
    from scipy.stats import kendalltau

    cells = [(row, column) for row in range(3) for column in range(5) if not np.isnan(MQM[row][column])]
    expected = kendalltau([MQM[a][b] for a, b in cells], [OTHER[a][b] for a, b in cells]).statistic
    assert found["value"].to_list() == pytest.approx([expected])


def test_a_pooled_ranking_has_no_people(tiny: Warehouse) -> None:
    with pytest.raises(QuestionError, match="ceiling and pool cannot be combined"):
        metaeval.rank(tiny, *TINY, "pa", pool="mean", ceiling=True)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Four annotators who judged every output of four systems, and a metric."""
    folder = tmp_path_factory.mktemp("campaign")
    rng = np.random.default_rng(4)
    systems, items = ("Ash", "Beech", "Cherry", "Dogwood"), range(1, 9)
    rows = [
        esa(system, item, score=str(int(60 + 4 * place + rng.integers(-9, 10))), user=f"u{user}", document=f"d{item}")
        for user in range(4)
        for item in items
        for place, system in enumerate(systems)
    ]
    root = folder / "wmt24"
    (root / "metric-scores" / "en-ja").mkdir(parents=True)
    (root / "documents").mkdir()
    (root / "documents" / "en-ja.docs").write_text("canary\tcanary\n" + "".join(f"news\td{item}\n" for item in items))
    scores = "".join(f"{system}\t{line}\n" for system in systems for line in range(9))
    (root / "metric-scores" / "en-ja" / "Line-src.seg.score").write_text(scores)
    (folder / "wmt24-news-systems").mkdir()
    (folder / "wmt24-news-systems" / "esa_wave2.csv").write_text("".join(rows))
    report = load([folder], folder / "campaign.duckdb")
    assert report.faults == []
    with Warehouse.open(folder / "campaign.duckdb") as opened:
        yield opened


@pytest.mark.slow
def test_split_halves_have_the_reliability_that_annotators_reports_and_elsewhere_are_a_lower_bound(
    campaign: Warehouse,
) -> None:
    measures = ["pearson", "pearson(by=none)", "pa"]
    options = {"ceiling": True, "status": "all"}
    found = metaeval.rank(campaign, "wmt24", "en-ja", measures, **options)  # type: ignore[call-overload]
    rows = found.frame.filter(pl.col("metric").str.starts_with("human: split-half"))
    corrected, bound = "human: split-half of esa (Spearman-Brown)", "human: split-half of esa (lower bound)"
    assert rows["metric"].to_list() == [corrected, corrected, bound]
    last = found.frame.filter(measure="pa")["metric"].to_list()[-2:]
    assert set(last) == {bound, "human: one annotator of esa"}
    (people,) = metaeval.annotators(campaign, "wmt24", "en-ja", view="sets").frame.rows(named=True)
    expected = [people["system_corrected"], people["output_corrected"]]
    assert rows["value"].to_list()[:2] == pytest.approx(expected, abs=1e-9)
    assert all(
        "|human_row:split-half of esa|halves:4 annotators|splits:100|seed:0|" in one for one in rows["signature"]
    )
    assert ["spearman_brown:yes" in one for one in rows["signature"]] == [True, True, False]
    assert any(f"{people['system_r']:.3f} between halves" in note for note in found.notes)
    r = rows["value"][0]
    perfect = f"even a perfect metric reaches only about √{r:.3f} = {r**0.5:.3f}"
    assert sum(perfect in note for note in found.notes) == 1


def test_people_need_a_human_score_that_is_there(tiny: Warehouse) -> None:
    block = Inputs(tiny, Slice(*TINY, human="esa")).block(parse_measure("pa"))
    assert block.selection.human == "esa"
    rows = metaeval.rank(tiny, *TINY, "pa", human="esa", ceiling=True).frame.filter(kind="human")
    assert rows["metric"].to_list() == ["human: mqm"]
    assert rows["value"].to_list() == pytest.approx([2 / 3])


def test_one_annotator_is_compared_with_the_mean_of_the_others_as_metrics_are(campaign: Warehouse) -> None:
    """Kendall's tau in each of eight segments, for one annotator a segment, by plain loops over the same picks."""
    from scipy.stats import kendalltau

    from metaeval.studies.people.ceilings import N_DRAWS, _picked
    from queries.longitudinal import judgements

    measure = parse_measure("tau_b(by=item)")
    block = Inputs(campaign, Slice("wmt24", "en-ja", status="all"), None).block(measure)
    block = block.take(segments=block.judged.any(axis=0))
    block = replace(block, scores=np.random.default_rng(6).normal(size=block.scores.shape))
    single = judgements(campaign, block.selection.evalset_id, "esa")
    found = one_annotator(block, single, measure, Options())
    assert found is not None
    raters = sorted(set(single["rater"]))
    value = {(row["rater"], row["system"], row["segment"]): row["value"] for row in single.rows(named=True)}
    rng = np.random.default_rng([0, 13])
    people, metrics = [], []
    for _ in range(N_DRAWS):
        picks = _picked(rng, np.ones((4, 8), dtype=bool), np.ones(4))
        taus = []
        for column, segment in enumerate(block.segments):
            segment = int(segment)
            own = [value[raters[picks[column]], system, segment] for system in block.systems]
            others = [
                np.mean([value[name, system, segment] for name in raters if name != raters[picks[column]]])
                for system in block.systems
            ]
            taus.append((kendalltau(others, own).statistic, kendalltau(others, block.scores[0][:, column]).statistic))
        means = np.nanmean(taus, axis=0)
        people.append(means[0])
        metrics.append(means[1])
    assert found.value == pytest.approx(np.mean(people))
    assert found.metrics.tolist() == pytest.approx([np.mean(metrics)])
    assert found.low <= found.value <= found.high
    assert (found.n_annotators, found.n_others, found.n_segments) == (4, 3, 8)


def test_annotators_are_picked_alike_and_only_where_they_judged() -> None:
    from metaeval.studies.people.ceilings import _picked

    rng = np.random.default_rng(1)
    there = np.ones((3, 3000), dtype=bool)
    there[0, :1500] = False
    there[:, 2999] = False
    picked = _picked(rng, there, np.array([1.0, 2.0, 1.0]))
    assert picked[2999] == -1
    # Of three with weights 1, 2, 1: a quarter, a half, a quarter; a share of 1,499 has a standard error of .013.
    shares = np.bincount(picked[1500:2999], minlength=3) / 1499
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.05)
    assert not (picked[:1500] == 0).any()


@pytest.mark.slow
def test_ceilings_stand_beside_metrics_in_each_domain(simulated_warehouse: Warehouse) -> None:
    found = metaeval.rank(simulated_warehouse, "sim24", "en-de", "pearson", ceiling=True, by="domain")
    people = found.frame.filter(kind="human")
    assert people["domain"].n_unique() == found.frame["domain"].n_unique() > 1
    for (domain,), rows in people.group_by("domain"):
        alone = metaeval.rank(simulated_warehouse, "sim24", "en-de", "pearson", ceiling=True, domain=[domain]).frame
        assert rows["value"].to_list() == alone.filter(kind="human")["value"].to_list()
    table = wide(found.frame)
    assert table.metrics[-1].startswith("human: ")
    assert not table.best[-1].any()
