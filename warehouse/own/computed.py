"""Scores computed by this program, as records: they are staged, checked and written like scores from files."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from warehouse.database.stage import Batch
from warehouse.database.updating import in_memory, writing
from warehouse.errors import QuestionError
from warehouse.readers.claims import Claim, EvalsetKey
from warehouse.readers.contents import Content
from warehouse.readers.records import Records
from warehouse.readers.text.tables import constants
from warehouse.staging.holdings import KnownEvalsets, holdings
from warehouse.staging.record_staging import stage_records
from warehouse.writing.transaction import write_batch


class ComputedMetric:
    """One metric's computed scores on one evaluation set.

    segment_scores: system -> one score for each of `segments`; system_scores: system -> its score. Scores of an error
    measure are negated when stored. signature, reader, sha256: of the computation and its input.
    """

    base_name: str
    reference: str
    is_error_measure: bool
    signature: str
    reader: str
    sha256: str
    segments: Sequence[int]
    segment_scores: Mapping[str, Sequence[float]]
    system_scores: Mapping[str, float]

    def content(self, evalset: EvalsetKey, file_no: int) -> Content:
        """The scores in the form of a file of the user's own metric, with the signature as its path."""
        claim = Claim(
            path=Path(self.signature),
            reader=self.reader,
            origin=f"computed/{self.base_name}-{self.reference}",
            evalsets=(evalset,),
            folder=Path(),
            status="no entry",
            is_own=True,
            is_negated=self.is_error_measure,
        )
        records = Records(scores=self._scores(evalset)).normal(claim.path)
        return Content(claim, file_no, self.sha256, n_bytes=0, n_lines=0, records=records)

    def _scores(self, evalset: EvalsetKey) -> pl.DataFrame:
        names = sorted(self.system_scores)
        of_segments = pl.DataFrame(
            {
                "level": "seg",
                "system": [name for name in names for _ in self.segments],
                "segment": list(self.segments) * len(names),
                "value": [value for name in names for value in self.segment_scores[name]],
            }
        )
        of_systems = pl.DataFrame(
            {"level": "sys", "system": names, "value": [self.system_scores[name] for name in names]}
        )
        return pl.concat([of_segments, of_systems], how="diagonal").with_columns(
            *constants(testset=evalset[0], lp=evalset[1], kind="metric"),
            *constants(scorer=self.base_name, reference=self.reference),
        )


def store(database: Path, evalset: EvalsetKey, metrics: Sequence[ComputedMetric]) -> None:
    """Store metrics in an evaluation set of the warehouse, all or none; earlier scores are replaced.

    Raises QuestionError: the warehouse has other scores of that name, or no longer has the input of the computation.
    SchemaError: see `writing`.
    """
    with in_memory(database) as connection:
        batch = Batch(connection)
        numbers = batch.new_files(len(metrics))
        contents = [metric.content(evalset, number) for number, metric in zip(numbers, metrics, strict=True)]
        held = holdings(database, connection, [evalset])[evalset]
        stage = batch.stage(KnownEvalsets(database, connection, threading.Lock(), [held]).of(held), numbers)
        stage_records(contents, stage, {})
        stage.write_systems()
        faults = [fault for found in stage.faults.values() for fault in found]
        if not faults:
            with writing(database, connection):
                faults = write_batch(batch, {stage.evalset_no: None}, contents).get(stage.evalset_no, [])
    if faults:
        raise QuestionError(str(faults[0]))
