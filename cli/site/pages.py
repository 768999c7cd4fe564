"""The pages of a site, made from the gathered data."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from cli.report.content import figure, lead_on_page, on_page
from cli.report.page import svg
from cli.site.content import Link, Page, Table, themed
from cli.site.gathering import Key, Ranking
from cli.site.name_pages import DATA_NOTE, NamePages
from cli.site.slugs import slug
from metaeval.measures.registry import parse_measure
from metaeval.questions.fields import DEFAULT_MEASURES
from metaeval.results.sentences import first_of
from metaeval.studies.ranking.rankings import leaders
from queries.cookbook import recipes
from queries.pages import page_query
from warehouse import QuestionError
from warehouse.wording import NO_LP, counted, first_names, without_lp

_RANKED = ("metric", "value", "rank", "cluster", "n_systems", "n_segments", "n_pairs")
_P_DIGITS = 4
_MOST_AUDIT = 300
_LEADING = (
    *("lp", "human", "n_systems", "n_metrics", "measure", "first", "value", "in the top cluster"),
    *("first by segments", "value by segments", "in the top cluster by segments"),
)


class Pages(NamePages):
    """All pages of a site."""

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

    # -------------------------------------------------------------- front page

    def front(self) -> Page:
        """Who leads in each evaluation set, by year."""
        tables: list[Table] = []
        years = self.of.evalsets.select("year", "testset").unique()
        years = years.sort("year", "testset", descending=True, nulls_last=True)
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
                    f"{testset}{f' ({year})' if year else ''}: the metrics that agree best with human scores",
                    pl.DataFrame(rows, infer_schema_length=None),
                    {
                        "lp": self.in_testset(testset),
                        **{name: self.to_metric(name) for name in ("first", "first by segments")},
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
                    {"lp": self.to_evalset},
                    lead="Their metric scores are included, but their official human scores are not.",
                    is_open=False,
                )
            )
        return Page(
            "index",
            "Which metric should you trust?",
            lead,
            tables=tuple(tables),
            command=("rank", self.named, "all", *self._measured(*self.of.rankings.values())),
            sql=recipes()["best-metric"].query,
            notes=(DATA_NOTE,),
        )

    def _measured(self, *rankings: Ranking) -> list[str]:
        """The words of a command that ranks by the measures of rankings; those of segments come first."""
        each = sorted((one.measures for one in rankings), key=len, reverse=True)
        names = dict.fromkeys(measure for measures in each for measure in measures)
        words = [word for measure in names or DEFAULT_MEASURES for word in ("-m", measure)]
        return [*words, *(["--significance"] if any(one.comparisons for one in rankings) else [])]

    def _leader(self, key: Key, one: Ranking) -> dict[str, Any]:
        frame = one.answer.frame.filter(pl.col("value").is_not_null())
        row: dict[str, Any] = {"lp": key[1], "human": frame["human"][0]}
        for measure in frame["measure"].unique(maintain_order=True):
            rows = frame.filter(pl.col("measure") == measure).sort("rank", "metric")
            of_segments = parse_measure(measure).is_calibrated
            suffix = " by segments" if of_segments else ""
            first, _, _ = first_of(rows["metric"].to_list(), rows["value"].to_list(), one.idle)
            row[f"first{suffix}"] = first_names(first)
            row[f"value{suffix}"] = rows.filter(metric=first[0])["value"][0]
            row["measure" + suffix] = measure
            n_first = rows.filter(pl.col("cluster") == 1).height if "cluster" in rows.columns else 0
            row[f"in the top cluster{suffix}"] = n_first or None
            row["n_metrics"] = max(row.get("n_metrics", 0), rows.height)
        row["n_systems"] = frame["n_systems"].max()
        return {name: row.get(name) for name in _LEADING}

    # -------------------------------------------------------------- evaluation sets

    def evalset(self, key: Key) -> Page:
        """An evaluation set: its ranking, rankings by the rules of other years, findings, systems."""
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
            lead = lead_on_page(answer.summary) or leaders(answer.frame)
            command = ("rank", testset, lp, *self._measured(ranking))
            sql = page_query("ranking", testset=testset, lp=lp)
            notes += [lead_on_page(answer.summary), *map(on_page, answer.notes)]
            signatures += dict.fromkeys(answer.signature.splitlines())
            for measure in ranking.measures:
                tables += self._ranked(ranking, measure)
            pairs = _pairs(ranking)
            drawing_title, drawing = _chart(ranking, len(self.evalsets))
        else:
            lead = f"Metrics are not ranked here: {self.of.unranked.get(key, 'no human score is loaded')}."
            rows = self._of_evalset(self.of.metrics, key).select("metric", "family", "status", "n_systems", "n_scores")
            if rows.height:
                tables.append(Table("metrics", "Metrics", rows, {"metric": self.to_metric()}))
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
                        {"winner": self.to_metric("winner")},
                        lead="All language pairs that the rules cover.",
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
            without_lp(f"{testset} {lp}"),
            lead,
            facts,
            tuple(tables),
            tuple(word for word in command if word != NO_LP),
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
        return [Table(f"ranking-{slug(found)}", title, about, {"metric": self.to_metric()})]

    def _human(self, state: Mapping[str, Any], people: pl.DataFrame) -> str:
        known = people["human"].unique(maintain_order=True).to_list()
        wanted = [state["standard_human_seg"], state["standard_human_sys"], *known]
        return str(next(one for one in wanted if one in known))

    def _of_evalset(self, frame: pl.DataFrame, key: Key) -> pl.DataFrame:
        return frame.filter((pl.col("testset") == key[0]) & (pl.col("lp") == key[1]))

    def _of_key(self, key: Key) -> Link:
        return lambda row: self.to_system({"testset": key[0], "lp": key[1], "system": row["system"]})

    # -------------------------------------------------------------- the rest

    def years(self) -> Page:
        """Metrics over the years."""
        trend, tables, notes, signatures = self.of.trend, [], [], []
        lead = "Too little is loaded to compare years."
        if trend is not None:
            read = trend.for_reading()
            tables.append(Table("trend", "pa by year, and the gap to BLEU on the same data", read.frame))
            notes = [on_page(note) for note in read.notes]
            signatures = [*dict.fromkeys(trend.signature.splitlines())][:20]
            lead = lead_on_page(trend.summary) or (
                "Values from different years are not comparable (different systems, different annotation); gaps to the "
                "same metric on the same data are."
            )
        return Page(
            "years", "Over the years", lead, tables=tuple(tables), command=("trend", self.named, "all", "-m", "pa"),
            sql=recipes()["returning-metrics-by-year"].query, notes=tuple(notes), signatures=tuple(signatures),
        )  # fmt: skip

    def methods(self) -> Page:
        """How the numbers were computed."""
        columns = [name for name in ("measure", "level", "meaning", "formula", "source") if name in self.of.measures]
        return Page(
            "methods",
            "Methods",
            "How the numbers on this site were computed, and what they depend on.",
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


def _pairs(ranking: Ranking) -> dict[str, Any] | None:
    """The data for comparing two metrics: values, ranks, clusters, and p-values of every pair, best first."""
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
    """The chart of the ranking: its title, and SVG. Empty if there is no chart."""
    try:
        drawn = figure(ranking.answer.chart())
    except QuestionError:
        return "", ""
    return drawn.title, themed(svg(drawn, place))


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
