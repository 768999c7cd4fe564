"""Errors marked in texts: brackets that nest, texts that stay whole, and nothing that a terminal would obey."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.render.cells import one_line
from cli.render.marks import marked, plain, styled
from cli.render.table import fitted_text
from queries.annotations import MarkedError
from tests.helpers import together


def span(
    start: int | None,
    end: int | None,
    severity: str | None = "major",
    category: str | None = None,
    is_in_source: bool = False,
) -> MarkedError:
    return MarkedError(None, category, severity, None, start, end, is_in_source)


TEXT = "one two three four"


@together(
    ("errors", "expected"),
    [
        ([], TEXT),
        ([span(4, 7)], "one [major: two] three four"),
        ([span(4, 7), span(4, 7)], "one [major: two] three four"),
        ([span(4, 7), span(4, 7, "minor")], "one [major: [minor: two]] three four"),
        ([span(4, 7, "minor"), span(4, 13)], "one [major: [minor: two] three] four"),
        ([span(0, 3), span(3, 7, "minor")], "[major: one][minor:  two] three four"),
        ([span(0, 7), span(4, 13, "minor")], "[major: one [minor: two]][minor:  three] four"),
        ([span(14, 99)], "one two three [major: four]"),
        ([span(None, None, "minor", "omission")], "one two three four [minor omission]"),
        ([span(7, 7), span(40, 50, "minor")], "one two three four [major] [minor]"),
        ([span(4, 7, None)], "one [error: two] three four"),
        ([span(4, 7, is_in_source=True)], TEXT),
    ],
)
def test_errors_are_in_brackets_with_their_severity(errors: list[MarkedError], expected: str) -> None:
    assert plain(marked(TEXT, errors)) == expected


def test_the_source_has_the_errors_that_lie_in_it_and_no_text_at_all_has_them_too() -> None:
    errors = [span(0, 3, is_in_source=True), span(4, 7)]
    assert plain(marked(TEXT, errors, in_source=True)) == "[major: one] two three four"
    assert plain(marked("", errors)) == "[major]"
    assert marked("", []) == []


SPANS = st.lists(
    st.builds(span, st.integers(-2, 20), st.integers(-2, 22), st.sampled_from(["major", "minor", "critical"])),
    max_size=6,
)


@given(st.text(alphabet="ab \x1b\n\u05d0\u202e", max_size=20), SPANS)
def test_without_its_brackets_a_marked_text_is_the_text_and_brackets_nest(text: str, errors: list[MarkedError]) -> None:
    pieces = marked(text, errors)
    known = ("major", "minor", "critical")
    brackets = {"]", " ", *(f"[{one}: " for one in known), *(f"[{one}]" for one in known)}
    kept, depth = [], 0
    n_behind = len({error.label for error in errors if not 0 <= error.start < min(error.end, len(text))})  # type: ignore[operator, type-var]
    for piece in pieces[: len(pieces) - 2 * n_behind]:
        depth += piece.text in brackets and piece.text.startswith("[")
        depth -= piece.text == "]"
        assert depth >= 0
        if not (piece.text == "]" or piece.text.startswith("[")):
            kept.append(piece.text)
            assert len(piece.severities) == depth
    assert depth == 0
    assert "".join(kept) == text


def test_control_and_right_to_left_characters_are_shown_where_they_stand_and_letters_stay() -> None:
    text = "a\x1b[31m \u05e9\u05dc\u05d5\u05dd \u202eb"
    pieces = marked(text, [span(0, 2), span(7, 11, "minor")])
    shown = one_line(plain(pieces))
    assert shown == "[major: a\\x1b][31m [minor: \u05e9\u05dc\u05d5\u05dd] \\u202eb"
    assert styled(pieces).plain == shown


def test_a_terminal_shows_the_gravest_error_in_its_style_and_no_color_shows_brackets_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import polars as pl

    pieces = marked("ab cd", [span(0, 5, "minor"), span(3, 5)])
    text = styled(pieces)
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert styles["ab "] == "underline yellow"
    assert styles["cd"] == "bold underline red"
    frame = pl.DataFrame({"text": [plain(pieces)]})
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in fitted_text(frame, 2, 80, dressed={"text": [text]})
    assert "[minor: ab [major: cd]]" in fitted_text(frame, 2, 80, dressed={"text": [text]})
