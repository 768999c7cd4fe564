"""What is remarkable in marked errors: spans that measures leave out, and ends that may be counted another way."""

from collections.abc import Mapping
from functools import partial

from warehouse.database.stage import Batch
from warehouse.database.statements import statement
from warehouse.wording import counted

_sql = partial(statement, __package__)
_FEWEST = 20  # spans that say how ends are counted
_SHARE_CUT = 0.1
_TIMES_LESS = 3


def note_spans(batch: Batch, evalset_ids: Mapping[int, int], first: int) -> None:
    """Note for each scorer what its spans have that measures leave out, and ends that cut words.

    evalset_ids: number on the stage -> evalset_id. first: identifier of the first staged judgement.
    """
    stages = {evalset_ids[stage.evalset_no]: stage for stage in batch.stages}
    for evalset_id, scorer, n, *counts in batch.rows(_sql("span_slips"), {"first": first}):
        stage = stages[evalset_id]
        where = f"{stage.evalset.testset} {stage.evalset.lp}: {scorer}"
        n_beyond, n_empty, n_undecided, n_placed, n_cut, n_after = counts
        said = [
            f"{number} {what}"
            for number, what in (
                (n_beyond, "end behind the text, where measures cut them"),
                (n_empty, "empty and left out of measures"),
                (n_undecided, "of another severity than minor, major or critical and left out"),
            )
            if number
        ]
        if said:
            stage.notes.append(f"{where}: of {counted(n, 'marked error')}, {'; '.join(said)}")
        if n_placed >= _FEWEST and n_cut >= _SHARE_CUT * n_placed and n_cut > _TIMES_LESS * n_after:
            stage.notes.append(
                f"{where}: {n_cut} of {n_placed} spans end inside a word, and {n_after} would one character after: the "
                "ends of the file may be the last characters, not those behind them"
            )
