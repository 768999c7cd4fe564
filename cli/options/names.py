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

    Lists of metrics lose their commas; "all" among them is none, which is all. See `metaeval.doors`.
    """
    from metaeval.doors import is_to_be_looked_up, spelt
    from warehouse import Warehouse

    typed = {name: value for name in kinds if (value := values.get(name)) and is_to_be_looked_up(value, kinds[name])}
    if not typed or not database.exists():
        return {}
    with Warehouse.open(database) as warehouse:
        return spelt(warehouse, typed, kinds)
