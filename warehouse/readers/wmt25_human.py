"""Human evaluation in WMT25's format: one segment per JSON line, with all judgements of each output.

`wmt25-genmt-humeval.jsonl` has a judgement for each system and round (`human1`, `annotator1`, `errors1`, `times1`,
`human2` …): the human scores `esa-human1` and `esa-human2`. Other files have a list of judgements for each system,
with the score under `score` or `human`: the human score `esa`, or the `protocol` that they name, or `esa-control` in
the file of control segments. Numbering in `doc_id`:

- WMT25: `LP_#_DOMAIN_#_DOCUMENT_#_NUMBER`, within the document, from 0; WMT23, converted: the same, from 1.
- WMT24, converted: `DOCUMENT_#_LINE`, within the test set, from 0 (line 0 is the canary). It tells no language pair,
  and pairs with one source share lines: the user says that the file is of one pair.
- WMT24's other file, `wmt24_esa.jsonl`, has one judgement per line: `langs`, `line_id` (as above), `doc_id`, `system`,
  `esa_score`, `esa_spans`, `annotator` and `times`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from warehouse.errors import Fault
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.judgements import WrongJudgementError, frames, number_of, score_of, span_of, time_of
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.json_lines import first_object, json_objects
from warehouse.readers.text.tables import of_each_kind
from warehouse.readers.vocabulary import testset_of, year_of_testset
from warehouse.wording import counted, option

_HUMAN = "esa"
_SEPARATOR = "_#_"
_NUMBER = re.compile(r"[0-9]{1,9}")
_ROUND = re.compile(r"human(?P<round>[0-9]*)")
_LAST_FROM_ONE = 2023  # the year until which numbers begin with 1
_SOURCE = re.compile(r"test-(?P<language>[a-z]{2})-")  # what names of WMT24's documents begin with
_FLAT = {"langs", "line_id", "doc_id", "system", "esa_score", "annotator"}
_NO_PAIR = f"human evaluation of an unknown language pair; name it with {option('lp')} if the file has only one"

Place = tuple[str, str | None, str, int | None, int | None]  # language pair, domain, document, index, segment


class Wmt25HumanReader(TextReader):
    """Reader of human evaluation in WMT25's form."""

    name = "wmt25-human/4"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        first = first_object(head)
        if first is None or not (first.keys() >= _FLAT or isinstance(first.get("scores"), dict)):
            return None
        is_flat = first.keys() >= _FLAT
        parts = str(first.get("doc_id", "")).split(_SEPARATOR)
        is_of_line = len(parts) == 2 and _NUMBER.fullmatch(parts[1]) is not None
        if not is_flat and len(parts) != 4 and not is_of_line:
            return None
        testset = given.testset or testset_of(path)
        if testset is None:
            return f"human evaluation of an unknown test set; name it with {option('testset')}"
        if not is_flat and is_of_line and given.lp is None:
            return _NO_PAIR
        return Claim.of_judgements(path, self.name, "humeval", testset, given.human or _HUMAN)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        year = year_of_testset(claim.testset or "")
        begins_with = int(year is not None and year <= _LAST_FROM_ONE)
        rows = _Rows(claim.human or _HUMAN, "-control" if "control" in claim.path.name else "", begins_with, given)
        wrong = []
        for line, segment in json_objects(text, claim.path, faults):
            try:
                rows.add(line, segment)
            except WrongJudgementError as error:
                wrong.append(Fault(str(claim.path), line, error.found, error.expected, kind=error.expected))
        faults += [*of_each_kind(wrong), *rows.numbering_faults(claim.path)]
        judgements, errors = frames(rows.judgements, rows.errors, claim.testset)
        return Records(
            judgements=judgements,
            ratings=errors,
            scores_from_judgements=True,
            faults=faults,
            notes=[
                f"{counted(len(rows.judgements), 'judgement')} with {counted(len(rows.errors), 'error')}; "
                f"{counted(rows.n_unjudged, 'segment')} not judged",
                *([f"{counted(rows.n_repeated, 'repeated line')}, loaded once"] if rows.n_repeated else ()),
            ],
        )


@dataclass
class _Rows:
    """Judgements and errors so far, in the column order of `frames`.

    human: prefix of the human scores' names. of_lists: suffix of the name if judgements are a list.
    begins_with: the first number of a document. given: the user's hints.
    """

    human: str
    of_lists: str
    begins_with: int
    given: LoadHints
    judgements: list[tuple[Any, ...]] = field(default_factory=list)
    errors: list[tuple[Any, ...]] = field(default_factory=list)
    n_unjudged: int = 0
    n_repeated: int = 0
    _met: dict[Any, tuple[int, bytes]] = field(default_factory=dict)  # the line of each segment, and its digest
    _least: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(lambda: 10**9))

    def add(self, line: int, segment: dict[str, Any]) -> None:
        """Add the whole content of a line, or nothing.

        Raises WrongJudgementError: it is not a valid segment.
        """
        item = segment.get("doc_id")
        if segment.keys() >= _FLAT:
            self._add_flat(line, segment)
            return
        place = self._place(item)
        if self._is_again(line, segment, item):
            return
        judgements: list[tuple[Any, ...]] = []
        errors: list[tuple[Any, ...]] = []
        for system, suffix, one in _judgements(segment.get("scores"), self.of_lists):
            number = len(self.judgements) + len(judgements) + 1
            protocol = one.get("protocol")
            human = self.human if protocol is None or self.given.human else protocol.lower().replace("+", "-")
            judged = (system, f"{human}{suffix}", score_of(one["score"]), one["annotator"], time_of(one["times"]))
            judgements.append((number, line, *place, item, *judged, "valid"))
            errors += [(number, *span_of(error, "place", is_inclusive=True)) for error in one["errors"]]
        self.judgements += judgements
        self.errors += errors
        self.n_unjudged += not judgements

    def _is_again(self, line: int, segment: dict[str, Any], item: object = None) -> bool:
        """Whether an earlier line is equal. item: the key that only one line may have.

        Raises WrongJudgementError: an earlier line has different content for it.
        """
        digest = sha256(json.dumps(segment, sort_keys=True).encode()).digest()
        first_line, first = self._met.setdefault(item or digest, (line, digest))
        if first != digest:
            found = f"doc_id {item!r} with different content than on line {first_line}"
            raise WrongJudgementError(found, "each segment in one line")
        self.n_repeated += first_line != line
        return first_line != line

    def _add_flat(self, line: int, one: dict[str, Any]) -> None:
        lp, document, system, domain, rater = (
            one.get(key) for key in ("langs", "doc_id", "system", "domain", "annotator")
        )
        number = number_of(one["line_id"])
        if number is None or not number.is_integer() or not 0 <= number < 10**9:
            raise WrongJudgementError(f"line_id {one['line_id']!r}", "the number of a line, from 0")
        if not all(isinstance(text, str) for text in (lp, document, system, rater)):
            raise WrongJudgementError("a judgement without names", "langs, doc_id, system and annotator")
        if self._is_again(line, one):
            return
        place = (lp, domain, document, None, int(number) + 1)
        judged = (system, self.human, score_of(one["esa_score"]), rater, time_of(one.get("times")))
        spans = [span_of(error, "place", is_inclusive=True) for error in one.get("esa_spans") or ()]
        self.judgements.append((len(self.judgements) + 1, line, *place, document, *judged, "valid"))
        self.errors += [(len(self.judgements), *span) for span in spans]

    def _place(self, item: object) -> Place:
        parts = item.split(_SEPARATOR) if isinstance(item, str) else []
        if len(parts) == 2 and self.given.lp is not None and _NUMBER.fullmatch(parts[1]):
            source = _SOURCE.match(parts[0])
            if source and source["language"] != self.given.lp.partition("-")[0]:
                raise WrongJudgementError(
                    f"document {parts[0]!r} of another source", f"one of {self.given.lp}, as specified"
                )
            return self.given.lp, None, parts[0], None, int(parts[1]) + 1
        if len(parts) != 4 or not _NUMBER.fullmatch(parts[3]):
            expected = "language pair, domain, document and number, with _#_ between them"
            raise WrongJudgementError(f"doc_id {item!r}", expected)
        lp, domain, document, number = parts[0], parts[1], parts[2], int(parts[3])
        if number < self.begins_with:
            raise WrongJudgementError(f"segment 0 of document {document!r}", "numbers from 1, as WMT23 has them")
        self._least[lp, document] = min(number, self._least[lp, document])
        return lp, domain, document, number + 1 - self.begins_with, None

    def numbering_faults(self, path: Path) -> list[Fault]:
        """Faults of documents that all begin with 1 but should begin with 0."""
        least = list(self._least.values())
        if self.begins_with or len(least) < 2 or min(least) == 0 or least.count(1) < 2:
            return []
        found = f"{counted(len(least), 'document')} without segment 0"
        return [Fault(str(path), 0, found, "numbers from 0, as WMT25 has them")]


def _judgements(scores: object, of_lists: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """System, suffix of the human score's name, and the judgement with keys without the round."""
    if not isinstance(scores, dict):
        raise WrongJudgementError("no scores", "an object with the judgements of each system")
    for system, judged in scores.items():
        if isinstance(judged, dict):
            rounds = [found["round"] for key in judged if (found := _ROUND.fullmatch(key)) is not None]
            if judged and not rounds:
                raise _without_score(system, judged)
            for number in rounds:
                one = {name: judged.get(name + number) for name in _FIELDS}
                yield system, f"-human{number}", _judgement(one | {"score": judged["human" + number]}, system)
        elif isinstance(judged, list) and all(isinstance(one, dict) for one in judged):
            for one in judged:
                key = next((key for key in _SCORES if key in one), None)
                if key is None:
                    raise _without_score(system, one)
                yield (
                    system,
                    of_lists,
                    _judgement({name: one.get(name) for name in _FIELDS} | {"score": one[key]}, system),
                )
        else:
            raise WrongJudgementError(f"scores of {system!r}", "an object, or a list of objects")


def _without_score(system: str, judged: dict[str, Any]) -> WrongJudgementError:
    return WrongJudgementError(
        f"a judgement of {system!r} with the keys {', '.join(judged) or '(none)'}", "its score under score or human"
    )


_SCORES = ("score", "human")
_FIELDS = ("annotator", "errors", "times", "protocol")


def _judgement(judged: dict[str, Any], system: str) -> dict[str, Any]:
    """The judgement, if its annotator is text and its errors are a list; either may be missing."""
    judged["errors"] = [] if judged["errors"] is None else judged["errors"]
    names = (judged["annotator"], judged["protocol"])
    if not isinstance(judged["errors"], list) or not all(isinstance(name, str | None) for name in names):
        raise WrongJudgementError(f"a judgement of {system!r}", "an annotator and a list of errors")
    return judged
