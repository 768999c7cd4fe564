"""When a campaign may stop: the kernel's numbers, replays of a clear and of an open campaign, and refusals."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import metaeval
from metaeval.kernels.resampling.confidence_sequences import confidence_sequence
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

QUALITY = {"A": 5.0, "B": 0.0, "C": -0.1, "D": -9.0}
N = 40


@pytest.fixture(scope="module")
def scores() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {system: (mean + rng.normal(size=(N, 2))).round(4) for system, mean in QUALITY.items()}


@pytest.fixture(scope="module")
def lab(scores: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Four systems, 40 documents of two segments; E is annotated on one document alone."""
    folder = tmp_path_factory.mktemp("sequential")
    rows = [
        f"{system},d{document},{segment + 1},{values[document, segment]}\n"
        for system, values in scores.items()
        for document in range(N)
        for segment in range(2)
    ]
    (folder / "people.csv").write_text("system,document,segment,score\n" + "".join(rows))
    given = LoadHints(testset="lab", lp="en-de", human="score", numbering="document")
    load([folder / "people.csv"], folder / "w.duckdb", given=given)
    with Warehouse.open(folder / "w.duckdb") as warehouse:
        yield warehouse


def test_intervals_are_the_kernel_s_and_a_clear_winner_ends_the_campaign(
    lab: Warehouse, scores: dict[str, np.ndarray]
) -> None:
    found = metaeval.plan(lab, "lab", "en-de", sequential=True, simulations=20)
    assert found.frame["system"].to_list() == ["A", "B", "C", "D"]
    gaps = (scores["A"] - scores["C"]).sum(axis=1)
    mean, low, high = confidence_sequence(gaps, np.full(N, 2), alpha=2 * 0.05 / 3)
    row = found.frame.row(2, named=True)
    assert (row["difference"], row["low"], row["high"]) == pytest.approx((mean[-1], low[-1], high[-1]))
    assert found.frame["is_possible"].to_list() == [True, False, False, False]
    assert found.frame["low"][0] is None
    facts = found.result.facts
    assert (facts["decided"], facts["kept"]) == (1, 1)
    assert facts["saved"] == pytest.approx(1 - found.frame["share_needed"].mean())
    assert facts["saved"] > 0.4
    assert "A is the best system: annotation may stop" in found.summary
    assert "unit:document" in found.signature


def test_two_equal_systems_need_all_judgements(lab: Warehouse) -> None:
    found = metaeval.plan(lab, "lab", "en-de", "B", "C", sequential=True, simulations=20)
    assert found.frame["is_possible"].to_list() == [True, True]
    assert found.frame["share_needed"].to_list() == [1, 1]
    assert "may still be the best of 2 systems" in found.summary


@pytest.mark.parametrize(
    ("words", "options", "why"),
    [
        (("A",), {}, "two systems, or none"),
        ((), {"power": 0.9}, "power does nothing"),
        ((), {"measure": "pa"}, "measure"),
        ((), {"segments": "1-20"}, "10 documents of lab en-de annotated for all systems"),
        (("A", "Z"), {}, "fewer than two systems|unknown|Z"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(
    lab: Warehouse, words: tuple[str, ...], options: dict[str, Any], why: str
) -> None:
    with pytest.raises(QuestionError, match=why):
        metaeval.plan(lab, "lab", "en-de", *words, sequential=True, **options)
