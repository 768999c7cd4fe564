"""Challenge sets: items with hypotheses whose order is known."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from warehouse.database.stage import Stage
from warehouse.names import GRADE
from warehouse.readers.challenge.demetr import TESTSET, is_demetr, pairs_of, read_demetr
from warehouse.readers.challenge.equal_quality import TESTSET as XQ_MEVAL
from warehouse.readers.challenge.equal_quality import pair_of, read_outputs
from warehouse.readers.challenge.items import Items, lay_out
from warehouse.readers.challenge.submitted import part_of, read_submitted
from warehouse.readers.challenge.tables import ACES, evalsets_in, is_nameless, is_table, read_table
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.contents import Content
from warehouse.wording import option

NAME = "challenge-set/1"


class ChallengeSetReader:
    """Reader of challenge sets: files of DEMETR, XQ-MEval, WMT25 and ACES, and users' tables."""

    name = NAME

    def claim(self, path: Path, given: LoadHints) -> Claim | str | None:
        if path.suffix == ".json" and is_demetr(path):
            testset = given.testset or TESTSET
            return self._claim(path, tuple((testset, lp) for lp in pairs_of(path)), f"{testset}/{path.name}")
        if path.suffix == ".parquet" and (lp := pair_of(path)) is not None:
            testset = given.testset or XQ_MEVAL
            return self._claim(path, ((testset, lp),), f"{testset}/{path.name}")
        if is_table(path):
            if is_nameless(path) and given.testset is None:
                return f"a challenge set in ACES format; name it with {option('testset', ACES)} or another name"
            evalsets = evalsets_in(path, given.testset)
            if not evalsets:
                return "a challenge set without language pairs such as en-de"
            return self._claim(path, evalsets, f"{evalsets[0][0]}/{path.name}")
        if path.suffix == ".txt" and (part := part_of(path)) is not None:
            testset, lp, _ = part
            return self._claim(path, ((testset, lp),), f"{testset}/{path.name}")
        return None

    def _claim(self, path: Path, evalsets: tuple[tuple[str, str], ...], origin: str) -> Claim:
        is_counted = path.suffix in (".json", ".txt", ".parquet")  # JSON that was cut is none, and lines are counted
        return Claim(
            path, self.name, origin, evalsets, human=GRADE, is_text=True, declares="segments", may_lack_end=is_counted
        )

    def read(self, contents: Sequence[Content], stage: Stage) -> None:
        read: list[tuple[Content, Items]] = []
        parts: dict[Path, list[Content]] = defaultdict(list)
        for content in sorted(contents, key=lambda one: one.claim.origin):
            if part_of(content.claim.path) is not None:
                parts[content.claim.path.parent].append(content)
                continue
            path, evalset = content.claim.path, stage.evalset
            if path.suffix == ".json":
                items = read_demetr(path, evalset.lp)
            elif path.suffix == ".parquet":
                items = read_outputs(path)
            else:
                items = read_table(path, evalset.testset, evalset.lp)
            for fault in items.faults:
                stage.fault(content.file_no, fault)
            if not items.frame.is_empty():
                read.append((content, items))
        for together in parts.values():
            named = {content.claim.path: content for content in together}
            known = [(path, part[2]) for path in named if (part := part_of(path)) is not None]
            faults, found = read_submitted(known, stage.evalset.testset)
            for path, of_file in faults.items():
                for fault in of_file:
                    stage.fault(named[path].file_no, fault)
            if found is not None:
                read.append((together[0], found))
        if read:
            lay_out(read, stage)


__all__ = ["NAME", "ChallengeSetReader"]
