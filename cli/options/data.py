"""Options for the data to read and how to compute, for commands that are not questions."""

from typing import Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.exit_codes import UsageError
from cli.options.values import number


def pairs_called(text: "str | list[str] | None") -> "str | list[str] | None":
    """Language pairs, perhaps joined by commas, in the codes of the warehouse: `en-cmn` is `en-zh`.

    >>> pairs_called("en-cmn,en-de"), pairs_called(["eng-deu"]), pairs_called("all")
    ('en-zh,en-de', ['en-de'], 'all')
    """
    if text is None:
        return None
    if isinstance(text, str):
        from warehouse.facts import languages

        return languages.pairs_called(text)
    return [str(pairs_called(lp)) for lp in text]


Testset = Annotated[str, typer.Argument(help="Test set, such as wmt23.", autocompletion=complete_testset)]
Lp = Annotated[
    str, typer.Argument(help="Language pair, such as en-de.", autocompletion=complete_lp, callback=pairs_called)
]
OnlyTestset = Annotated[str | None, typer.Argument(help="Only this test set.", autocompletion=complete_testset)]
OnlyLp = Annotated[
    str | None, typer.Argument(help="Only this language pair.", autocompletion=complete_lp, callback=pairs_called)
]


def language_pair(text: str | None) -> str | None:
    """The value of `--lp`, as language pairs are written.

    Raises UsageError: it is not a language pair.
    """
    from warehouse.names import LanguagePair

    if text is None:
        return None
    try:
        return str(LanguagePair.parse(str(pairs_called(text))))
    except ValueError as error:
        raise UsageError(f"--lp: {error}") from error


FilesLp = Annotated[
    str | None,
    typer.Option(
        "--lp",
        help="Language pair of files that do not name one.",
        autocompletion=complete_lp,
        callback=language_pair,
    ),
]
AllowUnterminated = Annotated[
    bool, typer.Option("--allow-unterminated", help="Accept files whose last line has no newline.")
]
InclusiveEnds = Annotated[
    bool,
    typer.Option("--inclusive-ends", help="End offsets of error spans are inclusive."),
]
FirstSegment = Annotated[
    int, number(int, "--first-segment", least=0, most=1, help="Number of the first segment in tables.")
]
SkipBroken = Annotated[bool, typer.Option("--skip-broken", help="Load evaluation sets without their faulty files.")]
