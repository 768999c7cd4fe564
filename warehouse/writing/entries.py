"""Entries of metrics in the evaluation sets of a batch: as what each took part in the metrics task."""

from collections.abc import Collection, Mapping
from functools import partial

from warehouse.database.stage import Batch
from warehouse.database.statements import statement
from warehouse.facts.testsets import TestsetFacts
from warehouse.writing.evalsets import Declared

_sql = partial(statement, __package__)


def write_entries(batch: Batch, declared: Declared, evalset_ids: Mapping[int, int], known: Collection[int]) -> None:
    """Each metric with scores has an entry; those of users and those not submitted to the task keep theirs.

    known: numbers of the evaluation sets that may have entries already.
    """
    if known:
        batch.connection.execute(_sql("delete_entries"))
    metrics = batch.rows(_sql("metrics_without_entry"))
    evalsets = {stage.evalset_no: stage.evalset for stage in batch.stages}
    facts = {number: declared[number] or TestsetFacts(evalset.testset) for number, evalset in evalsets.items()}
    batch.connection.execute(
        _sql("insert_entries"),
        {
            "evalsets": [evalset_ids[number] for number, _, _ in metrics],
            "scorers": [scorer_id for _, scorer_id, _ in metrics],
            "statuses": [facts[number].status(evalsets[number].lp, base_name) for number, _, base_name in metrics],
        },
    )
