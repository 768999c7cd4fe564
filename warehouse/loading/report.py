"""What a load did, for people and programs."""

from dataclasses import dataclass, field
from typing import Literal

from warehouse.errors import Fault

Status = Literal["loaded", "added", "replaced", "updated", "unchanged", "refused"]


@dataclass(frozen=True)
class EvalsetReport:
    """What a load did to one evaluation set.

    status: loaded (the evaluation set is new), added (further files), replaced (changed files took the place
        of old ones), updated (only what is declared of the test set changed), unchanged, or refused (nothing
        was written).
    n_files: files that came in; n_unchanged: files that the warehouse had already, also where they were read
        again, as others changed; n_broken: files at fault.
    n_rows: rows in the files that came in, n_missing of them without a value; n_scores: scores of segments among them
        that have one.
    """

    testset: str
    lp: str
    status: Status
    n_files: int = 0
    n_unchanged: int = 0
    n_broken: int = 0
    n_scores: int = 0
    n_rows: int = 0
    n_missing: int = 0
    seconds: float = 0.0


@dataclass
class LoadReport:
    """What a load did: evaluation sets, files that were passed over with the reason, faults, and notes."""

    evalsets: list[EvalsetReport] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether nothing was refused."""
        return not self.faults
