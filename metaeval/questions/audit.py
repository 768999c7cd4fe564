"""`audit`: errors and oddities in the data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.questions.question import Question
from metaeval.results.run import Run
from warehouse.fields import Argument, Option
from warehouse.wording import counted, option

if TYPE_CHECKING:
    from metaeval.results.answer import Answer
    from queries.findings import Finding


@dataclass(frozen=True, kw_only=True)
class Audit(Question["list[Finding]"], name="audit"):
    """Look for errors and oddities in the data.

    Finds duplicates, shifted files, wrong signs, missing scores, noise and known issues.

    Example: scorehouse audit sim24 en-de
    """

    testset: Annotated[str | None, Argument("Test set; several by commas, or all.", names="testset", default="all")] = (
        None
    )
    lp: Annotated[str | None, Argument("Language pair; several by commas, or all.", names="lp", default="all")] = None
    check: Annotated[
        tuple[str, ...], Argument("Kinds of findings to list one by one.", ("check",), default="one line per kind")
    ] = ()
    strict: Annotated[
        bool, Option("Exit with code 1 if there is an error or a warning (notes don't count).", is_computing=True)
    ] = False
    severity: Annotated[Literal["error", "warning", "info"], Option("Show findings of at least this severity.")] = (
        "info"
    )
    queries: Annotated[
        bool,
        Option("Show the SQL behind each finding in tables; other formats always include it.", is_computing=True),
    ] = False

    def __post_init__(self) -> None:
        """Take a kind of finding as the first word, for all test sets."""
        from queries.audit import KINDS

        super().__post_init__()
        if self.testset in KINDS and self.lp is None:
            object.__setattr__(self, "check", (self.testset, *self.check))
            object.__setattr__(self, "testset", None)

    def _way_on(self) -> str:
        """How to see more findings."""
        if self.check:
            return f"{option('queries', True)} shows each finding's SQL"
        return f"{option('check', 'KIND')} lists the findings of one kind, {option('queries', True)} all with their SQL"

    def answer(self, run: Run) -> "Answer[list[Finding]]":
        from metaeval.results.answer import Answer
        from metaeval.results.remarks import overrating
        from metaeval.results.signature import signed
        from queries.audit import audit, worst_first
        from queries.findings import SEVERITIES, at_least, by_kind, findings_frame

        with run.opened() as warehouse:
            found = audit(warehouse, self.testset, self.lp, self.check)
            if not self.check or "issues" in self.check:
                found = worst_first([*found, *overrating(warehouse, self.testset, self.lp)])
        frame = findings_frame(at_least(self.severity, found))
        counts = {name: sum(item.severity == name for item in found) for name in SEVERITIES}
        notes = [", ".join(counted(n, "note" if name == "info" else name) for name, n in counts.items())]
        signature = signed(
            ("audit", ",".join(self.check) or "all"),
            ("testset", self.testset or "all"),
            ("lp", self.lp or "all"),
            ("severity", None if self.severity == "info" else self.severity),
        )
        return Answer(
            frame,
            signature,
            tuple(notes),
            question=self,
            results=(found,),
            reading=frame if self.queries else frame.drop("query") if self.check else by_kind(frame),
            reading_notes=tuple(notes) if self.queries else (*notes, self._way_on()),
            is_no=self.strict and bool(counts["error"] or counts["warning"]),
        )

    def headline(self, answer: "Answer[list[Finding]]") -> str:
        from metaeval.results.sentences import either, named, opening
        from queries.findings import MEANINGS, SEVERITIES, by_kind

        where = " ".join(one for one in (self.testset, self.lp) if one not in (None, "all")) or "the warehouse"
        counts = {name: sum(one.severity == name for one in answer.result) for name in SEVERITIES}
        words = [counted(n, "note" if name == "info" else name) for name, n in counts.items() if n]
        if not words and self.check:
            return opening(f"No findings of these kinds in {where}: {', '.join(self.check)}.")
        if not words:
            return opening(f"Nothing is wrong or odd in {where}.")
        kinds = dict.fromkeys(self.check)
        only = f"; only {named(kinds)} {'was' if len(kinds) == 1 else 'were'} checked" if kinds else ""
        order = "; the errors come first" if counts["error"] else "" if kinds else "; no error"
        first = f"{', '.join(words)} in {where}{order}{only}."
        if answer.frame.is_empty():
            return opening(first)
        severity, check, n, _ = by_kind(answer.frame).row(0)
        largest = answer.frame.filter(severity=severity, check=check).sort(
            "n", descending=True, nulls_last=True, maintain_order=True
        )
        word = "note" if severity == "info" else severity
        cases = (f"{n}, for example {largest['subject'][0]}", n)
        most = (f"Most frequent {word} ({check}, {one}): {MEANINGS[check]}." for one in cases)
        return either(*(f"{first} {one}" for one in most), first)
