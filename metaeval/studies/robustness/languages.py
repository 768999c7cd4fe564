"""The same quality in other languages: is a metric's score for it the same in each language pair?"""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.agreement.equal_quality import Languages, equal_quality
from metaeval.kernels.arrays.checks import Floats
from metaeval.measures.system_scores import system_scores
from metaeval.results.answer import Result, or_none
from metaeval.results.inputs import Inputs
from metaeval.results.signature import stamped
from queries.evalsets import language_pairs
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.wording import are

MOST_LEVELS = 20


def languages(warehouse: Warehouse, asked: Slice) -> Result:
    """Each metric at equal quality, which the human score says, such as minus the number of injected errors.

    A row for each metric and language pair: metric (base name), lp, bias (mean over levels of quality of the deviation
    from the mean over language pairs, in units of what the metric loses for one level), wrong (share of pairs of
    outputs, one of this and one of another language pair and of different quality, that the metric orders wrongly),
    wrong_within (the same within the language pair), n_outputs, and the means by level of quality, the highest first.
    Outputs are those with segment scores; else each system counts as one.
    Raises QuestionError: fewer than two language pairs, no level in common, or too many levels.
    """
    outputs: dict[str, dict[str, tuple[Floats, Floats]]] = {}
    notes: list[str] = []
    for lp in language_pairs(warehouse, asked.testset, asked.lp):
        try:
            of_pair = _outputs(warehouse, replace(asked, lp=lp))
        except QuestionError as error:
            notes.append(f"{lp} is skipped: {error.text}")
            continue
        for metric, values in of_pair.items():
            outputs.setdefault(metric, {})[lp] = values
    several = {metric: of for metric, of in outputs.items() if len(of) > 1}
    if not several:
        raise QuestionError(
            f"no metric of {asked.testset} has scores of two language pairs" + "".join(f"; {one}" for one in notes)
        )
    n_levels = max(len(np.unique(quality)) for of in several.values() for quality, _ in of.values())
    if n_levels > MOST_LEVELS:
        raise QuestionError(f"the human score has {n_levels} levels, expected few, such as numbers of errors")
    rows: list[dict[str, Any]] = []
    lost = []
    for metric, of in sorted(several.items()):
        found = equal_quality(list(of.values()))
        lost += [] if found.loss > 0 else [metric]
        rows += _rows(metric, list(of), found)
    if lost:
        notes.append(
            f"{', '.join(lost)} {are(len(lost), have=True)} no bias, because the scores do not rise with quality"
        )
    first = dict.fromkeys(("metric", "lp"), pl.String) | dict.fromkeys(("bias", "wrong", "wrong_within"), pl.Float64)
    levels = {name: pl.Float64 for row in rows for name in row if name not in (*first, "n_outputs")}
    ordered = dict(sorted(levels.items(), key=lambda one: -float(one[0])))
    frame = pl.DataFrame(rows, schema={**first, "n_outputs": pl.Int64, **ordered}, orient="row")
    used = sorted({lp for of in several.values() for lp in of})
    parts = stamped(("noise", "languages"), ("testset", asked.testset), ("lp", ",".join(used)), ("human", asked.human))
    return Result(frame, parts, tuple(notes))


def _rows(metric: str, lps: list[str], found: Languages) -> list[dict[str, Any]]:
    numbers = zip(lps, found.bias, found.wrong, found.wrong_within, found.n_outputs, found.means, strict=True)
    return [
        {
            "metric": metric,
            "lp": lp,
            **{name: or_none(float(one)) for name, one in zip(("bias", "wrong", "wrong_within"), of, strict=True)},
            "n_outputs": int(n),
            **{f"{level:g}": or_none(float(mean)) for level, mean in zip(found.levels, means, strict=True)},
        }
        for lp, *of, n, means in numbers
    ]


def _outputs(warehouse: Warehouse, asked: Slice) -> dict[str, tuple[Floats, Floats]]:
    """By metric, the quality and the score of each output, or of each system if segments have none."""
    block = Inputs(warehouse, asked).of_level("seg")
    if block.judged.any():
        found = {
            choice.base_name: (block.human[there], scores[there])
            for choice, scores in zip(block.metrics, block.scores, strict=True)
            if (there := block.judged & ~np.isnan(scores)).any()
        }
        if found:
            return found
    of_systems = system_scores(Inputs(warehouse, asked).of_level("sys"), "submitted")
    names = [choice.base_name for choice in Inputs(warehouse, asked).of_level("sys").metrics]
    return {
        name: (of_systems.human[there], scores[there])
        for name, scores in zip(names, of_systems.metrics, strict=True)
        if (there := ~np.isnan(scores) & ~np.isnan(of_systems.human)).any()
    }
