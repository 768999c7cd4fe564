"""Spans against spans: by hand, against all matchings, by properties, against the organisers' numbers."""

import itertools
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.kernels import spans as kernels
from metaeval.kernels.spans import precision_recall
from metaeval.kernels.spans.matching import flat
from tests.helpers import beside_data, refused

Span = dict[str, Any]
Outputs = list[list[Span]]
span_precision_recall: Any = kernels.span_precision_recall  # names of measures are drawn, so no types of theirs
span_sums: Any = kernels.span_sums
MEASURES = ("MPP", "MP", "EM", "WMT25")
MATCHINGS = ("one_to_one", "many_to_many")


def span(start: int, end: int, severity: str = "minor", side: str = "target") -> Span:
    return {"start": start, "end": end, "side": side, "severity": severity}


# ---- by hand

TWO = [[span(0, 10), span(20, 30, "major")]]
THREE = [[span(0, 5), span(5, 10, "major"), span(22, 32, "minor")]]


def test_two_spans_against_three() -> None:
    expected = [
        ("EM", "one_to_one", 0.0, Fraction(0), Fraction(0)),
        ("MP", "one_to_one", 0.0, Fraction(1), Fraction(2, 3)),
        ("MP", "one_to_one", 0.5, Fraction(3, 4), Fraction(1, 2)),  # 0-10 with 0-5 earns 1, 20-30 with 22-32 a half
        ("MP", "many_to_many", 0.5, Fraction(3, 4), Fraction(2, 3)),  # of the gold ones 5-10 earns a half as well
        ("MPP", "one_to_one", 0.0, Fraction(13, 20), Fraction(18, 30)),  # (.5 + .8) / 2 and (1 + .8) / 3
        ("MPP", "one_to_one", 0.5, Fraction(9, 20), Fraction(14, 30)),  # (.5 + .4) / 2 and (1 + .4) / 3
        ("MPP", "many_to_many", 0.0, Fraction(18, 20), Fraction(28, 30)),  # (1 + .8) / 2 and (1 + 1 + .8) / 3
        ("MPP", "many_to_many", 0.5, Fraction(115, 200), Fraction(19, 30)),  # (.5 + .25 + .4) / 2, (1 + .5 + .4) / 3
        ("WMT25", "one_to_one", 0.0, Fraction(13, 20), Fraction(13, 20)),  # 5 and 8 of 20 characters
        ("WMT25", "many_to_many", 0.0, Fraction(18, 20), Fraction(18, 20)),
        ("WMT25", "many_to_many", 0.5, Fraction(115, 200), Fraction(115, 200)),  # 5 + 2.5 + 4 of 20
    ]
    for measure, matching, penalty, p, r in expected:
        found = span_precision_recall(TWO, THREE, measure, matching, severity_penalty=penalty)
        f = 2 * p * r / (p + r) if p + r else 0
        assert found == pytest.approx((float(p), float(r), float(f)), abs=1e-12), (measure, matching, penalty)


# predicted and gold spans, M major; then by hand P and R of mpp, of characters with half a point across severities, and
# of characters that count once
OUTPUTS = (
    ("", "", "1 1", "1 1", "1 1"),
    ("0-4", "", "0 1", "0 1", "0 1"),
    ("", "0-4", "1 0", "1 0", "1 0"),
    ("0-4", "0-4", "1 1", "1 1", "1 1"),
    ("0-4", "4-8", "0 0", "0 0", "0 0"),
    ("0-4", "2-4", "1/2 1", "1/2 1", "1/2 1"),
    ("2-4", "0-4", "1 1/2", "1 1/2", "1 1/2"),
    ("0-6", "4-10", "1/3 1/3", "1/3 1/3", "1/3 1/3"),
    ("0-4M", "0-4", "1 1", "1/2 1/2", "1/2 1/2"),
    ("0-4M", "0-2 2-4M", "1/2 1/2", "3/4 3/4", "3/4 3/4"),
    ("0-4 10-14M", "10-14 0-4", "1 1", "3/4 3/4", "3/4 3/4"),
    ("0-8", "0-4 4-8", "1/2 1/2", "1 1", "1 1"),
    ("0-4 4-8", "0-8", "1/2 1/2", "1 1", "1 1"),
    ("0-2 4-6", "0-6", "1/2 1/3", "1 2/3", "1 2/3"),
    ("0-10", "0-2 8-10", "1/5 1/2", "2/5 1", "2/5 1"),
    ("0-4 6-8", "0-4 6-10", "1 3/4", "1 3/4", "1 3/4"),
    ("0-4 0-4", "0-4", "1/2 1", "1/2 1", "1 1"),
    ("0-4", "0-4 0-4", "1 1/2", "1 1/2", "1 1"),
    ("0-4 2-6", "2-4", "1/4 1", "1/4 1", "1/3 1"),
    ("0-4 0-4M", "0-4M", "1/2 1", "1/2 1", "1 1"),
    ("0-4M", "0-4 0-4M", "1 1/2", "1 1/2", "1 1"),
)


def test_outputs_by_hand() -> None:
    def spans(text: str) -> Outputs:
        ends = [(one.rstrip("M").split("-"), "major" if one.endswith("M") else "minor") for one in text.split()]
        return [[span(int(start), int(end), severity) for (start, end), severity in ends]]

    ways = (("MPP",), 0.0), (("WMT25", "many_to_many"), 0.5), (("WMT25", "sets"), 0.5)
    for predicted, gold, *rates in OUTPUTS:
        for expected, (asked, penalty) in zip(rates, ways, strict=True):
            p, r, _ = span_precision_recall(spans(predicted), spans(gold), *asked, severity_penalty=penalty)
            by_hand = tuple(float(Fraction(one)) for one in expected.split())
            assert (p, r) == pytest.approx(by_hand), (predicted, gold, asked)


def test_weights_count_the_smaller_severity() -> None:
    """Of 1 + 5 points, 0-10 earns .5 · 1 and 20-30 earns .8 · 1; of 1 + 5 + 1 the gold ones earn 1 and .8."""
    p, r, _ = span_precision_recall(TWO, THREE, severity_weights={"minor": 1, "major": 5})
    assert (p, r) == pytest.approx((1.3 / 6, 1.8 / 7))


def test_the_greedy_matching_can_be_worse() -> None:
    """0-10 is most like 0-9, which leaves 0-6 nothing; the best matching gives it 0-9 and 0-10 the rest."""
    predicted, gold = [[span(0, 10), span(0, 6)]], [[span(0, 9), span(6, 20)]]
    best = span_precision_recall(predicted, gold, "MP")
    assert best == (1.0, 1.0, 1.0)
    assert span_precision_recall(predicted, gold, "MP", algorithm="greedy") == (0.5, 0.5, 0.5)


def test_the_source_is_no_place_in_the_target() -> None:
    assert span_precision_recall([[span(0, 5)]], [[span(0, 5, side="source")]]) == (0.0, 0.0, 0.0)


def test_what_has_no_place_or_no_severity_is_left_out() -> None:
    odd = [span(3, 3), span(5, 4), span(0, 5, "undecided"), {**span(0, 5), "start": None}]
    assert span_precision_recall([odd], [[]]) == (1.0, 1.0, 1.0)
    assert span_precision_recall([[span(0, 5, "critical")]], [[span(0, 5, "major")]], severity_penalty=1) == (1, 1, 1)


@pytest.mark.parametrize(
    ("predicted", "gold", "micro", "macro"),
    [
        ([[]], [[]], (1, 1, 1), (1, 1, 1)),
        ([[span(0, 5)]], [[]], (0, 1, 0), (0, 1, 0)),
        ([[]], [[span(0, 5)]], (1, 0, 0), (1, 0, 0)),
        ([[], [span(0, 5)]], [[], [span(0, 5)]], (1, 1, 1), (1, 1, 1)),
        ([[], [span(0, 5)]], [[], []], (0, 1, 0), (0.5, 1, 0.5)),
    ],
)
def test_outputs_without_spans(predicted: Outputs, gold: Outputs, micro: tuple[float], macro: tuple[float]) -> None:
    assert span_precision_recall(predicted, gold) == micro
    assert span_precision_recall(predicted, gold, average="macro") == macro


def test_nothing_to_count_is_undefined() -> None:
    assert all(math.isnan(value) for value in span_precision_recall([], []))


def test_what_does_not_go_together_is_refused() -> None:
    refused("predictions of 1 outputs and gold spans of 2", span_precision_recall, [[]], [[], []])
    for measure, penalty in (("MP", 0.0), ("MPP", 0.5)):
        with pytest.raises(ValueError, match="severity weights go with MPP without a severity penalty"):
            span_precision_recall(
                [[]], [[]], measure, severity_penalty=penalty, severity_weights={"minor": 1, "major": 5}
            )
    many = [[span(at, 100 + at) for at in range(20)]]
    with pytest.raises(ValueError, match="more overlapping spans in one output"):
        span_precision_recall(many, [[span(at, 131 - at) for at in range(20)]])


# ---- against all matchings, and by properties

spans = st.lists(
    st.builds(
        lambda start, length, severity, side: span(start, start + length, severity, side),
        *(st.integers(0, 12), st.integers(1, 8)),
        *(st.sampled_from(["minor", "major"]), st.sampled_from(["target", "target", "source"])),
    ),
    max_size=4,
)
penalties = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def credits(one: Span, other: Span, measure: str, penalty: float) -> tuple[float, float]:
    start, end, begin, stop = (item[key] for item in (one, other) for key in ("start", "end"))
    common = min(end, stop) - max(start, begin)
    if one["side"] != other["side"] or common <= 0:
        return 0.0, 0.0
    share = 1.0 if one["severity"] == other["severity"] else 1.0 - penalty
    if measure == "EM":
        return (share, share) if (start, end) == (begin, stop) else (0.0, 0.0)
    if measure == "MP":
        return share, share
    if measure == "WMT25":
        return common * share, common * share
    return common / (end - start) * share, common / (stop - begin) * share


def all_matchings(n: int, m: int) -> Iterator[list[tuple[int, int]]]:
    for places in itertools.product(range(-1, m), repeat=n):
        taken = [place for place in places if place >= 0]
        if len(taken) == len(set(taken)):
            yield [(row, place) for row, place in enumerate(places) if place >= 0]


@given(spans, spans, st.sampled_from(MEASURES), penalties)
def test_the_best_of_all_matchings(predicted: list[Span], gold: list[Span], measure: str, penalty: float) -> None:
    def size(items: list[Span]) -> float:
        return sum(s["end"] - s["start"] if measure == "WMT25" else 1 for s in items)

    best: tuple[float, float, float] = (-1, 0, 0)
    for matching in all_matchings(len(predicted), len(gold)):
        pairs = [credits(predicted[i], gold[j], measure, penalty) for i, j in matching]
        p = sum(a for a, _ in pairs) / size(predicted) if predicted else 1.0
        r = sum(b for _, b in pairs) / size(gold) if gold else 1.0
        best = max(best, (2 * p * r / (p + r) if p + r else 0.0, p, r))
    _, _, f = span_precision_recall([predicted], [gold], measure, severity_penalty=penalty)
    assert f == pytest.approx(best[0], abs=1e-12)


outputs = st.lists(st.tuples(spans, spans), min_size=1, max_size=5)
ways = st.tuples(st.sampled_from(MEASURES), st.sampled_from(MATCHINGS), st.sampled_from(["optimal", "greedy"]))


@given(outputs, ways, penalties, st.sampled_from(["micro", "macro"]))
def test_to_swap_predictions_and_gold_swaps_precision_and_recall(
    both: list[tuple[list[Span], list[Span]]], way: tuple[str, str, str], penalty: float, average: str
) -> None:
    if way[1:] == ("one_to_one", "greedy"):
        return  # pairs equally alike are taken in the order of the predictions
    predicted, gold = [one for one, _ in both], [other for _, other in both]
    p, r, f = span_precision_recall(predicted, gold, *way, average, penalty)
    q, s, g = span_precision_recall(gold, predicted, *way, average, penalty)
    assert g == pytest.approx(f, abs=1e-12)
    if way[0] != "MPP" or way[1] == "many_to_many":  # else P and R may differ where several matchings have the best F
        assert (q, s) == pytest.approx((r, p), abs=1e-12)


@given(outputs, st.sampled_from(MEASURES), penalties)
def test_no_matching_earns_less_than_a_worse_way(
    both: list[tuple[list[Span], list[Span]]], measure: str, penalty: float
) -> None:
    predicted, gold = flat([one for one, _ in both]), flat([other for _, other in both])
    ways = (("one_to_one", "greedy"), ("one_to_one", "optimal"), ("many_to_many", "optimal"))
    greedy, best, many = (span_sums(predicted, gold, len(both), measure, *way, penalty) for way in ways)
    for one, other, better in zip(greedy, best, many, strict=True):
        f = [precision_recall(row[None])[2] for row in (one, other)]
        assert f[0] <= f[1] + 1e-12
        assert measure != "MP" or other[0] <= better[0] + 1e-12


# ---- against the organisers' script and a peer's


@pytest.mark.slow
def test_expected_numbers_of_four_pairs_of_annotations() -> None:
    texts: dict[tuple[str, str], tuple[Outputs, Outputs]] = {}
    n = 0
    for row in json.loads(beside_data("expected", "spans", "expected.json").read_text(encoding="utf-8")):
        if "set" in row:
            continue
        pair = (row["pred"], row["gold"])
        if pair not in texts:
            path = beside_data("expected", "spans", f"{pair[0]}__vs__{pair[1]}.jsonl")
            found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            texts[pair] = [item["pred"] for item in found], [item["gold"] for item in found]
        if row["measure"] == "official_wmt25_task2":
            on_targets = [[[s for s in o if s["side"] == "target"] for o in side] for side in texts[pair]]
            values = span_precision_recall(*on_targets, "WMT25", "many_to_many", severity_penalty=0.5)
        else:
            values = span_precision_recall(
                *texts[pair],
                *(row["measure"], row["matching"], row["algorithm"] or "optimal", row["averaging"]),
                *(row["severity_penalty"], row["severity_weights"]),
            )
        assert values == pytest.approx((row["p"], row["r"], row["f"]), abs=1e-9), row
        n += 1
    assert n == 340


def test_expected_numbers_of_outputs_judged_twice() -> None:
    path = beside_data("expected", "spans", "wmt24-doubles.jsonl")
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in json.loads(path.with_name("wmt24-doubles.expected.json").read_text(encoding="utf-8")):
        chosen = [item for item in found if row["lp"] in ("all", item["lp"])]
        assert len(chosen) == row["n"]
        predicted, gold = [item["pred"] for item in chosen], [item["gold"] for item in chosen]
        for way, expected in row.items():
            if way == "official":
                values = span_precision_recall(predicted, gold, "WMT25", "many_to_many", severity_penalty=0.5)
            elif "/" in way:
                measure, matching, average, *weighted = way.split("/")
                weights = {"minor": 1, "major": 5} if weighted == ["w1-5"] else None
                values = span_precision_recall(
                    predicted, gold, measure, matching, average=average, severity_weights=weights
                )
            else:
                continue
            assert values == pytest.approx(expected, abs=1e-9), (row["lp"], way)
