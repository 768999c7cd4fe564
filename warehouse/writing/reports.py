"""What came of a load."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["loaded", "added", "replaced", "updated", "unchanged", "refused", "removed"]


@dataclass(frozen=True)
class EvalsetReport:
    """The result of a load for one evaluation set.

    status: loaded (the evaluation set is new), added (further files), replaced (changed files took the place
        of old ones), updated (only declarations of the test set changed), unchanged, refused (nothing was
        written), or removed (no file has anything of it any longer).
    n_files: loaded files; n_unchanged: files already in the warehouse, even if they were read again because others
        changed; n_broken: faulty files.
    n_rows: rows in the loaded files, n_missing of them without a value; n_scores: segment scores with a value.
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
