"""The pages of metrics and systems, and their lists."""

import polars as pl

from cli.site.content import Page, Table, dots
from cli.site.places import Places
from queries.pages import page_query
from warehouse.facts.metrics import describe
from warehouse.wording import counted

DATA_NOTE = "Ranks from different evaluation sets are not comparable: systems, segments and human scores differ."


class NamePages(Places):
    """A page for each metric and system."""

    # -------------------------------------------------------------- metrics

    def metric(self, name: str) -> Page:
        """A metric: its facts, its rank in every evaluation set, and the other places where it occurs."""
        listed = self.of.metrics.filter(pl.col("base_metric") == name)
        facts = describe(name)
        need = {True: "needs no reference", False: "compares with a reference", None: "with and without a reference"}
        frees = listed["is_reference_free"].unique().to_list()
        free = frees[0] if len(frees) == 1 else None
        known = (
            ("Family", facts.family),
            ("Kind", facts.kind),
            ("Reference", need[free]),
            ("Published", str(facts.publication_year) if facts.publication_year else "not known"),
            ("Paper", facts.publication or "not known"),
            (
                "Trained on human scores up to",
                str(facts.training_year) if facts.training_year else "not known, or none",
            ),
            ("Variants", ", ".join(listed["metric"].unique().sort().to_list())),
        )
        tables: list[Table] = []
        lead, drawing = f"{name} is in {counted(listed.select('testset', 'lp').n_unique(), 'evaluation set')}.", ""
        ranked = self.of.ranked
        if ranked.width:
            rows = ranked.filter((pl.col("base_metric") == name) & pl.col("value").is_not_null())
            columns = ["year", "testset", "lp", "human", "metric", "measure", "value", "rank", "n_metrics"]
            columns += ["cluster"] if "cluster" in rows.columns else []
            rows = rows.sort("year", "testset", "lp", "measure", descending=[True, False, False, True]).select(columns)
            if rows.height:
                links = {"lp": self.to_evalset}
                tables.append(Table("ranks", "Ranks in every evaluation set with human scores", rows, links))
                lead = f"{lead} {_standing(name, rows)}"
                drawing = dots(_places(rows), f"Place of {name} among the metrics of each evaluation set, by year")
        where = listed.select("year", "testset", "lp", "metric", "status", "levels", "n_systems", "n_scores")
        where, links = _newest_first(where), {"lp": self.to_evalset}
        tables.append(Table("evalsets", "Where its scores are", where, links, is_open=not tables))
        return Page(
            self.metrics[name],
            name,
            lead,
            known,
            tuple(tables),
            ("rank", self.named, "all", "-m", "spa", "-m", "acc_eq(by=item)", "-m", "pa"),
            page_query("metric", metric=name),
            (DATA_NOTE,),
            drawing=drawing,
            drawing_title="Places over the years: the best metric of an evaluation set is on top",
        )

    def metric_list(self) -> Page:
        """All metrics."""
        rows = []
        ranked = self.of.ranked
        for name in self.metrics:
            listed = self.of.metrics.filter(pl.col("base_metric") == name)
            facts = describe(name)
            firsts = ranked.filter((pl.col("base_metric") == name) & (pl.col("rank") == 1)) if ranked.width else ranked
            rows.append(
                {
                    "metric": name,
                    "family": facts.family,
                    "kind": facts.kind,
                    "first_year": listed["year"].min(),
                    "last_year": listed["year"].max(),
                    "evaluation sets": listed.select("testset", "lp").n_unique(),
                    "ranked first": firsts.select("testset", "lp").n_unique() if firsts.width else 0,
                }
            )
        frame = pl.DataFrame(rows, infer_schema_length=None)
        return Page(
            "metrics/index",
            "Metrics",
            f"{counted(frame.height, 'metric')}, whatever reference they compare with.",
            tables=(Table("metrics", "All metrics", frame, {"metric": self.to_metric()}),),
            command=("list", "metrics"),
            sql=page_query("metrics"),
        )

    # -------------------------------------------------------------- systems

    def system(self, name: str) -> Page:
        """A system: its evaluation sets, human scores and ranks."""
        listed = self.of.systems.filter(pl.col("canonical_name") == name)
        scores = self.of.human_scores.filter(pl.col("canonical_name") == name)
        tables = []
        if scores.height:
            rows = scores.select("year", "testset", "lp", "human", "system", "score", "rank", "n_systems", "is_outlier")
            tables.append(Table("scores", "Human scores and ranks", _newest_first(rows), {"lp": self.to_evalset}))
        where = listed.select("testset", "lp", "system", "kind", "is_outlier", "n_metrics", "n_humans")
        tables.append(Table("evalsets", "Where it is", where, {"lp": self.to_evalset}, is_open=not scores.height))
        first = scores.filter(pl.col("rank") == 1).select("testset", "lp").n_unique() if scores.height else 0
        n = scores.select("testset", "lp").n_unique()
        lead = f"In {counted(listed.select('testset', 'lp').n_unique(), 'evaluation set')}; " + (
            f"it has human scores in {n}, and it ranks first in {first} of these."
            if n
            else "it has human scores in none."
        )
        return Page(
            self.systems[name],
            self.title_of(name),
            lead,
            (("Kind", ", ".join(sorted(set(listed["kind"].to_list())))),),
            tuple(tables),
            ("list", "systems"),
            page_query("system", system=name),
            ("Scores of different evaluation sets and protocols are not on one scale.",),
        )

    def system_list(self) -> Page:
        """All systems."""
        rows = [
            {
                "system": self.title_of(name),
                "canonical_name": name,
                "kind": ", ".join(sorted(set(of["kind"].to_list()))),
                "evaluation sets": of.select("testset", "lp").n_unique(),
                "with human scores": of.filter(pl.col("n_humans") > 0).select("testset", "lp").n_unique(),
            }
            for (name,), of in self.of.systems.group_by(["canonical_name"], maintain_order=True)
        ]
        frame = pl.DataFrame(rows, infer_schema_length=None).sort("system")
        return Page(
            "systems/index",
            "Systems",
            f"{counted(frame.height, 'system')}, human translations among them.",
            tables=(Table("systems", "All systems", frame, {"system": self.to_system}),),
            command=("list", "systems"),
            sql=page_query("systems"),
        )


def _newest_first(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort("year", "testset", "lp", descending=[True, False, False], nulls_last=True, maintain_order=True)


def _places(rows: pl.DataFrame) -> list[tuple[int, float, str]]:
    """By year: the share of the other metrics that are not better, by system-level measures."""
    found = []
    chosen = rows.filter(~pl.col("measure").str.starts_with("acc_eq"))
    for row in chosen.iter_rows(named=True):
        if row["year"] is None or row["rank"] is None:
            continue
        others = max(1, row["n_metrics"] - 1)
        share = max(0.0, 1 - (row["rank"] - 1) / others)
        where = f"{row['testset']} {row['lp']}"
        words = f"{row['metric']}, {where}: {row['rank']} of {row['n_metrics']} by {row['measure']}"
        found.append((int(row["year"]), share, words))
    return found


def _standing(name: str, rows: pl.DataFrame) -> str:
    """A sentence on a metric's ranks."""
    sets = rows.select("testset", "lp").n_unique()
    if "cluster" in rows.columns and rows["cluster"].count():
        first = rows.filter(pl.col("cluster") == 1).select("testset", "lp").n_unique()
        return f"It is in the top cluster of {first} of the {sets} where human scores rank metrics."
    first = rows.filter(pl.col("rank") == 1).select("testset", "lp").n_unique()
    return f"It is first in {first} of the {sets} where human scores rank metrics."
