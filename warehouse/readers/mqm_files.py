"""Files of MQM: annotations, and the averages that they stand behind."""

import re
from pathlib import Path

from warehouse.readers.claims import Claim, Given
from warehouse.readers.vocabulary import language_pair_called, testset_called, testset_of

_HUMAN = "mqm"
_FOLDER = re.compile(r"[a-z]{4}|[a-z]{2,3}-[a-z]{2,3}")


def claim_mqm(
    path: Path, reader: str, named: re.Match[str] | None, given: Given, *, is_annotation: bool
) -> Claim | str:
    """The claim, or why nothing is taken. named: test set and language pair in the file's name; None without them.

    The file's name goes before what the user says, and that before the folders.
    """
    what = "MQM annotations" if is_annotation else "MQM averages"
    testset = (testset_called(named["testset"], path) if named else None) or given.testset or testset_of(path)
    folder = path.parent.name if _FOLDER.fullmatch(path.parent.name) else None
    lp = (named["lp"] if named else None) or given.lp or folder
    if testset is None or lp is None:
        unknown, option = ("test set", "--testset") if testset is None else ("language pair", "--lp")
        return f"{what} of an unknown {unknown}; name it with {option}"
    lp = language_pair_called(lp)
    annotations, averages = f"{testset}/{lp}/mqm.annotations", f"{testset}/{lp}/mqm.avg_seg_scores"
    return Claim(
        path=path,
        reader=reader,
        origin=annotations if is_annotation else averages,
        evalsets=((testset, lp),),
        root=path.parent,
        human=given.human or _HUMAN,
        companion=averages if is_annotation else annotations,
        is_annotation=is_annotation,
    )
