"""Options of which part of the data is computed on."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.completion import (
    complete_document,
    complete_domain,
    complete_human,
    complete_lp,
    complete_metric,
    complete_phenomenon,
    complete_reference,
    complete_system,
    complete_testset,
)
from cli.exit_codes import UsageError

if TYPE_CHECKING:
    from queries.selection import Slice


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
Testsets = Annotated[str, typer.Argument(help="Test sets, joined by commas.", autocompletion=complete_testset)]
Lps = Annotated[
    str, typer.Argument(help="Language pairs, joined by commas.", autocompletion=complete_lp, callback=pairs_called)
]
Human = Annotated[
    str | None,
    typer.Option(
        help="Human score; NAME:z for one standardised by annotator.",
        show_default="the official one",
        autocompletion=complete_human,
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        "--ref",
        "--reference",
        help="Reference that metrics used.",
        show_default="the official one",
        autocompletion=complete_reference,
    ),
]


@dataclass(frozen=True)
class DataFlags:
    """Which part of an evaluation set is included, for commands that read no metrics, or those that are named."""

    human: Human = None
    reference: Reference = None
    domain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...", help="Only this domain (shell pattern, repeatable).", autocompletion=complete_domain
        ),
    ] = None
    document: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...", help="Only this document (shell pattern, repeatable).", autocompletion=complete_document
        ),
    ] = None
    phenomenon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...",
            help="Only this phenomenon of a challenge set (shell pattern, repeatable).",
            autocompletion=complete_phenomenon,
        ),
    ] = None
    segments: Annotated[str | None, typer.Option(metavar="FIRST-LAST", help="Only segments FIRST to LAST.")] = None
    systems: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...", help="Only these systems (shell pattern, repeatable).", autocompletion=complete_system
        ),
    ] = None
    human_references: Annotated[
        bool | None,
        typer.Option(
            "--with-human-references/--without-human-references",
            help="Include extra human references as systems, or not.",
            show_default="as the organisers did",
        ),
    ] = None
    with_outliers: Annotated[bool, typer.Option("--with-outliers", help="Keep the organisers' outlier systems.")] = (
        False
    )
    mad_outliers: Annotated[
        bool,
        typer.Option("--mad-outliers", help="Exclude outlier systems by the MAD rule instead of the organisers' list."),
    ] = False
    intersection: Annotated[
        bool,
        typer.Option(
            "--intersection", help="Keep metrics with missing scores; use only segments that all of them scored."
        ),
    ] = False

    def slice(self, testset: str, lp: str) -> "Slice":
        """The slice that the flags ask for.

        Raises UsageError: flags that exclude each other, or segments in another form.
        """
        from queries.selection import Slice

        if self.with_outliers and self.mad_outliers:
            raise UsageError("--with-outliers and --mad-outliers exclude each other")
        return Slice(
            testset,
            lp,
            human=self.human,
            reference=self.reference,
            domains=_distinct(self.domain),
            documents=_distinct(self.document),
            phenomena=_distinct(self.phenomenon),
            segments=_span(self.segments),
            systems=_distinct(self.systems),
            human_references=self.human_references,
            outliers="none" if self.with_outliers else "mad" if self.mad_outliers else "organisers",
            intersection=self.intersection,
        )


@dataclass(frozen=True)
class SliceFlags(DataFlags):
    """Which part of an evaluation set is included, and which metrics."""

    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT...",
            help="Only these metrics (shell patterns, with commas or repeated); one named exactly is included whatever "
            "its status or reference.",
            autocompletion=complete_metric,
        ),
    ] = None
    reference_based: Annotated[bool, typer.Option("--reference-based", help="Only reference-based metrics.")] = False
    reference_free: Annotated[bool, typer.Option("--reference-free", help="Only reference-free metrics.")] = False
    primary: Annotated[bool, typer.Option("--primary", help="Only primary and baseline metrics.")] = False
    own: Annotated[bool, typer.Option("--own", help="Include metrics that users added.")] = False
    all_metrics: Annotated[
        bool,
        typer.Option("--all-metrics", help="Include metrics not submitted to the metrics task."),
    ] = False

    def slice(self, testset: str, lp: str) -> "Slice":
        """The slice that the flags ask for.

        Raises UsageError: flags that exclude each other, or segments in another form.
        """
        if self.reference_based and self.reference_free:
            raise UsageError("--reference-based and --reference-free exclude each other")
        if self.primary and self.all_metrics:
            raise UsageError("--primary and --all-metrics exclude each other")
        return replace(
            super().slice(testset, lp),
            metrics=_distinct(self.metrics),
            only="reference-based" if self.reference_based else "reference-free" if self.reference_free else None,
            primary=self.primary,
            own=self.own,
            all_metrics=self.all_metrics,
        )


def _distinct(names: list[str] | None) -> tuple[str, ...]:
    """The names, each once, so that one question has one signature."""
    return tuple(dict.fromkeys(names or ()))


def _span(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and int(first) >= 1):
        raise UsageError(f"--segments {text!r}: expected FIRST-LAST, such as 1-100")
    if int(first) > int(last):
        raise UsageError(f"--segments {text!r}: the first segment, {int(first)}, is after the last, {int(last)}")
    return int(first), int(last)


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
