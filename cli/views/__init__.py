"""How answers are shown: as they are, or by the module of this folder named after the question."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cli.options.output import Output
    from metaeval.results.answer import Answer


def view_of(name: str) -> "Callable[[Answer[Any], Output], None]":
    """The function that shows the answers of a question."""
    module = f"cli.views.{name}"
    if find_spec(module) is None:
        return lambda answer, output: output.show_answer(answer)
    found: Callable[[Answer[Any], Output], None] = import_module(module).show
    return found
