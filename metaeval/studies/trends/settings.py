"""Options of `trend`: how a history is shown."""

from dataclasses import dataclass
from typing import Annotated, Literal

from metaeval.measures.options import Alpha, Seed
from warehouse.fields import Fields, Option

View = Literal["years", "within", "over-years", "bridges"]
By = Literal["family", "version", "kind", "best"]
Pooling = Literal["mean", "hunter-schmidt", "random-effects"]
SlopeOf = Literal["new-metrics", "these-metrics"]
Kinds = Literal["separate", "pooled"]


@dataclass(frozen=True, kw_only=True)
class TrendSettings(Fields):
    """Groups of metrics, how evaluation sets of a year are pooled, and which view of a history is shown."""

    seed: Seed = 0
    alpha: Alpha = 0.05
    by: Annotated[
        tuple[By, ...],
        Option("Groups of metrics: families, versions, the best of each kind, or the best of all; repeatable."),
    ] = ("family", "kind")
    pool: Annotated[
        Pooling | None,
        Option("Pool the language pairs of a year.", default="tables take the mean, other formats list each"),
    ] = None
    within: Annotated[
        bool,
        Option(
            "Do newer metrics score higher on the same data? Slope over publication year.",
            excludes=("over_years", "bridges"),
        ),
    ] = False
    over_years: Annotated[
        bool, Option("Test whether the yearly gaps have a trend, by permuting years.", excludes=("bridges",))
    ] = False
    bridges: Annotated[bool, Option("Compare human protocols that judged the same systems.")] = False
    published: Annotated[
        tuple[str, ...], Option("Publication year of a metric (shell pattern, repeatable).", metavar="NAME=YEAR")
    ] = ()
    without_contaminated: Annotated[
        bool, Option("Exclude metrics known to be trained on the human scores of that year.")
    ] = False
    generalise_to: Annotated[
        SlopeOf,
        Option("Generalise pooled slopes to new metrics, or only to these metrics.", formerly="slope_of"),
    ] = "new-metrics"
    kinds: Annotated[
        Kinds,
        Option("Fit reference-based and reference-free metrics separately, or pool them as one population."),
    ] = "separate"

    @property
    def view(self) -> View:
        """The view to show."""
        return "within" if self.within else "over-years" if self.over_years else "bridges" if self.bridges else "years"
