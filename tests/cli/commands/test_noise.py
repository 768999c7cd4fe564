"""`noise`: its JSON, oracles, and what is refused."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from metaeval.questions.noise import Noise
from tests.cli.running import Scorehouse, refused

WORDS = ("noise", "sim24", "cs-uk", "Oriole", "-m", "pdp", "--kind", "outliers", "--share", "0.1", "--simulations", "2")


def test_json_has_a_row_for_each_kind_strength_and_measure(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*WORDS, "--format", "json").json
    assert [(row["kind"], row["strength"], row["measure"]) for row in rows] == [
        ("outliers", 0, "pdp"),
        ("outliers", 0.1, "pdp"),
    ]
    assert rows[0]["value"] > rows[1]["value"]
    assert rows[0]["lost"] == 0


@pytest.mark.slow
def test_oracles_have_ranks(scorehouse: Scorehouse) -> None:
    rows = scorehouse("noise", "sim24", "en-de", "--oracles", "-m", "pdp", "--format", "json").json
    assert [row["rank"] for row in rows if row["kind"] == "oracle" and row["value"] is not None] == [1, 2, 3, 4, 5]
    assert scorehouse("noise", "sim24", "en-de", "--oracles", "-m", "pdp").code == 0


def test_what_does_not_go_together_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse(*WORDS, "--oracles"), 2, "they are made of human scores")
    refused(scorehouse(*WORDS, "--share", "2"), 2, "shares of outliers")


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ({"a": (0.3, 0.4)}, "a falls from 0.900 to 0.600; with 4 SD, it falls from 0.900 to 0.500."),
        ({"a": (-0.05, 0.1)}, "a rises from 0.900 to 0.950; with 4 SD, it falls from 0.900 to 0.800."),
        ({"a": (1e-16, -1e-16)}, "a stays at 0.900; with 4 SD, it stays at 0.900."),
        (
            {"a": (0.3, 0.4), "b": (0.1, 0.8)},
            "a falls most of 2 measures, from 0.900 to 0.600; with 4 SD, b falls most, from 0.900 to 0.100.",
        ),
        (
            {"a": (0.3, -0.1), "b": (0.3, 0.0)},
            "a and b fall most of 2 measures, by 0.300; with 4 SD, none of 2 measures falls.",
        ),
    ],
)
def test_the_sentence_compares_measures_at_the_same_noise(lost: dict[str, tuple[float, float]], said: str) -> None:
    """Not the share of outliers with the size of other noise, and not only at the weakest."""
    rows = [
        {"metric": "M", "kind": kind, "strength": strength, "measure": measure, "value": 0.9 - less, "lost": less}
        for kind, weak in (("independent", 0.25), ("outliers", 0.001))
        for measure, both in lost.items()
        for strength, less in ((0.0, 0.0), (weak, both[0] + (kind == "outliers")), (4.0, both[1]))
    ]
    every, outliers = (pl.DataFrame(rows[at:]) for at in (0, len(rows) // 2))
    answers: list[Any] = [SimpleNamespace(frame=frame) for frame in (every, outliers)]
    headlines = [Noise(testset="t", lp="en-de").headline(answer) for answer in answers]
    assert headlines[0] == f"With independent noise of 0.25 SD in M, {said}"
    assert headlines[1].startswith("With 0.1% outliers in M, ")


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([1, 2, 3], "Of 3 oracles, pa ranks 'a' first (0.900), 'c' last (0.700)."),
        ([1, 2, 2], "Of 3 oracles, pa ranks 'a' first (0.900), 'b' and 'c' last (0.800)."),
        ([1, 1, 1], "pa of all 3 oracles is 0.900."),
    ],
)
def test_oracles_of_the_same_rank_are_named_together(ranks: list[int], said: str) -> None:
    rows = [
        {"kind": "oracle", "name": name, "measure": "pa", "value": 1 - rank / 10, "rank": rank}
        for name, rank in zip("abc", ranks, strict=True)
    ]
    answer: Any = SimpleNamespace(frame=pl.DataFrame(rows))
    assert Noise(testset="t", lp="en-de", oracles=True).headline(answer) == said
