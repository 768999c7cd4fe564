"""Whether the new version of a system is worse than the old one, by several scorers."""

from collections.abc import Callable, Sequence
from glob import escape
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.resampling.clusters import Correction, benjamini_hochberg, holm
from metaeval.results.answer import Result
from metaeval.results.notes import placed
from metaeval.results.sentences import named, number, opening
from metaeval.results.signature import Part
from warehouse import QuestionError
from warehouse.wording import counted

Compare = Callable[[str | None, tuple[str, ...]], Result]
"""Compares two systems, given as patterns, by a scorer: see `metaeval.studies.significance.systems.compare_systems`."""


def gate(
    compare: Compare,
    scorers: Sequence[str | None],
    trusted: Sequence[str],
    old: str,
    new: str,
    alpha: float,
    correction: Correction = "none",
) -> Result:
    """Compare two versions of a system by each scorer.

    The new version fails if all scorers find it significantly worse, or if a trusted one does.
    correction: of the p-values of all scorers as one family.
    Rows: scorer, old, new, trusted, value_old, value_new, difference, p, verdict ("better", "worse" or "not
    significant"). Facts: deciding, the scorers by which the new version fails; least, the bound below which a p-value
    shows as 0; units, what each test resamples.
    Raises QuestionError: a scorer is named twice, or as `compare` does.
    """
    rows: list[dict[str, Any]] = []
    parts: list[Sequence[Part]] = []
    notes: list[str] = []
    least: list[float] = []
    units: list[str] = []
    for one in [*scorers, *trusted]:
        found = compare(one, (escape(old), escape(new)))
        standings = found.facts["standings"]
        values = dict(zip(standings.names, standings.values.tolist(), strict=True))
        units.append(found.facts["unit"])
        row = {"scorer": found.facts["scorer"], "old": old, "new": new, "trusted": one in trusted}
        row |= {"value_old": values[old], "value_new": values[new], "difference": values[new] - values[old]}
        p = float(standings.corrected[0, 1])
        if np.isnan(p):  # too few units: no verdict, which is neither passed nor failed
            raise QuestionError(f"{row['scorer']}: {found.notes[0]}")
        rows.append(row | {"p": p})
        least.append(float(standings.least[0, 1]))
        parts += found.lines
        place = row["scorer"] if len(scorers) + len(trusted) > 1 else ""
        notes += [placed(place, note) if place else note for note in found.notes[1:]]
    names = [row["scorer"] for row in rows]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise QuestionError(f"scorer {twice[0]!r} is named twice")
    adjust = {"holm": holm, "bh": benjamini_hochberg}.get(correction, np.asarray)
    for row, p in zip(rows, adjust([row["p"] for row in rows]).tolist(), strict=True):
        direction = "better" if row["difference"] > 0 else "worse"
        row |= {"p": p, "verdict": direction if p <= alpha else "not significant"}
    n_tests = 1 if correction == "none" else len(rows)
    least = [row["p"] or n_tests * one for row, one in zip(rows, least, strict=True)]
    worse_by = {row["scorer"] for row in rows if row["verdict"] == "worse"}
    together = {row["scorer"] for row in rows if not row["trusted"]}
    deciding = {row["scorer"] for row in rows if row["trusted"]} & worse_by
    deciding |= together if together <= worse_by else set()
    facts = {"deciding": [name for name in names if name in deciding], "least": least, "units": units}
    return Result(pl.DataFrame(rows), parts, tuple(notes), facts)


def verdict(found: Result) -> str:
    """The result of comparing two versions, in a sentence.

    found: as from `gate`.
    """
    rows, deciding = found.frame.to_dicts(), found.facts["deciding"]
    old, new = rows[0]["old"], rows[0]["new"]
    if len(rows) == 1:
        (said,) = verdicts(found).values()
        return opening(f"{new} {'fails' if deciding else 'passes'}: it{said.removeprefix(new)}")
    n, new_units = counted(len(rows), "scorer"), f"new {' or '.join(dict.fromkeys(found.facts['units']))}s"
    if deciding:
        return opening(f"{new} fails: it is significantly worse than {old} by {named(deciding)} ({new_units}).")
    worse = [row["scorer"] for row in rows if row["verdict"] == "worse"]
    if not worse:
        return opening(f"{new} passes: it is not significantly worse than {old} by any of {n} ({new_units}).")
    return opening(f"{new} passes: it is significantly worse than {old} by {named(worse)}, but not by all of {n}.")


def verdicts(found: Result) -> dict[str, str]:
    """The verdict of each scorer, in a sentence. found: as from `gate`."""
    sentences = {}
    rows = found.frame.iter_rows(named=True)
    for row, least, unit in zip(rows, found.facts["least"], found.facts["units"], strict=True):
        said = "not significantly different from"
        said = said if row["verdict"] == "not significant" else f"significantly {row['verdict']} than"
        p = f"p = {number(row['p'])}" if row["p"] else f"p < {number(least)}"
        values = f"{number(row['value_new'])} against {number(row['value_old'])}"
        how = f"by {row['scorer']} ({values}, {p}, new {unit}s)"
        sentences[row["scorer"]] = f"{row['new']} is {said} {row['old']} {how}."
    return sentences
