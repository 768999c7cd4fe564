"""Questions as functions that take an open warehouse, and as methods of one."""

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import MISSING
from functools import cache
from pathlib import Path
from typing import Any

from metaeval.answer import Answer
from metaeval.question import Field, Question, fields_of, made
from metaeval.questions import question_named
from metaeval.run import Run
from metaeval.spelling import as_stored
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown


@cache
def function(name: str) -> Callable[..., Answer]:
    """A question as a function; its signature and its documentation are those of the question's fields."""
    question = question_named(name)
    known, function_name = fields_of(question), name.replace("-", "_")
    parameters = sorted(map(_parameter, known.values()), key=lambda one: one.kind)
    parameters += [_CHARTED] if question.has_chart() else []
    signature = inspect.Signature([_WAREHOUSE, *parameters], return_annotation=Answer)

    def ask(*args: Any, **kwargs: Any) -> Answer:
        for one in kwargs:
            if one not in signature.parameters:
                raise unknown("option", one, signature.parameters, where=f"metaeval.{function_name}")
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise QuestionError(f"{name}: {error}") from None
        warehouse = given.pop("warehouse")
        if isinstance(warehouse, str | Path) and "folder" in known:
            return answered(question, {**given, "folder": warehouse}, Run(_nothing)).in_python
        if not isinstance(warehouse, Warehouse):
            raise QuestionError(f"warehouse {warehouse!r}: expected an open warehouse, Warehouse.open(path)")
        if warehouse.is_closed:
            raise QuestionError("the warehouse is closed")
        return answered(question, given, Run(lambda: nullcontext(warehouse))).in_python

    ask.__name__ = ask.__qualname__ = function_name
    ask.__module__ = "metaeval"
    ask.__doc__ = documentation(question)
    ask.__signature__ = signature  # type: ignore[attr-defined]
    return ask


def answered(question: type[Question], given: dict[str, Any], run: Run) -> Answer:
    """Ask a question with names in any case, as users type them.

    Raises QuestionError: an option that it does not have, values that do not fit, unknown names.
    """
    asked = made(question, given)
    return as_stored(asked, run).answer(run)


_WAREHOUSE = inspect.Parameter("warehouse", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Warehouse)


def _nothing() -> Warehouse:
    raise QuestionError("only the folder of an export is read; name test sets and language pairs as it has them")


_CHARTED = inspect.Parameter("charted", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool)


def _parameter(field: Field) -> inspect.Parameter:
    may_be_placed = field.is_argument or field.name in ("measure", "measures")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if may_be_placed else inspect.Parameter.KEYWORD_ONLY
    # behind a language pair that may be left out Python takes no parameter without a default
    first = inspect.Parameter.empty if field.name in ("testset", "before") else None
    default = first if field.default is MISSING else field.default
    return inspect.Parameter(field.name, kind, default=default, annotation=field.kind)


def documentation(question: type[Question]) -> str:
    """What a question's class says, and a line for each option."""
    lines = [f"    {name}: {field.option.help}" for name, field in fields_of(question).items()]
    return "\n".join([inspect.cleandoc(question.__doc__ or "").partition("\nExample:")[0], *lines])
