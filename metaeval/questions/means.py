"""`means`: system scores of every scorer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from metaeval.measures.options import SampledBy, Seed
from metaeval.questions.fields import requires
from metaeval.questions.question import EvalsetQuestion
from metaeval.results.run import Run
from queries.slices import Slice
from warehouse.fields import Option
from warehouse.wording import counted

if TYPE_CHECKING:
    from metaeval.results.answer import Answer, Result


@dataclass(frozen=True, kw_only=True)
class Means(Slice, EvalsetQuestion["Result"], name="means"):
    """Show system scores of every scorer.

    Shows the submitted score, the means over all and over annotated segments, and coverage.

    Example: scorehouse means sim24 en-de --metrics "Kestrel*"
    """

    needs = requires(("seed", "sampled_by"), "assisted_by")

    assisted_by: Annotated[
        tuple[str, ...],
        Option(
            "Estimate each system's mean human score over all segments from the annotated ones and this metric; "
            "repeatable.",
            names="metric",
        ),
    ] = ()
    sampled_by: SampledBy = None
    seed: Seed = 0

    without = ("intersection", "mad_outliers")  # they need arrays of scores

    @property
    def needs_human(self) -> bool:
        return bool(self.assisted_by)

    def answer_one_evalset(self, run: Run) -> "Answer[Result]":
        from metaeval.results.answer import answer_of

        if self.assisted_by:
            from metaeval.studies.people.assisted import assisted_means
            from queries.sampling import probabilities_of

            with run.opened() as warehouse:
                chances = probabilities_of(self.sampled_by, self.testset, self.lp)
                found = assisted_means(warehouse, self.part(Slice), self.assisted_by, self.seed, chances)
            return answer_of(self, found, digits=3)
        from metaeval.studies.tables.means import system_means

        with run.opened() as warehouse:
            found = system_means(warehouse, self.part(Slice), progress=run.progress)
        return answer_of(self, found)

    def headline(self, answer: "Answer[Result]") -> str:
        from metaeval.results.sentences import highest, named, opening

        if "assisted" in answer.frame.columns:
            import polars as pl

            from metaeval.results.sentences import interval, number

            first = answer.frame.row(0, named=True)
            saved = answer.frame.select(pl.median("saved")).item()
            helped = "" if saved is None else f" The metric saves {saved:.0%} of the judgements of a system (median)."
            which = "an estimated mean of" if answer.frame.height == 1 else "the best estimated mean,"
            leader = f"{first['system']} has {which} {number(first['assisted'])}"
            return opening(f"{leader}{interval(first, 'low', 'high')}.{helped}")
        # Over the same outputs: systems that are judged in part may be first by a metric on the others.
        mean = "judged_mean" if answer.frame["judged_mean"].count() else "mean"
        firsts: dict[str, list[str]] = {}
        for one in answer.frame.drop("testset", "lp", strict=False).partition_by("scorer", maintain_order=True):
            if one[mean].count():
                kind = one["kind"][0]
                name = named(highest(one, mean)["system"], 2)
                firsts.setdefault(kind if kind == "metric" else one["scorer"][0], []).append(name)
        by_metrics = firsts.pop("metric", [])
        parts = [f"{names[0]} has the highest mean by {scorer}" for scorer, names in firsts.items()][:1]
        systems = answer.frame.drop_nulls(mean)["system"].unique()
        if len(systems) == 1:
            scorers = [*firsts, *([counted(len(by_metrics), "metric")] if by_metrics else [])]
            parts = [f"{systems[0]} is the only system, with means by {' and '.join(scorers)}"]
        elif by_metrics:
            most = max(by_metrics, key=by_metrics.count)
            n_by = by_metrics.count(most)
            by = f"by {n_by} of {counted(len(by_metrics), 'metric')}" if len(by_metrics) > 1 else "by the metric"
            if parts and parts[0].startswith(f"{most} "):
                parts = [f"{parts[0]} and {by}"]
            else:
                parts.append(f"{most} has {'it' if parts else 'the highest mean'} {by}")
        if not parts:
            return "No scorer has a mean over segments."
        humans = answer.frame.filter(kind="human").partition_by("scorer", maintain_order=True)
        unjudged = {one["scorer"][0]: int(one["n_missing"].sum()) for one in humans}
        said = [f"{name} judged all but {counted(n, 'output')}" for name, n in unjudged.items() if n][:1]
        n_missing = int(answer.frame.filter(kind="metric")["n_missing"].sum())
        said += [f"{counted(n_missing, 'metric score is', 'metric scores are')} missing"] if n_missing else []
        over = "Over the judged outputs, " if any(unjudged.values()) and mean == "judged_mean" else ""
        return opening(f"{over}{'; '.join(parts)}.", f"{'; '.join(said)}." if said else "")
