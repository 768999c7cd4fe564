"""Error spans that metrics predict: some of those that people marked, and some words that are no errors."""

from collections.abc import Mapping

import numpy as np

from warehouse.export.mtme import Errors, RatingTable, ScoreTable
from warehouse.simulation.texts import Texts

PREDICTING: Mapping[str, tuple[float, float, float]] = {
    "Kestrel-24-refA": (0.6, 0.2, 0.25),
    "Tally-errors-src": (0.4, 0.35, 0.5),
}
"""Share of marked errors found, of those with the other severity, and further spans predicted in an output."""


def predictions(
    rng: np.random.Generator, marked: Mapping[str, RatingTable], texts: Texts, metrics: Mapping[str, ScoreTable]
) -> dict[str, RatingTable]:
    """The predicted errors of the metrics that predict some, by full name: of every output, also unjudged ones."""
    if not marked:
        return {}
    (gold,) = marked.values()
    return {
        name: RatingTable(
            {
                system: [
                    _predicted(rng, text, gold.errors[system][column] or (), *PREDICTING[name])
                    for column, text in enumerate(texts.outputs[system])
                ]
                for system in metrics[name].systems
            }
        )
        for name in sorted(PREDICTING.keys() & metrics.keys())
    }


def _predicted(
    rng: np.random.Generator, text: str, gold: Errors, share_found: float, share_confused: float, n_further: float
) -> Errors:
    found: list[dict[str, object]] = []
    for error in gold:
        if rng.random() < share_found:
            is_confused = rng.random() < share_confused
            severity = (
                {"major": "minor", "minor": "major"}[str(error["severity"])] if is_confused else error["severity"]
            )
            found.append({"start": error["start"], "end": error["end"], "severity": severity})
    words = text.split(" ")
    starts = np.cumsum([0, *(len(word) + 1 for word in words[:-1])]).tolist()
    for at in rng.integers(0, len(words), rng.poisson(n_further)).tolist():
        severity = "major" if rng.random() < 0.3 else "minor"
        found.append({"start": starts[at], "end": starts[at] + len(words[at]), "severity": severity})
    return found
