"""Words of the sentence that opens an answer."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from warehouse.wording import are, ends, every

LONGEST = 200  # characters of a summary
UNTESTED = "differences were not tested"


def opening(*sentences: str) -> str:
    """The sentences, as many of them from the first on as fit.

    >>> opening("BLEU leads.", "It is alone.", "x" * 200)
    'BLEU leads. It is alone.'
    """
    text = ""
    for one in sentences:
        if one and len(text) + len(one) + 1 <= LONGEST:
            text = f"{text} {one}".strip()
        elif one:
            break
    return text or f"{sentences[0][: LONGEST - 2].rstrip()}…."


def named(names: Iterable[object], most: int = 3, last: str = "and") -> str:
    """Names as a sentence has them: the first of many, and how many more. last: the word before the last one.

    >>> named(["A"]), named(["A", "B", "C"]), named("ABCDE"), named("AB", last="or")
    ('A', 'A, B and C', 'A, B, C and 2 more', 'A or B')
    """
    every = [str(one) for one in names]
    if len(every) > most + 1 or (len(every) > most and most == 1):
        return f"{', '.join(every[:most])} {last} {len(every) - most} more"
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} {last} {every[-1]}"


def number(value: float, digits: int = 3) -> str:
    """A number with few digits, which very small and very large ones have, too.

    >>> number(0.96384), number(-10.79), number(0.00213), number(0.0), number(54.3087), number(-0.0000012)
    ('0.964', '-10.790', '0.00213', '0.000', '54.309', '-1.2e-06')
    """
    if value == 0 or abs(value) >= 10.0**-2:
        return f"{value + 0.0:.{digits}f}"
    return f"{value:.{digits}g}"


def among(rank: int, n_equal: int, n: int) -> str:
    """The place of a score among n, as the share of scores that are as good or as bad. n_equal: scores of that rank.

    >>> among(1, 1402, 5520), among(5483, 1, 5520), among(3, 1, 3), among(1, 4, 4)
    ('among the best 25%', 'among the worst 0.69%', 'the worst', 'equal to all')
    """
    as_good, as_bad = rank + n_equal - 1, n - rank + 1
    if n_equal == n:
        return "equal to all"
    least, which = min((as_good, "best"), (as_bad, "worst"))
    if least == 1:
        return f"the {which}"
    return f"among the {which} {100 * least / n:.2g}%"


def between(values: Sequence[float], digits: int = 3) -> str:
    """The least and the greatest of some numbers; one of them if they are the same.

    >>> between([0.5, 0.25]), between([2, 2], 0)
    ('0.250 to 0.500', '2')
    """
    return ends(number(min(values), digits), number(max(values), digits))


def either(*sentences: str) -> str:
    """The first of the sentences that is not too long.

    >>> either("x" * 201, "BLEU leads.")
    'BLEU leads.'
    """
    return next((one for one in sentences if len(one) <= LONGEST), opening(sentences[-1]))


def most_often(winners: Sequence[Sequence[str]], what: str, by: str, n_shown: int = 2) -> str:
    """Which names are first, and how often. winners: the first ones of each place; what: the places.

    >>> most_often([["A"], ["A", "B"], ["C"]], "evaluation sets", "pa")
    'A ranks first by pa in 2 of 3 evaluation sets, B and C in 1 each'
    """
    counts: dict[str, int] = {}
    for place in winners:
        for name in place:
            counts[name] = counts.get(name, 0) + 1
    by_count: dict[int, list[str]] = {}
    for name, n in counts.items():
        by_count.setdefault(n, []).append(name)
    (n, first), *others = sorted(by_count.items(), reverse=True)
    verb = "each rank" if len(first) > 1 else "ranks"
    said = [f"{named(first, 2)} {verb} first by {by} in {n} of {len(winners)} {what}"]
    said += [f"{named(names, 2)} in {n}{' each' if len(names) > 1 else ''}" for n, names in others[: n_shown - 1]]
    return ", ".join(said)


def in_first_cluster(clusters: Sequence[Sequence[str]], what: tuple[str, str], by: str) -> str:
    """Which names no test puts behind the first. clusters: the first one of each place; what: a place, and several.

    >>> in_first_cluster([["A", "B"], ["B", "C"]], ("domain", "domains"), "pa")
    'B is in the first cluster by pa in both domains.'
    >>> in_first_cluster([["A"], ["A", "B"], ["B"]], ("domain", "domains"), "pa")
    'No metric is in the first cluster by pa in all 3 domains; A and B are in 2 of them.'
    """
    counts: dict[str, int] = {}
    for place in clusters:
        for name in place:
            counts[name] = counts.get(name, 0) + 1
    most = max(counts.values())
    names = [name for name, n in counts.items() if n == most]
    said = f"{named(names)} {'are' if len(names) > 1 else 'is'} in"
    where = f"the first cluster by {by} in {every(len(clusters), *what)}"
    if most == len(clusters):
        return f"{said} {where}."
    return either(
        f"No metric is in {where}; {said} {most} of them.", f"No metric is in {where}, and {len(names)} are in {most}."
    )


def with_missing(text: str, missing: str) -> str:
    """An answer, and what it does not cover; its last sentences give way if there is no room.

    >>> with_missing("A ranks first.", "partial: 2 of 3 sets are ranked")
    'A ranks first. 2 of 3 sets are ranked.'
    >>> with_missing("A ranks first. " + "B" * 170 + ".", "2 of 3 sets are ranked, and " + "x" * 180)
    'A ranks first. The data are incomplete.'
    """
    said = missing.removeprefix("partial: ")
    said = f"{said[0].upper()}{said[1:]}."
    while True:
        for one in (said, "The data are incomplete."):
            if len(text) + len(one) < LONGEST:
                return f"{text} {one}"
        shorter = text.removesuffix(".").rpartition(". ")[0]
        if not shorter:
            return text
        text = f"{shorter}."


def leading(measure: str, names: Sequence[str], values: Sequence[float], digits: int = 3, of: str = "") -> str:
    """Who leads by a measure. names, values: the best first.

    >>> leading("pa", ["A", "B", "C"], [0.9, 0.9, 0.8]), leading("pa", ["A"], [0.9], of=" of 12 metrics")
    ('A and B share first place by pa (0.900)', 'A ranks first of 12 metrics by pa (0.900)')
    """
    first = [name for name, value in zip(names, values, strict=True) if value == values[0]]
    if len(first) == 1:
        return f"{first[0]} ranks first{of} by {measure} ({number(values[0], digits)})"
    return f"{named(first)} share first place{of} by {measure} ({number(values[0], digits)})"


def new_units(population: str) -> str:
    """The population of a test in few words.

    >>> new_units("new documents of these systems"), new_units("new systems on these segments")
    ('new documents', 'new systems')
    """
    return population.removesuffix(" of these systems").removesuffix(" on these segments")


def against_the_leader(
    lead: str,
    names: Sequence[str],
    p: Sequence[float],
    alpha: float,
    population: str,
    of: str,
    alternative: str,
    n_in_cluster: int | None = None,
) -> str:
    """Who leads, and how many, the best of them by name, do not differ significantly from the first.

    p: of each of the others, NaN where it was not tested. population: what the test generalises to. n_in_cluster: how
    many of the others are in the first cluster.
    >>> against_the_leader("A leads", "ABC", [0.2, 0.01], 0.05, "new segments of these systems", "metric", "two-sided")
    'A leads. 1 of 2 other metrics does not differ significantly from it: B (new segments, p > 0.05).'
    >>> against_the_leader("A leads", "ABCDEFG", [0.2] * 5 + [0.01], 0.05, "new segments", "metric", "two-sided")[9:]
    '5 of 6 other metrics do not differ significantly from it: B, C, D and 2 more (new segments, p > 0.05).'
    >>> p = [0.2, 0.2, 0.01]
    >>> said = against_the_leader("A leads", "ABCD", p, 0.05, "new documents", "system", "two-sided", n_in_cluster=1)
    >>> said.rpartition("). ")[2]
    'Cluster 1, in which no two differ, has 1 of these.'
    """
    them = "them" if " share " in lead else "it"
    open_ = [name for name, one in zip(names[1:], p, strict=True) if one > alpha]
    n_worse = sum(one <= alpha for one in p)
    sided = "" if alternative == "two-sided" else "one-sided "
    how = f"({new_units(population)}, {sided}p > {alpha:g})"
    n = len(open_) + n_worse
    if not n:
        return opening(f"{lead}.", f"No other {of} could be tested against {them}.")
    if not open_:
        them = every(n, f"other {of}")
        return opening(f"{lead}.", f"{them[0].upper()}{them[1:]} {are(n)} significantly worse {how.replace('>', '≤')}.")
    if not n_worse:
        return opening(f"{lead}.", f"No {of} is significantly worse {how}.")
    cluster = ""
    if n_in_cluster is not None and n_in_cluster < len(open_):
        cluster = f"Cluster 1, in which no two differ, has {n_in_cluster or 'none'} of these."
    start = f"{lead}. {len(open_)} of {n} other {of}s {'does' if len(open_) == 1 else 'do'} not differ significantly"
    return either(
        *(f"{start} from {them}: {named(open_, most)} {how}. {cluster}".strip() for most in (3, 2)),
        *(f"{start} from {them}: {named(open_, most)} {how}." for most in (3, 2)),
        f"{start} from {them} {how}. {cluster}".strip(),
        f"{start} from {them} {how}.",
        f"{start} {how}.",
    )


def without_names(text: str) -> str:
    """A sentence of `against_the_leader` that counts those that do not differ, without their names.

    >>> without_names("2 of 9 other metrics do not differ significantly from it: A.1 and B (new documents, p > 0.05).")
    '2 of 9 other metrics do not differ significantly from it (new documents, p > 0.05).'
    """
    return re.sub(r"( from (?:it|them)): .+? (\(new )", r"\1 \2", text)


def interval(row: Mapping[str, Any], low: str, high: str, digits: int = 3) -> str:
    """The ends of an interval in brackets, after a space; nothing if there is none."""
    if row[low] is None or row[high] is None:
        return ""
    return f" [{number(row[low], digits)}, {number(row[high], digits)}]"
