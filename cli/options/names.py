"""Names of test sets, language pairs and metrics as people type them: in any case, joined by commas, "all"."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli.completion import complete_lp, complete_metric, complete_testset

_KINDS: Mapping[Callable[..., Any], str] = {complete_testset: "testset", complete_lp: "lp", complete_metric: "metric"}


def kind_of(annotation: Any) -> str | None:
    """Whether a parameter of a command names test sets, language pairs or metrics of the warehouse."""
    options = getattr(annotation, "__metadata__", ())
    return next((_KINDS[one.autocompletion] for one in options if getattr(one, "autocompletion", None) in _KINDS), None)


def as_stored(values: Mapping[str, Any], kinds: Mapping[str, str], database: Path) -> dict[str, Any]:
    """Those values of parameters that are typed otherwise than the warehouse has the names; kinds: by parameter.

    Lists of metrics lose their commas; "all" among them is none, which is all.
    """
    typed = {
        name: value for name, kind in kinds.items() if (value := values.get(name)) and _is_to_be_looked_up(value, kind)
    }
    if not typed or not database.exists():
        return {}
    from queries.evalsets import stored_name, stored_names
    from warehouse import Warehouse

    with Warehouse.open(database) as warehouse:
        stored = stored_names(warehouse)
    changed: dict[str, Any] = {}
    for name, value in typed.items():
        known = stored[kinds[name]]
        if kinds[name] == "metric":
            patterns = [one for part in value for one in ([part] if part in known else _parts(part))]
            changed[name] = None if any(one.lower() == "all" for one in patterns) else patterns
        elif isinstance(value, list):
            changed[name] = [stored_name(one, known) for one in value]
        else:
            changed[name] = stored_name(value, known)
    return changed


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] or [text]


def _is_to_be_looked_up(value: Any, kind: str) -> bool:
    """Whether a name may be typed otherwise than it is stored: a look at the warehouse takes time."""
    from warehouse.names import is_language_pair

    if kind == "metric":
        return isinstance(value, list) and any("," in one or one.lower() == "all" for one in value)
    names = [part for one in (value if isinstance(value, list) else [value]) for part in str(one).split(",")]
    if kind == "lp":
        return any(part != "all" and not is_language_pair(part) for part in names)
    return any(part != part.lower() for part in names)
