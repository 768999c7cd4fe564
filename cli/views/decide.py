"""Decisions: on a terminal the best threshold comes first."""

from typing import TYPE_CHECKING

from cli.options.output import Output

if TYPE_CHECKING:
    from metaeval.answer import Answer


def show(answer: "Answer", output: Output) -> None:
    """The rows, with each evaluation set's best threshold in front of them, where the view is about it."""
    n_best = len(answer.signature.splitlines()) if answer.question.shown in ("curve", "cost") else 0
    output.show_answer(answer, lead=answer.notes[:n_best])
