"""Protocols of human evaluation, and the human scores that belong to each."""

import re
from collections.abc import Iterable, Mapping

_SCALE = re.compile("([-:](raw|z)|:(ew|bto|boe|trueskill|bt))$", re.IGNORECASE)

_COLUMN = re.compile(r"-col\d", re.IGNORECASE)


def judgements_of(human: str) -> str:
    """The name of a human score without its scale: scores with equal names are the same judgements, raw and normalised.

    This also holds for all system scores computed from the same preferences.
    >>> [judgements_of(name) for name in ("wmt-raw", "wmt-z", "wmt-appraise-z", "esa-2", "esa:z", "rr:bto")]
    ['wmt', 'wmt', 'wmt-appraise', 'esa-2', 'esa', 'rr']
    """
    return _SCALE.sub("", human)


def by_scale(humans: Iterable[str], level: str) -> list[str]:
    """Human scores, beginning with the protocol's representative: z-normalised for system scores, raw for segments.

    These are the organisers' standards in the years of DA; names without a scale are sorted alphabetically.
    >>> by_scale(["da-z", "da", "da-raw"], "sys"), by_scale(["da-z", "da", "da-raw"], "seg")
    (['da-z', 'da-raw', 'da'], ['da-raw', 'da', 'da-z'])
    """
    order = ("-z", "-raw", "") if level == "sys" else ("-raw", "", "-z")
    return sorted(humans, key=lambda name: (order.index(name[len(judgements_of(name)) :].lower()), name))


def protocol_of(human: str) -> str:
    """The protocol of a human score; an unknown name is a protocol in itself.

    Raw and z-normalised scores are one protocol; so are averaged and merged MQM scores, and judgements against the
    reference and against the source. HUMAN, in the tables of the metrics tasks until 2016, is computed from rankings.
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


def is_column(human: str) -> bool:
    """Whether a human score is a column of single ratings; the columns of an evaluation set rate the same outputs.

    >>> [is_column(name) for name in ("mqm-col1", "mqm-col2_more_data", "mqm", "mqm-1")]
    [True, True, False, False]
    """
    return _COLUMN.search(human) is not None


def share_ratings(human: str, other: str) -> bool:
    """Whether two human scores are known to rest on the same single ratings, at least in part.

    A score (`mqm`) rests on the ratings of its columns (`mqm-col1`), and those with more data rest on the same ratings
    in another order.
    >>> [share_ratings("mqm", name) for name in ("mqm-col1", "mqm-col3_more_data", "mqm.merged", "mqm-1", "psqm-col1")]
    [True, True, True, False, False]
    >>> [share_ratings("mqm-col1", name) for name in ("mqm.merged", "mqm-col2_more_data", "mqm-col2")]
    [True, True, False]
    """
    human, other = judgements_of(human), judgements_of(other)
    if human == other or protocol_of(human) == protocol_of(other) == "rr":
        return True
    if is_column(human) and is_column(other):
        return protocol_of(human) == protocol_of(other) and ("_" in human) != ("_" in other)
    wholes = {name.casefold().partition(".")[0] for name in (human, other) if not is_column(name)}
    return protocol_of(human) == protocol_of(other) and wholes == {protocol_of(human)}


def behind(human: str, n_of: Mapping[str, int]) -> list[str]:
    """Human scores whose judgements may stand for those of a score, the best first.

    This is the score itself, then those of the same ratings, then others of its protocol; in each, that of most data.
    n_of: for each human score how many judgements or errors are its own.
    >>> behind("mqm", {"mqm": 0, "mqm-1": 9, "mqm-2": 20, "mqm.merged": 5, "esa": 90})
    ['mqm.merged', 'mqm-2', 'mqm-1']
    """
    there = [name for name, n in n_of.items() if n and protocol_of(name) == protocol_of(human)]
    return sorted(there, key=lambda name: (name != human, not share_ratings(name, human), -n_of[name], name))


LOWEST, HIGHEST = 0.0, 100.0  # of direct assessments
_ASSESSED = ("da-sqm", "esa", "esaai")


def is_from_0_to_100(human: str) -> bool:
    """Whether a human score is known to be a raw direct assessment.

    >>> [is_from_0_to_100(name) for name in ("wmt-raw", "esa-human1", "da-sqm", "wmt-z", "esa-z", "mqm", "da")]
    [True, True, True, False, False, False, False]
    """
    name, protocol = human.casefold(), protocol_of(human)
    return name.endswith("-raw") if protocol in ("da", "appraise") else protocol in _ASSESSED and name[-2:] != "-z"
