"""Chosen segments, and a file with their texts."""

from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render import render

if TYPE_CHECKING:
    from metaeval.answer import Answer
    from metaeval.choosing.choice import Choice
    from metaeval.choosing.replay import Replay


def show(answer: "Answer[Choice | Replay]", output: Output) -> None:
    """The rows; texts go to the file that was named."""
    from metaeval.choosing.choice import Choice
    from metaeval.questions.sample import Sample

    asked = answer.question
    assert isinstance(asked, Sample)
    if asked.texts is not None and isinstance(answer.result, Choice):
        render(answer.result.texts, None, out=asked.texts, quiet=output.quiet)
    output.show_answer(answer)
