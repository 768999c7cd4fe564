"""A language pair is one for every command that takes it as an argument, however it is typed; a metric is not one."""

from cli.questions import _given
from metaeval.question import fields_of
from metaeval.questions import HOMES, question_named
from tests.helpers import together

SPELLINGS = {
    "en-de": ("en-de", "EN-DE", "eng-deu", "eng_Latn-deu_Latn", "en-de,EN-cs"),
    "ja-zh_CN": ("ja-zh_CN", "JA-ZH_CN", "jpn-zho_CN", "ja-zh_cn"),
    "en-sr_Cyrl_RS": ("en-sr_Cyrl_RS", "eng-srp_cyrl_rs"),
}
TAKING_ONE = [
    name
    for name in HOMES
    if {"testset", "lp"} <= {field.name for field in fields_of(question_named(name)).values() if field.is_argument}
]
NO_PAIRS = ("EED-ref", "chrF++", "TER-refA", "COMET-QE-src", "news")


@together("typed", [one for names in SPELLINGS.values() for one in names])
@together("name", TAKING_ONE)
def test_every_command_takes_every_spelling_as_language_pair(name: str, typed: str) -> None:
    known = fields_of(question_named(name))
    assert _given(name, known, _words(name, typed))["lp"] == typed


@together("typed", NO_PAIRS)
def test_a_metric_in_its_place_is_a_metric(typed: str) -> None:
    given = _given("segments", fields_of(question_named("segments")), {"testset": "wmt25", "lp": typed})
    assert "lp" not in given
    assert given["metric"] == (typed,)


def _words(name: str, typed: str) -> dict[str, object]:
    """What stands on the arguments of a command, each in its place."""
    said = {"testset": "wmt25", "lp": typed}
    words: dict[str, object] = {}
    for field in fields_of(question_named(name)).values():
        if field.is_argument:
            word = said.get(field.name) or (field.choices[0] if field.choices else "1" if field.element is int else "x")
            words[field.name] = [word] if field.is_list else word
    return words
