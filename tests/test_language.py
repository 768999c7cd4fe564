"""What a machine can hold of the language: the field's words in every text, nouns for classes, options that exist."""

import ast
import re
from pathlib import Path

from benchmarks.house import PACKAGES, participles
from cli.hints import generated, options_of
from cli.main import program
from metaeval.questions import QUESTIONS, question_named
from tests.wording import NOT_OF_THE_FIELD, contributor_texts, formatted_texts, product_texts

ROOT = Path(__file__).resolve().parents[1]


def test_messages_headings_and_charts_have_the_field_s_words() -> None:
    found = [(place, text) for place, text in product_texts(ROOT) if NOT_OF_THE_FIELD.search(text)]
    assert found == []


def test_documentation_strings_and_comments_have_the_field_s_words() -> None:
    found = [(place, text) for place, text in contributor_texts(ROOT) if NOT_OF_THE_FIELD.search(text)]
    assert [one for one in found if not one[0].startswith("migrations/0")] == []  # which are never edited


def test_documentation_of_questions_has_the_field_s_words() -> None:
    for name in QUESTIONS:
        assert not NOT_OF_THE_FIELD.findall(" ".join((question_named(name).__doc__ or "").split())), name


def test_no_class_is_named_by_a_bare_participle() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert participles(ast.parse(path.read_bytes()) for path in files) == []


def test_every_option_on_a_page_is_one_of_its_command() -> None:
    commands = program().commands
    before = options_of(program())
    wrong = []
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        text = re.sub(r"\\\n\s*", " ", page.read_text(encoding="utf-8"))
        for line in re.findall(r"^(?:\$ )?(scorehouse .*?)(?:\s#.*)?$", text, re.MULTILINE):
            words = re.sub(r"\"[^\"]*\"|'[^']*'", "X", line).split("|")[0].split()
            name = next((word for word in words[1:] if word in commands), None)
            known = before if name is None else before | options_of(commands[name])
            wrong += [
                (page.name, line, word)
                for word in words
                if re.fullmatch(r"--?[a-z][a-z-]*", word) and word not in known
            ]
    assert wrong == []


def test_every_summary_is_a_short_sentence() -> None:
    summaries = generated()["summaries"].values()
    assert [text for text in summaries if len(text) > 60 or not re.fullmatch(r"[A-Z][a-z]+ .*[A-Za-z]\.", text)] == []


def test_what_is_excluded_or_missing_is_said_in_a_sentence() -> None:
    """No text begins with what is missing, as in "without wmt23: a reason" or "skipped: 3 sets": it has a verb."""
    verbless = re.compile(
        r"(?:\{\}: )?(?:(?:means )?without \{|skipped\b|excluded: |"
        r"no (?:intervals?|ranges|tests?|rows?|values?|clusters|drift|agreement|pooled value)\b.*[:,] )"
    )
    assert [one for one in formatted_texts(ROOT, "metaeval", "queries") if verbless.match(one[1])] == []


def test_notes_on_what_is_exported_loaded_or_reached_are_sentences() -> None:
    """As in "a is excluded: its name ...", not "a excluded: ..." or "a: the same as b, loaded once"."""
    verbless = re.compile(
        r"\"excluded|\{(?!are\()[^{}]*\} excluded|, loaded once|\}: (?:the same|describes|too few|also|brought|not )"
        r"|\"not reached|'\)\} without"
    )
    rooms = ("warehouse/export", "warehouse/loading", "metaeval/studies/pairs", "metaeval/studies/significance")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    lines = [(path.name, line) for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert [one for one in lines if verbless.search(one[1])] == []


def test_all_of_one_or_two_things_is_written_by_one_function() -> None:
    found = [text for _, text in formatted_texts(ROOT) if re.search(r"\b[Aa]ll \{\} [a-z]", text)]
    assert sorted(found) == ["in all {} of its sets", "{} gives all {} the same score"]  # three sets or more; a noun


def test_the_least_and_the_greatest_are_printed_by_one_function() -> None:
    """That has one number if they are the same: never `2 to 2`."""
    written = re.compile(r"\{(?:min\(|[^{}]*\.min\(\))[^{}]*\} to \{")
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert [path.name for path in files if written.search(path.read_text(encoding="utf-8"))] == []
