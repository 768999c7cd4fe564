"""`deltas`: its JSON, and what is refused."""

from tests.cli.running import Scorehouse, refused

WORDS = ("deltas", "cs-uk", "simBLEU", "--human", "mqm", "--resamples", "20")


def test_json_has_a_row_for_each_level_asked(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*WORDS, "--agreement", "0.9", "--agreement", "0.6", "--format", "json").json
    assert [row["agreement"] for row in rows] == [0.6, 0.9]
    assert all(row["n_pairs"] > 0 and row["protocol"] == "mqm" for row in rows)
    assert all((row["delta"] is None) == (row["reason"] is not None) for row in rows)


def test_an_agreement_that_nobody_reaches_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse(*WORDS, "--agreement", "1"), 2, "agreement 1.0")


def test_a_difference_has_its_agreement_with_a_band_where_pairs_are_that_far_apart(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*WORDS, "--difference", "6.5", "--format", "json")
    (row,) = [one for one in ran.json if one["direction"] == "all"]
    assert (row["difference"], row["reason"]) == (6.5, None)
    assert row["smallest"] <= 6.5 <= row["largest"]
    assert 0.5 < row["low"] <= row["agreement"] <= row["high"] <= 1
    assert 0 < row["n_at_least"] < row["n_pairs"]


def test_a_difference_that_was_not_seen_has_no_agreement(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*WORDS, "--difference", "1000")
    assert ran.out.startswith("No data for a difference of 1000 simBLEU: it is more than the largest difference seen, ")
    ran = scorehouse(*WORDS, "--difference", "5", "--agreement", "0.8")
    refused(ran, 2, "--difference and --agreement cannot be combined")


def test_a_metric_needs_no_test_set_before_it(scorehouse: Scorehouse) -> None:
    alone = scorehouse("deltas", "simBLEU", "--difference", "0.1", "--resamples", "20", "--format", "csv")
    assert (
        alone.out
        == scorehouse("deltas", "all", "simBLEU", "--difference", "0.1", "--resamples", "20", "--format", "csv").out
    )
    of_pair = scorehouse("deltas", "simBLEU", "cs-uk", "--difference", "0.1", "--resamples", "20", "--format", "csv")
    assert "simBLEU" in of_pair.out
    assert of_pair.out != alone.out
    assert "deltas needs a metric, such as `scorehouse deltas sim24 BLEU`" in scorehouse("deltas", "sim24").err


def test_points_of_a_hundred_are_recognised(scorehouse: Scorehouse) -> None:
    said = scorehouse("deltas", "sim24", "cs-uk", "Oriole", "--difference", "4", "--resamples", "20").out
    assert "If you mean points of 100, take --difference 0.04." in " ".join(said.split())
