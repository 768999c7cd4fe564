"""The pages of a site, made of what was gathered."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from cli.report.content import figure, on_page
from cli.report.page import svg
from cli.site.content import Link, Page, Table, dots, themed
from cli.site.gathering import Key, Ranking, SiteData
from cli.site.slugs import slug, slugs
from metaeval.measures import parse_measure
from metaeval.ranking import leaders
from queries.cookbook import recipes
from queries.pages import page_query
from warehouse import QuestionError
from warehouse.facts.metrics import describe
from warehouse.wording import counted

_RANKED = ("metric", "value", "rank", "cluster", "n_systems", "n_segments", "n_pairs")
_P_DIGITS = 4
_MOST_AUDIT = 300
_LEADING = (
    *("lp", "human", "n_systems", "n_metrics", "measure", "first", "value", "in the top cluster"),
    *("first by segments", "value by segments", "in the top cluster by segments"),
)
_DATA_NOTE = "Ranks of different evaluation sets do not compare: their systems, segments and human scores differ."


class Pages:
    """All pages of a site. only: the chosen test sets, for commands; none: all."""

    def __init__(self, gathered: SiteData, only: Sequence[str] = ()) -> None:
        self.of = gathered
        self.only = tuple(only)
        testsets = slugs(gathered.testsets)
        self.evalsets: dict[Key, str] = {}
        for testset in gathered.testsets:
            lps = slugs(gathered.evalsets.filter(pl.col("testset") == testset)["lp"].to_list())
            self.evalsets |= {(testset, lp): f"evalsets/{testsets[testset]}/{name}" for lp, name in lps.items()}
        self.metrics = {
            name: f"metrics/{one}" for name, one in slugs(gathered.metrics["base_metric"].to_list()).items()
        }
        self.systems = {
            name: f"systems/{one}" for name, one in slugs(gathered.systems["canonical_name"].to_list()).items()
        }
        self.base_of = dict(gathered.metrics.select("metric", "base_metric").unique().rows())
        self.canonical = {
            (testset, lp, system): name
            for testset, lp, system, name in gathered.systems.select("testset", "lp", "system", "canonical_name").rows()
        }

    @property
    def named(self) -> str:
        """The test sets as a command takes them."""
        return ",".join(self.only) or "all"

    def __iter__(self) -> Any:
        yield self.front()
        yield self.years()
        yield self.methods()
        yield self.sql()
        yield self.metric_list()
        yield self.system_list()
        for key in self.evalsets:
            yield self.evalset(key)
        for name in self.metrics:
            yield self.metric(name)
        for name in self.systems:
            yield self.system(name)

    # -------------------------------------------------------------- links

    def _to_metric(self, column: str = "metric") -> Link:
        def link(row: Mapping[str, Any]) -> str | None:
            name = row[column]
            return self.metrics.get(self.base_of.get(name, name))

        return link

    def _to_evalset(self, row: Mapping[str, Any]) -> str | None:
        return self.evalsets.get((row["testset"], row["lp"]))

    def _in_testset(self, testset: str) -> Link:
        return lambda row: self.evalsets.get((testset, row["lp"]))

    def _to_system(self, row: Mapping[str, Any]) -> str | None:
        name = row.get("canonical_name") or self.canonical.get((row.get("testset"), row.get("lp"), row["system"]))
        return self.systems.get(str(name))

    def search(self) -> list[list[str]]:
        """What the search finds: kind, name, address."""
        found = [["evaluation set", " ".join(key), f"{path}.html"] for key, path in self.evalsets.items()]
        found += [["metric", name, f"{path}.html"] for name, path in self.metrics.items()]
        return found + [["system", self._title_of(name), f"{path}.html"] for name, path in self.systems.items()]

    # -------------------------------------------------------------- front page

    def front(self) -> Page:
        """Who leads in each evaluation set, by year."""
        tables: list[Table] = []
        years = self.of.evalsets.select("year", "testset").unique().sort("year", "testset", descending=True)
        for year, testset in years.rows():
            rows = [self._leader(key, one) for key, one in self.of.rankings.items() if key[0] == testset]
            if not rows:
                continue
            frame = pl.concat(
                [one.answer.frame for key, one in self.of.rankings.items() if key[0] == testset], how="diagonal"
            )
            tables.append(
                Table(
                    f"leaders-{slug(testset) or year}",
                    f"{testset}{f' ({year})' if year else ''}: the metrics that agree best with people",
                    pl.DataFrame(rows, infer_schema_length=None),
                    {
                        "lp": self._in_testset(testset),
                        **{name: self._to_metric(name) for name in ("first", "first by segments")},
                    },
                    lead=leaders(frame),
                )
            )
        n = len(self.of.rankings)
        lead = (
            f"{counted(self.of.metrics['base_metric'].n_unique(), 'metric')} and "
            f"{counted(self.of.systems['canonical_name'].n_unique(), 'system')} in "
            f"{counted(self.of.evalsets.height, 'evaluation set')} of the WMT metrics shared tasks; human scores rank "
            f"the metrics of {n}."
        )
        others = self.of.evalsets.filter(
            ~pl.struct("testset", "lp").map_elements(
                lambda row: (row["testset"], row["lp"]) in self.of.rankings, return_dtype=pl.Boolean
            )
        ).select("testset", "lp", "n_systems", "n_metrics", "n_segments")
        if others.height:
            tables.append(
                Table(
                    "unranked",
                    "Evaluation sets without a ranking",
                    others,
                    {"lp": self._to_evalset},
                    lead="Their metric scores are here, their official human scores are not.",
                    is_open=False,
                )
            )
        return Page(
            "index",
            "Which metric should you trust?",
            lead,
            tables=tuple(tables),
            command=("rank", self.named, "all", "-m", "spa", "-m", "acc_eq(by=item)", "--significance"),
            sql=recipes()["best-metric"].query,
            notes=(_DATA_NOTE,),
        )

    def _leader(self, key: Key, one: Ranking) -> dict[str, Any]:
        frame = one.answer.frame.filter(pl.col("value").is_not_null())
        row: dict[str, Any] = {"lp": key[1], "human": frame["human"][0]}
        for measure in frame["measure"].unique(maintain_order=True):
            rows = frame.filter(pl.col("measure") == measure).sort("rank", "metric")
            of_segments = parse_measure(measure).is_calibrated
            suffix = " by segments" if of_segments else ""
            row[f"first{suffix}"] = rows["metric"][0]
            row[f"value{suffix}"] = rows["value"][0]
            row["measure" + suffix] = measure
            first = rows.filter(pl.col("cluster") == 1).height if "cluster" in rows.columns else 0
            row[f"in the top cluster{suffix}"] = first or None
            row["n_metrics"] = max(row.get("n_metrics", 0), rows.height)
        row["n_systems"] = frame["n_systems"].max()
        return {name: row.get(name) for name in _LEADING}

    # -------------------------------------------------------------- evaluation sets

    def evalset(self, key: Key) -> Page:
        """An evaluation set: the ranking, how rules of other years rank, findings, systems."""
        testset, lp = key
        (state,) = self.of.evalsets.filter((pl.col("testset") == testset) & (pl.col("lp") == lp)).to_dicts()
        ranking = self.of.rankings.get(key)
        tables: list[Table] = []
        notes: list[str] = []
        signatures: list[str] = []
        lead, drawing, drawing_title, pairs = "", "", "", None
        command: tuple[str, ...] = ("list", "metrics", testset, lp)
        sql = page_query("metrics_of_evalset", testset=testset, lp=lp)
        if ranking is not None:
            answer = ranking.answer
            lead = answer.summary or leaders(answer.frame)
            words = [word for measure in ranking.measures for word in ("-m", measure)]
            command = ("rank", testset, lp, *words, *(["--significance"] if ranking.comparisons else []))
            sql = page_query("ranking", testset=testset, lp=lp)
            notes += [on_page(note) for note in (answer.summary, *answer.notes)]
            signatures += dict.fromkeys(answer.signature.splitlines())
            for measure in ranking.measures:
                tables += self._ranked(ranking, measure)
            pairs = _pairs(ranking)
            drawing_title, drawing = _chart(ranking, len(self.evalsets))
        else:
            lead = f"Metrics are not ranked here: {self.of.unranked.get(key, 'no human score is loaded')}."
            rows = self._of_evalset(self.of.metrics, key).select("metric", "family", "status", "n_systems", "n_scores")
            if rows.height:
                tables.append(Table("metrics", "Metrics", rows, {"metric": self._to_metric()}))
        people = self._of_evalset(self.of.human_scores, key)
        if people.height:
            human = self._human(state, people)
            shown = people.filter(pl.col("human") == human).select("rank", "system", "score", "kind", "is_outlier")
            tables.append(Table("systems", f"Systems by human scores ({human})", shown, {"system": self._of_key(key)}))
        else:
            systems = self._of_evalset(self.of.systems, key).select("system", "kind", "is_outlier", "n_metrics")
            tables.append(Table("systems", "Systems", systems, {"system": self._of_key(key)}, is_open=False))
        if ranking is not None and (rules := self.of.rules.get(testset)) is not None:
            columns = [
                name for name in ("protocol", "winner", "overall", "kendall", "tasks", "lps") if name in rules.frame
            ]
            rows = rules.frame.drop_nulls("winner").select(columns)
            if rows.height:
                tables.append(
                    Table(
                        "rules",
                        f"Who wins {testset} by the rules of each year",
                        rows,
                        {"winner": self._to_metric("winner")},
                        lead="All language pairs that the rules take.",
                        is_open=False,
                    )
                )
        if self.of.audit is not None:
            found = self._of_evalset(self.of.audit.frame, key)
            if found.height:
                columns = [name for name in ("severity", "check", "subject", "finding") if name in found.columns]
                tables.append(
                    Table("findings", "Findings in the data", found.select(columns).head(_MOST_AUDIT), is_open=False)
                )
        facts = (
            ("Year", str(state["year"] or "not known")),
            ("Human score", str(state["standard_human_seg"] or state["standard_human_sys"] or "none declared")),
            ("Systems", str(state["n_systems"])),
            ("Metrics", str(state["n_metrics"])),
            ("Segments", str(state["n_segments"] or "not known")),
        )
        return Page(
            self.evalsets[key],
            f"{testset} {lp}",
            lead,
            facts,
            tuple(tables),
            command,
            sql,
            tuple(dict.fromkeys(notes)),
            tuple(signatures),
            drawing,
            drawing_title,
            pairs,
        )

    def _ranked(self, ranking: Ranking, measure: str) -> list[Table]:
        """The ranking by one measure."""
        frame = ranking.answer.frame
        names = frame["measure"].unique(maintain_order=True).to_list()
        found = next((one for one in names if one == measure or one.startswith(f"{measure}(")), None)
        if found is None:
            return []
        rows = frame.filter(pl.col("measure") == found)
        columns = [name for name in _RANKED if name in rows.columns]
        about = rows.select("rank", *(name for name in columns if name != "rank"))
        title = f"Ranking by {found}"
        return [Table(f"ranking-{slug(found)}", title, about, {"metric": self._to_metric()})]

    def _human(self, state: Mapping[str, Any], people: pl.DataFrame) -> str:
        known = people["human"].unique(maintain_order=True).to_list()
        wanted = [state["standard_human_seg"], state["standard_human_sys"], *known]
        return str(next(one for one in wanted if one in known))

    def _of_evalset(self, frame: pl.DataFrame, key: Key) -> pl.DataFrame:
        return frame.filter((pl.col("testset") == key[0]) & (pl.col("lp") == key[1]))

    def _of_key(self, key: Key) -> Link:
        return lambda row: self._to_system({"testset": key[0], "lp": key[1], "system": row["system"]})

    # -------------------------------------------------------------- metrics

    def metric(self, name: str) -> Page:
        """A metric: its facts, its rank in every evaluation set, where else it is."""
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
                links = {"lp": self._to_evalset}
                tables.append(Table("ranks", "Ranks in every evaluation set with human scores", rows, links))
                lead = f"{lead} {_standing(name, rows)}"
                drawing = dots(_places(rows), f"Place of {name} among the metrics of each evaluation set, by year")
        where = listed.select("year", "testset", "lp", "metric", "status", "levels", "n_systems", "n_scores")
        where, links = _newest_first(where), {"lp": self._to_evalset}
        tables.append(Table("evalsets", "Where its scores are", where, links, is_open=not tables))
        return Page(
            self.metrics[name],
            name,
            lead,
            known,
            tuple(tables),
            ("rank", self.named, "all", "-m", "spa", "-m", "acc_eq(by=item)", "-m", "pa"),
            page_query("metric", metric=name),
            (_DATA_NOTE,),
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
            tables=(Table("metrics", "All metrics", frame, {"metric": self._to_metric()}),),
            command=("list", "metrics"),
            sql=page_query("metrics"),
        )

    # -------------------------------------------------------------- systems

    def _title_of(self, canonical: str) -> str:
        """The spelling that most files have."""
        if not hasattr(self, "_titles"):
            found: dict[str, Counter[str]] = {}
            for name, system in self.of.systems.select("canonical_name", "system").rows():
                found.setdefault(name, Counter())[system] += 1
            self._titles = {name: min(count, key=lambda one: (-count[one], one)) for name, count in found.items()}
        return self._titles[canonical]

    def system(self, name: str) -> Page:
        """A system: where it is, its human scores and ranks."""
        listed = self.of.systems.filter(pl.col("canonical_name") == name)
        scores = self.of.human_scores.filter(pl.col("canonical_name") == name)
        tables = []
        if scores.height:
            rows = scores.select("year", "testset", "lp", "human", "system", "score", "rank", "n_systems", "is_outlier")
            tables.append(Table("scores", "Human scores and ranks", _newest_first(rows), {"lp": self._to_evalset}))
        where = listed.select("testset", "lp", "system", "kind", "is_outlier", "n_metrics", "n_humans")
        tables.append(Table("evalsets", "Where it is", where, {"lp": self._to_evalset}, is_open=not scores.height))
        first = scores.filter(pl.col("rank") == 1).select("testset", "lp").n_unique() if scores.height else 0
        n = scores.select("testset", "lp").n_unique()
        lead = f"In {counted(listed.select('testset', 'lp').n_unique(), 'evaluation set')}; " + (
            f"people scored it in {n}, and it is first in {first} of them." if n else "people scored it in none."
        )
        return Page(
            self.systems[name],
            self._title_of(name),
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
                "system": self._title_of(name),
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
            tables=(Table("systems", "All systems", frame, {"system": self._to_system}),),
            command=("list", "systems"),
            sql=page_query("systems"),
        )

    # -------------------------------------------------------------- the rest

    def years(self) -> Page:
        """Metrics over the years."""
        trend, tables, notes, signatures = self.of.trend, [], [], []
        lead = "Too little is loaded to compare years."
        if trend is not None:
            frame = trend.reading if trend.reading is not None else trend.frame
            tables.append(Table("trend", "pa by year, and the gap to BLEU on the same data", frame))
            said = trend.reading_notes if trend.reading_notes is not None else trend.notes
            notes = [on_page(note) for note in said]
            signatures = [*dict.fromkeys(trend.signature.splitlines())][:20]
            lead = trend.summary or (
                "Values from different years are not comparable (different systems, different annotation); gaps to the "
                "same metric on the same data are."
            )
        return Page(
            "years", "Over the years", lead, tables=tuple(tables), command=("trend", self.named, "all", "-m", "pa"),
            sql=recipes()["returning-metrics-by-year"].query, notes=tuple(notes), signatures=tuple(signatures),
        )  # fmt: skip

    def methods(self) -> Page:
        """How the numbers were made."""
        columns = [name for name in ("measure", "level", "meaning", "formula", "source") if name in self.of.measures]
        return Page(
            "methods",
            "Methods",
            "How the numbers of this site were made, and what they depend on.",
            tables=(Table("measures", "Measures", self.of.measures.select(columns)),),
            command=("list", "measures"),
            sql=page_query("issues"),
            kind="methods.html",
        )

    def sql(self) -> Page:
        """SQL over the whole warehouse."""
        return Page(
            "sql",
            "SQL over all scores",
            "Ask the whole warehouse in your browser: DuckDB runs in this page, and no server sees your query.",
            command=("sql", page_query("testsets")),
            sql=page_query("testsets"),
            kind="sql.html",
            more={"recipes": list(recipes().values())},
        )


def _newest_first(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort("year", "testset", "lp", descending=[True, False, False], maintain_order=True)


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
    """Where a metric stands, in a sentence."""
    sets = rows.select("testset", "lp").n_unique()
    if "cluster" in rows.columns and rows["cluster"].count():
        first = rows.filter(pl.col("cluster") == 1).select("testset", "lp").n_unique()
        return f"It is in the top cluster of {first} of the {sets} where human scores rank metrics."
    first = rows.filter(pl.col("rank") == 1).select("testset", "lp").n_unique()
    return f"It is first in {first} of the {sets} where human scores rank metrics."


def _pairs(ranking: Ranking) -> dict[str, Any] | None:
    """What two metrics are compared by: values, ranks, clusters, and p-values of every pair, best first."""
    found = {}
    for measure, one in ranking.comparisons.items():
        upper = np.triu_indices(len(one.names), 1)
        found[measure] = {
            "metrics": list(one.names),
            "values": _numbers(one.values, 6),
            "ranks": [int(rank) or None for rank in one.ranks],
            "clusters": [int(cluster) for cluster in one.clusters],
            "p": _numbers(one.p[upper], _P_DIGITS),
            "test": one.test,
            "alpha": one.alpha,
            "about": one.generalises_to,
        }
    return found or None


def _numbers(values: Any, digits: int) -> list[float | None]:
    return [None if value != value else round(float(value), digits) for value in values.tolist()]


def _chart(ranking: Ranking, place: int) -> tuple[str, str]:
    """The ranking drawn: its title, and SVG. Empty where there is no chart."""
    try:
        drawn = figure(ranking.answer.chart())
    except QuestionError:
        return "", ""
    return drawn.title, themed(svg(drawn, place))


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
