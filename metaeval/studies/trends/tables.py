"""Trends as tables: for programs, one row per evaluation set and group; for reading, one column per year."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from metaeval.measures.applicable import TOO_NARROW
from metaeval.measures.measure import Measure
from metaeval.results.answer import Result
from metaeval.results.notes import NoteWithHint
from metaeval.results.signature import Part, Parts, option_parts, restricted, stamped
from metaeval.studies.people.ceilings import SPLIT_HALF
from metaeval.studies.ranking.rankings import named
from metaeval.studies.trends.gaps import Pooling, first_reasons, line_rows, pooled_by_year
from metaeval.studies.trends.groups import CHOSEN, NO_SUCH_METRIC, By
from metaeval.studies.trends.history import History
from metaeval.studies.trends.points import Point
from warehouse.facts.metrics import JUDGES_NOTHING, KINDS, folded
from warehouse.wording import are, counted, option

SIGNIFICANT, CONTAMINATED, NOTHING = "*", "°", "-"
SHOWN_IN_BRIDGES = 5  # groups that the notes name
SHOWN_OF_FAMILY = 2  # metrics that stand for a family


def trend_parts(history: History, what: str, *more: Part) -> Parts:
    """Parts of the signature of a trend; each evaluation set has its own in the column signature."""
    official = history.official
    return stamped(
        ("trend", what),
        ("measure", history.measure),
        ("anchor", history.anchor),
        *restricted(
            history.asked,
            testset=",".join(dict.fromkeys(entry.testset for entry, _ in official)) or None,
            lp=",".join(dict.fromkeys(entry.lp for entry, _ in official)) or None,
            human=",".join(dict.fromkeys(one.human for _, one in official)) or None,
        ),
        ("n_sets", len(official)),
        *more,
        *computed_parts(history),
    )


def computed_parts(history: History) -> Parts:
    """How the values of a trend and their intervals were computed."""
    return [
        ("system_score", history.options.system_score),
        ("resamples", history.testing.resamples),
        ("seed", history.options.seed),
        *option_parts(history.options),
    ]


def wide(frame: pl.DataFrame, history: History, by: Sequence[By], pool: Pooling | None, alpha: float) -> Result:
    """One line per group, one column per year and protocol, with the value and the gap to the anchor.

    Columns of official protocols come first, then those of bridges, each with the latest year first. frame: as from
    `groups.grouped`, by these groups. pool: None for the mean. A cell without a value has the number of its reason,
    which the notes give, or a dash if there is no such metric. Parentheses contain the metrics that represent a family,
    or the number of metrics of which the group is the best. Facts: details, notes on the data of single years and
    bridges.
    """
    how = pool or "mean"
    by_year = pooled_by_year(frame, history.measure, how)
    there = by_year.filter(pl.col("value").is_not_null().any().over("year", "protocol"))
    official = frame.filter(pl.col("bridge").is_null() & pl.col("value").is_not_null())
    official_years = set(official.select("year", "protocol").rows())
    years = there.select("year", "protocol").unique().sort("year", "protocol", descending=True).rows()
    years.sort(key=lambda one: (one[0] is None, one not in official_years))
    kinds = {(row["by"], row["group"]): row["kind"] for row in by_year.drop_nulls("kind").rows(named=True)}
    reasons: dict[str, int] = {}
    cells: dict[tuple[str, str], dict[tuple[int, str], str]] = {}
    first = first_reasons(frame)
    absent = {f"{NO_SUCH_METRIC} in {one.testset} {one.lp}": NO_SUCH_METRIC for one in history.entries}
    for row in by_year.sort("year", "protocol", descending=True, maintain_order=True).rows(named=True):
        year, protocol, own = row["year"], row["protocol"], (row["by"], row["group"])
        if row["value"] is None:
            reason = first.get((year, protocol, *own), "no value")
            reason = absent.get(reason, reason)
            text = NOTHING if reason == NO_SUCH_METRIC else f"[{reasons.setdefault(reason, len(reasons) + 1)}]"
        else:
            text = _cell(row, alpha)
        cells.setdefault(own, {})[year, protocol] = text
    members = _members(frame) | _numbers(frame)
    shown = [
        key for key in cells if key in kinds and (key[0] in ("family", "version") or kinds[key] not in JUDGES_NOTHING)
    ]
    ordered = sorted(shown, key=lambda key: _order(key, kinds[key]))
    columns: dict[str, list[str]] = {"group": [_label(*own, members.get(own, "")) for own in ordered]}
    for year, protocol in years:
        columns[_heading(year, protocol)] = [cells[key].get((year, protocol), NOTHING) for key in ordered]
    is_pooled = (by_year["n_sets_all"] > 1).any()
    notes = [
        f"cells: {history.measure}, then the gap to {history.anchor} on the same data ({SIGNIFICANT} p <= {alpha:g}, "
        f"paired test; {CONTAMINATED} trained on human scores of that year; (n/N) in n of N evaluation sets; "
        f"{NOTHING} no such metric)",
        *([_ON_GAPS] if is_pooled else []),
        *([] if len(official_years) < 2 else [NoteWithHint("years differ in data", _WITHIN)]),
        *targets(history),
        *_on_groups(members),
        *(f"[{number}] {reason}" for reason, number in reasons.items()),
        *without_answer(history),
    ]
    details = [*contexts(frame, history.measure), *bridge_notes(frame, history), *_on_points(history)]
    pooled = how if is_pooled else pool
    parts = trend_parts(history, "years", ("by", ",".join(by)), ("pool", pooled), ("alpha", alpha))
    every = tuple(dict.fromkeys([*notes, *history.notes, *details]))
    return Result(pl.DataFrame(columns), parts, every, {"details": frozenset(details)})


_ON_GAPS = "over several evaluation sets, gaps are pooled by random effects, not taken from the pooled values"
_WITHIN = f"{option('within', True)} measures progress on the same data"


def _heading(year: int | None, protocol: str) -> str:
    return f"{'no year' if year is None else year} {protocol}"


Behind = dict[tuple[str, str], str]  # (by, group) -> what stands in brackets behind a group's name


def _members(frame: pl.DataFrame) -> Behind:
    """The metrics that represent each family, newest first, unless all of them have its name."""
    rows = line_rows(frame).filter(pl.col("value").is_not_null(), by="family").sort("year", descending=True)
    found = rows.group_by("group").agg(pl.col("base_metric").unique(maintain_order=True)).rows()
    return {
        ("family", group): ", ".join([*names[:SHOWN_OF_FAMILY], *(["…"] if len(names) > SHOWN_OF_FAMILY else [])])
        for group, names in found
        if {folded(name) for name in names} != {folded(group)}
    }


def _numbers(frame: pl.DataFrame) -> Behind:
    """The number of metrics of which each group is the best, over the evaluation sets."""
    rows = line_rows(frame).filter(pl.col("value").is_not_null(), pl.col("by").is_in(CHOSEN))
    found = rows.group_by("by", "group").agg(least=pl.col("n_metrics").min(), most=pl.col("n_metrics").max()).rows()
    return {(by, group): f"of {' to '.join(dict.fromkeys((str(a), str(b))))}" for by, group, a, b in found}


def _label(by: str, group: str, behind: str) -> str:
    name = {"kind": f"best {group}", "best": "best of all"}.get(by, group)
    return f"{name} ({behind})" if behind else name


def _on_groups(behind: Behind) -> list[str]:
    """Notes on the meaning of parentheses and the limits of a maximum."""
    ways = {by for by, _ in behind}
    lines = ["in parentheses: the metrics that represent a family, newest first"] if "family" in ways else []
    if not ways.isdisjoint(CHOSEN):
        lines.append(
            "best: the highest of several values, so biased upwards; not tested, because it was selected by value"
        )
    return lines


def _order(key: tuple[str, str], kind: str) -> tuple[bool, bool, int, str]:
    by, group = key
    return kind in JUDGES_NOTHING, by in ("kind", "best"), KINDS.index(kind), group.casefold()


def _cell(row: dict[str, Any], alpha: float) -> str:
    text = f"{row['value']:.3f}"
    if row["gap"] is not None and row["metric"] != row["anchor"]:
        star = SIGNIFICANT if row["gap_p"] is not None and row["gap_p"] <= alpha else ""
        text += f" {row['gap']:+.3f}{star}"
    text += CONTAMINATED if row["contaminated"] else ""
    return text if row["n_sets"] == row["n_sets_all"] else f"{text} ({row['n_sets']}/{row['n_sets_all']})"


def contexts(frame: pl.DataFrame, measure: Measure) -> list[str]:
    """A line per year and protocol, newest first, on the data behind its values."""
    points = (
        line_rows(frame)
        .lazy()
        .filter(pl.col("human").is_not_null())
        .unique(["testset", "lp", "human"], maintain_order=True)
        .group_by("year", "protocol", maintain_order=True)
        .agg(
            pl.col("testset").unique(maintain_order=True),
            pl.col("lp").unique(maintain_order=True),
            pl.col("bridge").drop_nulls().unique(maintain_order=True),
            pl.col("bridge").is_null().any().alias("has_official"),
            *(
                getattr(pl.col(name), how)().alias(f"{name}_{how}")
                for name in ("n_systems", "human_sd", "significant_pairs", "tied_pairs", "coverage")
                for how in ("min", "max")
            ),
            pl.struct("ceiling_source", "ceiling").alias("people"),
        )
        .sort("year", "protocol", descending=True)
        .collect()
    )
    return [
        _context(row, "outputs" if measure.definition.needs_segments else "those") for row in points.rows(named=True)
    ]


def _people(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Values of human scores against other human scores, separately for halves and second human scores."""
    reached: dict[str, list[float]] = {}
    for one in found:
        if one["ceiling"] is not None:
            source = str(one["ceiling_source"])
            sort = SPLIT_HALF if source.startswith(SPLIT_HALF) else source
            reached.setdefault(sort, []).append(one["ceiling"])
    return [
        f"{sort}: {' to '.join(dict.fromkeys(f'{end:.3f}' for end in (min(values), max(values))))}"
        for sort, values in sorted(reached.items())
    ]


def _context(row: dict[str, Any], those: str) -> str:
    def span(name: str, form: str) -> str | None:
        low, high = row[f"{name}_min"], row[f"{name}_max"]
        if low is None:
            return None
        ends = dict.fromkeys((format(low, form), format(high, form)))
        return " to ".join(ends)

    where = row["lp"][0] if len(row["lp"]) == 1 else counted(len(row["lp"]), "language pair")
    common = f" ({'in part ' if row['has_official'] else ''}{those} that {' or '.join(row['bridge'])} judged too)"
    common = common if row["bridge"] else ""
    parts = [f"{span('n_systems', 'd')} systems{common}"]
    for name, form, words in (
        ("human_sd", ".3g", "sd of human scores {}"),
        ("significant_pairs", ".0%", "{} of system pairs differ significantly"),
        ("tied_pairs", ".1%", "{} ties"),
        ("coverage", ".0%", "{} judged"),
    ):
        found = span(name, form)
        parts += [] if found is None else [words.format(found)]
    parts += _people(row["people"])
    if row["coverage_min"] is None:
        parts.append("no human scores of segments")
    return f"{_heading(row['year'], row['protocol'])}: {', '.join(row['testset'])} {where}; {', '.join(parts)}"


def bridges(frame: pl.DataFrame) -> pl.DataFrame:
    """Evaluation sets with two human protocols: every group by both, on the systems that both judged.

    Columns: year, testset, lp, human, other_human, measure, by, group, metric, value (by human), other_value (by
    other_human), step (other_value minus value), agreement (the measure of human, evaluated like a metric against
    other_human), n_systems; sorted by year, test set, language pair, by and group. human: the official one. Groups
    whose best metric differs between the two protocols are excluded, see `without_step`.
    """
    return (
        _by_two_protocols(frame)
        .filter(pl.col("metric") == pl.col("other_metric"))
        .sort("year", "testset", "lp", "bridge", "by", "group")
        .with_columns(step=pl.col("other_value") - pl.col("value"))
        .select(
            *("year", "testset", "lp", "human"),
            pl.col("bridge").alias("other_human"),
            *("measure", "by", "group", "metric", "value", "other_value", "step", "agreement", "n_systems"),
        )
        .collect()
    )


def without_step(frame: pl.DataFrame) -> list[str]:
    """Notes on groups whose best metric differs between the two protocols."""
    apart = (
        _by_two_protocols(frame)
        .filter(pl.col("metric") != pl.col("other_metric"))
        .sort("year", "testset", "lp", "bridge", "by", "group")
        .select("testset", "lp", "group", "human", "bridge", "metric", "other_metric")
        .collect()
    )
    return [
        f"{testset} {lp}: {group} has no step: it is {metric} by {human} and {other} by {bridge}"
        for testset, lp, group, human, bridge, metric, other in apart.rows()
    ]


def _by_two_protocols(frame: pl.DataFrame) -> pl.LazyFrame:
    """Groups with a value by both protocols of an evaluation set, each with its metric."""
    lazy = frame.lazy()
    official = lazy.filter(pl.col("bridge").is_null()).select("testset", "lp", official="human").unique()
    paired = lazy.filter(pl.col("bridge").is_not_null()).join(official, on=["testset", "lp"], maintain_order="left")
    keys = ["testset", "lp", "by", "group"]
    other = paired.filter(pl.col("human") != pl.col("official")).select(
        *keys, bridge="human", other_value="value", agreement="ceiling", other_metric="metric"
    )
    return (
        paired.filter(pl.col("human") == pl.col("official"))
        .drop_nulls("value")
        .join(other.drop_nulls("other_value"), on=[*keys, "bridge"], maintain_order="left")
    )


def bridge_notes(frame: pl.DataFrame, history: History) -> list[str]:
    """A line per bridge: how well human scores agree, and the anchor and returning groups by both protocols.

    A metric that represents a group of another name follows it in parentheses.
    """
    both = bridges(frame).filter(pl.col("by") != "kind")
    n_years = dict(frame.drop_nulls("value").group_by("group").agg(pl.col("year").n_unique()).rows())
    base_names = dict(frame.drop_nulls("metric").select("metric", "base_metric").rows())

    def standing(row: Mapping[str, Any]) -> str:
        base = base_names[row["metric"]]
        return row["group"] if folded(base) == folded(row["group"]) else f"{row['group']} ({base})"

    lines = []
    for (testset, lp, human, other), part in both.group_by(
        "testset", "lp", "human", "other_human", maintain_order=True
    ):
        chosen = sorted(part.rows(named=True), key=lambda row: (-n_years[row["group"]], row["group"]))
        values = "; ".join(
            f"{standing(row)} {row['value']:.3f} by {human}, {row['other_value']:.3f} by {other}"
            for row in chosen[:SHOWN_IN_BRIDGES]
        )
        agreement = part["agreement"][0]
        of = "outputs that both judged of the " if history.measure.definition.needs_segments else ""
        on = f"on the {of}{counted(part['n_systems'][0], 'system')} of {human} and {other}"
        on += "" if agreement is None else f", where {human} reaches {agreement:.3f} against {other}"
        lines.append(f"bridge {testset} {lp}: {history.measure} {on}; {values}: a change of protocol, not of metrics")
    return lines


def without_answer(history: History) -> list[str]:
    """A line per reason why evaluation sets have no value, with their names."""
    return [
        f"{named(places)} {are(len(places), have=True)} no value: {reason}"
        for reason, places in by_reason(history).items()
    ]


def by_reason(history: History) -> dict[str, list[tuple[str, str]]]:
    """Why evaluation sets have no value, and which they are."""
    places: dict[str, list[tuple[str, str]]] = {}
    for entry in history.entries:
        if not entry.history.points:
            places.setdefault(str(entry.history.brief), []).append((entry.testset, entry.lp))
    return places


def targets(history: History) -> list[str]:
    """A line per population and unit of the tests and intervals of gaps, with its evaluation sets."""
    by_words: dict[str, list[tuple[str, str]]] = {}
    for entry, one in history.official:
        if one.generalises is not None:
            by_words.setdefault(one.generalises, []).append((entry.testset, entry.lp))
    lead = "tests and intervals of gaps are for"
    too_narrow = (
        f"intervals of gaps by pearson for new systems are {TOO_NARROW}: .72 to .82 of them then contain the gap"
    )
    is_of_systems = history.measure.is_sensitive and any("new systems" in words for words in by_words)
    said = [too_narrow] if is_of_systems else []
    if len(by_words) == 1:
        return [f"{lead} {words}" for words in by_words] + said
    return [f"{lead} {words}: {named(places)}" for words, places in by_words.items()] + said


def _on_points(history: History) -> list[str]:
    """Notes of the points, each with its evaluation set."""
    own: dict[tuple[str, str], list[Point]] = {}
    for entry in history.entries:
        own.setdefault((entry.testset, entry.lp), []).extend(entry.history.points)
    lines = [f"{testset} {lp}: {note}" for (testset, lp), points in own.items() for one in points for note in one.notes]
    return lines + [f"{one.testset} {one.lp}: {note}" for one in history.entries for note in one.history.notes]
