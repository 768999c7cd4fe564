"""Protocols of human evaluation: which human scores are kinds of one protocol."""

_DIRECT_ASSESSMENT = ("wmt", "wmt-raw", "wmt-z", "da", "da-raw", "da-z")


def protocol_of(human: str) -> str:
    """The protocol that a human score is made by; a name that is not known is a protocol of its own.

    Raw and z-normalised direct assessment are one protocol, and so are the averaged and the merged MQM scores;
    judgements against the reference and against the source too.
    >>> [protocol_of(name) for name in ("wmt-raw", "wmt-z", "mqm.merged", "da-sqm-src", "esa", "HUMAN")]
    ['da', 'da', 'mqm', 'da-sqm', 'esa', 'HUMAN']
    """
    name = human.casefold()
    if name in _DIRECT_ASSESSMENT:
        return "da"
    for protocol in ("mqm", "da-sqm", "esa", "appraise"):
        if name == protocol or name.startswith((f"{protocol}.", f"{protocol}-")) or name.endswith(f"-{protocol}"):
            return protocol
    return human
