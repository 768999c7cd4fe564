"""Campaigns of the annotation tool Pearmut (WMT26): `annotations.json`, and logs of one campaign, `CAMPAIGN.jsonl`.

The object has a list of entries for each campaign, and the campaign's name tells the language pair; a log has one
entry per line. An entry is one user's answer to one document: its segments
(`item`), the score and error spans of each system for each segment (`annotation`), and the user's actions with their
times (`actions`).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.judgements import WrongJudgementError, frames, score_of, span_of, time_of
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.json_lines import json_document, json_objects
from warehouse.readers.text.tables import first_faults
from warehouse.readers.vocabulary import testset_of
from warehouse.wording import counted, option

_DOCUMENT = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[')
_LINE = re.compile(r'\s*\{\s*"(?:annotation|actions|item|user_id|item_i)"\s*:')  # of a log
_ENTRY = ('"item"', '"item_i"', '"user_id"', '"error_spans"')
_KEYS = {"annotation", "user_id", "item_i"}
_RESET = "__RESET__"  # in the place of an annotation: cancels the user's earlier ones of the document
_OTHER_ITEMS = {  # what is no part of the test set -> how it is counted
    "welcome_": "tutorials and forms",
    "goodbye_": "tutorials and forms",
    "random_": "attention checks",
    "attention_check_": "attention checks",
}
_YEAR = re.compile(r"wmt(?:20)?(?P<year>2\d)(?!\d)", re.IGNORECASE)
_SIDE = r"[a-z]{2,3}(?:_[A-Z][A-Za-z]+)*"
_PAIR = re.compile(rf"(?<![A-Za-z])(?P<source>{_SIDE})-{{1,3}}(?P<target>{_SIDE})(?![A-Za-z_])")
_SEPARATORS = ("_###_", "_#_")
_NUMBER = re.compile(r"[0-9]{1,9}")

Entry = Mapping[str, Any]
Place = tuple[str | None, str | None, str, int]  # language pair, domain, document, index


class PearmutReader(TextReader):
    """Reader of Pearmut's annotations."""

    name = "pearmut/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        text = "\n".join(head)
        is_log = _LINE.match(text) is not None
        if not is_log and not _DOCUMENT.match(text):
            return None
        if '"annotation"' not in text or not any(key in text for key in _ENTRY):
            return None
        year = _YEAR.search(path.name if is_log else text[:1000])
        testset = given.testset or testset_of(path) or (f"wmt{year['year']}" if year else None)
        if testset is None:
            return f"human evaluation of an unknown test set; name it with {option('testset')}"
        claim = Claim.of_judgements(path, self.name, "pearmut", testset, given.human or "esa")
        return replace(claim, may_lack_end=not is_log)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        rows = _Rows(claim)
        if _LINE.match(text):
            rows.meet(
                claim.path.name.split(".jsonl")[0], [entry for _, entry in json_objects(text, claim.path, faults)]
            )
        else:
            for campaign, entries in (json_document(text, claim.path, faults) or {}).items():
                rows.meet(campaign, entries)
        rows.settle(given.lp)
        judgements, errors = frames(rows.judgements, rows.errors, claim.testset)
        notes = [f"{counted(len(rows.judgements), 'judgement')} with {counted(len(rows.errors), 'error')}"]
        notes += [f"{n} {what} not read" for what, n in sorted(rows.passed.items())]
        return Records(
            judgements=judgements,
            ratings=errors,
            scores_from_judgements=True,
            faults=[*faults, *first_faults(rows.faults)],
            notes=[", ".join(notes)],
        )


class _Rows:
    """The valid entries, and then their judgements and errors."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._met: dict[tuple[str, str, object], list[Entry]] = {}
        self.judgements: list[tuple[Any, ...]] = []
        self.errors: list[tuple[Any, ...]] = []
        self.faults: list[Fault] = []
        self.passed: Counter[str] = Counter()

    def meet(self, campaign: str, entries: object) -> None:
        """Add the entries of a campaign, in the order in which they were written; a reset cancels earlier entries."""
        if not isinstance(entries, list):
            self._fault(campaign, "no list", "a list of its annotations")
            return
        for entry in entries:
            if not isinstance(entry, dict) or not entry.keys() >= _KEYS:
                keys = ", ".join(entry) if isinstance(entry, dict) else type(entry).__name__
                self._fault(campaign, f"an entry with {keys or 'no keys'}", ", ".join(sorted(_KEYS)))
                continue
            user, item = str(entry["user_id"]), entry["item_i"]
            if entry["annotation"] == _RESET:
                cancelled = [key for key in self._met if key[:2] == (campaign, user) and item in (None, key[2])]
                self.passed["cancelled answers"] += sum(len(self._met.pop(key)) for key in cancelled)
            else:
                self._met.setdefault((campaign, user, item), []).append(entry)

    def settle(self, lp: str | None) -> None:
        """Collect the judgements of the remaining entries. lp: for campaigns whose name has none."""
        for (campaign, user, item), entries in self._met.items():
            kind = _kind_of(item)
            if kind is not None:
                self.passed[kind] += len(entries)
                continue
            found = _PAIR.search(campaign)
            pair = lp if found is None else language_pair_called(f"{found['source']}-{found['target']}")
            latest: dict[tuple[str, str], int] = {}
            for entry in entries:
                try:
                    self._add(user, pair, entry, latest)
                except WrongJudgementError as wrong:
                    self._fault(campaign, f"{user}, item {item}: {wrong.found}", wrong.expected)

    def _add(self, user: str, lp: str | None, entry: Entry, latest: dict[tuple[str, str], int]) -> None:
        """Add the judgements of one entry, or none.

        latest: item and system -> the user's last judgement, as its place in `judgements`.
        """
        items, annotations = entry.get("item"), entry["annotation"]
        if not isinstance(items, list) or not isinstance(annotations, list) or len(items) != len(annotations):
            raise WrongJudgementError("annotations of segments that the item does not have", "one for each segment")
        time = time_of([action.get("time") for action in entry.get("actions") or () if isinstance(action, dict)])
        for item, judged in zip(items, annotations, strict=True):
            name = item.get("item_id") if isinstance(item, dict) else None
            if not isinstance(name, str):
                self.passed["segments without item_id"] += 1
                continue
            if (kind := _kind_of(name)) is not None:
                self.passed[kind] += 1
                continue
            own_pair, *place = place_of(name)
            if own_pair is None and lp is None:
                raise WrongJudgementError(
                    "a campaign name without a language pair", f"one such as en-cs, or {option('lp')}"
                )
            for system, one in (judged or {}).items():
                if not isinstance(one, dict) or "score" not in one:
                    keys = ", ".join(one) if isinstance(one, dict) else type(one).__name__
                    raise WrongJudgementError(f"a judgement of {system!r} with {keys or 'no keys'}", "its score")
                before = latest.get((name, system))
                if before is not None:
                    self.judgements[before] = (*self.judgements[before][:-1], "superseded")
                    self.passed["earlier answers, marked as superseded,"] += 1
                latest[name, system] = len(self.judgements)
                number = len(self.judgements) + 1
                spans = [span_of(error, "place", is_inclusive=True) for error in one.get("error_spans") or ()]
                judged_by = (self._claim.human, score_of(one["score"]), user, time)
                self.judgements.append((number, None, own_pair or lp, *place, None, name, system, *judged_by, "valid"))
                self.errors += [(number, *span) for span in spans]

    def _fault(self, campaign: str, found: str, expected: str) -> None:
        found = f"campaign {campaign!r}: {found}"
        self.faults.append(Fault(str(self._claim.path), 0, found, expected, kind=expected))


def _kind_of(item: object) -> str | None:
    """The kind of an item that does not belong to the test set; None if it does."""
    name = item if isinstance(item, str) else ""
    if "_#_tutorial_#_" in name:
        return _OTHER_ITEMS["welcome_"]
    return next((kind for start, kind in _OTHER_ITEMS.items() if name.startswith(start)), None)


def place_of(item: str) -> Place:
    """Language pair, domain, document and index, from 1, of a segment; its name counts from 0.

    A name without these parts is a document with one segment.
    >>> place_of("cs-de_DE_#_edu_#_edu02178_#_0"), place_of("news_###_newrepublic.com.18633_###_3"), place_of("my item")
    (('cs-de_DE', 'edu', 'edu02178', 1), (None, 'news', 'newrepublic.com.18633', 4), (None, None, 'my item', 1))
    >>> place_of("official_###_eng_Latn_###_deu_Latn_###_social_###_1162_###_0")
    ('en-de', 'social', '1162', 1)
    """
    for separator in _SEPARATORS:
        *before, document, number = ["", *item.rsplit(separator, 2)] if separator in item else ["", "", ""]
        if document and _NUMBER.fullmatch(number):
            *pair, domain = before[-1].split(separator)
            return language_pair_called("-".join(pair[-2:])) or None, domain or None, document, int(number) + 1
    return None, None, item, 1
