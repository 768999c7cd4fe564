"""Views of two scores side by side and of described scores, against independent queries."""

import json
import math
import shutil
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

import duckdb
import pytest

from docs.generate import output_of
from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.results.run import Run
from metaeval.studies.significance.cached import compared
from queries.slices import Slice
from tests.helpers import tiny_warehouse
from warehouse import LoadReport, Warehouse
from warehouse.facts.human_protocols import protocol_of

ONE = "testset = 'sim23' AND lp = 'en-de'"


@pytest.mark.slow
def test_scored_segments_join_what_both_gave(simulated_warehouse: Warehouse) -> None:
    rows = simulated_warehouse.rows
    texts = dict(rows(f"SELECT segment, source_text FROM segments WHERE {ONE}"))
    human = {
        (s, n): v for s, n, v in rows(f"SELECT system, segment, value FROM human_scores WHERE {ONE}") if v is not None
    }
    metric: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for name, system, segment, value in rows(f"SELECT metric, system, segment, value FROM scores WHERE {ONE}"):
        if value is not None:
            metric[name][system, segment] = value
    found: dict[str, dict[tuple[str, int], tuple[float, ...]]] = defaultdict(dict)
    for name, system, segment, length, *scores in rows(
        "SELECT metric, system, segment, length, human_score, metric_score, human_z, metric_z "
        f"FROM scored_segments WHERE {ONE}"
    ):
        assert length == len(texts[segment])
        assert (system, segment) not in found[name]
        found[name][system, segment] = tuple(scores)
    assert found.keys() == metric.keys()
    mean, deviation = fmean(human.values()), stdev(human.values())
    for name, values in metric.items():
        assert found[name].keys() == human.keys() & values.keys()
        of_metric, spread = fmean(values.values()), stdev(values.values())
        for key in list(found[name])[::97]:
            human_score, metric_score, human_z, metric_z = found[name][key]
            assert (human_score, metric_score) == (human[key], values[key])
            assert math.isclose(human_z, (human[key] - mean) / deviation, abs_tol=1e-9)
            if spread == 0:
                assert metric_z is None
            else:
                assert math.isclose(metric_z, (values[key] - of_metric) / spread, abs_tol=1e-9)


def test_a_constant_metric_has_no_standardised_scores(tiny: Warehouse) -> None:
    found = tiny.rows("SELECT DISTINCT metric_z FROM scored_segments WHERE metric = 'Flat-src'")
    assert found == [(None,)]


def test_human_pairs_are_systems_under_two_protocols(simulated_warehouse: Warehouse) -> None:
    scores = simulated_warehouse.rows(
        "SELECT testset, lp, system, scorer, coalesce(submitted, mean) FROM system_scores WHERE kind = 'human' "
        "ORDER BY scorer"
    )
    by_system: dict[tuple[str, str, str], list[tuple[str, float]]] = defaultdict(list)
    for testset, lp, system, human, score in scores:
        if score is not None:
            by_system[testset, lp, system].append((human, score))
    family = {"wmt-raw": "da", "wmt-z": "da", "mqm": "mqm", "mqm.merged": "mqm"}
    expected = {
        (*key, *one, family[one[0]], *other, family[other[0]])
        for key, humans in by_system.items()
        for one, other in combinations(humans, 2)
        if family[one[0]] != family[other[0]]
    }
    found = simulated_warehouse.rows(
        "SELECT testset, lp, system, human_a, score_a, protocol_a, human_b, score_b, protocol_b FROM human_pairs"
    )
    assert len(found) == len(expected)
    assert set(found) == expected
    kinds = simulated_warehouse.rows(
        "SELECT count(*) FROM human_pairs AS p JOIN systems AS y USING (testset, lp, system) "
        "WHERE y.kind <> p.system_kind OR y.is_outlier <> p.is_outlier"
    )
    assert kinds == [(0,)]


def test_judgement_pairs_are_of_two_annotators_with_valid_judgements(tmp_path: Path) -> None:
    tiny_warehouse(tmp_path).close()
    judged = [  # vector, segment, rater, value, status
        (1, 1, "ann", 10.0, "valid"),
        (1, 1, "bob", 20.0, "valid"),
        (1, 1, "cyd", 30.0, "bad"),
        (1, 1, "bob", 25.0, "superseded"),
        (1, 1, None, 40.0, "valid"),
        (1, 1, "dee", None, "valid"),
        (1, 2, "ann", 50.0, "valid"),
        (2, 1, "bob", 60.0, "valid"),
        (2, 1, "ann", 70.0, "valid"),
        (2, 1, "ann", 80.0, "valid"),
    ]
    with duckdb.connect(str(tmp_path / "tiny.duckdb")) as connection:
        vectors = connection.execute(
            """
            SELECT v.vector_id, y.name
            FROM internal.vector AS v
            JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
            JOIN internal.system AS y ON y.system_id = v.system_id
            WHERE v.level = 'seg'
            ORDER BY y.name
            """
        ).fetchall()
        connection.executemany(
            "INSERT INTO internal.judgement (judgement_id, vector_id, segment, rater, value, status) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            [(1000 + n, vectors[one[0] - 1][0], *one[1:]) for n, one in enumerate(judged)],
        )
    with Warehouse.open(tmp_path / "tiny.duckdb") as warehouse:
        found = warehouse.rows(
            "SELECT system, segment, rater_a, value_a, rater_b, value_b FROM judgement_pairs ORDER BY ALL"
        )
    assert found == [
        ("Ash", 1, "ann", 10.0, "bob", 20.0),
        ("Beech", 1, "ann", 70.0, "bob", 60.0),
        ("Beech", 1, "ann", 80.0, "bob", 60.0),
    ]


def test_system_scores_are_submitted_or_else_means(simulated_warehouse: Warehouse, tiny: Warehouse) -> None:
    for warehouse in (simulated_warehouse, tiny):
        rows = warehouse.rows("SELECT submitted, mean, score, score_source FROM system_scores")
        assert rows
        for submitted, mean, score, source in rows:
            expected = (submitted, "submitted") if submitted is not None else (mean, None if mean is None else "mean")
            assert (score, source) == expected


def test_scores_name_family_kind_and_scale(simulated_warehouse: Warehouse) -> None:
    rows = simulated_warehouse.rows
    facts = {
        key: value
        for *key_parts, value in rows("SELECT testset, base_metric, (family, kind) FROM metric_facts")
        for key in [tuple(key_parts)]
    }
    seen = rows(
        "SELECT testset, metric, base_metric, family, kind, scale, min(value), max(value) FROM scores "
        "WHERE lp = 'en-de' GROUP BY ALL"
    )
    assert len({scale for *_, scale, _, _ in seen}) >= 2
    for testset, _, base, family, kind, scale, low, high in seen:
        assert facts[testset, base] == (family, kind)
        assert rows("SELECT scale_of($low, $high)", {"low": low, "high": high}) == [(scale,)]
    described = rows(
        "SELECT DISTINCT kind, scorer, base_metric, family, metric_kind FROM system_scores WHERE testset = 'sim24'"
    )
    assert {row[2:] for row in described if row[0] == "human"} == {(None, None, None)}
    assert all(facts["sim24", base] == (family, kind) for row, _, base, family, kind in described if row == "metric")
    odd = rows(
        """
        WITH ranged AS (
          SELECT scale_of(min(score), max(score)) AS expected, any_value(scale) AS scale, count(DISTINCT scale) AS n
          FROM system_scores
          GROUP BY testset, lp, kind, scorer
        )
        SELECT count(*) FROM ranged WHERE scale IS DISTINCT FROM expected OR n > 1
        """
    )
    assert odd == [(0,)]


def test_every_language_of_an_evaluation_set_is_named(simulated_warehouse: Warehouse) -> None:
    codes = {code for (code,) in simulated_warehouse.rows("SELECT code FROM languages")}
    used = simulated_warehouse.rows("SELECT source_language FROM evalsets UNION SELECT target_language FROM evalsets")
    assert codes == {code for (code,) in used}
    assert ("de", "German", "Latn", True) in simulated_warehouse.rows("FROM languages")


def test_a_change_of_protocol_turns_the_ranking_of_metrics(real_load: tuple[Path, LoadReport]) -> None:
    """WMT20 English-German, the 7 systems that both protocols judged: pairwise accuracies of another computation."""
    with Warehouse.open(real_load[0]) as warehouse:
        rows = warehouse.rows(
            """
            PIVOT (
              SELECT p.system, p.score_b AS da, p.score_a AS mqm, s.base_metric, s.metric_score
              FROM human_pairs AS p
              JOIN ranked_scores AS s ON s.testset = p.testset AND s.lp = p.lp AND s.system = p.system
              WHERE p.testset = 'wmt20' AND p.lp = 'en-de' AND p.human_a = 'mqm' AND p.human_b = 'wmt-z'
                AND p.system_kind = 'mt'
            ) ON base_metric IN ('BLEU', 'COMET') USING any_value(metric_score) GROUP BY system, da, mqm
            """
        )

    def agreement(one: int, other: int) -> float:
        pairs = list(combinations(rows, 2))
        return round(sum((a[one] > b[one]) == (a[other] > b[other]) for a, b in pairs) / len(pairs), 3)

    da, mqm, bleu, comet = 1, 2, 3, 4
    assert len(rows) == 7
    assert agreement(da, mqm) == 0.667
    assert (agreement(bleu, da), agreement(bleu, mqm)) == (0.714, 0.857)
    assert (agreement(comet, da), agreement(comet, mqm)) == (0.714, 0.857)


@pytest.mark.slow
def test_rankings_and_comparisons_are_the_stored_results(simulated_database: Path, tmp_path: Path) -> None:
    database = tmp_path / "copy.duckdb"
    shutil.copy(simulated_database, database)
    asked, measure, options = Slice("sim24", "en-de"), parse_measure("pearson"), Options()
    testing = TestOptions(resamples=50, test="jackknife-segments")
    many, _ = compared(Run(lambda: Warehouse.open(database), database), asked, measure, options, testing)
    of_two = Slice("sim24", "en-de", metrics=("simBLEU-refA", "simchrF-refA"))
    two, _ = compared(Run(lambda: Warehouse.open(database), database), of_two, measure, options, testing)
    assert many is not None
    assert two is not None
    again = replace(testing, resamples=60)  # which this test does not use: the same signature, stored twice
    compared(Run(lambda: Warehouse.open(database), database), asked, measure, options, again)
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            "INSERT INTO internal.result SELECT 'k' || key, kind, testset, lp, 'damaged', '{\"m', '1', 1, now() "
            "FROM internal.result WHERE kind = 'compare'"
        )
    with Warehouse.open(database) as warehouse:
        ranked = warehouse.rows(
            "SELECT metric, value, rank, cluster, signature FROM rankings WHERE signature = $signature",
            {"signature": many.signature},
        )
        by_signature = warehouse.rows("SELECT signature, count(*), count(DISTINCT metric) FROM rankings GROUP BY ALL")
        assert by_signature == [(many.signature, len(many.names), len(many.names))]
        pairs = warehouse.rows(
            "SELECT metric_a, metric_b, p, corrected_p, is_significant FROM comparisons WHERE signature = $signature",
            {"signature": many.signature},
        )
        in_depth = warehouse.rows(
            "SELECT test, value_a, value_b, p FROM comparisons WHERE signature = $signature",
            {"signature": two.signature},
        )
    m = range(len(many.names))
    expected = [
        (many.names[i], None, None, None, many.signature)
        if math.isnan(many.values[i])
        else (many.names[i], many.values[i], many.ranks[i], many.clusters[i], many.signature)
        for i in m
    ]
    assert len({value is None for _, value, *_ in expected}) == 2
    assert {row[0]: row[1:] for row in ranked} == {row[0]: row[1:] for row in expected}
    assert len(ranked) == len(expected)
    of_pairs = [
        (many.names[i], many.names[j], None, None, None)
        if math.isnan(many.p[i, j])
        else (many.names[i], many.names[j], many.p[i, j], many.corrected[i, j], many.corrected[i, j] <= many.alpha)
        for i, j in combinations(m, 2)
    ]
    assert {row[:2]: row[2:] for row in pairs} == {row[:2]: row[2:] for row in of_pairs}
    assert len(pairs) == len(of_pairs)
    assert sorted(in_depth) == sorted((one.test, *one.values, one.p) for one in two.tests)


@pytest.mark.slow
def test_rankings_of_a_protocol_are_its_tasks_and_the_overall_score(simulated_database: Path, tmp_path: Path) -> None:
    database = tmp_path / "copy.duckdb"
    shutil.copy(simulated_database, database)
    output_of(["protocol", "wmt24", "--on", "sim24"], database)
    with Warehouse.open(database) as warehouse:
        ((payload,),) = warehouse.rows("SELECT payload FROM results WHERE kind = 'protocol'")
        found = warehouse.rows("SELECT measure, lp, metric, value, rank FROM rankings WHERE protocol = 'wmt24'")
    stored = json.loads(payload)
    expected = [
        ("overall", ",".join(dict.fromkeys(lp for task in stored["tasks"] for lp in task["lps"])), *line)
        for line in zip(stored["metrics"], stored["overall"], stored["ranks"], strict=True)
    ]
    for task in stored["tasks"]:
        lines = zip(stored["metrics"], task["values"], task["ranks"], strict=True)
        expected += [(task["measure"], ",".join(task["lps"]), *line) for line in lines]
    assert sorted(found, key=str) == sorted(((*row[:4], row[4] or None) for row in expected), key=str)


@pytest.mark.slow
def test_trends_are_the_points_that_are_stored(simulated_database: Path, tmp_path: Path) -> None:
    database = tmp_path / "copy.duckdb"
    shutil.copy(simulated_database, database)
    output_of(["trend", "sim22,sim23", "en-de", "-m", "pearson", "--anchor", "simBLEU"], database)
    with Warehouse.open(database) as warehouse:
        payloads = warehouse.rows("SELECT payload FROM results WHERE kind = 'trend'")
        found = warehouse.rows(
            "SELECT year, testset, lp, human, protocol, bridge, metric, kind, value, low, gap, gap_p, n_systems, "
            "ceiling FROM trends"
        )
        kinds = dict(warehouse.rows("SELECT DISTINCT base_metric, kind FROM metric_facts"))
    expected = []
    for (payload,) in payloads:
        for one in json.loads(payload)["points"]:
            own = (int("20" + one["testset"][3:5]), one["testset"], one["lp"], one["human"])
            names = zip(one["metrics"], [kinds[base] for base in one["base_names"]], strict=True)
            numbers = zip(one["value"], one["low"], one["gap"], one["gap_p"], strict=True)
            last = (one["context"]["n_systems"], one["ceiling"] and one["ceiling"]["value"])
            expected += [
                (*own, protocol_of(one["human"]), one["bridge"], *name, *number, *last)
                for name, number in zip(names, numbers, strict=True)
            ]
    assert len({row[5] for row in expected}) >= 2  # a bridge, too
    assert sorted(found, key=str) == sorted(expected, key=str)
