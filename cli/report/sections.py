"""The sections of a report: their questions, the data of each, and the text above its answers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple


class Ask(NamedTuple):
    """A question with its fields. title: above its table; "": the chart alone. is_charted: the answer is drawn.

    is_whole: the table has all rows, even if fewer are for reading; valued: only rows with a value in this column;
    without: columns that are omitted.
    """

    question: str
    fields: Mapping[str, Any] = {}
    title: str = ""
    is_charted: bool = True
    is_whole: bool = False
    valued: str = ""
    without: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The label that distinguishes it from others in its part."""
        return str(self.fields.get("measure") or self.fields.get("metric") or "")


class Section(NamedTuple):
    """name: as `--section` takes it. about: what it shows. each: the unit that has its own part. is_open: all parts are
    shown; else those after the first are folded.

    asks: the questions of a part, for its `making.Place`.
    """

    name: str
    title: str
    about: str
    each: Literal["evaluation set", "test set", "report"]
    asks: Callable[[Any], Sequence[Ask]]
    is_open: bool = False


SECTIONS = {
    one.name: one
    for one in (
        Section(
            "overview",
            "Overview",
            "Which metrics agree best with human scores, by language pair. Metrics in the same significance cluster do "
            "not differ significantly; some pairs in different clusters do not either.",
            "test set",
            lambda at: [],  # see `making.overview`
            is_open=True,
        ),
        Section(
            "rankings",
            "Rankings",
            "Values with 95% intervals, ranks with 95% ranges, and significance clusters. Where spa and acc_eq have no "
            "value, as with human scores of systems only, the measure is pa.",
            "evaluation set",
            lambda at: [at.ranking()],
        ),
        Section(
            "significance",
            "Significance",
            "Is one metric better than another by more than chance? p-values of every pair of metrics, best metric "
            "first.",
            "evaluation set",
            lambda at: [Ask("compare", {"measure": one, **at.drawn}) for one in at.measures],
        ),
        Section(
            "correlations",
            "Correlations",
            "Which metrics behave alike? Correlations over annotated (system, segment) scores, or over systems if "
            "there are no segment scores.",
            "evaluation set",
            lambda at: [Ask("correlations", {} if at.has_segments else {"measure": "pearson"})],
        ),
        Section(
            "calibration",
            "Tie thresholds",
            "Score differences up to ε count as ties; acc_eq(by=item) uses the ε that maximises each metric's value.",
            "evaluation set",
            lambda at: [Ask("thresholds", title="Tie thresholds")],
        ),
        Section(
            "deltas",
            "Metric against human scores",
            "The top-ranked metric and an older one: do their score differences between two systems have the same sign "
            "as the human differences?",
            "evaluation set",
            lambda at: [Ask("scatter", {"metric": one}) for one in dict.fromkeys((at.best, at.anchor))],
        ),
        Section(
            "trends",
            "Over the years",
            "Values from different years are not comparable (different systems, different annotation). Gaps to an "
            "anchor on the same data, and bridges between human protocols, are.",
            "report",
            lambda at: at.over_years(),
        ),
        Section(
            "protocols",
            "Old rules on new data",
            "Each test set scored by the rules of every year whose inputs it has: the winner, and how far the "
            "ranking is from that by the test set's own rules. The rules, not the report, choose the language pairs; "
            "`scorehouse protocol --significance` adds tests.",
            "test set",
            lambda at: [
                Ask(
                    "protocol",
                    {"rules": at.testset, "matrix": True, "seed": at.report.seed, "recompute": at.report.recompute},
                    "Rules of each year",
                    is_charted=False,
                    is_whole=True,
                    valued="winner",
                    without=("testset", "year", "lps", "spearman", "n_common", "reason"),
                )
            ],
        ),
        Section(
            "hard-pairs",
            "Hardest system pairs",
            "Pairs of systems that at most one metric orders as human scores do.",
            "report",
            lambda at: [Ask("deltas", {"hard": True}, "Hardest pairs of systems")],
        ),
        Section(
            "spans",
            "Error spans",
            "F of predicted error spans by mpp, and the ten outputs with most unmatched spans.",
            "evaluation set",
            lambda at: [
                Ask("spans", title="Spans", is_charted=False),
                Ask("spans", {"view": "outputs"}, "Outputs that differ most", is_charted=False),
            ],
        ),
        Section(
            "audit",
            "Audit",
            "Errors and oddities in the data: duplicates, shifted files, wrong signs, gaps, noise, known issues. An "
            "error is very probably wrong data; check warnings before you trust the data.",
            "report",
            lambda at: [
                Ask("audit", title="Kinds of findings", is_charted=False),
                Ask("audit", {}, "Findings in the data", False, is_whole=True, without=("n", "value", "query")),
            ],
        ),
        Section(
            "methods",
            "Methods",
            "How the numbers on this page were computed.",
            "report",
            lambda at: [],  # see `making.methods`
        ),
    )
}
"""By the names that `--section` takes, in the order of the page."""
