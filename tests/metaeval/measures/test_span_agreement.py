"""Measures of error spans through the whole program: from files to the warehouse, to a block, to F."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metaeval.kernels.spans import span_precision_recall
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.measures.span_agreement import SpanMeasure
from metaeval.results.inputs import Inputs
from metaeval.results.study import study
from metaeval.studies.people.human_rows import human_rows
from metaeval.studies.protocols import protocol_named, protocols
from metaeval.studies.protocols.entry import enter
from metaeval.studies.protocols.scoring import score
from queries.blocks import Block
from queries.slices import Slice
from tests.helpers import beside_data, rank
from tests.metaeval.span_outputs import Outputs, Span, marked, span, warehouse_of
from warehouse import QuestionError, Warehouse, load
from warehouse.export.mtme import ScoreTable, write_evalset

OPTIONS = Options()


def block_of(warehouse: Warehouse, measure: str = "mpp", **slice_options: Any) -> Block:
    return Inputs(warehouse, Slice("t24", "en-de", human="marked", **slice_options)).block(parse_measure(measure))


def values(warehouse: Warehouse, measure: str, **slice_options: Any) -> dict[str, tuple[float, float, float]]:
    frame = rank(warehouse, "t24", "en-de", [measure], human="marked", **slice_options)
    return {row["metric"]: (row["precision"], row["recall"], row["value"]) for row in frame.iter_rows(named=True)}


GOLD: Outputs = {
    ("A", 1): [span(0, 10, "major")],
    ("A", 2): [],
    ("A", 3): [span(0, 4), span(10, 14)],
    ("B", 1): [span(0, 10)],
    ("B", 2): [span(5, 9, "critical")],
    ("B", 3): None,
}
NEAR: Outputs = {  # everything but one error of A 3, and a false one in A 2
    ("A", 1): [span(0, 10, "major")],
    ("A", 2): [span(0, 2)],
    ("A", 3): [span(0, 4)],
    ("B", 1): [span(5, 10, "major")],
    ("B", 2): [span(5, 9, "major")],
    ("B", 3): [span(0, 3)],
}
NOTHING: Outputs = {output: [] for output in GOLD}
PARTLY: Outputs = {**NEAR, ("A", 2): None}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("spans")
    with warehouse_of(folder, GOLD, {"Near-src": NEAR, "Nothing-src": NOTHING, "Partly-src": PARTLY}) as warehouse:
        yield warehouse


@pytest.mark.parametrize(
    ("measure", "precision", "recall"),
    [
        ("em", 3 / 5, 3 / 5),  # A 1, one of A 3, B 2: of five predicted spans and five gold ones
        ("mp", 4 / 5, 4 / 5),
        ("mp(severity_penalty=1)", 3 / 5, 3 / 5),  # B 1 is major here and minor there; critical is major
        ("mpp", 4 / 5, 3.5 / 5),  # B 1 has half of the gold span
        ("mpp(weights=1:5)", (5 + 1 + 1 + 5) / (5 + 1 + 1 + 5 + 5), (5 + 1 + 0.5 + 5) / (5 + 2 + 1 + 5)),
        ("char_f1", (10 + 4 + 2.5 + 4) / (10 + 2 + 4 + 5 + 4), (10 + 4 + 2.5 + 4) / (10 + 8 + 10 + 4)),
        ("char_f1(severity_penalty=0)", 23 / 25, 23 / 32),
    ],
)
def test_by_hand(small: Warehouse, measure: str, precision: float, recall: float) -> None:
    f = 2 * precision * recall / (precision + recall)
    assert values(small, measure)["Near-src"] == pytest.approx((precision, recall, f), abs=1e-12)


def test_the_mean_over_outputs_rewards_predicting_nothing(small: Warehouse) -> None:
    """Of five outputs one has no gold spans: nothing predicted has F 1 there, 0 elsewhere, and precision 1 all over."""
    assert values(small, "mpp(average=macro)")["Nothing-src"] == pytest.approx((1, 1 / 5, 1 / 5))
    assert values(small, "mpp")["Nothing-src"] == (1, 0, 0)


def test_an_output_without_a_prediction_is_not_one_predicted_error_free(small: Warehouse) -> None:
    """A metric that lacks one is excluded and counted, and compared on what it has where that is asked for."""
    block = block_of(small)
    assert {name: reason.sentence for name, reason in block.excluded.items()} == {
        "Partly-src": "1 (system, segment) score missing"
    }
    found = values(small, "mp", intersection=True)
    assert found["Partly-src"] == found["Near-src"] == pytest.approx((4 / 4, 4 / 5, 8 / 9))


def test_what_nobody_annotated_does_not_count(small: Warehouse) -> None:
    block = block_of(small)
    assert block.judged.sum() == 5
    assert not block.judged[1, 2]


@pytest.mark.slow
def test_a_human_score_without_marked_errors_has_no_spans(tmp_path: Path) -> None:
    write_evalset(
        tmp_path / "t24",
        "en-de",
        documents=[("news", "d")] * 3,
        humans={"da": ScoreTable(["A"], seg=np.ones((1, 3)))},
        predictions={"Near-src": marked({("A", 1): []}, ["A"], 3, is_gold=False)},
    )
    load([tmp_path / "t24"], tmp_path / "w.duckdb")
    with (
        Warehouse.open(tmp_path / "w.duckdb") as warehouse,
        pytest.raises(QuestionError, match="no errors were marked for 'da'"),
    ):
        rank(warehouse, "t24", "en-de", ["mpp"], human="da")


def test_the_protocol_of_wmt25_is_its_official_score(small: Warehouse) -> None:
    protocol = protocol_named("wmt25-spans")
    entry = enter(small, protocol, "t24", lps=["en-de"], asked=Slice("t24", "en-de", human="marked"), all_metrics=True)
    found = score(entry)
    values_of = dict(zip(found.metrics, found.overall.tolist(), strict=True))
    assert values_of["Near"] == pytest.approx(values(small, "char_f1")["Near-src"][2])
    assert "wmt25-spans" not in protocols()  # those are of scores


# ---- tests over segments work on sums

MEASURES = ("mpp", "mp(severity_penalty=0.5)", "em", "char_f1", "mpp(average=macro)", "mpp(matching=many_to_many)")


def drawn(rng: np.random.Generator) -> Outputs:
    def spans() -> list[Span]:
        starts = rng.integers(0, 20, rng.integers(0, 4)).tolist()
        return [span(start, start + int(rng.integers(1, 8)), str(rng.choice(["minor", "major"]))) for start in starts]

    return {(system, at): spans() for system in "ABC" for at in range(1, 9)}


@pytest.fixture(scope="module")
def random(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Warehouse, list[Outputs]]]:
    rng = np.random.default_rng(5)
    outputs = [drawn(rng) for _ in range(4)]
    predictions = {f"M{at}-src": found for at, found in enumerate(outputs[1:])}
    with warehouse_of(tmp_path_factory.mktemp("random"), outputs[0], predictions) as warehouse:
        yield warehouse, outputs


def kernel_f(measure: str, predicted: Sequence[Sequence[Span]], gold: Sequence[Sequence[Span]]) -> float:
    of = parse_measure(measure)
    name = {"mpp": "MPP", "mp": "MP", "em": "EM", "char_f1": "WMT25"}[of.name]
    how = {key: of[key] for key in ("matching", "algorithm", "average", "severity_penalty")}
    return span_precision_recall(predicted, gold, name, **how)[2]  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", MEASURES)
def test_resamples_of_systems_and_segments_are_those_of_the_outputs(
    random: tuple[Warehouse, list[Outputs]], measure: str
) -> None:
    warehouse, (gold, *predictions) = random
    rng = np.random.default_rng(1)
    systems, segments = rng.integers(0, 3, (4, 3)), rng.integers(0, 8, (4, 8))
    of = parse_measure(measure)
    statistic = of.resampled(block_of(warehouse, measure), OPTIONS, None)
    for rows in (None, systems):
        found = statistic.values(rows, segments, 4)
        for draw in range(4):
            picked = range(3) if rows is None else rows[draw].tolist()
            outputs = [("ABC"[row], at + 1) for row in picked for at in segments[draw].tolist()]
            for metric, predicted in enumerate(predictions):
                expected = kernel_f(measure, [predicted[o] or () for o in outputs], [gold[o] or () for o in outputs])
                assert found[draw, metric] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_swaps_are_those_of_the_outputs(random: tuple[Warehouse, list[Outputs]], measure: str) -> None:
    warehouse, (gold, *predictions) = random
    block, outputs = block_of(warehouse, measure), list(gold)
    shapes: dict[Any, tuple[int, int]] = {"inputs": (1, 8), "systems": (3, 1), "both": (3, 8)}
    for (swap, shape), (a, first), (b, second) in product(shapes.items(), *[list(enumerate(predictions))] * 2):
        statistic = parse_measure(measure).swapped(block, swap, OPTIONS, None)
        mask = np.random.default_rng(2).random((1, *statistic.mask_shape)) < 0.5
        of_outputs = np.broadcast_to(mask[0].reshape(shape), (3, 8))
        hybrid = [(second if of_outputs["ABC".index(of), at - 1] else first)[of, at] or () for of, at in outputs]
        expected = kernel_f(measure, hybrid, [gold[output] or () for output in outputs])
        assert statistic.hybrids(mask)[0, a, b] == pytest.approx(expected, abs=1e-12), (swap, a, b)


def test_several_annotators_of_an_output_count_as_one_on_average(random: tuple[Warehouse, list[Outputs]]) -> None:
    """Sums of a block whose gold annotations are doubled are the same; of two different ones, their mean."""
    warehouse, _ = random
    measure = parse_measure("mpp")
    assert isinstance(measure, SpanMeasure)
    block = block_of(warehouse)
    alone = measure.sums(block)
    spans = block.spans
    twice = {name: np.concatenate([getattr(spans, name)] * 2) for name in ("scorer", "system", "segment")}
    of_spans = ("start", "end", "is_in_source", "is_major", "category")
    twice |= {name: np.concatenate([getattr(spans, name)] * 2) for name in of_spans}
    twice["annotation"] = np.concatenate([spans.annotation, spans.annotation + len(spans.scorer)])
    is_first = np.arange(2 * len(spans.scorer)) < len(spans.scorer)
    kept = is_first | (twice["scorer"] == 0)  # metrics predict once
    assert kept.sum() > is_first.sum()
    both = type(spans)(systems=spans.systems, **{**twice, "scorer": np.where(kept, twice["scorer"], -1)})
    assert measure.sums(replace(block, spans=both)) == pytest.approx(alone)


@pytest.mark.slow
def test_people_beside_metrics_are_other_annotators(tmp_path: Path) -> None:
    """The value of another human score is that of its spans as predictions, which a metric with the same spans has."""
    rng = np.random.default_rng(4)
    gold, other = drawn(rng), drawn(rng)
    second = {output: (gold[output] if output[1] % 2 else other[output]) or [] for output in gold}
    with warehouse_of(tmp_path, gold, {"Same-src": second}, others={"second": second}) as warehouse:
        asked = Slice("t24", "en-de", human="marked")
        for measure in ("mpp", "mp", "em", "char_f1"):
            found = study(warehouse, asked, [parse_measure(measure)], OPTIONS)
            people = human_rows(warehouse, asked, found, OPTIONS)
            row = people.frame.row(0, named=True)
            assert (people.frame.height, row["metric"]) == (1, "human: second")
            assert row["value"] == pytest.approx(float(found.results[0].evaluation.value[0]), abs=1e-12), measure
            assert 0 < row["value"] < 1
            assert (
                people.notes[-1]
                == f"{measure}: there is no split-half agreement: errors come from one annotator at a time"
            )


# ---- the organisers' numbers, through the whole program


def expected_measure(row: Mapping[str, Any]) -> str | None:
    """The measure of an expected row, in the program's words."""
    name = {"MPP": "mpp", "MP": "mp", "EM": "em", "WMT25": "char_f1"}.get(row["measure"])
    if name is None:
        return "char_f1" if row["measure"] == "official_wmt25_task2" else None
    weights = row.get("severity_weights")
    parts = [
        f"matching={row['matching']}",
        f"algorithm={row['algorithm'] or 'optimal'}",
        f"average={row['averaging']}",
        f"severity_penalty={row['severity_penalty']}",
        "side=both",
        *([f"weights={weights['minor']}:{weights['major']}"] if weights else []),
    ]
    return f"{name}({', '.join(parts)})"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("predicted", "marked_by"), [("esa-2", "esa-1"), ("esa-iaa", "esa-1"), ("mqm-1", "esa-1"), ("esa-1", "mqm-wmt")]
)
def test_the_organisers_numbers_come_out_of_the_warehouse(tmp_path: Path, predicted: str, marked_by: str) -> None:
    rows = json.loads(beside_data("expected", "spans", "expected.json").read_text(encoding="utf-8"))
    rows = [row for row in rows if row.get("pred") == predicted and row.get("gold") == marked_by]
    path = beside_data("expected", "spans", f"{predicted}__vs__{marked_by}.jsonl")
    outputs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    key = [(one["system"], one["segment"]) for one in outputs]
    gold = {at: one["gold"] for at, one in zip(key, outputs, strict=True)}
    found = {at: one["pred"] for at, one in zip(key, outputs, strict=True)}
    lengths = {at: one["length"] for at, one in zip(key, outputs, strict=True)}
    assert rows
    with warehouse_of(tmp_path, gold, {"Other-src": found}, lengths) as warehouse:
        inputs = Inputs(warehouse, Slice("t24", "en-de", human="marked", human_references=True))
        for row in rows:
            measure = parse_measure(expected_measure(row) or "")
            value = measure.value(inputs.block(measure), OPTIONS)
            triple = (value.details["precision"][0], value.details["recall"][0], value.value[0])
            assert triple == pytest.approx((row["p"], row["r"], row["f"]), abs=1e-9), str(measure)
