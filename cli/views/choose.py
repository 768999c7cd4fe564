"""Chosen segments, and a file with their texts."""

from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import render

if TYPE_CHECKING:
    from metaeval.answer import Answer


def show(answer: "Answer", output: Output) -> None:
    """The rows; texts go to the file that was named."""
    if answer.question.texts is not None:
        render(answer.found.texts, None, out=answer.question.texts, quiet=output.quiet)
    output.show_answer(answer)
