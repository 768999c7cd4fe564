"""The page of papers: `python -m docs.papers WAREHOUSE` computes every item and writes `docs/papers.md`.

It needs the real scores, so it is not part of `docs.generate`; a test compares what needs none: items, and how many
values are printed of each.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from docs.generate import ROOT
from docs.tables import table
from metaeval.studies.papers import PAPERS
from metaeval.studies.papers.items import VERDICTS, Request
from metaeval.studies.papers.running import Outcome, loaded, run
from warehouse import Warehouse

PAGE = ROOT / "docs/papers.md"
COUNTED = ("met", "noise", "explained", "differs", "not_loaded")
HEAD = """# Papers, recomputed

Can published results be reproduced? `scorehouse paper all --check` recomputes the tables and figures of nine papers
from the real scores and compares each value with the printed one. Some examples need no scores:

```console
$ scorehouse paper deutsch-2023 figure-2
```

`python -m docs.papers WAREHOUSE` and then `python -m docs.generate` write this page.

- reproduced: equal to the printed digits; noise: resampled, and within three standard errors of the difference between
  runs; explained: different, with a documented reason; not loaded: the inputs are not among the real scores used here.
- Items without printed values are figures without printed numbers, or analyses of text; `scorehouse paper NAME ITEM`
  computes them, `--format csv` gives their values, and `--chart` draws figures.
- Every item that uses scores also runs on other data: `--testset`, `--lp`, `--human`.
- Figure 1 of deutsch-2023 uses vectors simulated from the paper's description, because the paper does not print its
  own.

"""


def page(outcomes: Sequence[Outcome]) -> str:
    """The page, from the outcomes of all items."""
    parts = [
        HEAD,
        "## Reproduced values\n\n",
        _summary(outcomes),
        "\n## Differences and their reasons\n\n",
        _explained(outcomes),
    ]
    return "".join([*parts, "\n## Missing inputs\n\n", _missing(outcomes)])


def _summary(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for one in outcomes:
        compared = [row for row in one.rows if row.printed is not None]
        counts = [str(sum(row.verdict == name for row in compared) or "") for name in COUNTED]
        rows.append([one.paper.name, f"`{one.item.name}`", one.item.title, str(len(compared)), *counts])
    totals = [str(sum(one.count(name) for one in outcomes)) for name in COUNTED]  # type: ignore[arg-type]
    n_printed = sum(row.printed is not None for one in outcomes for row in one.rows)
    rows.append(["all", "", "", str(n_printed), *totals])
    return table(
        ["paper", "item", "", "printed", "reproduced", *(name.replace("_", " ") for name in COUNTED[1:])], rows
    )


def _explained(outcomes: Sequence[Outcome]) -> str:
    """Reasons, each once with its values."""
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for one in outcomes:
        for row in one.rows:
            if row.verdict in ("explained", "differs") and row.printed is not None and row.cell.value is not None:
                shown = f"{row.cell.row} {row.cell.value:.4g} ({row.printed.value:g})"
                place = (one.paper.name, one.item.name, row.printed.reason or VERDICTS["differs"])
                reasons.setdefault(place, []).append(shown)
    rows = [[paper, f"`{item}`", reason, "; ".join(values)] for (paper, item, reason), values in reasons.items()]
    return table(["paper", "item", "reason", "ours (printed)"], rows)


def _missing(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for one in outcomes:
        reasons: dict[str, int] = {}
        for row in one.rows:
            if row.verdict == "not_loaded" and row.printed is not None:
                reason = row.note.partition("; ")[2]
                reasons[reason] = reasons.get(reason, 0) + 1
        rows += [[one.paper.name, f"`{one.item.name}`", reason, str(n)] for reason, n in reasons.items()]
    return table(["paper", "item", "missing", "printed values"], rows)


def main(database: Path) -> None:
    """Compute every item on a warehouse, keep what takes long in it, and write the page."""
    request = Request(lambda: Warehouse.open(database), database=database)
    states = loaded(request)
    outcomes = [run(request, paper, item, states=states) for paper in PAPERS.values() for item in paper.items]
    PAGE.write_text(page(outcomes), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
