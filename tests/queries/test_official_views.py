"""The official slice in SQL: participants, their scores and what follows, equal to what `rank` does in Python."""

import math
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest

from metaeval import counts
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import rankable
from metaeval.results.inputs import Inputs
from metaeval.results.study import study
from queries.slices import Slice
from tests.helpers import MQM, SYSTEMS, metric_tables, mqm_table, tiny_layout, tiny_warehouse
from warehouse import LoadReport, QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable

PEARSON = parse_measure("pearson")
PA = parse_measure("pa")
ACC_EQ = parse_measure("acc_eq(by=item)")
COUNTS = ("n_concordant", "n_discordant", "n_tied_human", "n_tied_metric", "n_tied_both")
Reasons = dict[tuple[str, str], str | None]


def reasons_in_sql(warehouse: Warehouse) -> dict[tuple[str, str, str], Reasons]:
    """Why systems and metrics are excluded, by test set, language pair and level."""
    found: dict[tuple[str, str, str], Reasons] = {}
    for testset, lp, level, kind, name, included, reason in warehouse.rows(
        "SELECT testset, lp, level, kind, name, included, reason FROM participants"
    ):
        assert included == (reason is None)
        reasons = found.setdefault((testset, lp, level), {})
        assert (kind, name) not in reasons
        reasons[kind, name] = reason
    return found


def reasons_in_python(warehouse: Warehouse, testset: str, lp: str, measure: Measure) -> Reasons | None:
    """Why systems and metrics are not in the ranking by a measure; None where there is no ranking.

    Without the options of the command line that would include them, which are none of SQL's business.
    """
    inputs = Inputs(warehouse, Slice(testset, lp))
    try:
        block = inputs.block(measure)
    except QuestionError:
        return None
    if measure.definition.needs_segments and not block.judged.any():
        return None
    _, excluded = rankable(measure, block, Options())
    reasons = {("system", one.name): one.reason for one in block.selection.systems}
    reasons |= {("metric", one.name): one.reason or excluded.get(one.name) for one in block.selection.metrics}
    return {
        key: reason and re.sub(r" \((?:included by )?\u2063.*\)$", "", str(reason)) for key, reason in reasons.items()
    }


def evalsets(warehouse: Warehouse, every_nth: int) -> list[tuple[str, str]]:
    """Every nth evaluation set, of all test sets."""
    return warehouse.rows("SELECT testset, lp FROM evalsets ORDER BY ALL")[::every_nth]


def assert_participants_are_those_of_python(warehouse: Warehouse, every_nth: int = 1) -> None:
    in_sql = reasons_in_sql(warehouse)
    ranked = 0
    for testset, lp in evalsets(warehouse, every_nth):
        for level, measure in (("sys", PEARSON), ("seg", ACC_EQ)):
            found = in_sql.get((testset, lp, level), {})
            expected = reasons_in_python(warehouse, testset, lp, measure)
            where = (testset, lp, level)
            if expected is None:
                assert found, where
                assert None not in found.values(), where
            else:
                assert found == expected, where
                ranked += 1
    assert ranked


def assert_scores_are_those_of_the_rankings(warehouse: Warehouse, every_nth: int = 1) -> None:
    """corr and pairwise agreement over the view, and the macros, are what `rank` gives for every nth evaluation set."""
    chosen = evalsets(warehouse, every_nth)
    asked = {"chosen": [f"{testset} {lp}" for testset, lp in chosen]}
    pearson = {
        row[:3]: row[3:]
        for row in warehouse.rows(
            """
            SELECT testset, lp, metric, corr(human_score, metric_score), count(*), any_value(score_source)
            FROM ranked_scores
            WHERE concat(testset, ' ', lp) IN $chosen
            GROUP BY ALL
            """,
            asked,
        )
    }
    seen = set()
    for macro in ("pearson", "pairwise_accuracy"):
        measure = {"pearson": PEARSON, "pairwise_accuracy": PA}[macro]
        in_macro: dict[tuple[str, str], dict[str, tuple[float | None, int]]] = {}
        for testset, lp, metric, value, n in warehouse.rows(
            f"""
            SELECT e.testset, e.lp, m.metric, m.{macro}, m.n_systems
            FROM evalsets AS e, {macro}_by_metric(e.testset, e.lp) AS m
            WHERE m.reason IS NULL AND concat(e.testset, ' ', e.lp) IN $chosen
            """,
            asked,
        ):
            in_macro.setdefault((testset, lp), {})[metric] = (value, n)
        for testset, lp in chosen:
            rows = in_macro.get((testset, lp), {})
            try:
                (result,) = study(warehouse, Slice(testset, lp), [measure], Options()).results
            except QuestionError:
                assert rows == {}, (testset, lp)
                continue
            values = result.evaluation
            names = [metric.name for metric in values.metrics]
            assert sorted(rows) == sorted(names), (testset, lp, macro)
            for name, value, source in zip(names, values.value.tolist(), values.system_score, strict=True):
                where = (testset, lp, name)
                found, n = rows[name]
                assert (found is None) == math.isnan(value), (where, macro)
                assert found is None or abs(found - value) < 1e-9, (where, macro)
                if macro == "pearson":
                    seen.add(where)
                    in_view, n_rows, source_in_view = pearson[where]
                    assert (n_rows, source_in_view) == (n, source), where
                    assert math.isnan(value) or abs(in_view - value) < 1e-9, where
    assert seen == set(pearson)


@pytest.mark.slow
def test_participants_of_the_simulated_task_are_those_of_python(simulated_warehouse: Warehouse) -> None:
    assert_participants_are_those_of_python(simulated_warehouse)


@pytest.mark.slow
def test_scores_of_the_simulated_task_give_its_rankings(simulated_warehouse: Warehouse, in_full: bool) -> None:
    """Every second evaluation set, of each year and language pair, or all where there is time."""
    chosen = evalsets(simulated_warehouse, 2)
    assert [*map(set, zip(*chosen, strict=True))] == [*map(set, zip(*evalsets(simulated_warehouse, 1), strict=True))]
    assert_scores_are_those_of_the_rankings(simulated_warehouse, 1 if in_full else 2)


def odd_warehouse(folder: Path, *, standard: str | None = "mqm", reference: str | None = "refA") -> Warehouse:
    """The tiny task with systems and metrics that are excluded for every reason there is."""
    systems = (*SYSTEMS, "refB", "Dogwood", "Elder", "Quiz", "Fir", "Gorse", "Hazel", "Iris")
    n = len(systems)
    seg = np.vstack([MQM, np.tile([-1.0, 0.0, -2.0, np.nan, -3.0], (n - 4, 1))])
    seg[5] = np.nan  # Dogwood, not judged
    gappy = np.arange(5.0 * n).reshape(n, 5)
    gappy[0, 0] = np.nan
    unjudged = np.arange(5.0 * n).reshape(n, 5)
    unjudged[:, 3] = np.nan
    half = {"Part-src": 2, "Most-src": 8}
    full = ScoreTable(systems=systems, seg=np.arange(5.0 * n).reshape(n, 5))
    metrics = {
        **{name: table for name, table in metric_tables().items() if name == "Fine-src"},
        **{name: ScoreTable(systems=systems[:k], seg=np.ones((k, 5)), sys=np.ones(k)) for name, k in half.items()},
        "Mine-src": full,
        "Guest-src": full,
        "Rough-refB": full,
        "Whole-refA": full,
        "Gappy-src": ScoreTable(systems=systems, seg=gappy),
        "Gappysys-src": ScoreTable(systems=systems, seg=gappy, sys=np.arange(float(n))),
        "Unjudged-src": ScoreTable(systems=systems, seg=unjudged),
        "Only-src": ScoreTable(systems=systems, sys=np.arange(float(n)) ** 2),
        "Flat-src": ScoreTable(systems=systems, seg=np.full((n, 5), 0.1 + 0.2)),
    }
    human = ScoreTable(systems=systems, seg=seg)
    tiny_warehouse(
        folder,
        tiny_layout(folder / "layout", systems=systems, humans={"mqm": human, "esa": mqm_table()}, metrics=metrics),
    ).close()
    with duckdb.connect(str(folder / "tiny.duckdb")) as connection:
        entry = (
            "UPDATE internal.entry SET {} WHERE scorer_id = (FROM internal.scorer SELECT scorer_id WHERE name = '{}')"
        )
        connection.execute(entry.format("is_own = true", "Mine-src"))
        connection.execute(entry.format("status = 'no entry'", "Guest-src"))
        connection.execute("UPDATE internal.system SET is_outlier = true WHERE name = 'Elder'")
        connection.execute("UPDATE internal.system SET kind = 'qc' WHERE name = 'Quiz'")
        connection.execute(
            "UPDATE internal.evalset SET standard_human_seg = $human, standard_human_sys = NULL, "
            "standard_reference = $reference",
            {"human": standard, "reference": reference},
        )
    return Warehouse.open(folder / "tiny.duckdb")


@pytest.mark.slow
def test_every_reason_of_python_is_that_of_the_view(tmp_path: Path) -> None:
    with odd_warehouse(tmp_path) as warehouse:
        assert_participants_are_those_of_python(warehouse)
        assert_scores_are_those_of_the_rankings(warehouse)
        found = reasons_in_sql(warehouse)["tiny24", "en-de", "seg"]
        at_system_level = reasons_in_sql(warehouse)["tiny24", "en-de", "sys"]
    assert found["system", "Dogwood"] == "not judged by mqm"
    assert found["metric", "Part-src"] == "no scores for the output of Cherry, Fir, Gorse and 2 more"
    assert found["metric", "Gappysys-src"] == ("1 (system, segment) score missing")
    assert found["metric", "Only-src"] == "no segment scores"
    assert found["metric", "Unjudged-src"] is None
    included = {"Gappysys-src", "Only-src", "Whole-refA", "Unjudged-src", "Flat-src"}
    assert {name for (kind, name), reason in at_system_level.items() if kind == "metric" and not reason} == included
    assert len({reason and reason[:12] for reason in (*found.values(), *at_system_level.values())}) == 12


@pytest.mark.slow
def test_without_a_declared_reference_one_of_several_must_be_named(tmp_path: Path) -> None:
    with odd_warehouse(tmp_path, reference=None) as warehouse:
        assert_participants_are_those_of_python(warehouse)
        reason = reasons_in_sql(warehouse)["tiny24", "en-de", "sys"]["metric", "Whole-refA"]
        assert reason == "computed with refA; no reference is official"


def test_without_a_declared_reference_the_only_one_stands_in(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", facts=False)) as warehouse:
        assert_participants_are_those_of_python(warehouse)
        assert reasons_in_sql(warehouse)["tiny24", "en-de", "seg"]["metric", "Rough-refA"] is None


@pytest.mark.slow
def test_without_the_official_human_score_nobody_participates(tmp_path: Path) -> None:
    with odd_warehouse(tmp_path, standard="wmt") as warehouse:
        for reasons in reasons_in_sql(warehouse).values():
            assert set(reasons.values()) == {"no official human score is loaded"}
        assert warehouse.rows("FROM ranked_scores") == []
        rows = warehouse.rows("SELECT n_systems, pearson, reason FROM pearson_by_metric('tiny24', 'en-de')")
        assert set(rows) == {(None, None, "no official human score is loaded")}


@pytest.mark.slow
def test_the_only_human_score_stands_in_for_the_official_one(tmp_path: Path) -> None:
    layout = tiny_layout(tmp_path / "layout", humans={"esa": mqm_table()})
    with tiny_warehouse(tmp_path, layout) as warehouse:
        assert_participants_are_those_of_python(warehouse)
        assert warehouse.rows("SELECT DISTINCT human FROM ranked_scores") == [("esa",)]


@pytest.mark.slow
def test_a_set_whose_systems_are_all_excluded_has_no_ranking(tmp_path: Path) -> None:
    tiny_warehouse(tmp_path).close()
    with duckdb.connect(str(tmp_path / "tiny.duckdb")) as connection:
        connection.execute("UPDATE internal.system SET is_outlier = true")
    with Warehouse.open(tmp_path / "tiny.duckdb") as warehouse:
        reasons = reasons_in_sql(warehouse)["tiny24", "en-de", "sys"]
    assert {reason for (kind, _), reason in reasons.items() if kind == "metric"} == {"no system remains"}


@pytest.mark.slow
def test_official_counts_are_those_of_the_command(simulated_warehouse: Warehouse) -> None:
    for testset, lp, epsilon in (("sim22", "cs-uk", 0.0), ("sim24", "en-de", 0.1)):
        expected = {
            (row["metric"], int(row["group"])): tuple(row[name] for name in COUNTS)
            for row in counts(simulated_warehouse, testset, lp, by="item", epsilon=epsilon).frame.iter_rows(named=True)
        }
        found = {
            (row[0], row[1]): row[2:]
            for row in simulated_warehouse.rows(
                f"SELECT metric, segment, {', '.join(COUNTS)} FROM concordance_official($t, $lp, epsilon := $e) "
                "WHERE reason IS NULL",
                {"t": testset, "lp": lp, "e": epsilon},
            )
        }
        assert found
        assert {key: found.get(key, (0,) * 5) for key in expected} == expected
        assert found.keys() <= expected.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    "every_nth", [21, pytest.param(1, marks=pytest.mark.long("all real evaluation sets in SQL and Python: 20 seconds"))]
)
def test_real_participants_and_scores_are_those_of_python(every_nth: int, real_load: tuple[Path, LoadReport]) -> None:
    with Warehouse.open(real_load[0]) as warehouse:
        assert_participants_are_those_of_python(warehouse, every_nth)
        assert_scores_are_those_of_the_rankings(warehouse, every_nth)


def test_real_correlations_of_english_german_are_those_of_another_computation(
    real_load: tuple[Path, LoadReport],
) -> None:
    with Warehouse.open(real_load[0]) as warehouse:
        found = {
            (metric, year): value
            for metric, year, value in warehouse.rows(
                """
                SELECT base_metric, year, round(corr(human_score, metric_score), 2)
                FROM ranked_scores
                WHERE lp = 'en-de' AND base_metric IN ('BLEU', 'YiSi-1', 'COMET')
                GROUP BY ALL
                """
            )
        }
    bleu = {("BLEU", 2019): 0.92, ("BLEU", 2020): 0.82, ("BLEU", 2023): 0.92}
    yisi = {("YiSi-1", 2019): 0.99, ("YiSi-1", 2020): 0.89, ("YiSi-1", 2023): 0.93}
    assert bleu | yisi | {("COMET", 2020): 0.86, ("COMET", 2023): 0.99} == found
