"""Scores that the translation tasks computed themselves: `automatic-scores.tsv`, and COMET files of WMT21.

Not submitted to the metrics task. The metric's name ends in the reference: `bleu-all`, `COMET-A`, `chrf-refA`.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.tables import constants, table_of
from warehouse.readers.vocabulary import reference_called, testset_called, testset_of
from warehouse.wording import option

UNSUBMITTED = ("wmt-automatic", "wmt-automatic-list", "wmt25-automatic")
"""Readers, without version, of scores that were not submitted to the metrics task."""
_COLUMNS = ("pair", "system", "id", "is_constrained", "metric", "score")
_NAME = "automatic-scores.tsv"
_FILE = re.compile(r"(?P<metric>[A-Za-z]+)_(?P<testset>newstest\d{4})_(?P<reference>ref-[A-Za-z]+|src)\.tsv")
_FOLDER = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")


def claim_automatic(path: Path, reader: str, given: LoadHints, place: str) -> Claim | str:
    """The claim on scores computed by a translation task, or why nothing is read. place: path in its release."""
    testset = given.testset or testset_of(path)
    if testset is None:
        return f"automatic scores of an unknown test set; name it with {option('testset')}"
    return Claim(path, reader, f"{testset}/{place}", testset=testset, status="no entry")


class AutomaticScoreReader(TextReader):
    """Reader of `automatic-scores.tsv`: system scores of BLEU, chrF and COMET for every pair of a year."""

    name = "wmt-automatic/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        if path.name != _NAME and (not head or tuple(head[0].split("\t")) != _COLUMNS):
            return None
        return claim_automatic(path, self.name, given, _NAME)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        header = text.split("\n", 1)[0]
        if tuple(header.split("\t")) != _COLUMNS:
            found = f"the header {header[:80]!r}"
            return Records(faults=[*faults, Fault(str(claim.path), 1, found, "\t".join(_COLUMNS))])
        table = table_of(text, _COLUMNS, "\t", claim.path, faults, n_header=1, floats=("score",))
        variants = table["metric"].unique().to_list()
        parts = [name.rpartition("-") for name in variants]
        facts = pl.DataFrame(
            {
                "metric": variants,
                "scorer": [base or name for base, _, name in parts],
                "reference": [reference_called(name) if base else "ref" for base, _, name in parts],
            },
            schema={"metric": pl.String, "scorer": pl.String, "reference": pl.String},
        )
        scores = table.join(facts, on="metric", how="left", maintain_order="left").with_columns(
            *constants(testset=claim.testset, level="sys", kind="metric"), lp="pair", value="score"
        )
        return Records(scores=scores, faults=faults)


class SystemScoreListReader(TextReader):
    """Reader of `COMET_newstest2021_ref-X.tsv`: a system and its score in each line."""

    name = "wmt-automatic-list/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        named = _FILE.fullmatch(path.name)
        if named is None:
            return None
        testset = testset_called(named["testset"], path) or given.testset
        folders = [part for part in reversed(path.parent.parts) if _FOLDER.fullmatch(part)]
        lp = given.lp or (folders[0] if folders else None)
        if testset is None or lp is None:
            return f"system scores of an unknown language pair; name it with {option('lp')}"
        return Claim(path, self.name, f"{testset}/{lp}/{path.name}", ((testset, lp),), status="no entry")

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        named = _FILE.fullmatch(claim.path.name)
        assert named is not None
        first = text.split("\n", 1)[0].split("\t")
        n_header = int([cell.lower() for cell in first] in (["sys", "score"], ["system", "score"]))
        table = table_of(text, ("system", "value"), "\t", claim.path, faults, n_header=n_header, floats=("value",))
        ((testset, lp),) = claim.evalsets
        scores = table.with_columns(
            constants(testset=testset, lp=lp, level="sys", kind="metric", scorer=named["metric"])
            + constants(reference=reference_called(named["reference"]))
        )
        return Records(scores=scores, faults=faults)
