"""Names of test sets, language pairs and metrics as people type them: in any case, joined by commas, "all"."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from metaeval.question import Question, fields_of
from metaeval.run import Run
from queries.evalsets import stored_name, stored_names
from warehouse import Warehouse
from warehouse.facts.languages import pairs_called
from warehouse.names import is_language_pair

Asked = TypeVar("Asked", bound=Question)


def as_stored(question: Asked, run: Run) -> Asked:
    """The question with the names that the warehouse has; lists of metrics lose their commas, and "all" is all.

    The warehouse is looked at where a name is typed otherwise than it can be stored.
    """
    values = {
        name: _language_pairs(value) if field.option.names == "lp" else value
        for name, field in fields_of(type(question)).items()
        if (value := getattr(question, name)) and field.option.names in ("testset", "lp", "metric")
    }
    fields = fields_of(type(question))
    kinds = {name: str(fields[name].option.names) for name in values}
    to_look_up = {name: values[name] for name in values if is_to_be_looked_up(values[name], kinds[name])}
    if to_look_up:
        with question.names_in(run) as warehouse:
            values |= spelt(warehouse, to_look_up, kinds)
    changed = {name: value for name, value in values.items() if value != getattr(question, name)}
    return replace(question, **changed) if changed else question


def _language_pairs(value: Any) -> Any:
    """Language pairs in the codes of the warehouse: `en-cmn` is `en-zh`."""
    if not isinstance(value, str):
        return tuple(_language_pairs(one) for one in value)
    return pairs_called(value)


def spelt(warehouse: Warehouse, values: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Names as a warehouse has them; kinds: of each what it names. Of metrics no name is left where all are meant."""
    stored = stored_names(warehouse)
    return {name: _spelt(value, kinds[name], stored[kinds[name]]) for name, value in values.items()}


def _spelt(value: Any, kind: str, known: Collection[str]) -> Any:
    if isinstance(value, str):
        return stored_name(value, known)
    if kind != "metric":
        return tuple(stored_name(one, known) for one in value)
    patterns = [one for part in value for one in ([part] if part in known else _parts(part))]
    return () if any(one.lower() == "all" for one in patterns) else tuple(dict.fromkeys(patterns))


def _parts(text: str) -> Sequence[str]:
    return [part.strip() for part in text.split(",") if part.strip()] or [text]


def is_to_be_looked_up(value: Any, kind: str) -> bool:
    """Whether a name may be typed otherwise than it is stored: a look at the warehouse takes time."""
    if kind == "metric":
        return not isinstance(value, str) and any("," in one or one.lower() == "all" for one in value)
    names = [part for one in ([value] if isinstance(value, str) else value) for part in one.split(",")]
    if kind == "lp":
        return any(part != "all" and not is_language_pair(part) for part in names)
    return any(part != part.lower() for part in names)
