"""Questions to the warehouse about several evaluation sets at once."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from warehouse.database.statements import statement
from warehouse.database.updating import Ask

EvalsetKey = tuple[str, str]  # test set, language pair
Rows = list[tuple[Any, ...]]


def of_evalsets(ask: Ask, name: str, keys: Sequence[EvalsetKey]) -> dict[EvalsetKey, Rows]:
    """What one of the files in `sql` finds of evaluation sets: the columns behind test set and language pair, by both.

    ask: runs a statement with its parameters. Evaluation sets without rows have none.
    """
    if not keys:
        return defaultdict(list)
    chosen = {"testsets": [testset for testset, _ in keys], "lps": [lp for _, lp in keys]}
    grouped: dict[EvalsetKey, Rows] = defaultdict(list)
    for testset, lp, *rest in ask(statement(__package__, name), chosen):
        grouped[testset, lp].append(tuple(rest))
    return grouped
