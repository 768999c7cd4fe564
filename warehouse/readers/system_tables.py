"""WMT19's system scores, `DA-newstest2019-xxyy-sys-nohy-scores.csv`: one row per system, one column per metric.

Columns are separated by blanks. The header begins with `LP SYSTEM HUMAN`, and a metric may also be named `LP`. HUMAN is
the mean standardised direct assessment, the human score `wmt-z`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.tables import constants, numbers, repeated_faults, table_of
from warehouse.readers.vocabulary import standard_reference, testset_called
from warehouse.wording import option

_FILE = re.compile(r"DA-(?P<testset>newstest\d{4})-(?P<lp>[a-z]{4})-sys-nohy-scores\.csv")
_FIRST = ("LP", "SYSTEM", "HUMAN")
_HUMAN = "wmt-z"


class SystemTableReader(TextReader):
    """Reader of tables of human and metric scores of systems."""

    name = "wmt-system-table/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        named = _FILE.fullmatch(path.name)
        if named is None and (not head or tuple(head[0].split(" ")[:3]) != _FIRST):
            return None
        testset = (testset_called(named["testset"], path) if named else None) or given.testset
        if testset is None:
            return f"a table of system scores of an unknown test set; name it with {option('testset')}"
        row = head[1].split(" ") if len(head) > 1 else [""]
        lp = language_pair_called(named["lp"] if named else row[0])
        return Claim(path, self.name, f"{testset}/{lp}/sys-nohy-scores", ((testset, lp),))

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        path = claim.path
        header = tuple(text.split("\n", 1)[0].removesuffix(" ").split(" "))
        if header[: len(_FIRST)] != _FIRST:
            found = f"the header {' '.join(header)[:80]!r}"
            return Records(faults=[*faults, Fault(str(path), 1, found, "LP SYSTEM HUMAN and the names of metrics")])
        metrics = header[len(_FIRST) :]
        twice = sorted({metric for metric in metrics if metrics.count(metric) > 1})
        if twice or "" in metrics:
            found = f"metric {twice[0]!r} twice" if twice else "two blanks"
            return Records(faults=[*faults, Fault(str(path), 1, found, "LP SYSTEM HUMAN and each metric once")])
        columns = [f"column {number}" for number in range(len(_FIRST) + len(metrics))]
        table = table_of(text, columns, " ", path, faults, n_header=1, may_trail=True)
        ((testset, lp),) = claim.evalsets
        table = table.rename(dict(zip(columns[:2], ("LP", "system"), strict=True)))
        names = {name: language_pair_called(name) for name in table["LP"].unique().to_list()}
        strange = table.filter(pl.col("LP").replace_strict(names, return_dtype=pl.String) != lp)
        faults += repeated_faults(strange, "LP", "language pair {!r}", lp, path)
        blocks = []
        for column, name in zip(columns[2:], ("HUMAN", *metrics), strict=True):
            is_human = column == columns[2]
            more: list[Fault] = []
            block = numbers(table.select("line", "system", pl.col(column).alias("value")), "value", path, more)
            faults += [replace(fault, found=fault.found.replace("value", name, 1)) for fault in more]
            reference = None if is_human else standard_reference(name, testset, lp)
            kind, scorer = ("human", _HUMAN) if is_human else ("metric", name)
            blocks.append(block.with_columns(constants(kind=kind, scorer=scorer, reference=reference)))
        scores = pl.concat(blocks).with_columns(constants(testset=testset, lp=lp, level="sys"))
        return Records(scores=scores, faults=faults)
