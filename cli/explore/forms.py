"""Forms: a control for each field of a question, and the values they give."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import marimo as mo

from metaeval.questions.question import Question
from warehouse.fields import Field, fields_of

_MOST_NAMES = 2000  # of a list to choose from; beyond, names are typed


def form(question: type[Question[Any]], names: Mapping[str, Sequence[str]], given: Mapping[str, Any]) -> Any:
    """The controls of a question by field, in a marimo dictionary whose value is the controls' values.

    names: names in the warehouse, by kind (`Option.names`). given: values that replace the defaults.
    """
    fields = [one for one in fields_of(question).values() if one.element is not Path and not one.option.is_computing]
    return mo.ui.dictionary(
        {one.name: _control(one, names.get(one.option.names or "", ()), given.get(one.name)) for one in fields}
    )


def laid_out(question: type[Question[Any]], controls: Mapping[str, Any]) -> list[Any]:
    """Rows of controls: the question's own are shown, those that many questions share are folded by panel."""
    panels: dict[str, list[Any]] = {}
    for name, control in controls.items():
        panels.setdefault(fields_of(question)[name].option.panel, []).append(control)
    rows = {panel: mo.hstack(row, justify="start", align="end", wrap=True) for panel, row in panels.items()}
    in_sight = [rows.pop(panel) for panel in ("Arguments", "Options") if panel in rows]
    return [*in_sight, mo.accordion(rows, multiple=True)] if rows else in_sight


def values_given(question: type[Question[Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the controls, without those left at their defaults.

    Raises QuestionError: a value that does not fit its field.
    """
    known = fields_of(question)
    said = {name: _field_value(known[name], value) for name, value in values.items() if value not in (None, "", [])}
    unsaid = {name for name, value in said.items() if value is False and known[name].default is None}
    return {name: value for name, value in said.items() if name not in unsaid and value != known[name].default}


def _control(field: Field, names: Sequence[str], value: Any) -> Any:
    said, label = field.option, field.name.replace("_", " ")
    if value is None and field.default is not MISSING:
        value = field.default
    if field.element is bool:
        return mo.ui.checkbox(value=bool(value), label=label)
    offered = [str(one) for one in field.choices or names]
    chosen = [str(one) for one in (value if isinstance(value, tuple | list) else (value,)) if one not in (None, "")]
    if not offered or len(offered) > _MOST_NAMES or not set(chosen) <= {*offered, "all"}:
        text = " ".join(part for part in (said.help, field.limits) if part)
        return mo.ui.text(value=", ".join(chosen), placeholder=said.default or "", label=f"{label}: {text}")
    if field.is_list:
        return mo.ui.multiselect(offered, value=chosen, label=label)
    offered = [*(["all"] if "all" in chosen else []), *offered]
    return mo.ui.dropdown(offered, value=chosen[0] if chosen else None, label=label, searchable=True)


def _field_value(field: Field, value: Any) -> Any:
    if isinstance(value, str) and field.element in (int, float) and not field.is_list:
        return field.parsed(value.strip())
    if isinstance(value, str) and field.is_list:
        value = [field.parsed(one.strip()) for one in value.split(",") if one.strip()]
    return field.read(value)
