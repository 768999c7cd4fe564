"""Outputs to read, one below the other, or groups of them."""

from dataclasses import replace
from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import DIGITS

if TYPE_CHECKING:
    from metaeval.results.answer import Answer, Result


def show(answer: "Answer[Result]", output: Output) -> None:
    """Blocks of lines for reading, else the rows."""
    from cli.render.outputs import for_reading, groups_for_reading, outputs_page
    from metaeval.questions.segments import Segments

    asked = answer.question
    assert isinstance(asked, Segments)
    if not output.is_for_reading or answer.frame.is_empty():
        output.show_answer(answer)
    elif asked.by is not None:
        output.show_answer(replace(answer, reading=groups_for_reading(answer.frame)))
    else:
        whole, errors_of = output.every_row, answer.facts.get("errors_of")
        page = outputs_page(answer.frame, DIGITS, output.width, every_row=whole, errors_of=errors_of)
        output.show_answer(replace(answer, reading=for_reading(answer.frame)), page=page)
