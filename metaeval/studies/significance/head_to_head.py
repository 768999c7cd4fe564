"""Two systems head to head: by every scorer with tests, by domain, on single segments, and by marked errors."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from glob import escape
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats, ratio
from metaeval.kernels.arrays.scales import standardised
from metaeval.measures.judged import LEAST_UNITS, units_of
from metaeval.measures.options import Options, Unit
from metaeval.results.answer import Result
from metaeval.results.inputs import Inputs, where
from metaeval.results.remarks import equal_metrics
from metaeval.results.signature import option_parts, slice_parts, stamped
from metaeval.studies.significance.options import SMALLEST
from metaeval.studies.significance.systems import SystemTest, can_differ, system_p_values
from queries.annotations import human_with_errors, marked_errors
from queries.blocks import Block
from queries.catalog import ask
from queries.selection import most_common
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.facts.metrics import JUDGES_NOTHING, describe
from warehouse.wording import are, counted, ends

N_SEGMENTS = 3  # shown of each sort
SEVERE = ("major", "critical")
_TEXT, _NUMBERS = ("kind", "scorer"), ("value_a", "value_b", "difference", "p")


def head_to_head(
    warehouse: Warehouse,
    asked: Slice,
    systems: tuple[str, str],
    test: SystemTest,
    options: Options,
    *,
    draws: int = 1000,
    alpha: float = 0.05,
    unit: Unit | None = None,
) -> Result:
    """Compare two systems by every human score and metric of a slice that scored segments of both.

    test, draws, unit: as in `compare_systems`, two-sided; values are means over the segments that a scorer scored for
    each system. Rows: kind (human or metric), scorer, value_a, value_b, difference (a minus b), p (null with fewer than
    5 units), better (the significantly better system, null if none), n_segments (scored for both); the official human
    score first, then other human scores, then metrics by p.
    Facts: systems, official, unit, alpha; errors_of, the human score to which marked errors belong; least, the bound
    below which p shows as 0. Further frames: segments (by, segment, document, domain, human_a, human_b, metrics_a and
    metrics_b: means of standardised scores, source, output_a, output_b), those that differ most by the human score and
    by the metrics; domains (domain, value_a, value_b, difference, p, better, n_segments, by the official human score);
    errors (category, n_a, n_b, severe_a, severe_b) of segments where both were annotated.
    Raises QuestionError: see `select`; an unknown or excluded system; no scorer has segments for both.
    """
    first, second = systems
    one = replace(asked, systems=(escape(first), escape(second)))
    block = Inputs(warehouse, one, options.round_human, human="optional", ranks_reference=True).of_level("seg")
    excluded = {choice.name: choice.reason for choice in block.selection.systems}
    for name in systems:
        if (why := excluded.get(name)) is not None:
            reason = f"system {name!r} of {IT} is excluded: {why.sentence}"
            raise QuestionError(reason, where=where(block.selection), hint=why.hint or ())
        if name not in block.systems:
            raise unknown("system", name, block.systems, where=where(block.selection))
    places = [block.systems.index(name) for name in systems]
    official = str(block.selection.human) if block.selection.human is not None else None

    sizes: dict[str, set[int]] = {}

    def tested(values: Floats) -> dict[str, Any]:
        """values: (2, S), NaN if missing."""
        there = ~np.isnan(values)
        used = there.any(axis=0)
        means = ratio(np.where(there, values, 0.0).sum(axis=1), there.sum(axis=1))
        units = units_of(block.selection, used, unit)
        sizes.setdefault(units.unit, set()).add(units.n)
        p = None
        if units.n >= LEAST_UNITS and can_differ(test, units.n, "two-sided", alpha):
            sides = system_p_values(values[:, used], there[:, used], test, options, draws, units.documents)
            p = min(1.0, 2 * float(min(sides[0, 1], sides[1, 0])))
        is_clear = p is not None and p <= alpha and means[0] != means[1]
        return {
            "value_a": float(means[0]),
            "value_b": float(means[1]),
            "difference": float(means[0] - means[1]),
            "p": p,
            "better": (first if means[0] > means[1] else second) if is_clear else None,
            "n_segments": int(there.all(axis=0).sum()),
        }

    scores = {("human", name): values for name, values in _humans(warehouse, block, systems, official).items()}
    scores |= {("metric", it.name): block.scores[at][places] for at, it in enumerate(block.metrics)}
    rows = [
        {"kind": kind, "scorer": scorer, **tested(values)}
        for (kind, scorer), values in scores.items()
        if (~np.isnan(values)).any(axis=1).all()
    ]
    reasons, _ = most_common(block.selection.metrics)
    without = [f"no metric is included: {reasons}"] if reasons and not block.metrics else []
    if not rows:
        said = f"no human score and no included metric of {IT} has segments of both {first} and {second}"
        raise QuestionError("; ".join((said, *without)), where=where(block.selection))
    schema = {**dict.fromkeys(_TEXT, pl.String), **dict.fromkeys(_NUMBERS, pl.Float64)}
    schema |= {"better": pl.String, "n_segments": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema).with_columns(is_official=pl.col("scorer").eq_missing(pl.lit(official)))
    by = [pl.col("kind"), ~pl.col("is_official"), pl.when(pl.col("kind") == "metric").then("p"), pl.col("scorer")]
    frame = frame.sort(by, nulls_last=True).drop("is_official")
    human = scores.get(("human", str(official)), np.full((2, len(block.segments)), np.nan))
    is_drawn = test in ("permutation", "bootstrap")
    judged = human if official is not None else np.concatenate(list(scores.values()))
    units = units_of(block.selection, (~np.isnan(judged)).any(axis=0), unit)
    ranges = " or ".join(f"{ends(min(ns), max(ns))} {name}s" for name, ns in sorted(sizes.items()))
    whose = f" of {official}, other scorers by theirs" if official is not None else " of all scorers, each by its own"
    others = "" if sizes == {units.unit: {units.n}} else f"{whose} ({ranges})"
    parts = stamped(
        ("systems", f"{first},{second}"),
        *slice_parts(block.selection),
        ("test", test),
        ("unit", units.unit),
        ("alternative", "two-sided"),
        ("resamples", draws if is_drawn else None),
        ("seed", options.seed if is_drawn else None),
        ("alpha", alpha),
        *option_parts(options),
    )
    judges = [it.name for it in block.metrics if describe(it.base_name).kind not in JUDGES_NOTHING]
    facts = {
        "systems": systems,
        "judges": judges,
        "official": official,
        "unit": units.unit,
        "alpha": alpha,
        "least": 2.0 / draws if is_drawn else SMALLEST,
        "domains": _domains(block, human, tested),
        "segments": _segments(warehouse, block, human, places),
    }
    errors_of = human_with_errors(warehouse, block.selection.evalset_id, [official]) if official is not None else None
    facts["errors_of"] = errors_of
    facts["errors"] = _errors(warehouse, block, systems, errors_of)
    controls = [it.name for it in block.metrics if it.name not in judges]
    notes = (
        f"tested {units.words}{others}, two-sided, each scorer by itself, not corrected",
        *([f"{', '.join(controls)} {are(len(controls))} not counted: no judge of translations"] if controls else []),
        *equal_metrics(block),
        *without,
        *([f"errors are those marked for {errors_of}"] if errors_of not in (None, official) else []),
        *block.selection.notes,
    )
    return Result(frame, parts, notes, facts)


def _humans(warehouse: Warehouse, block: Block, systems: tuple[str, str], official: str | None) -> Mapping[str, Floats]:
    """(2, S) scores of the systems by each human score; for the official one, as in the slice."""
    found = ask(warehouse, "human_segments", evalset=block.selection.evalset_id, systems=list(systems))
    column = {int(segment): place for place, segment in enumerate(block.segments)}
    humans: dict[str, Floats] = {}
    for name, system, segment, value in found.iter_rows():
        if segment in column:
            values = humans.setdefault(name, np.full((2, len(block.segments)), np.nan))
            values[systems.index(system), column[segment]] = value
    if official is not None:
        humans[official] = block.human[[block.systems.index(name) for name in systems]]
    return humans


def _domains(block: Block, human: Floats, tested: Any) -> pl.DataFrame:
    """Both systems by the official human score in each domain."""
    domains = np.array([name or "" for name in block.selection.domains])
    rows = []
    for domain in sorted(set(domains.tolist()) - {""}):
        inside = np.where(domains == domain, human, np.nan)
        if (~np.isnan(inside)).any(axis=1).all():
            rows.append({"domain": domain, **tested(inside)})
    schema = {"domain": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64), "better": pl.String, "n_segments": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def _segments(warehouse: Warehouse, block: Block, human: Floats, places: Sequence[int]) -> pl.DataFrame:
    """The segments whose outputs differ most by the human score, and by the mean of the metrics."""
    each = [standardised(scores[places]) for scores in block.scores]
    there = [one for one in each if not np.isnan(one).all()]
    metrics = np.mean(there, axis=0) if there else np.full((2, len(block.segments)), np.nan)
    chosen = [
        (by, place)
        for by, values in (("human", human), ("metrics", metrics))
        for place in np.argsort(-np.nan_to_num(np.round(np.abs(values[0] - values[1]), 9), nan=-1.0), kind="stable")[
            :N_SEGMENTS
        ].tolist()
        if not np.isnan(values[:, place]).any()
    ]
    numbers = sorted({int(block.segments[place]) for _, place in chosen})
    found = ask(warehouse, "texts_of_segments", evalset=block.selection.evalset_id, segments=numbers)
    texts = {(segment, kind, name): text for segment, kind, name, text in found.iter_rows()}
    rows = []
    for by, place in chosen:
        segment = int(block.segments[place])
        a, b = (block.systems[at] for at in places)
        outputs = [texts.get((segment, "output", name), texts.get((segment, "reference", name))) for name in (a, b)]
        rows.append(
            {
                "by": by,
                "segment": segment,
                "document": block.selection.documents[place],
                "domain": block.selection.domains[place],
                "human_a": human[0, place],
                "human_b": human[1, place],
                "metrics_a": metrics[0, place],
                "metrics_b": metrics[1, place],
                "source": texts.get((segment, "source", None)),
                "output_a": outputs[0],
                "output_b": outputs[1],
            }
        )
    schema = {"by": pl.String, "segment": pl.Int64, "document": pl.String, "domain": pl.String}
    schema |= dict.fromkeys(("human_a", "human_b", "metrics_a", "metrics_b"), pl.Float64)
    schema |= dict.fromkeys(("source", "output_a", "output_b"), pl.String)
    return pl.DataFrame(rows, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))


def _errors(warehouse: Warehouse, block: Block, systems: tuple[str, str], human: str | None) -> pl.DataFrame:
    """Number of errors of each category in the outputs of both systems, on segments annotated for both.

    human: the score to which the errors belong; None without errors.
    """
    schema = {"category": pl.String, **dict.fromkeys(("n_a", "n_b", "severe_a", "severe_b"), pl.Int64)}
    if human is None:
        return pl.DataFrame(schema=schema)
    there = block.segments[block.judged[[block.systems.index(name) for name in systems]].all(axis=0)]
    errors = marked_errors(warehouse, block.selection.evalset_id, human, [int(segment) for segment in there])
    rows = [
        {"category": error.category or "no category", "side": side, "is_severe": error.severity in SEVERE}
        for (system, _), marked in errors.items()
        for side, name in zip("ab", systems, strict=True)
        if system == name
        for error in marked
    ]
    frame = pl.DataFrame(rows, schema={"category": pl.String, "side": pl.String, "is_severe": pl.Boolean})
    counts = frame.group_by("category").agg(
        *((pl.col("side") == side).sum().alias(f"n_{side}") for side in "ab"),
        *((pl.col("is_severe") & (pl.col("side") == side)).sum().alias(f"severe_{side}") for side in "ab"),
    )
    return (
        counts.with_columns(pl.selectors.unsigned_integer().cast(pl.Int64))
        .sort(-(pl.col("n_a") - pl.col("n_b")).abs(), "category")
        .select(*schema)
    )


def in_a_sentence(found: Result) -> tuple[str, ...]:
    """Which system is better by the official human score, or by how many others, and how many metrics agree."""
    from metaeval.results.sentences import number

    (first, second), unit, official = found.facts["systems"], found.facts["unit"], found.facts["official"]

    def agreeing(rows: pl.DataFrame, what: str, more: str = "") -> str:
        n_first, n_second = (rows.filter(better=name).height for name in (first, second))
        return (
            f"Of {counted(rows.height, what)}{more}, {n_first} find {first} significantly better, {n_second} {second}"
        )

    humans, metrics = (found.frame.filter(kind=kind) for kind in ("human", "metric"))
    judges = metrics.filter(pl.col("scorer").is_in(found.facts["judges"]))
    n_left = metrics.height - judges.height
    if judges.height:
        of = f"{agreeing(judges, 'metric', f' ({n_left} not counted)' if n_left else '')}."
    else:
        of = "No metric with segments of both is counted." if n_left else "No included metric has segments of both."
    rows = humans.filter(scorer=official or "").to_dicts()
    if not rows:
        which = f"{official} does not have" if official else f"No {'official ' * bool(humans.height)}human score has"
        said = f"{which} segments of both {first} and {second}."
        population = f" (new {unit}s)."
        if humans.is_empty():
            return said, of.removesuffix(".") + population if judges.height else of
        return said, f"{agreeing(humans, 'other human score' if official else 'human score')}{population}", of
    (row,) = rows
    lead, other = (first, second) if row["difference"] >= 0 else (second, first)
    values = sorted((row["value_a"], row["value_b"]), reverse=True)
    p = (
        "untested"
        if row["p"] is None
        else f"p < {found.facts['least']:g}"
        if row["p"] == 0
        else f"p = {number(row['p'])}"
    )
    population = f"new {unit}s"
    numbers = f"{number(values[0], 2)} against {number(values[1], 2)}, {p}, {population}"
    if row["p"] is None:
        units = f"Too few {unit}s of {lead} and {other}"
        return f"{units} have {row['scorer']} for a test ({numbers}).", of
    if row["better"] is None:
        return f"{lead} and {other} do not differ significantly by {row['scorer']} ({numbers}).", of
    return f"{lead} is significantly better than {other} by {row['scorer']} ({numbers}).", of
