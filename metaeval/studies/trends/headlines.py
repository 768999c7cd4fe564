"""Answer sentences of a history, for each of its views."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from metaeval.kernels.arrays.checks import EQUAL
from metaeval.results.sentences import either, highest, interval, named, number, opening
from metaeval.studies.trends.gaps import Pooling, pooled_by_year
from metaeval.studies.trends.groups import CHOSEN, grouped
from metaeval.studies.trends.history import History
from metaeval.studies.trends.within import Kind, KindSlope, Within
from warehouse.facts.metrics import JUDGES_NOTHING
from warehouse.wording import counted, option

ALPHA = 0.05
_FEWEST = 3  # sets, below which a slope has no interval
_WHO: Mapping[Kind, tuple[str, str]] = {
    "reference-based": ("Newer reference-based metrics", "reference-based ones"),
    "reference-free": ("Newer reference-free metrics", "reference-free ones"),
    "all": ("Newer metrics", "all"),
}


_KINDS = {
    "string": "string-based",
    "embedding": "embedding-based",
    "likelihood": "likelihood-based",
    "llm": "LLM-based",
    "unknown": "other",
}


def _leader(row: Mapping[str, Any]) -> str:
    """A group of one year as the subject of a sentence.

    >>> _leader({"by": "family", "group": "COMET"}), _leader({"by": "kind", "group": "llm, reference-free"})
    ('COMET', 'the best reference-free LLM-based metric')
    >>> [_leader({"by": "best", "group": "best", "n_sets": n, "metric": "COMET-refA"}) for n in (1, 2)]
    ['COMET-refA', "each set's best metric"]
    """
    if row["by"] == "best":
        return str(row["metric"]) if row["n_sets"] == 1 else "each set's best metric"
    if row["by"] not in CHOSEN:
        return str(row["group"])
    kind, _, free = row["group"].partition(", ")
    return " ".join(filter(None, ["the best", free, _KINDS.get(kind, kind), "metric"]))


def of_years(history: History, rows: pl.DataFrame, pool: Pooling = "mean") -> str:
    """The leader of the latest year with its gap to the anchor, earlier leaders, and which view compares years.

    rows: as from `grouped`. Values and gaps are those of the table: pooled over the sets of a year and human protocol,
    of which a year's first is that of most sets. Groups with values on most of these sets are compared. A family is
    represented by one metric, so the highest value of all metrics is there, too, if it is higher.
    """
    official = rows.filter(pl.col("bridge").is_null())
    pooled = pooled_by_year(official, history.measure, pool).drop_nulls(["year", "value"])
    judging = pooled.filter(pl.col("kind").is_in(JUDGES_NOTHING).not_())
    shown = judging.filter(~pl.col("by").is_in(CHOSEN))
    pooled = next((one for one in (shown.filter(by="version"), shown, judging) if one.height), pooled)
    if pooled.is_empty():
        return f"No year has a value of {history.measure}."
    years = [_of_first_protocol(one) for one in pooled.sort("year", descending=True).partition_by("year")]
    newest, *before = (highest(one, "value").to_dicts() for one in years)
    best, of_all = newest[0], years[0]
    is_family, are_several = best["by"] == "family", len(newest) > 1
    lead = f"In {best['year']}, {_leaders(newest)} {'lead' if are_several else 'leads'} by {history.measure} ("
    sets = "" if best["n_sets"] == best["n_sets_all"] else f" of {best['n_sets_all']}"
    mean_of = f", mean of {best['n_sets']}{sets} sets" if best["n_sets"] > 1 and pool == "mean" else ""
    lead += f"{number(best['value'])}{mean_of}{_highest(history, best) if is_family else ''})"
    if is_family and (of_all["n_metrics"] > 1).any():
        lead += f" among {of_all.height} families, one metric each"
    if history.anchor in (one["group"] for one in newest):
        lead += "" if are_several else ", the anchor of all gaps"
    elif best["gap"] is not None:
        side, sign, ends = "above", 1, ("gap_low", "gap_high")
        if best["gap"] < 0:
            side, sign, ends = "below", -1, ("gap_high", "gap_low")
        distance = {name: None if are_several or best[name] is None else sign * best[name] for name in ends}
        lead += f", {number(abs(best['gap']))}{interval(distance, *ends)} {side} {history.anchor} on the same data"
    else:
        lead += f"; {history.anchor} has no value there"
    earlier = [
        f"{_leaders(ones)} ({ones[0]['year']}"
        + ("" if ones[0]["gap"] is None or ones[0]["group"] == history.anchor else f", {ones[0]['gap']:+.3f}")
        + ")"
        for ones in before
    ]
    without = sorted({one.year for one in history.entries if one.year is not None} - set(pooled["year"]))
    missing = f" No values for {named(without, 5)}." if without else ""
    before_that = [f"; before: {named(earlier, n)}." for n in (3, 2, 1) if earlier]
    within = f" Years differ in data; {option('within', True)} compares the same data." if before else ""
    return either(
        *(f"{lead}{one}{missing}{within}" for one in [*before_that, "."]),
        *(f"{lead}{one}{within}" for one in [*before_that[-1:], "."]),
        opening(f"{lead}.", within.strip()),
    )


def _of_first_protocol(rows: pl.DataFrame) -> pl.DataFrame:
    """Of one year's rows those of the human protocol of most sets, on most of these sets, the best first."""
    rows = rows.sort("n_sets_all", "protocol", "value", "group", descending=[True, True, True, False])
    of_one = rows.filter(pl.col("protocol") == rows["protocol"][0])
    return of_one.filter(pl.col("n_sets") == pl.col("n_sets").max())


def _leaders(rows: Sequence[Mapping[str, Any]]) -> str:
    return named([_leader(one) for one in rows], 2)


def _highest(history: History, than: Mapping[str, Any]) -> str:
    """The highest value of all metrics in a year of one evaluation set, if it is higher."""
    official = grouped(history, ["version"]).filter(pl.col("bridge").is_null())
    rows = official.filter(pl.col("kind").is_in(JUDGES_NOTHING).not_(), year=than["year"], protocol=than["protocol"])
    higher = rows.filter(pl.col("value") > than["value"] + EQUAL).sort("value", descending=True)["value"].to_list()
    return f"; highest of all metrics {number(higher[0])}" if higher and than["n_sets_all"] == 1 else ""


def of_trends(history: History, frame: pl.DataFrame) -> str:
    """Groups whose gap has a trend over the years."""
    tested = frame.drop_nulls("p")
    if tested.is_empty():
        return opening(
            f"No trend can be tested: a group needs 3 years with a gap to {history.anchor} by one human protocol, and "
            f"none of {frame['group'].n_unique()} groups has them."
        )
    n_groups, least = tested.height, tested["least_p"].to_list()
    tested = tested.filter(pl.col("least_p") <= ALPHA)
    if tested.is_empty():
        years = counted(max(frame["n_years"].to_list()), "year")
        return opening(
            f"No trend can be tested: {years} with a gap to {history.anchor} are too few, as no order of them has "
            f"p ≤ {ALPHA} ({counted(n_groups, 'group')}, least possible p {number(min(least))})."
        )
    clear = tested.filter(pl.col("p") <= ALPHA).sort("p")
    of = counted(tested.height, "test")
    if n_groups > tested.height:
        n_few = n_groups - tested.height
        of += f"; {n_few} {'other has' if n_few == 1 else 'others have'} too few years"
    if clear.is_empty():
        return opening(f"No group's gap to {history.anchor} changes significantly over the years (p > {ALPHA}, {of}).")
    said = [f"{row['group']} ({row['slope']:+.4f} a year, {row['protocol']})" for row in clear.to_dicts()]
    return either(
        f"The gap to {history.anchor} changes significantly over the years for {named(said, 2)} (p ≤ {ALPHA}, {of}, "
        "not corrected).",
        f"The gap to {history.anchor} changes significantly for {counted(clear.height, 'group')} (p ≤ {ALPHA}, {of}).",
    )


def of_bridges(history: History, frame: pl.DataFrame) -> str:
    """How much values depend on the human protocol, on the same systems."""
    steps = frame.drop_nulls("step")
    if steps.is_empty():
        return "No evaluation set has human scores of two protocols with metrics that both can rank."
    by_set = steps.group_by("testset", "lp", "human", "other_human", maintain_order=True).agg(
        pl.col("step").mean(), pl.col("agreement").first()
    )
    by_set = by_set.with_columns(pl.col("step").round(3) + 0.0)
    said = [
        f"by {row['step']:+.3f} from {row['human']} to {row['other_human']} on {row['testset']} {row['lp']}"
        for row in by_set.to_dicts()
    ]
    sentences = []
    for n in (3, 2, 1):
        n_left = max(len(said) - n, 0)
        more = f"; the table has {counted(n_left, 'more change')}" if n_left else ""
        sentences.append(f"On the same systems, {history.measure} changes on average {named(said[:n])}{more}.")
    return either(*sentences)


def of_slopes(slopes: Within) -> str:
    """Whether newer metrics are better on the same data, for each kind of metrics."""
    first, *others = (_slope(one, slopes, is_first=place == 0) for place, one in enumerate(slopes.slopes))
    said = [f"{one[0].upper()}{one[1:]}." for one in others]
    text = " ".join([f"{first}.", *said])
    return either(
        text, text.replace(" are not significantly better (", ": not significant ("), opening(f"{first}.", *said)
    )


def _slope(one: KindSlope, slopes: Within, *, is_first: bool) -> str:
    pooled, n = one.pooled, len({(each.testset, each.lp, each.human) for each in one.sets})
    who = _WHO[one.kind][0 if is_first else 1]
    data = f" on the same data by {slopes.measure}" if is_first else ""
    if pooled.low != pooled.low:
        few = f"only {counted(n, 'set')}" if n < _FEWEST else "no interval"
        why = f"cannot be told ({few}; {pooled.mean:+.4f} a year)"
        return f"Whether {who[0].lower()}{who[1:]} are better{data} {why}" if is_first else f"For {who}, it {why}"
    ends = f"{pooled.mean:+.4f} a year [{pooled.low:.4f}, {pooled.high:.4f}]"
    if pooled.low > 0 or pooled.high < 0:
        return f"{who} are {'better' if pooled.low > 0 else 'worse'}{data} ({ends})"
    return f"{who} are not significantly better{data} ({ends})"
