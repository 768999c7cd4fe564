"""Values that no option can take: one line that names the option, and at once."""

import inspect
import re
import shlex
from dataclasses import MISSING
from typing import get_args

from cli.main import COMMANDS
from metaeval.questions import QUESTIONS, question_named
from tests.cli.running import Scorehouse, refused
from tests.cli.words import SLICE, WORDS
from tests.helpers import together
from warehouse.fields import Field, fields_of


def test_every_command_has_words() -> None:
    assert set(WORDS) == set(COMMANDS)


@together("command", COMMANDS)
def test_every_number_is_read_as_a_field_of_a_question_is(command: str) -> None:
    known = fields_of(question_named(command)) if command in QUESTIONS else {}
    for name, parameter in inspect.signature(COMMANDS[command]).parameters.items():
        hint, *more = *get_args(parameter.annotation), None
        if name.removesuffix("_by_flag") not in known and {int, float} & {hint, *get_args(hint)}:
            (parser,) = (one.parser for one in more if hasattr(one, "parser"))
            assert isinstance(parser.__self__, Field), name


@together(
    ("words", "line"),
    [
        (("segments", *SLICE, "-nnan"), "-n 'nan': expected a whole number from 1 on"),
        (("rank", *SLICE, "--alpha=0,05"), "--alpha '0,05': expected a finite number from 0 to 1; did you mean 0.05?"),
        (("rank", *SLICE, "--alpha=5"), "--alpha 5.0: expected a finite number from 0 to 1; did you mean 0.05?"),
        (("rank", *SLICE, "--alpha=5%"), "--alpha '5%': expected a finite number from 0 to 1; did you mean 0.05?"),
        (("rank", *SLICE, "--alpha=1.5"), "--alpha 1.5: expected a finite number from 0 to 1"),
        (
            ("rank", *SLICE, "--alpha=0,050"),
            "--alpha '0,050': expected a finite number from 0 to 1; did you mean 0.05?",
        ),
        (
            ("deltas", *SLICE, "M", "--difference=1,000,000"),
            "--difference '1,000,000': expected a finite number from 0 on; did you mean 1000000?",
        ),
        (("rank", *SLICE, "--alpha=-5"), "--alpha -5.0: expected a finite number from 0 to 1"),
        (
            ("deltas", *SLICE, "M", "--difference=2,5"),
            "--difference '2,5': expected a finite number from 0 on; did you mean 2.5?",
        ),
        (
            ("rank", *SLICE, "--resamples=10,000"),
            "--resamples '10,000': expected a whole number from 1 to 1,000,000; did you mean 10000?",
        ),
        (("rank", *SLICE, "--alpha=nan"), "--alpha nan: expected a finite number from 0 to 1"),
        (("sql", "SELECT 1", "--timeout=-inf"), "--timeout -inf: expected a finite number from 0.001 to 1,000,000"),
        (("rank", *SLICE, "--resamples", ""), "--resamples '': expected a value, not an empty text"),
        (("rank", *SLICE, "--metrics", ""), "--metrics '': expected a value, not an empty text"),
        (("--db", "", "list", "testsets"), "--db '': expected a value, not an empty text"),
        (("sql", "SELECT $a", "-p", ""), "-p '': expected NAME VALUE"),
        (
            ("cutoff",),
            "cutoff needs TESTSET, such as `scorehouse cutoff wmt23 en-de BLEU` (see `scorehouse cutoff --help`)",
        ),
        (
            ("cutoff", "wmt24", "en-de"),
            "cutoff needs METRIC, such as `scorehouse cutoff wmt24 en-de BLEU` (see `scorehouse cutoff --help`)",
        ),
        (("rank", *SLICE, "--resamples"), "--resamples: expected a value (see `scorehouse rank --help`)"),
    ],
)
def test_a_value_that_is_none_is_refused(words: tuple[str, ...], line: str, scorehouse: Scorehouse) -> None:
    assert refused(scorehouse(*words), 2) == f"error: {line}"


@together("n", ["1000001", "1" + 30 * "0"])
def test_the_signs_of_spa_have_a_limit(n: str, scorehouse: Scorehouse) -> None:
    line = refused(scorehouse("rank", *SLICE, "-m", f"spa(n={n})"), 2)
    expected = "a whole number of at most 1,000,000, inf, or saddlepoint"
    assert line == f"error: measure 'spa(n={n})': found n={n}, expected {expected}"


@together("word", ["nan", "0", "-1", "1.5", "one", "\u00b2"])
def test_a_segment_is_a_number(word: str, scorehouse: Scorehouse) -> None:
    line = refused(scorehouse("show", *SLICE, "--", word), 2)
    assert line.endswith(": expected a whole number from 1 on")


@together("command", sorted(set(COMMANDS) & set(QUESTIONS)))
def test_a_missing_argument_has_an_example_that_has_them_all(command: str, scorehouse: Scorehouse) -> None:
    if not any(one.is_argument and one.default is MISSING for one in fields_of(question_named(command)).values()):
        return
    line = refused(scorehouse(command), 2)
    (example,) = re.findall(r"such as `(.+?)`", line)
    assert " needs " not in scorehouse(*example.split()[1:]).err


@together(
    ("words", "example"),
    [
        ("cutoff COMET", "cutoff wmt23 en-de BLEU"),  # COMET is no test set
        ("show wmt23", "show wmt23 en-de 1"),  # which needs a language pair
        ("cutoff wmt24 en-de", "cutoff wmt24 en-de BLEU"),
        ("show 'my set' en-de", "show 'my set' en-de 1"),
    ],
)
def test_an_example_keeps_a_test_set_with_its_language_pair(words: str, example: str, scorehouse: Scorehouse) -> None:
    assert f"such as `scorehouse {example}`" in refused(scorehouse(*shlex.split(words)), 2)
