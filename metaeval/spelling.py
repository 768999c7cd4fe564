"""Names of test sets, language pairs and metrics as people type them: in any case, joined by commas, "all"."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from metaeval.question import Field, Question, fields_of
from metaeval.run import Run
from queries.evalsets import stored_name, stored_names
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
    to_look_up = {name for name, value in values.items() if _is_to_be_looked_up(value, fields[name])}
    if to_look_up:
        with run.opened() as warehouse:
            stored = stored_names(warehouse)
        values |= {name: _stored(values[name], fields[name], stored) for name in to_look_up}
    changed = {name: value for name, value in values.items() if value != getattr(question, name)}
    return replace(question, **changed) if changed else question


def _language_pairs(value: Any) -> Any:
    """Language pairs in the codes of the warehouse: `en-cmn` is `en-zh`."""
    if not isinstance(value, str):
        return tuple(_language_pairs(one) for one in value)
    return pairs_called(value)


def _stored(value: Any, field: Field, stored: dict[str, set[str]]) -> Any:
    known = stored[str(field.option.names)]
    if not field.is_list:
        return stored_name(value, known)
    if field.option.names != "metric":
        return tuple(stored_name(one, known) for one in value)
    patterns = [one for part in value for one in ([part] if part in known else _parts(part))]
    return () if any(one.lower() == "all" for one in patterns) else tuple(dict.fromkeys(patterns))


def _parts(text: str) -> Sequence[str]:
    return [part.strip() for part in text.split(",") if part.strip()] or [text]


def _is_to_be_looked_up(value: Any, field: Field) -> bool:
    """Whether a name may be typed otherwise than it is stored: a look at the warehouse takes time."""
    if field.option.names == "metric":
        return field.is_list and any("," in one or one.lower() == "all" for one in value)
    names = [part for one in ([value] if isinstance(value, str) else value) for part in one.split(",")]
    if field.option.names == "lp":
        return any(part != "all" and not is_language_pair(part) for part in names)
    return any(part != part.lower() for part in names)
