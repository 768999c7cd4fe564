"""A language pair is one for every command that takes it, however it is typed; a metric is not one."""

from pathlib import Path
from typing import Any

import pytest

from cli.questions import _values_of_words
from metaeval.python_api import as_stored
from metaeval.questions import QUESTIONS, question_named
from metaeval.questions.question import question_with
from metaeval.results.run import Run
from tests.cli.running import Scorehouse
from tests.helpers import together
from warehouse.fields import fields_of

TAKING_ONE = [name for name in QUESTIONS if "lp" in fields_of(question_named(name))]
OTHERS = {
    "metric": "A*",
    "first": "A*",
    "second": "B*",
    "segment": 1,
    "before": "b",
    "rules": "wmt24",
    "item": "table-1",
}


def _nothing() -> Any:
    raise AssertionError("nothing is looked up")


@together("typed", ["ja-zh_CN", "JA-ZH_CN", "jpn-zho_CN", "jpn_Jpan-zho_cn"])
@together("name", TAKING_ONE)
def test_every_question_takes_every_spelling_as_language_pair(name: str, typed: str) -> None:
    question, known = question_named(name), fields_of(question_named(name))
    others = {field: value for field, value in OTHERS.items() if field in known and known[field].is_argument}
    values = {"testset": "wmt25", "what": "metrics", **others, "lp": typed}
    words = {field: [value] if known[field].is_list else value for field, value in values.items() if field in known}
    given = words | _values_of_words(
        name, known, {field: word for field, word in words.items() if known[field].is_argument}
    )
    asked = as_stored(question_with(question, given), Run(_nothing))
    assert asked.lp in ("ja-zh_CN", ("ja-zh_CN",))  # type: ignore[attr-defined]


@together("typed", ["EED-ref", "chrF++", "TER-refA", "COMET-QE-src", "news"])
def test_a_metric_in_its_place_is_a_metric(typed: str) -> None:
    given = _values_of_words("segments", fields_of(question_named("segments")), {"testset": "wmt25", "lp": typed})
    assert "lp" not in given
    assert given["metric"] == (typed,)


@pytest.mark.slow
@together(
    "words",
    [
        ("rank", "sim24", "LP", "-m", "pa"),
        ("export", "texts", "sim24", "LP", "--format", "texts"),
        ("remove", "sim24", "LP", "--dry-run"),
        ("add", "own.seg.score", "--metric", "M", "--reference-free", "--testset", "sim24", "--lp", "LP"),
        ("report", "sim24", "--lp", "LP", "--section", "overview", "-o", "-"),
        ("explore", "sim24", "--lp", "LP", "--export", "none/page.html"),
    ],
)
def test_every_command_takes_a_pair_in_other_codes(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.seg.score").write_text("Nobody\t1\n")
    plain, coded = (scorehouse(*(lp if word == "LP" else word for word in words)) for lp in ("en-de", "eng-deu"))
    assert (plain.code, plain.notes) == (coded.code, coded.notes)
    assert plain.out == coded.out or words[0] == "add"  # which says how long it took
