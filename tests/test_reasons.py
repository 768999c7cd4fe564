"""Errors keep their fields on the way from another process."""

import pickle

from metaeval.studies.protocols.scoring import NothingScoredError
from warehouse.errors import IT, QuestionError


def test_an_error_comes_back_from_another_process_with_its_fields() -> None:
    error = pickle.loads(pickle.dumps(QuestionError(f"{IT} has no domains", where="wmt23 en-de", hint="drop --by")))
    assert (str(error), error.brief, error.hint) == (
        "wmt23 en-de has no domains (drop --by)",
        "no domains (drop --by)",
        "drop --by",
    )
    scored = NothingScoredError("no metric can be scored", by="wmt24", hint="--all-metrics")
    again = pickle.loads(pickle.dumps(scored))
    assert (str(again), again.by_any) == ("no metric can be scored by wmt24 (--all-metrics)", "no metric can be scored")


def test_what_stands_for_the_evaluation_set_is_nothing_special_where_none_is_named() -> None:
    assert str(QuestionError(f"unknown metric '{IT}'")) == f"unknown metric '{IT}'"
