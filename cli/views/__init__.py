"""How answers are shown: as they are, or by a module of this folder that has the question's name."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from cli.options.output import Output
    from metaeval.answer import Answer


class View(Protocol):
    """Shows answers of a question. has_chart: whether it draws them, too."""

    has_chart: bool

    def show(self, answer: "Answer", output: "Output") -> None: ...

    def chart(self, answer: "Answer") -> Any: ...


class Plain:
    """An answer is shown as it is."""

    def __init__(self, module: Any = None) -> None:
        self._module = module
        self.has_chart = hasattr(module, "chart")

    def show(self, answer: "Answer", output: "Output") -> None:
        if hasattr(self._module, "show"):
            self._module.show(answer, output)
        else:
            output.show_answer(answer)

    def chart(self, answer: "Answer") -> Any:
        return self._module.chart(answer)


def view_of(name: str) -> View:
    """The view of a question."""
    module = f"cli.views.{name.replace('-', '_')}"
    return Plain(import_module(module) if find_spec(module) else None)
