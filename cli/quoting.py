"""Completions, quoted as each shell needs it: a name in a warehouse stays one word and is never run."""

import os
import re
from typing import Any

import typer.completion

_PLAIN = re.compile(r"[\w@%+=:,./-]+")  # what every shell reads as it is written, at least behind a first letter
_SEPARATOR = ":::"  # of the script for PowerShell


class _Offers:
    """Base of Typer's class for a shell; fish quotes the text that it inserts."""

    def get_completions(self, args: list[str], incomplete: str) -> list[Any]:
        """The completions, without names that would be options or contain a line break or an invisible character."""
        found: list[Any] = super().get_completions(args, incomplete)  # type: ignore[misc]
        are_options = incomplete.startswith("-")
        return [one for one in found if one.value.isprintable() and (are_options or not one.value.startswith("-"))]


class _Bash(_Offers):
    def get_completions(self, args: list[str], incomplete: str) -> list[Any]:
        """After a quote, only names that need none: bash does not say whether the quote is still open at the cursor."""
        found = super().get_completions(args, incomplete)
        words = os.environ["COMP_WORDS"].split("\n")[int(os.environ["COMP_CWORD"]) :]
        is_quoted = any(quote in word for word in words for quote in "'\"")
        return [one for one in found if not is_quoted or _PLAIN.fullmatch(one.value)]

    def format_completion(self, item: Any) -> str:
        return in_bash(item.value)


class _Zsh(_Offers):
    def format_completion(self, item: Any) -> str:
        return in_zsh(item.value, item.help)


class _PowerShell(_Offers):
    def get_completions(self, args: list[str], incomplete: str) -> list[Any]:
        return [one for one in super().get_completions(args, incomplete) if _SEPARATOR not in one.value]

    def format_completion(self, item: Any) -> str:
        return f"{in_powershell(item.value)}{_SEPARATOR}{item.help or ' '}"


_SHELLS = {"bash": _Bash, "zsh": _Zsh, "fish": _Offers, "powershell": _PowerShell, "pwsh": _PowerShell}


def quote_offers() -> None:
    """Quote completions in every shell, until Typer makes another program."""
    shells: Any = typer.completion.shell_completion  # type: ignore[attr-defined]
    for name, ours in _SHELLS.items():
        shells.add_completion_class(type(ours.__name__, (ours, shells.get_completion_class(name)), {}), name)


def in_bash(name: str) -> str:
    """A name as a word of bash.

    The script expands it as a pattern of file names, so no *, ? or [ may stand alone. Older versions of bash remove the
    backslashes if a file has that name, so quotes protect all other characters.

    >>> print(in_bash("COMET-22"), in_bash("a $(b)"), in_bash("m[x]"), in_bash("it's"))
    COMET-22 'a $(b)' m\\[x\\] it"'"s
    """
    return "".join(map(_bash_part, re.split(r"([*?\[\]'])", name)))


def _bash_part(text: str) -> str:
    if text == "'":
        return '"\'"'
    if text and text in "*?[]":
        return f"\\{text}"
    return text if not text or _PLAIN.fullmatch(text) else f"'{text}'"


def in_zsh(name: str, explained: str | None = None) -> str:
    """A name for _arguments, which reads it as the words of an array, and each word as a name and a text after a colon.

    >>> print(in_zsh("COMET-22"), in_zsh("a $(b)"), in_zsh("it's"), in_zsh("x:y", "an x"))
    COMET-22 a\\ \\$\\(b\\) it\\'\\''s x\\\\\\:y:an\\ x
    """
    parts = [re.sub(r"[\\:]", r"\\\g<0>", name), *([explained] if explained else [])]
    words = (re.sub(r"[^\w./-]", r"\\\g<0>", one) for one in parts)
    return ":".join(words).replace("'", "'\\''")  # all of it stands between apostrophes


def in_powershell(name: str) -> str:
    """A name as a word of PowerShell, which treats typographic apostrophes as apostrophes.

    >>> print(in_powershell("COMET-22"), in_powershell("a $(b)"), in_powershell("it’s"))
    COMET-22 'a $(b)' 'it’’s'
    """
    if _PLAIN.fullmatch(name) and name[0] not in "@%":
        return name
    return "'" + re.sub("['‘’‚‛]", r"\g<0>\g<0>", name) + "'"
