"""Chosen segments, and a file with their texts."""

from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import render

if TYPE_CHECKING:
    from metaeval.results.answer import Answer, Result


def show(answer: "Answer[Result]", output: Output) -> None:
    """The rows; texts go to the file that was named."""
    from metaeval.questions.sample import Sample

    asked = answer.question
    assert isinstance(asked, Sample)
    if asked.texts is not None and not asked.evaluate:
        render(answer.result.facts["texts"], None, out=asked.texts, quiet=output.quiet)
    output.show_answer(answer)
