"""Protocols of human scores by their names."""

import pytest

from warehouse.facts.human_protocols import protocol_of


@pytest.mark.parametrize(
    ("human", "protocol"),
    [
        *((name, "da") for name in ("wmt-raw", "wmt-z", "wmt")),
        *((name, "mqm") for name in ("mqm", "mqm.merged", "google-mqm")),
        *((name, "da-sqm") for name in ("da-sqm", "da-sqm-ref", "da-sqm-src")),
        ("esa", "esa"),
        ("esa-2", "esa"),
        ("wmt-appraise", "appraise"),
        ("HUMAN", "HUMAN"),  # WMT12's only human score: nothing says more
        ("mqmish", "mqmish"),
    ],
)
def test_kinds_of_one_protocol_share_its_name(human: str, protocol: str) -> None:
    assert protocol_of(human) == protocol


@pytest.mark.parametrize("human", ["wmt", "da", "mqm", "da-sqm", "esa", "appraise", "wmt-appraise", "psqm", "HUMAN"])
@pytest.mark.parametrize("scale", ["-z", "-raw", "-Z"])
def test_the_same_judgements_on_another_scale_are_no_protocol_of_their_own(human: str, scale: str) -> None:
    assert protocol_of(human + scale) == protocol_of(human)
