"""Questions as functions that take an open warehouse, and as methods of one, with names as users type them.

Light: commands that are no questions look names up by it.
"""

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from metaeval.questions import question_named
from metaeval.questions.question import Question, evalsets_named, question_with
from metaeval.results.run import Run
from queries.evalsets import is_year, stored_name, stored_names, stored_score, stored_testset
from queries.listing import own_metrics
from warehouse import QuestionError, Warehouse
from warehouse.database.buckets import located
from warehouse.errors import unknown
from warehouse.facts.languages import pairs_called
from warehouse.fields import Field, fields_of, under_current_names
from warehouse.names import is_language_pair

if TYPE_CHECKING:
    from metaeval.results.answer import Answer

AnyQuestion = TypeVar("AnyQuestion", bound=Question[Any])


def as_stored(question: AnyQuestion, run: Run) -> AnyQuestion:
    """The question with the names that the warehouse has; lists of metrics lose their commas, and "all" is all.

    The warehouse is read only if a name is typed differently from any stored form.
    """
    values = {
        name: _language_pairs(value) if field.option.names == "lp" else value
        for name, field in fields_of(type(question)).items()
        if (value := getattr(question, name)) and field.option.names in _SPELT
    }
    fields = fields_of(type(question))
    kinds = {name: str(fields[name].option.names) for name in values}
    to_look_up = {name: values[name] for name in values if is_to_be_looked_up(values[name], kinds[name])}
    if to_look_up:
        with question.names_in(run) as warehouse:
            values |= spelt(warehouse, to_look_up, kinds)
    changed = {name: value for name, value in values.items() if value != getattr(question, name)}
    return replace(question, **changed) if changed else question


_SPELT = ("testset", "lp", "metric", "system", "human")


def _language_pairs(value: Any) -> Any:
    """Language pairs in the codes of the warehouse: `en-cmn` is `en-zh`."""
    if not isinstance(value, str):
        return tuple(_language_pairs(one) for one in value)
    return pairs_called(value)


def spelt(warehouse: Warehouse, values: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Names as a warehouse has them. kinds: what each of them names. No metric name is left if all are meant."""
    stored = stored_names(warehouse)
    found = {name: _spelt(value, kinds[name], stored[kinds[name]]) for name, value in values.items()}
    for name, value in found.items():
        if isinstance(value, str) and kinds[name] == "metric" and value not in stored["metric"]:
            found[name] = stored_score(value, stored["system"])  # some arguments name a metric or a system
    return found


def _spelt(value: Any, kind: str, known: Collection[str]) -> Any:
    if kind in ("system", "human"):
        names = tuple(stored_score(one, known) for one in ([value] if isinstance(value, str) else value))
        return names[0] if isinstance(value, str) else names
    look_up = stored_testset if kind == "testset" else stored_name
    if isinstance(value, str):
        return look_up(value, known)
    if kind != "metric":
        return tuple(look_up(one, known) for one in value)
    parts = [one for part in value for one in ([part] if part in known else _parts(part))]
    patterns = [stored_name(one, known) for one in parts]
    return () if any(one.lower() == "all" for one in patterns) else tuple(dict.fromkeys(patterns))


def _parts(text: str) -> Sequence[str]:
    return [part.strip() for part in text.split(",") if part.strip()] or [text]


def is_to_be_looked_up(value: Any, kind: str) -> bool:
    """Whether a name may be typed differently from the stored one: reading the warehouse takes time."""
    if kind == "metric":
        several = () if isinstance(value, str) else value
        return any("," in one or one.lower() == "all" for one in several) or any(
            one.islower() and not re.search(r"[*?\[]", one) for one in several or [value]
        )
    if kind in ("system", "human"):  # exact names, in any case
        return True
    names = [part for one in ([value] if isinstance(value, str) else value) for part in one.split(",")]
    if kind == "lp":
        return any(part != "all" and not is_language_pair(part) for part in names)
    return any(part != part.lower() or is_year(part) for part in names)


@cache
def function(name: str) -> "Callable[..., Answer[Any]]":
    """A question as a function; its signature and its documentation are those of the question's fields."""
    from metaeval.results.answer import Answer
    from queries.opening import opened_groups, opening

    question = question_named(name)
    known = fields_of(question)
    parameters = sorted(map(_parameter, known.values()), key=lambda one: one.kind)
    parameters += [_CHARTED] if question.has_chart() else []
    signature = inspect.Signature([_WAREHOUSE, *parameters], return_annotation=Answer)

    def ask(*args: Any, **kwargs: Any) -> "Answer[Any]":
        kwargs = under_current_names(question, kwargs)
        for one in kwargs:
            if one not in signature.parameters:
                raise unknown("option", one, signature.parameters, where=f"metaeval.{name}")
        try:
            given = signature.bind(
                *_gathered(args, [known.get(one) for one in signature.parameters]), **kwargs
            ).arguments
        except TypeError as error:
            raise QuestionError(f"{name}: {error}") from None
        warehouse = given.pop("warehouse")
        if isinstance(warehouse, str | Path):
            path = located(warehouse)
            is_by_set = path.is_dir() and not question_with(question, given).reads_others
            some = partial(opened_groups, path) if is_by_set else None
            with opening(path, partial(evalsets_named, question, given)) as opened:
                return answered(question, given, Run(opened, opened_groups=some)).in_python
        if not isinstance(warehouse, Warehouse):
            raise QuestionError(f"warehouse {warehouse!r}: expected an open warehouse, Warehouse.open(path), or a path")
        if warehouse.is_closed:
            raise QuestionError("the warehouse is closed")
        return answered(question, given, Run(lambda: nullcontext(warehouse))).in_python

    ask.__name__ = ask.__qualname__ = name
    ask.__module__ = "metaeval"
    ask.__doc__ = documentation(question)
    ask.__signature__ = signature  # type: ignore[attr-defined]
    return ask


def _gathered(args: tuple[Any, ...], taken: Sequence[Field | None]) -> tuple[Any, ...]:
    """Positional arguments, with the names that follow the first of a list joined to it, such as two metrics."""
    for place, field in enumerate(taken[: len(args) - 1]):
        if field is not None and field.is_argument and field.is_list and isinstance(args[place], str):
            return args if args[place].lower() == "all" else (*args[:place], args[place:])
    return args


def answered(question: type[Question[Any]], given: dict[str, Any], run: Run) -> "Answer[Any]":
    """Ask a question with names in any case, as users type them.

    Raises QuestionError: an option that it does not have, values that do not fit, unknown names.
    """
    asked = question_with(question, given)
    found = as_stored(asked, run).answer(run).with_summary()
    if found.own or not (asked.charted or getattr(asked, "user_metrics", False) or getattr(asked, "metrics", ())):
        return found
    with run.opened() as warehouse:
        return replace(found, own=own_metrics(warehouse))


_WAREHOUSE = inspect.Parameter("warehouse", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Warehouse)


_CHARTED = inspect.Parameter("charted", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)


def _parameter(field: Field) -> inspect.Parameter:
    may_be_placed = field.is_argument or field.name in ("measure", "measures")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if may_be_placed else inspect.Parameter.KEYWORD_ONLY
    # behind a language pair that may be left out Python takes no parameter without a default
    first = inspect.Parameter.empty if field.name in ("testset", "before") else None
    default = first if field.default is MISSING else field.default
    return inspect.Parameter(field.name, kind, default=default, annotation=field.kind)


def documentation(question: type[Question[Any]]) -> str:
    """The documentation of a question's class, with its options as keywords, and a line for each option."""
    fields = fields_of(question)
    lines = [f"    {name}: {field.option.help}" for name, field in fields.items()]
    keywords = {flag: name for name, field in fields.items() for flag in field.option.flags}
    text = inspect.cleandoc(question.__doc__ or "").partition("\nExample:")[0]
    text = re.sub(
        r"`--([a-z-]+)(?: ([^`]*))?`",
        lambda found: keywords.get(found[1], found[1].replace("-", "_")) + (f"={found[2]!r}" if found[2] else ""),
        text,
    )
    return "\n".join([text, *lines])
