"""Simulated worlds in which two metrics of different kinds are equally good, and the rows that are counted in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import equal_worlds, levels
from benchmarks.equal_worlds import KINDS, SHARING, TOLERANCE, Expected, RealPools, drawn, made_equal, simulated_pool
from benchmarks.levels import SIMULATED, Kind, Row, Sources, Worlds, rows
from benchmarks.null_worlds import Pair, Population, block_of, options_of, simulated_pair
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import evaluate


def gap(pool: Pair, name: str, population: Population, n_worlds: int) -> float:
    """Mean difference of the two metrics' values, as commands compute them, in its standard deviations."""
    rng, measure = np.random.default_rng(99), parse_measure(name)
    values = [
        evaluate(measure, block_of(drawn(pool, population, rng)), options_of(measure)).value for _ in range(n_worlds)
    ]
    differences = np.diff(values, axis=1)
    return float(differences.mean() / differences.std())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "population"),
    [
        ("pearson", "documents"),
        ("pa", "segments"),
        ("pearson", "systems"),
        ("pearson(by=none)", "both"),
        ("acc_eq(by=item)", "segments"),
        ("spa(n=99)", "segments"),
    ],
)
def test_the_expected_values_are_equal(name: str, population: Population, monkeypatch: pytest.MonkeyPatch) -> None:
    """On worlds that the noise was not found on, too: both samples have an error, and three of them are allowed."""
    n_known, n_worlds = 400, 200
    monkeypatch.setattr(equal_worlds, "N_DRAWN", {population: n_known})
    pool = simulated_pool(parse_measure(name), population, 3)
    assert abs(gap(pool, name, population, n_worlds)) < TOLERANCE / 2 + 3 * np.sqrt(1 / n_known + 1 / n_worlds)


def test_people_rank_the_same_outputs_of_a_segment_wherever_it_is_drawn() -> None:
    """Else the expected value over worlds is not that of the pool, by which its metrics are equal."""
    pool = simulated_pair(np.random.default_rng(2), 12, 40)
    places = np.array([7, 3, 3, 39, 7])
    of_pool, of_world = (block_of(one).preferences for one in (pool, pool.of_segments(places, np.zeros(5, dtype=int))))
    assert of_pool is not None
    assert of_world is not None
    for segment, place in enumerate(places):
        one, other = of_world.only(of_world.segment == segment), of_pool.only(of_pool.segment == place)
        for axis in ("first", "second", "answer"):
            np.testing.assert_array_equal(getattr(one, axis), getattr(other, axis))


def test_the_better_metric_is_made_worse_until_it_is_as_good() -> None:
    measure, rng = parse_measure("pdp"), np.random.default_rng(5)
    pool = simulated_pair(rng, 12, 300, KINDS)
    better = np.where(np.isnan(pool.human), 0.0, pool.human) / 4
    pool = replace(pool, metrics=np.stack([pool.metrics[0] + better, pool.metrics[1]]))
    expected = Expected.of(pool, measure, "segments", rng)
    assert expected.gap(pool) > 1
    found = made_equal(pool, expected, rng)
    assert abs(expected.gap(found)) < TOLERANCE / 2
    np.testing.assert_array_equal(found.metrics[0], pool.metrics[1])
    assert not np.array_equal(found.metrics[1], pool.metrics[0])


def test_soft_accuracy_in_the_limit_is_that_of_the_kernel() -> None:
    pair = simulated_pair(np.random.default_rng(2), 6, 50)
    human = pair.human.copy()
    human[:, 7] = human[1, 9] = np.nan
    pair = replace(pair, human=human)
    measure = parse_measure("spa(n=inf)")
    kernel = evaluate(measure, block_of(pair), options_of(measure)).value
    np.testing.assert_allclose(equal_worlds._soft_limit(pair), kernel, atol=1e-12)


@pytest.mark.slow
def test_metrics_of_an_evaluation_set_that_are_equally_good_are_found_and_not_one_metric_twice() -> None:
    """The second is the first with other errors of the same size, the third is worse, the fourth the first again."""
    rng = np.random.default_rng(8)
    quality = rng.normal(size=(6, 1)) + rng.normal(size=(6, 200))
    errors = rng.normal(size=(2, 6, 200))
    metrics = np.stack([*(quality + errors), quality + 3 * rng.normal(size=(6, 200)), 2 * (quality + errors[0])])
    pools = RealPools(quality, metrics, np.arange(200) // 4)
    found = pools.equal(parse_measure("pearson(by=none)"), "segments")
    assert (0, 3) not in found
    assert not {(0, 2), (1, 2), (2, 3)} & set(found)
    pool = pools(parse_measure("pearson(by=none)"), "segments", 1)
    assert abs(gap(pool, "pearson(by=none)", "segments", 200)) < TOLERANCE / 2 + 3 * np.sqrt(1 / 1000 + 1 / 200)


def test_every_default_is_measured_where_metrics_are_equally_good() -> None:
    found = {(row.population, row.measure, levels.plain(row.test)) for row in rows([SIMULATED]) if row.null == "equal"}
    for name in levels.TESTED:
        measure = parse_measure(name)
        for population in ("segments",) if name in levels.SPAN_MEASURES else ("segments", "systems", "both"):
            test = measure.holding_test(population)
            if test is not None and name not in levels._NOT_MATCHED:
                assert (population, name, test) in found
    every = list(rows([SIMULATED, "wmt23 en-de"]))
    assert len(every) == len(set(every))
    assert {row.population for row in every if row.null == "equal" and row.data != SIMULATED} == {
        "segments",
        "documents",
    }


def test_a_world_follows_from_its_number() -> None:
    """Whatever was drawn before; worlds share their pool in tens."""
    asked = []

    def pools(measure: object, population: Population, number: int) -> Pair:
        asked.append(number)
        return simulated_pair(np.random.default_rng(number), 12, 60)

    kind = Kind.of(Row(SIMULATED, "equal", "segments", 0.0, "pa", "perm-inputs"))
    source = Sources(simulated_pair, pools)
    through = Worlds(kind, source)
    worlds = [through.world(number) for number in range(12)]
    assert asked == [0, 1]
    assert SHARING["segments"] == 10
    np.testing.assert_array_equal(Worlds(kind, source).world(11).metrics, worlds[11].metrics)
    assert not np.array_equal(worlds[0].human, worlds[1].human)
