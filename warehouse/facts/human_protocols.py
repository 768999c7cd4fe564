"""Protocols of human evaluation: which human scores are kinds of one protocol."""

import re

_SCALE = re.compile("-(raw|z)$", re.IGNORECASE)


def judgements_of(human: str) -> str:
    """The name of a human score without its scale: those that share it are the same judgements, raw and normalised.

    >>> [judgements_of(name) for name in ("wmt-raw", "wmt-z", "wmt-appraise-z", "esa-2")]
    ['wmt', 'wmt', 'wmt-appraise', 'esa-2']
    """
    return _SCALE.sub("", human)


def protocol_of(human: str) -> str:
    """The protocol that a human score is made by; a name that is not known is a protocol of its own.

    Raw and z-normalised scores are one protocol, and so are the averaged and the merged MQM scores;
    judgements against the reference and against the source too.
    >>> [protocol_of(name) for name in ("wmt-raw", "wmt-z", "mqm.merged", "da-sqm-src", "esa", "HUMAN")]
    ['da', 'da', 'mqm', 'da-sqm', 'esa', 'HUMAN']
    """
    bare = judgements_of(human)
    name = bare.casefold()
    if name in ("wmt", "da"):
        return "da"
    for protocol in ("mqm", "da-sqm", "esa", "appraise"):
        if name == protocol or name.startswith((f"{protocol}.", f"{protocol}-")) or name.endswith(f"-{protocol}"):
            return protocol
    return bare
