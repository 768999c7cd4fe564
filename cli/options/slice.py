"""Test sets and language pairs of commands that compute nothing."""

from typing import Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.exit_codes import UsageError


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
    """What `--lp` says, as language pairs are written.

    Raises UsageError: it is none.
    """
    from warehouse.names import LanguagePair

    if text is None:
        return None
    try:
        return str(LanguagePair.parse(text))
    except ValueError as error:
        raise UsageError(f"--lp: {error}") from error
