"""Protocols of human evaluation: which human scores are kinds of one protocol."""

import re
from collections.abc import Iterable

_SCALE = re.compile("([-:](raw|z)|:(ew|bto|boe|trueskill|bt))$", re.IGNORECASE)


def judgements_of(human: str) -> str:
    """The name of a human score without its scale: those that share it are the same judgements, raw and normalised.

    So are all system scores made of the same preferences.
    >>> [judgements_of(name) for name in ("wmt-raw", "wmt-z", "wmt-appraise-z", "esa-2", "esa:z", "rr:bto")]
    ['wmt', 'wmt', 'wmt-appraise', 'esa-2', 'esa', 'rr']
    """
    return _SCALE.sub("", human)


def by_scale(humans: Iterable[str], level: str) -> list[str]:
    """Human scores, the one first that a protocol is represented by: z-normalised for system scores, raw for segments.

    These are the organisers' standards of DA's years; where no name tells its scale, they are by name.
    >>> by_scale(["da-z", "da", "da-raw"], "sys"), by_scale(["da-z", "da", "da-raw"], "seg")
    (['da-z', 'da-raw', 'da'], ['da-raw', 'da', 'da-z'])
    """
    order = ("-z", "-raw", "") if level == "sys" else ("-raw", "", "-z")
    return sorted(humans, key=lambda name: (order.index(name[len(judgements_of(name)) :].lower()), name))


def protocol_of(human: str) -> str:
    """The protocol that a human score is made by; a name that is not known is a protocol of its own.

    Raw and z-normalised scores are one protocol, and so are the averaged and the merged MQM scores;
    judgements against the reference and against the source too. HUMAN, in the tables of the metrics tasks to 2016, is
    made of rankings.
    >>> [protocol_of(name) for name in ("wmt-raw", "wmt-z", "mqm.merged", "da-sqm-src", "esaai-2", "HUMAN", "mine")]
    ['da', 'da', 'mqm', 'da-sqm', 'esaai', 'rr', 'mine']
    """
    bare = judgements_of(human)
    if bare == "HUMAN":
        return "rr"
    name = bare.casefold()
    if name in ("wmt", "da"):
        return "da"
    for protocol in ("mqm", "da-sqm", "esa", "esaai", "appraise"):
        if name == protocol or name.startswith((f"{protocol}.", f"{protocol}-")) or name.endswith(f"-{protocol}"):
            return protocol
    return bare


LOWEST, HIGHEST = 0.0, 100.0  # of direct assessments
_ASSESSED = ("da-sqm", "esa", "esaai")


def is_from_0_to_100(human: str) -> bool:
    """Whether a human score is known to be a direct assessment as people gave it.

    >>> [is_from_0_to_100(name) for name in ("wmt-raw", "esa-human1", "da-sqm", "wmt-z", "esa-z", "mqm", "da")]
    [True, True, True, False, False, False, False]
    """
    name, protocol = human.casefold(), protocol_of(human)
    return name.endswith("-raw") if protocol in ("da", "appraise") else protocol in _ASSESSED and name[-2:] != "-z"
