"""Words of the sentence that opens an answer."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warehouse.wording import are, ends, every

if TYPE_CHECKING:
    import polars as pl

LONGEST = 200  # characters of a summary
UNTESTED = "differences were not tested"
_BETWEEN = re.compile(r"(?<=[.]) ")


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
    """The first of the texts that is not too long, else as many sentences of the last one as fit.

    >>> either("x" * 201, "BLEU leads."), either(f"BLEU leads. 1 of 2 others, {'x' * 200}, does not differ.")
    ('BLEU leads.', 'BLEU leads.')
    """
    return next((one for one in sentences if len(one) <= LONGEST), opening(*_BETWEEN.split(sentences[-1])))


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


def with_missing(text: str, *missing: str) -> str:
    """An answer, and what it does not cover; its last sentences give way if there is no room.

    missing: the first matters most.

    >>> with_missing("A ranks first.", "partial: 2 of 3 sets are ranked")
    'A ranks first. 2 of 3 sets are ranked.'
    >>> with_missing("A ranks first.", "news: partial: 2 of 3 sets are ranked")
    'A ranks first. News: 2 of 3 sets are ranked.'
    >>> with_missing("A ranks first.", "2 of 3 sets are ranked", "2 of 5 metrics have segment scores")
    'A ranks first. 2 of 3 sets are ranked. 2 of 5 metrics have segment scores.'
    >>> with_missing("A ranks first. " + "B" * 170 + ".", "2 of 3 sets are ranked, and " + "x" * 180)
    'A ranks first. The data are incomplete.'
    """
    each = [one.replace("partial: ", "", 1) for one in missing]
    each = [f"{one[0].upper()}{one[1:]}." for one in each]
    while True:
        for one in (" ".join(each), *each, "The data are incomplete."):
            if len(text) + len(one) < LONGEST:
                return f"{text} {one}"
        shorter = text.removesuffix(".").rpartition(". ")[0]
        if not shorter:
            return text
        text = f"{shorter}."


def first_of(
    names: Sequence[str], values: Sequence[float], idle: Collection[str] = ()
) -> tuple[list[str], list[str], list[str]]:
    """The names that are first, the others, and the idle ones that are as high as the first or higher.

    names, values: the best first. idle: names that cannot be first, unless there are no others.
    >>> first_of("ABCD", [0.9, 0.9, 0.9, 0.8]), first_of("ABCD", [0.9, 0.9, 0.8, 0.7], "AC"), first_of("A", [0.9], "A")
    ((['A', 'B', 'C'], ['D'], []), (['B'], ['C', 'D'], ['A']), (['A'], [], []))
    """
    from metaeval.kernels.resampling.clusters import ranks

    idle = idle if set(names) - set(idle) else ()
    rank = dict(zip(names, ranks(values).tolist(), strict=True))
    best = min(one for name, one in rank.items() if name not in idle)
    first = [name for name, one in rank.items() if one == best and name not in idle]
    high = [name for name, one in rank.items() if one <= best and name in idle]
    return first, [name for name in names if name not in {*first, *high}], high


def highest(frame: "pl.DataFrame", column: str) -> "pl.DataFrame":
    """The rows with the highest value, in their order; values that differ by rounding alone are equal.

    >>> import polars as pl
    >>> highest(pl.DataFrame({"metric": ["A", "B", "C"], "value": [0.3, None, 0.1 + 0.2]}), "value")["metric"].to_list()
    ['A', 'C']
    """
    import polars as pl

    from metaeval.kernels.arrays.checks import EQUAL

    return frame.filter(pl.col(column) >= pl.col(column).max() - EQUAL)


def leading(measure: str, first: Sequence[str], value: float, of: str = "", most: int = 3, on: str = "") -> str:
    """Who leads by a measure. first: as of `first_of`; most: how many of them are named. on: of what the value is.

    >>> leading("pa", ["A", "B"], 0.9), leading("pa", ["A"], 0.9, of=" of 12 metrics")
    ('A and B share first place by pa (0.900)', 'A ranks first of 12 metrics by pa (0.900)')
    """
    verb = "ranks first" if len(first) == 1 else "share first place"
    return f"{named(first, most)} {verb}{of} by {measure} ({number(value)}{on})"


def not_counted(idle: Sequence[str]) -> list[str]:
    """Sentences, ever shorter ones, on metrics that are as high as the first without judging anything.

    >>> not_counted(["sentinel-ref"]), not_counted([])
    (['sentinel-ref is not counted (sentinel, random or constant).', ''], [''])
    """
    said = [
        f"{named(idle, most)} {are(len(idle))} not counted (sentinel, random or constant)." for most in (2, 1) if idle
    ]
    return list(dict.fromkeys((*said, "")))


def new_units(population: str) -> str:
    """The population of a test in few words.

    >>> new_units("new documents of these systems"), new_units("new systems on these segments")
    ('new documents', 'new systems')
    """
    return population.removesuffix(" of these systems").removesuffix(" on these segments")


def against_the_leader(
    leads: Sequence[str],
    open_: Sequence[str],
    n_worse: int,
    n: int,
    how: str,
    of: str,
    *,
    them: str = "it",
    better: Sequence[str] = (),
    asides: Sequence[str] = ("",),
    left: str = "",
    n_in_cluster: int | None = None,
    is_partly: bool = False,
) -> str:
    """Who leads, and how many, the best of them by name, do not differ significantly from the first.

    leads: who leads, in ever fewer words. open_: the others that do not differ; n_worse: how many are worse; n: how
    many were tested. how: as of `of_a_test`. them: those who lead, or the name of the one that was tested. better:
    those that the test puts before the first. asides: on those who lead, in ever fewer words; left: a sentence on what
    was not compared. n_in_cluster: how many of the open ones are in the first cluster. is_partly: only some of the
    others were tested.
    >>> how = "(new segments, p > 0.05)"
    >>> against_the_leader(["A leads"], "B", 1, 2, how, "metric")
    'A leads. 1 of 2 other metrics does not differ significantly from it: B (new segments, p > 0.05).'
    >>> against_the_leader(["A leads"], "BCDEF", 1, 6, how, "metric", n_in_cluster=3)[9:]
    '5 of 6 other metrics do not differ significantly from it: B, C, D and 2 more (new segments, p > 0.05). \
3 of these are in cluster 1.'
    >>> against_the_leader(["A leads"], "", 2, 2, how, "system", left="1 more system cannot be compared.")
    'A leads. Both other systems are significantly worse (new segments, p ≤ 0.05). 1 more system cannot be compared.'
    >>> against_the_leader(["A leads"], "", 0, 1, how, "metric", them="A", better="B")
    'A leads. B is significantly better than A on the tested means (new segments, p ≤ 0.05).'
    """
    than = "" if them in ("it", "them") else f" than {them}"
    tested = (" that was tested" if n == 1 else " that were tested") if is_partly else ""
    significant = how.replace(">", "≤")
    ahead = f"{named(better, 1)} {are(len(better))} significantly better{than} on the tested means" if better else ""
    ahead = ahead and f"{ahead} {significant}."
    if not n:
        texts = [f"No other {of} could be tested against {them}."]
    elif len(better) == n:
        texts = [""]
    elif not open_:
        who = every(n, f"other {of}") if n_worse == n else f"{n_worse} of {n} other {of}s"
        texts = [f"{who[0].upper()}{who[1:]}{tested} {are(n_worse)} significantly worse{than} {significant}."]
    elif len(open_) == n:
        texts = [f"No {of}{' that was tested' if is_partly else ''} is significantly worse{than} {how}."]
    else:
        cluster = ""
        if n_in_cluster is not None and n_in_cluster < len(open_):
            cluster = f" {n_in_cluster or 'None'} of these {are(max(n_in_cluster, 1))} in cluster 1."
        differ = f"{'does' if len(open_) == 1 else 'do'} not differ significantly"
        said = f"{len(open_)} of {n} other {of}s{tested} {differ} from {them}"
        names = [*(f": {named(open_, most)}" for most in (3, 2, 1)), ""]
        texts = [f"{said}{some} {how}.{one}" for one in dict.fromkeys((cluster, "")) for some in names]
        texts.append(f"{len(open_)} of {n} others {differ} {how}.")
    rests = [(one, end) for end in dict.fromkeys((left, "")) for one in asides]
    parts = [(f"{lead}.", one, ahead, text, end) for one, end in rests for lead in leads for text in texts]
    return either(*(" ".join(filter(None, each)) for each in parts))


def of_a_test(population: str, alpha: float, alternative: str) -> str:
    """The population and the level of a test, in brackets.

    >>> of_a_test("new documents of these systems", 0.05, "two-sided"), of_a_test("new systems", 0.01, "greater")
    ('(new documents, p > 0.05)', '(new systems, one-sided p > 0.01)')
    """
    sided = "" if alternative == "two-sided" else "one-sided "
    return f"({new_units(population)}, {sided}p > {alpha:g})"


def without_names(text: str) -> str:
    """A sentence of `against_the_leader` that counts those that do not differ, without their names.

    >>> without_names("2 of 9 other metrics do not differ significantly from it: A.1 and B (new documents, p > 0.05).")
    '2 of 9 other metrics do not differ significantly from it (new documents, p > 0.05).'
    """
    return re.sub(r"( differ significantly from [^:]+): .+? (\(new )", r"\1 \2", text)


def interval(row: Mapping[str, Any], low: str, high: str, digits: int = 3) -> str:
    """The ends of an interval in brackets, after a space; nothing if there is none."""
    if row[low] is None or row[high] is None:
        return ""
    return f" [{number(row[low], digits)}, {number(row[high], digits)}]"
