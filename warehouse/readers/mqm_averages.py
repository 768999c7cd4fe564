"""MQM as published in averages, `mqm_TESTSET_LP.avg_seg_scores.tsv`: system, mean score, line of the test set.

The header has blanks between its names; below it the score follows the system after a blank or a tab, and the segment
after a blank. `None` stands for segments that nobody annotated.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import Claim, Given
from warehouse.readers.mqm_files import claim_mqm
from warehouse.readers.records import Records
from warehouse.readers.text.tables import table_of, text_of

_FILE = re.compile(r"mqm_(?P<testset>[A-Za-z0-9]+)_(?P<lp>[a-z]{4}|[a-z]{2,3}-[a-z]{2,3})\.avg_seg_scores\.tsv")
_COLUMNS = ("system", "mqm_avg_score", "seg_id")


class MqmAverageReader:
    """Reader of MQM scores of segments, means over their annotators."""

    name = "mqm-averages/1"

    def claim(self, path: Path, head: Sequence[str], given: Given) -> Claim | str | None:
        named = _FILE.fullmatch(path.name)
        if named is None and (not head or tuple(head[0].split()) != _COLUMNS):
            return None
        return claim_mqm(path, self.name, named, given, is_annotation=False)

    def parse(self, data: bytes, claim: Claim, given: Given) -> Records:
        text, faults = text_of(data, claim.path)
        if not text:
            return Records(faults=faults)
        header = text.split("\n", 1)[0]
        if tuple(header.split()) != _COLUMNS:
            found = f"the header {header[:80]!r}"
            return Records(faults=[*faults, Fault(str(claim.path), 1, found, " ".join(_COLUMNS))])
        text = text.replace("\t", " ")
        floats, integers = ("mqm_avg_score",), ("seg_id",)
        table = table_of(text, _COLUMNS, " ", claim.path, faults, n_header=1, floats=floats, integers=integers)
        ((testset, lp),) = claim.evalsets
        scores = table.with_columns(
            testset=pl.lit(testset),
            lp=pl.lit(lp),
            level=pl.lit("seg"),
            kind=pl.lit("human"),
            scorer=pl.lit(claim.human),
            segment=pl.col("seg_id"),
            value=pl.col("mqm_avg_score"),
        )
        return Records(scores=scores, faults=faults)
