"""`deltas --hard`: its JSON, and what is refused."""

from tests.cli.running import Scorehouse, refused

WORDS = ("deltas", "sim24", "cs-uk", "--hard", "--max-correct", "5")


def test_json_names_the_systems_and_the_metrics_that_are_right(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*WORDS, "--format", "json").json
    assert all(row["n_right"] <= 5 and row["human_difference"] > 0 for row in rows)
    assert all(len([name for name in row["right"].split(", ") if name]) == row["n_right"] for row in rows)
    few = scorehouse(*WORDS, "--significant", "--format", "json").json
    assert few == [row for row in rows if row["significant"]]


def test_pairs_are_significant_at_the_level_that_was_chosen(scorehouse: Scorehouse) -> None:
    words = (*WORDS[:-1], "99")  # all pairs
    at_level = {alpha: scorehouse(*words, "--alpha", alpha, "--format", "json").json for alpha in ("0.05", "1e-6")}
    n_significant = {alpha: sum(row["significant"] for row in rows) for alpha, rows in at_level.items()}
    assert len(at_level["0.05"]) == len(at_level["1e-6"]) > n_significant["0.05"] > n_significant["1e-6"]


def test_what_cannot_be_answered_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse("deltas", "sim24", "--hard", "--min-metrics", "99"), 2, "enough metrics")
