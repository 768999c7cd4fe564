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
