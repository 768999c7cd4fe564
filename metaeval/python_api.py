"""Questions as functions that take an open warehouse, and as methods of one, with names as users type them.

Light: commands that are no questions look names up by it.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from metaeval.questions import question_named
from metaeval.questions.question import Question, evalsets_named, question_with
from metaeval.results.run import Run
from metaeval.results.spelling import with_stored_names
from queries.listing import own_metrics
from warehouse import QuestionError, Warehouse
from warehouse.database.buckets import located
from warehouse.errors import unknown
from warehouse.fields import Field, fields_of, under_current_names

if TYPE_CHECKING:
    from metaeval.results.answer import Answer

AnyQuestion = TypeVar("AnyQuestion", bound=Question[Any])


def as_stored(question: AnyQuestion, run: Run, *, quick: bool = False) -> AnyQuestion:
    """The question with the names that the warehouse has; quick: see `with_stored_names`."""
    return with_stored_names(question, partial(question.names_in, run), quick=quick)


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
            with opening(path, partial(evalsets_named, question, given)) as opened:
                some = partial(opened_groups, opened) if is_by_set else None
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
    spelt = as_stored(asked, run, quick=True)
    try:
        found = spelt.answer(run).with_summary()
    except QuestionError:
        if (again := as_stored(asked, run)) == spelt:
            raise
        found = again.answer(run).with_summary()
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
