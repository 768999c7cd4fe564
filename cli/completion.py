"""Names that the shell offers while a command is typed: quick, and silent if there is no warehouse to ask."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from queries.listing import NameKind


def _completion(kind: "NameKind") -> Callable[[typer.Context, str], list[str]]:
    """Offers names of a kind."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        return _names(kind, context, incomplete)

    return complete


complete_testset, complete_lp, complete_metric = _completion("testset"), _completion("lp"), _completion("metric")


def complete_measure(incomplete: str) -> list[str]:
    from metaeval.measures.registry import DEFINITIONS

    return sorted({one.name for one in DEFINITIONS.values() if one.name.startswith(incomplete)})


def complete_protocol(incomplete: str) -> list[str]:
    from metaeval.studies.protocols import protocols
    from metaeval.studies.protocols.composed import weights

    return [name for name in (*protocols(), *weights()) if name.startswith(incomplete)]


def complete_query(context: typer.Context, incomplete: str) -> list[str]:
    """Names of examples after --example; queries cannot be completed."""
    from queries.cookbook import recipes

    return [name for name in recipes() if name.startswith(incomplete)] if context.params.get("example") else []


def completion_of(names: str | None, choices: Sequence[str]) -> "Callable[..., list[str]] | None":
    """The completion function of a field. names: the kind of name in the warehouse. choices: those of a closed set."""
    if choices:
        return lambda incomplete: [one for one in choices if one.startswith(incomplete)]
    return None if names is None else _BY_NAME[names]


_BY_NAME: dict[str, Callable[..., list[str]]] = {
    "testset": complete_testset,
    "lp": complete_lp,
    "metric": complete_metric,
    "scorer": complete_metric,
    "measure": complete_measure,
    "protocol": complete_protocol,
}
_OTHERS: "tuple[NameKind, ...]" = ("human", "system", "domain", "document", "phenomenon", "reference")
_BY_NAME |= {kind: _completion(kind) for kind in _OTHERS}


def _names(kind: "NameKind", context: typer.Context, incomplete: str) -> list[str]:
    """Names from the evaluation sets in the words before; from all, if these name none.

    After a comma, another name is offered. Whatever goes wrong, the shell's prompt stays as it is.
    """
    from queries.listing import names
    from warehouse import Warehouse

    before, comma, last = incomplete.rpartition(",")
    given = _typed_values(context)
    testsets = _several(given.get("testset") or given.get("on"))
    lps = [] if kind in ("testset", "lp") else _several(given.get("lp"))
    try:
        with Warehouse.open(_database(context)) as warehouse:
            found = names(warehouse, kind, [] if kind == "testset" else testsets, lps)
    except Exception:
        return []
    return [f"{before}{comma}{name}" for name in found if name.startswith(last)]


def _typed_values(context: typer.Context) -> dict[str, Any]:
    """Arguments and options before the incomplete word. If that is an option's value, arguments come unnamed."""
    arguments = [parameter.name for parameter in context.command.params if parameter.param_type_name == "argument"]
    unnamed = {name: word for name, word in zip(arguments, context.args, strict=False) if name is not None}
    return unnamed | {name: value for name, value in context.params.items() if value is not None}


def _several(value: Any) -> list[str]:
    """Names as options and arguments give them: one, several joined by commas, or a list of these; "all" gives none."""
    texts = [value] if isinstance(value, str) else list(value or ())
    return [name for text in texts for name in text.split(",") if name and name != "all"]


def _database(context: typer.Context) -> str | None:
    """The warehouse named by the words before, on either side of the command, or by the environment."""
    named = context.params.get("db") or (context.parent.params.get("db") if context.parent else None)
    return str(named) if named else os.environ.get("SCOREHOUSE_DB") or None
