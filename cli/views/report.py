"""The report: a page with all parts."""

from pathlib import Path
from typing import TYPE_CHECKING

from cli.options.output import Output
from cli.render.output import is_file, write
from warehouse.wording import counted, without_lp

if TYPE_CHECKING:
    from cli.report.making import ReportSection
    from metaeval.results.answer import Answer

_FILE = Path("report.html")


def show(answer: "Answer[list[ReportSection]]", output: Output) -> None:
    """Write the page, and say how large it is."""
    from cli.report.page import MOST_BYTES, page
    from cli.report.question import Report

    target, asked = output.output or _FILE, answer.question
    assert isinstance(asked, Report)
    what = "all test sets" if asked.testset == "all" else asked.testset.replace(",", ", ")
    title = f"Meta-evaluation of metrics: {what}"
    text = without_lp(page(answer.result, title, static=asked.static, safe_cells=output.safe_cells))
    write(text, target)
    for note in answer.notes:
        output.note(note)
    n_bytes = len(text.encode("utf-8", "backslashreplace"))
    if is_file(target):
        output.note(f"wrote {counted(len(answer.result), 'section')} to {target}, {n_bytes / 1e6:.1f} MB")
    if n_bytes > MOST_BYTES:
        output.note(
            f"the page is larger than {MOST_BYTES / 1e6:.0f} MB; fewer --details, test sets or sections make it smaller"
        )
