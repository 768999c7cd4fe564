"""`deltas`: its JSON, and what is refused."""

from tests.cli.running import Scorehouse, refused

WORDS = ("deltas", "cs-uk", "simBLEU", "--human", "mqm", "--draws", "20")


def test_json_has_a_row_for_each_level_asked(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*WORDS, "--agreement", "0.9", "--agreement", "0.6", "--format", "json").json
    assert [row["agreement"] for row in rows] == [0.6, 0.9]
    assert all(row["n_pairs"] > 0 and row["protocol"] == "mqm" for row in rows)
    assert all((row["delta"] is None) == (row["reason"] is not None) for row in rows)


def test_an_agreement_that_nobody_reaches_is_refused(scorehouse: Scorehouse) -> None:
    refused(scorehouse(*WORDS, "--agreement", "1"), 2, "agreement 1.0")
