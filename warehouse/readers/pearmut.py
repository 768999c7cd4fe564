"""Campaigns of the annotation tool Pearmut (WMT26): `annotations.json`, and the log of one campaign as JSON lines.

An object has a list of entries for each campaign, whose name tells the language pair. An entry is one user's answer to
one document: its segments (`item`), for each of them the score and the error spans of each system (`annotation`), and
what the user did when (`actions`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.readers.claims import Claim, Given
from warehouse.readers.judgements import WrongJudgementError, frames, score_of, span_of, time_of
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.json_lines import first_object, json_document, json_objects
from warehouse.readers.text.tables import first_faults
from warehouse.readers.vocabulary import testset_of
from warehouse.wording import counted, option

_DOCUMENT = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[')
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

    def claim(self, path: Path, head: Sequence[str], given: Given) -> Claim | str | None:
        is_document = not _is_log(head)
        if is_document and not _is_document(head):
            return None
        year = _YEAR.search("\n".join(head)[:1000]) if is_document else _YEAR.search(path.name)
        testset = given.testset or testset_of(path) or (f"wmt{year['year']}" if year else None)
        if testset is None:
            return f"human evaluation of an unknown test set; name it with {option('testset')}"
        claim = Claim.of_judgements(path, self.name, "pearmut", testset, given.human or "esa")
        return replace(claim, may_lack_end=is_document)

    def read(self, text: str, faults: list[Fault], claim: Claim, given: Given) -> Records:
        rows = _Rows(claim)
        for line, campaign, entry in _entries(text, claim.path, faults):
            rows.meet(line, campaign, entry)
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


def _is_log(head: Sequence[str]) -> bool:
    return (first_object(head) or {}).keys() >= _KEYS


def _is_document(head: Sequence[str]) -> bool:
    text = "\n".join(head)
    return bool(_DOCUMENT.match(text)) and '"annotation"' in text and any(key in text for key in _ENTRY)


def _entries(text: str, path: Path, faults: list[Fault]) -> Iterator[tuple[int | None, str, Entry]]:
    """Line, campaign and entry, in the order in which they were written."""
    if _is_log(text.split("\n", 1)[:1]):
        for line, entry in json_objects(text, path, faults):
            yield line, path.name.split(".")[0], entry
        return
    for campaign, entries in (json_document(text, path, faults) or {}).items():
        if not isinstance(entries, list):
            faults.append(Fault(str(path), 0, f"campaign {campaign!r} without a list", "a list of its annotations"))
            continue
        yield from ((None, campaign, entry) for entry in entries)


class _Rows:
    """Entries that count so far, and then their judgements and errors."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._met: dict[tuple[str, str, object], list[tuple[int | None, Entry]]] = {}
        self.judgements: list[tuple[Any, ...]] = []
        self.errors: list[tuple[Any, ...]] = []
        self.faults: list[Fault] = []
        self.passed: Counter[str] = Counter()

    def meet(self, line: int | None, campaign: str, entry: object) -> None:
        """Note one entry; a reset takes what it cancels away."""
        if not isinstance(entry, dict) or not entry.keys() >= _KEYS:
            keys = ", ".join(entry) if isinstance(entry, dict) else type(entry).__name__
            self._fault(line, campaign, f"an entry with {keys or 'no keys'}", ", ".join(sorted(_KEYS)))
            return
        user, item = str(entry["user_id"]), entry["item_i"]
        if entry["annotation"] == _RESET:
            cancelled = [key for key in self._met if key[:2] == (campaign, user) and item in (None, key[2])]
            self.passed["cancelled answers"] += sum(len(self._met.pop(key)) for key in cancelled)
            return
        self._met.setdefault((campaign, user, item), []).append((line, entry))

    def settle(self, lp: str | None) -> None:
        """The judgements of the entries that are left. lp: of campaigns whose name tells none."""
        for (campaign, user, item), entries in self._met.items():
            kind = _kind_of(item)
            if kind is not None:
                self.passed[kind] += len(entries)
                continue
            found = _PAIR.search(campaign)
            pair = lp if found is None else language_pair_called(f"{found['source']}-{found['target']}")
            latest: dict[tuple[str, str], int] = {}
            for line, entry in entries:
                try:
                    self._add(line, user, pair, entry, latest)
                except WrongJudgementError as wrong:
                    self._fault(line, campaign, f"{user}, item {item}: {wrong.found}", wrong.expected)

    def _add(
        self, line: int | None, user: str, lp: str | None, entry: Entry, latest: dict[tuple[str, str], int]
    ) -> None:
        """The judgements of one entry, or none.

        latest: item and system -> the user's last judgement, as its place in `judgements`.
        """
        items, annotations = entry.get("item"), entry["annotation"]
        if not isinstance(items, list) or not isinstance(annotations, list) or len(items) != len(annotations):
            raise WrongJudgementError("annotations of other segments than the item has", "one for each segment")
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
                    "a campaign whose name tells no language pair", f"one such as en-cs, or {option('lp')}"
                )
            for system, one in (judged or {}).items():
                if not isinstance(one, dict) or "score" not in one:
                    keys = ", ".join(one) if isinstance(one, dict) else type(one).__name__
                    raise WrongJudgementError(f"a judgement of {system!r} with {keys or 'no keys'}", "its score")
                before = latest.get((name, system))
                if before is not None:
                    self.judgements[before] = (*self.judgements[before][:-1], "superseded")
                    self.passed["earlier answers, kept as superseded,"] += 1
                latest[name, system] = len(self.judgements)
                number = len(self.judgements) + 1
                spans = [span_of(error) for error in one.get("error_spans") or ()]
                judged_by = (self._claim.human, score_of(one["score"]), user, time)
                self.judgements.append((number, line, own_pair or lp, *place, None, name, system, *judged_by, "valid"))
                self.errors += [(number, *span) for span in spans]

    def _fault(self, line: int | None, campaign: str, found: str, expected: str) -> None:
        where = "" if line is not None else f"campaign {campaign!r}: "
        self.faults.append(Fault(str(self._claim.path), line or 0, where + found, expected, kind=expected))


def _kind_of(item: object) -> str | None:
    """How an item is counted that is none of the test set; None for one that is."""
    name = item if isinstance(item, str) else ""
    if "_#_tutorial_#_" in name:
        return _OTHER_ITEMS["welcome_"]
    return next((kind for start, kind in _OTHER_ITEMS.items() if name.startswith(start)), None)


def place_of(item: str) -> Place:
    """Language pair, domain, document and index, from 1, of a segment; its name counts from 0.

    A name without these parts is that of a document of one segment.
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
