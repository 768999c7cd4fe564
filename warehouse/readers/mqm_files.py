"""Files of MQM: annotations, and the averages that they stand behind."""

import re
from pathlib import Path

from warehouse.facts.languages import language_pair_called
from warehouse.readers.claims import Claim, Given
from warehouse.readers.vocabulary import testset_called, testset_of
from warehouse.wording import option

_HUMAN = "mqm"
_SOURCE_ERRORS = "source-errors"
_FOLDER = re.compile(r"[a-z]{4}|[a-z]{2,3}-[a-z]{2,3}")


def claim_mqm(
    path: Path, reader: str, named: re.Match[str] | None, given: Given, *, is_annotation: bool
) -> Claim | str:
    """The claim, or why nothing is taken. named: test set and language pair in the file's name; None without them.

    The file's name goes before what the user says, and that before the folders. Further words of the name
    (`no-postedits`, `3ratingsPerSegment`) make a human score of their own: a part never takes the place of the whole.
    """
    what = "MQM annotations" if is_annotation else "MQM averages"
    words = {} if named is None else named.groupdict()
    is_whole = named is not None and not words.get("before")  # other words before the name: the test set may be another
    testset = (testset_called(words["testset"], path) if is_whole else None) or given.testset or testset_of(path)
    folder = path.parent.name if _FOLDER.fullmatch(path.parent.name) else None
    lp = words.get("lp") or given.lp or folder
    if testset is None or lp is None:
        unknown, name = ("test set", "testset") if testset is None else ("language pair", "lp")
        return f"{what} of an unknown {unknown}; name it with {option(name)}"
    lp = language_pair_called(lp)
    part = re.findall(r"[\w-]+", (words.get("before") or "") + (words.get("part") or ""))
    if _SOURCE_ERRORS in part:
        return "errors of the source texts alone, which are no scores of translations"
    human = given.human or "-".join([_HUMAN, *(word.strip("_") for word in part)])
    annotations, averages = f"{testset}/{lp}/{human}.annotations", f"{testset}/{lp}/{human}.avg_seg_scores"
    return Claim(
        path,
        reader,
        annotations if is_annotation else averages,
        ((testset, lp),),
        human=human,
        companion=averages if is_annotation else annotations,
        is_annotation=is_annotation,
    )
