"""The report: a page with all parts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.hints import in_flags
from cli.options.output import Output
from cli.render.output import is_file, write
from warehouse.wording import counted, first_names, without_lp

if TYPE_CHECKING:
    from cli.report.making import ReportSection
    from metaeval.results.answer import Answer

_FILE = Path("report.html")
_MOST_REASONS = 2
_LONGEST = 320  # characters of a reason


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
        output.note(f"wrote {_sections(answer.result)} to {target}, {n_bytes / 1e6:.1f} MB{_empty(answer.result)}")
    if n_bytes > MOST_BYTES:
        output.note(
            f"the page is larger than {MOST_BYTES / 1e6:.0f} MB; fewer --details, test sets or sections make it smaller"
        )


def _sections(sections: "Sequence[ReportSection]") -> str:
    n, n_shown = counted(len(sections), "section"), sum(not one.missing for one in sections)
    return n if n_shown == len(sections) else f"{n_shown} of {n}"


def _empty(sections: "Sequence[ReportSection]") -> str:
    """Which sections have no content and why, the most frequent reasons first."""
    titles: dict[str, list[str]] = {}
    for one in sections:
        if one.missing:
            reason, *others = one.reasons
            more = f", and {counted(len(others), 'more reason')}" if others else ""
            titles.setdefault(f"{reason}{more}", []).append(one.section.title)
    short = [one for one in titles.items() if len(one[0]) <= _LONGEST]
    said = sorted(short, key=lambda one: -len(one[1]))[:_MOST_REASONS]
    parts = [f"{first_names(names)} ({reason})" for reason, names in said]
    n = sum(map(len, titles.values())) - sum(len(names) for _, names in said)
    parts += [f"{counted(n, 'more section' if said else 'section')} (see the page)"] if n else []
    return in_flags(f"; without content: {'; '.join(parts)}") if parts else ""
