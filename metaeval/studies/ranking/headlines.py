"""Answer sentences of rankings: of one, and of several."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from metaeval.results.sentences import (
    UNTESTED,
    either,
    first_of,
    in_first_cluster,
    leading,
    most_often,
    named,
    not_counted,
    number,
)
from metaeval.studies.ranking.pooling import Pooling
from warehouse.wording import NO_LP, every


def of_one(
    rows: pl.DataFrame,
    second: pl.DataFrame,
    idle: Collection[str],
    how: Pooling | None,
    by: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The leader of one ranking without tests.

    rows: with a value of the first measure, best first; second: of the second one, if any. idle: metrics that cannot
    lead. how: a way of pooling, if it is pooled. by: the measures as sentences name them, if otherwise than the rows.
    """
    measure, names, values = rows["measure"][0], rows["metric"].to_list(), rows["value"].to_list()
    measure = measure if how else by.get(measure, measure)
    first, _, high = first_of(names, values, idle)
    seconds, high_by_second = _leaders_of_second(second, idle)
    high += [name for name in high_by_second if name not in high]
    n, value = len({*names} - {*high}), values[names.index(first[0])]
    on = _on_few_groups(rows, first[0])
    leads = [leading(measure, first, value, f" of {n} metrics", most, on) for most in (3, 1)]
    if n == 1:
        leads = [f"{first[0]} is the only metric ranked by {measure} ({number(value)}{on})"]
    end = _pooled(rows, how)
    if second.height:
        value = second.filter(metric=seconds[0])["value"][0]
        also = " and" if seconds == first else f", {named(seconds, 2)}"
        other = second["measure"][0]
        on = _on_few_groups(second, seconds[0])
        end += f"{also} by {other if how else by.get(other, other)} ({number(value)}{on})"
    end += "." if n == 1 else f"; {UNTESTED}."
    return either(*(f"{lead}{end} {aside}".rstrip() for aside in not_counted(high) for lead in leads))


def _leaders_of_second(second: pl.DataFrame, idle: Collection[str]) -> tuple[list[str], list[str]]:
    """Who is first by a second measure, and who is as high without judging anything."""
    if second.is_empty():
        return [], []
    first, _, high = first_of(second["metric"].to_list(), second["value"].to_list(), idle)
    return first, high


def _on_few_groups(rows: pl.DataFrame, metric: str) -> str:
    """In how many groups a metric's value is defined, if these are fewer than half."""
    row = rows.row(by_predicate=pl.col("metric") == metric, named=True)
    n, n_nan = row["n_groups"] or 0, row["n_groups_nan"] or 0
    return f" from {n - n_nan} of {n} groups" if n_nan > n / 2 else ""


def of_several(
    each: Sequence[pl.DataFrame],
    idle: Sequence[Collection[str]],
    what: tuple[str, str],
    name: str,
    how: Pooling | None,
    measure: str,
) -> str:
    """The metrics that lead most often.

    each: rows with a value of one measure, one frame per ranking, best first; idle: metrics that cannot lead there.
    what: a ranking, and several; name: the column of names. how: a way of pooling, if each is pooled. measure: in
    words.
    """
    end = f", pooled by {how}" if how else ""
    every_name = {one for rows in each for one in rows[name]}
    if len(every_name) == 1 == max(rows.height for rows in each):
        return f"{named(every_name)} is the only metric ranked by {measure} in {every(len(each), *what)}{end}."
    if any(rows["cluster"].count() for rows in each):
        tops = [rows.filter(cluster=1) for rows in each]
        judging = [top.filter(pl.col("metric").is_in(names).not_()) for top, names in zip(tops, idle, strict=True)]
        tops = judging if any(top.height for top in judging) else tops
        return in_first_cluster([top[name].unique(maintain_order=True).to_list() for top in tops], what, measure)
    firsts = []
    for rows, names in zip(each, idle, strict=True):
        first, _, _ = first_of(rows["metric"].to_list(), rows["value"].to_list(), names)
        named_first = (one for metric, one in zip(rows["metric"], rows[name], strict=True) if metric in first)
        firsts.append([*dict.fromkeys(named_first)])
    return either(*(f"{most_often(firsts, what[1], measure, n)}{end}; {UNTESTED}." for n in (2, 1)))


def _pooled(rows: pl.DataFrame, how: Pooling | None) -> str:
    """How, and over what, a ranking is pooled; nothing if it is not. A task without languages is named by itself.

    >>> _pooled(pl.DataFrame({"testset": ["a,b"], "lp": ["no-lp"]}), "mean")
    ', pooled by mean over a and b'
    >>> _pooled(pl.DataFrame({"testset": ["a,b"], "lp": ["en-de,zh-en"]}), "pairs")
    ', pooled by pairs over en-de and zh-en of a and b'
    """
    if how is None:
        return ""
    testsets, lps = ([one for one in rows[name][0].split(",") if one != NO_LP] for name in ("testset", "lp"))
    of = f" of {named(testsets)}" if len(testsets) > 1 else ""
    return f", pooled by {how} over {f'{named(lps)}{of}' if lps else named(testsets)}"
