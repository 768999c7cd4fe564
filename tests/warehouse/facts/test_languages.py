"""Languages and their pairs: scripts, directions, and whether trained metrics have seen them."""

import pytest

from warehouse.facts.languages import language, language_pair
from warehouse.facts.testsets import facts, known_testsets


def test_both_languages_of_every_declared_pair_are_listed() -> None:
    assert [(name, lp) for name in known_testsets() for lp in facts(name).lps if language_pair(lp) is None] == []


def test_a_language_takes_its_script_from_the_code_where_that_names_one() -> None:
    scripts = {}
    for code in ("sr", "sr_Latn_RS", "sr_Cyrl_RS", "zh_TW"):
        found = language(code)
        assert found is not None
        scripts[code] = found.script
    assert scripts == {"sr": "Cyrl", "sr_Latn_RS": "Latn", "sr_Cyrl_RS": "Cyrl", "zh_TW": "Hant"}
    assert language("tlh") is None


@pytest.mark.parametrize(
    ("lp", "direction", "in_training"),
    [
        ("en-de", "from-english", True),
        ("zh-en", "into-english", True),
        ("cs-uk", "other", False),
        ("en-he", "from-english", False),
    ],
)  # fmt: skip
def test_a_language_pair_tells_direction_and_whether_trained_metrics_have_seen_it(
    lp: str, direction: str, in_training: bool
) -> None:
    found = language_pair(lp)
    assert found is not None
    assert (found.direction, found.in_da_training) == (direction, in_training)
