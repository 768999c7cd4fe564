"""`noise`: its JSON, oracles, and what is refused."""

import pytest

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
