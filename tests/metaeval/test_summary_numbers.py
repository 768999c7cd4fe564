"""The numbers of every question's sentence, worked out again: from SQL where that is short, else from all rows.

On the simulated task, and (slow) on WMT23.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

from metaeval.python_api import function
from metaeval.questions import QUESTIONS
from metaeval.results.answer import Answer
from metaeval.results.sentences import LONGEST, number
from tests.wording import without_source
from warehouse import QuestionError, Warehouse
from warehouse.facts.metrics import describe


@dataclass(frozen=True)
class Place:
    """An evaluation set, its official human score, and what is asked about there."""

    warehouse: Warehouse
    testset: str
    lp: str
    human: str
    metric: str
    other: str
    good: str

    @property
    def names(self) -> dict[str, Any]:
        return {"testset": self.testset, "lp": self.lp}

    def rows(self, sql: str, **more: object) -> list[tuple[Any, ...]]:
        return self.warehouse.rows(sql, {**self.names, **more})


Check = Callable[[Place, Answer[Any]], list[str]]
"""Texts that the sentence must have."""


def _list(at: Place, found: Answer[Any]) -> list[str]:
    ((n, n_both),) = at.warehouse.rows(
        "SELECT count(*), count(*) FILTER (n_metrics > 0 AND n_humans > 0) FROM testsets"
    )
    loaded = "test set is" if n == 1 else "test sets are"
    return [f"{n} {loaded} loaded, {n_both} with both metric and human scores."]


def _pearson(at: Place) -> tuple[str, float]:
    """The best included metric by Pearson's r of submitted system scores, in SQL."""
    sql = """
        SELECT metric, corr(human_score, metric_score) AS r FROM ranked_scores
        WHERE testset = $testset AND lp = $lp GROUP BY metric HAVING isfinite(r) ORDER BY r DESC LIMIT 1
    """
    ((name, r),) = at.rows(sql)
    return name, r


def _rank(at: Place, found: Answer[Any]) -> list[str]:
    name, r = _pearson(at)
    return [
        f"{name} ranks first of {found.frame['value'].count()} metrics by pearson ({r:.3f})",
        "differences were not tested",
    ]


def _tested(at: Place, found: Answer[Any]) -> list[str]:
    p = [one for one in found.frame.row(0)[5:] if one is not None]
    name, r = _pearson(at)
    n_open = sum(one > 0.05 for one in p)
    verdict = f"{n_open} of {len(p)} other metrics do" if 1 < n_open < len(p) else str(len(p))
    return [f"{name} ranks first by pearson ({r:.3f})", verdict] if n_open != len(p) else [name]


def _pair(at: Place, found: Answer[Any]) -> list[str]:
    row = found.frame.row(0, named=True)
    verdict = "is significantly better than" if row["p"] <= 0.05 else "do not differ significantly"
    values = f"({row['value_better']:.3f} against {row['value_other']:.3f}"
    return [row["better"], row["other"], verdict, values, f"[{number(row['low'])}, {number(row['high'])}]"]


def _advise(at: Place, found: Answer[Any]) -> list[str]:
    first, *others = found.frame.to_dicts()
    n = sum(row["is_among_best"] for row in others)
    n_idle = len(found.facts["idle"][at.testset, at.lp])
    idle = f" ({n_idle} not counted)" if n_idle else ""
    tied = f"{n} of {len(others)} others{idle} do not differ significantly" if n > 2 else "significantly"
    return [
        f"{first['metric']} ranks first for {at.lp}",
        f"({at.testset} {at.human}, {first['n_segments']} segments, pearson {first['value']:.3f}",
        tied,
    ]


def _protocol(at: Place, found: Answer[Any]) -> list[str]:
    tasks = found.frame.select(pl.col(pl.Float64)).drop("overall")
    first = found.frame.row(0, named=True)
    assert first["overall"] == max(found.frame["overall"])
    weighted = tasks.width > 0 and found.frame.filter(rank=1).height == 1
    return [f"{first['metric']} ranks first" if weighted else first["metric"], f"(overall {first['overall']:.3f})"]


def _systems(at: Place, found: Answer[Any]) -> list[str]:
    sql = """
        SELECT system, avg(value ORDER BY segment) FROM human_scores
        WHERE testset = $testset AND lp = $lp AND human = $human GROUP BY system
    """
    means = {name: mean for name, mean in at.rows(sql, human=at.human) if name in found.frame["system"]}
    best = max(means, key=lambda name: means[name])
    return [f"{best} ranks first by {at.human} ({means[best]:.3f})"]


def _domains(at: Place, found: Answer[Any]) -> list[str]:
    each = found.frame.drop_nulls("mean").partition_by("domain")
    wins = Counter(row["system"] for one in each for row in one.filter(mean=one["mean"].max()).to_dicts())
    ((name, n), *_) = sorted(wins.items(), key=lambda one: -one[1])
    return [f"in {n} of {len(each)} domains", *([name] if list(wins.values()).count(n) == 1 else [])]


def _two_systems(at: Place, found: Answer[Any]) -> list[str]:
    of_kind = {name: describe(name.rpartition("-")[0]).kind for name in found.frame.filter(kind="metric")["scorer"]}
    judging = [name for name, kind in of_kind.items() if kind not in ("random", "sentinel")]
    metrics = found.frame.filter(pl.col("scorer").is_in(judging))
    first, second = found.facts["systems"]
    n, m = (metrics.filter((pl.col("p") <= 0.05) & (sign * pl.col("difference") > 0)).height for sign in (1, -1))
    n_left = found.frame.filter(kind="metric").height - metrics.height
    left = f" ({n_left} not counted)" if n_left else ""
    return [f"Of {metrics.height} metrics{left}, {n} find {first} significantly better, {m} {second}."]


def _autorank(at: Place, found: Answer[Any]) -> list[str]:
    first, second, *_ = found.frame.sort("autorank")["system"].to_list()
    return [f"{first} ranks first", f"ahead of {second}"]


def _correlations(at: Place, found: Answer[Any]) -> list[str]:
    judging = [name for name in found.frame["metric"] if name not in found.facts["idle"]]
    matrix = found.frame.filter(pl.col("metric").is_in(judging)).select(judging).to_numpy().astype(float)
    above = matrix[np.triu_indices(len(matrix), 1)]
    return [f"{np.nanmax(above):.3f}", f"({number(float(np.nanmin(above)))})", f"of {len(matrix)} metrics"]


def _years(at: Place, found: Answer[Any]) -> list[str]:
    rows = found.frame.filter(pl.col("bridge").is_null() & pl.col("value").is_not_null() & (pl.col("by") == "family"))
    leaders = rows.sort("year", "value", descending=True).unique("year", keep="first", maintain_order=True).to_dicts()
    best, *before = leaders
    earlier = [f"{one['group']} ({one['year']}, {one['gap']:+.3f})" for one in before[:1] if one["gap"] is not None]
    gap = ["the anchor of all gaps"] if best["gap"] == 0 else [f"{number(abs(best['gap'] or 0))} "]
    gap = ["has no value there"] if best["gap"] is None else gap
    return [f"In {best['year']}, ", f"({number(best['value'])})", *gap, *earlier]


def _no_trend(at: Place, found: Answer[Any]) -> list[str]:
    assert found.frame["p"].count() == 0
    return ["No trend can be tested", f"none of {found.frame['group'].n_unique()} groups"]


def _show(at: Place, found: Answer[Any]) -> list[str]:
    sql = """
        SELECT max(value), min(value) FROM human_scores
        WHERE testset = $testset AND lp = $lp AND human = $human AND segment = 3
    """
    return [f"({end:.1f})" for (ends) in at.rows(sql, human=at.human) for end in ends]


def _segments(at: Place, found: Answer[Any]) -> list[str]:
    row = found.frame.row(0, named=True)
    assert abs(row["residual"]) == max(found.frame["residual"].abs())
    places = []
    for side in ("a", "b"):
        n, name, value = row["n_outputs"], row[f"scorer_{side}"], row[f"value_{side}"]
        every = found.frame[f"value_{side}"].to_numpy()
        assert len(every) == n  # all outputs are listed
        shares = {"best": (every >= value).sum(), "worst": (every <= value).sum()}
        which = min(shares, key=lambda end: (shares[end], end))
        least = shares[which]
        places.append(f"the {which} by {name}" if least == 1 else f"among the {which} {100 * least / n:.2g}% by {name}")
    return [f"{row['system']}, segment {row['segment']}", ", ".join(places)]


def _judges(at: Place, found: Answer[Any]) -> list[str]:
    row = found.frame.filter(kind="judge").row(0, named=True)
    return [row["scorer"], f"{row['r']:.3f}" if row["accuracy"] is None else f"{row['accuracy']:.0%}"]


def _scatter(at: Place, found: Answer[Any]) -> list[str]:
    human, metric = (found.frame[name].to_numpy() for name in ("human", "metric"))
    first, second = np.triu_indices(len(human), 1)
    n = int(((human[first] - human[second]) * (metric[first] - metric[second]) > 0).sum())
    return [f"r {np.corrcoef(human, metric)[0, 1]:.3f}", f"{len(first)} pairs", f"agree on {n}"]


def _counts(at: Place, found: Answer[Any]) -> list[str]:
    names = ("n_concordant", "n_discordant", "n_tied_metric")  # pairs that people do not tie
    total = found.frame.group_by("metric").agg(pl.col(*names).sum())
    share = total.select("metric", share=pl.col("n_concordant") / pl.sum_horizontal(*names))
    best = share.sort("share", descending=True, nulls_last=True).row(0)
    return [f"{best[0]} orders the most pairs", f"{best[1]:.1%}"]


def _thresholds(at: Place, found: Answer[Any]) -> list[str]:
    best = found.frame.sort("value", descending=True, nulls_last=True).row(0, named=True)
    return [
        f"{best['metric']} has the highest acc_eq(by=item) of {found.frame['value'].count()} metrics",
        f"({best['value']:.3f})",
        f"tie threshold {number(best['epsilon'], 4)}",
    ]


def _means(at: Place, found: Answer[Any]) -> list[str]:
    rows = found.frame.filter(kind="metric").drop_nulls("judged_mean")
    tops = rows.filter(pl.col("judged_mean") == pl.col("judged_mean").max().over("scorer"))
    tops = tops.filter(pl.len().over("scorer") == 1)  # who shares the first place does not have it alone
    n = max(Counter(tops["system"]).values())
    unjudged = found.frame.filter(kind="human")["n_missing"].sum()
    return [f"by {n} of {rows['scorer'].n_unique()} metrics", f" judged all but {unjudged} outputs"]


def _deltas(at: Place, found: Answer[Any]) -> list[str]:
    rows = found.frame.filter(pl.col("agreement") == 0.8).to_dicts()
    said = [f"a difference of {row['delta']:.3g} " for row in rows if row["delta"] is not None]
    return ["Fitted agreement reaches 80% at ", next(one for one in said if one in found.summary)]


def _one_delta(at: Place, found: Answer[Any]) -> list[str]:
    shares = {f"{row['agreement']:.0%}" for row in found.frame.drop_nulls("agreement").to_dicts()}
    return [next(one for one in shares if one in found.summary), "a difference of "]


def _noise(at: Place, found: Answer[Any]) -> list[str]:
    rows = [row for row in found.frame.to_dicts() if row["kind"] == "independent" and row["strength"] > 0]
    weak, strong = (choose(rows, key=lambda row: row["strength"]) for choose in (min, max))
    clean = next(row["value"] for row in found.frame.to_dicts() if row["strength"] == 0)
    moved = [
        f"stays at {clean:.3f}" if row["value"] == clean else f"falls from {clean:.3f} to {row['value']:.3f}"
        for row in (weak, strong)
    ]
    return [f"pa {moved[0]}; with {strong['strength']:g} SD, it {moved[1]}."]


def _plan(at: Place, found: Answer[Any]) -> list[str]:
    row = found.frame.row(0, named=True)
    return [str(row["first"]), str(row["second"]), f"{row['n_loaded']} are loaded"]


def _precision(at: Place, metric: str, threshold: float) -> tuple[float, float]:
    """Share of outputs that pass a threshold, and of good ones among them, in SQL."""
    sql = """
        SELECT avg((m.value >= $threshold)::INTEGER), avg((h.value >= $good)::INTEGER) FILTER (m.value >= $threshold)
        FROM human_scores AS h JOIN scores AS m USING (testset, lp, system, segment)
        WHERE testset = $testset AND lp = $lp AND h.human = $human AND m.metric = $metric AND h.value IS NOT NULL
          AND (testset, lp, system) IN (SELECT DISTINCT (testset, lp, system) FROM ranked_scores)
    """
    given = {"human": at.human, "metric": metric, "good": float(at.good), "threshold": threshold}
    ((share, precision),) = at.rows(sql, **given)
    return share, precision


def _safe(at: Place, found: Answer[Any]) -> list[str]:
    row = found.frame.row(1, named=True)
    share, precision = _precision(at, found.facts["metric"], row["threshold"])
    assert (row["share"], row["precision"]) == pytest.approx((share, precision))
    cost = 10 * share * (1 - precision) + 1 - share
    return [
        f"threshold {row['threshold']:.{max(4, len(repr(row['threshold']).partition('.')[2]))}f} ",
        f"{share:.1%} pass",
        f"Cost per output: {number(cost)} (review 1, bad output 10)",
    ]


def _unsafe(at: Place, found: Answer[Any]) -> list[str]:
    return [
        "No: at no threshold of ",
        f"97.5% certain that 100% of published outputs are good ({at.human} ≥ {at.good})",
    ]


def _curve(at: Place, found: Answer[Any]) -> list[str]:
    threshold = float(found.summary.split()[1])
    share, precision = _precision(at, found.facts["metric"], threshold)
    return [f"{share:.0%} pass", f"{precision:.0%} of these are good"]


def _sample(at: Place, found: Answer[Any]) -> list[str]:
    return [f"5 segments from {found.frame['document'].n_unique()} documents"]


def _annotators(at: Place, found: Answer[Any]) -> list[str]:
    sql = """
        SELECT count(*) FROM annotations
        WHERE testset = $testset AND lp = $lp AND scorer = $human AND status = 'valid'
    """
    shared = """
        SELECT count(*) FROM (
            SELECT scorer, system, segment
            FROM annotations
            WHERE testset = $testset AND lp = $lp AND scorer = $human AND status = 'valid'
            GROUP BY ALL
            HAVING count(DISTINCT rater) > 1
        )
    """
    for (name,), of_one in found.frame.group_by("human"):
        ((n,),), ((n_shared,),) = at.rows(sql, human=name), at.rows(shared, human=name)
        assert of_one["n_judgements"].sum() == n
        assert (n_shared, of_one["n_shared"].sum()) == (0, 0)
    if "annotator" not in found.frame.columns:
        return ["cannot be measured: annotators are unknown"]
    (hard, low), *_, (mild, high) = found.frame.sort("leniency").select("annotator", "leniency").rows()
    return ["cannot be measured: no two judged the same output", f"{low:+.3g} ({hard}) to {high:+.3g} ({mild})"]


def _audit(at: Place, found: Answer[Any]) -> list[str]:
    counts = Counter(found.frame["severity"])
    names = {"info": "note"}
    nouns = {one: f"{n} {names.get(one, one)}{'' if n == 1 else 's'}" for one, n in counts.items()}
    return [*nouns.values(), *([] if counts["error"] or found.question.check else ["no error"])]


def _paper(at: Place, found: Answer[Any]) -> list[str]:
    n, n_all = found.frame["n_computable"].sum(), found.frame["n_items"].sum()
    return [f"{n} of the {n_all} tables and figures of {found.frame.height} papers"]


CASES: dict[str, tuple[str, tuple[str, ...], dict[str, Any], Check]] = {
    "list": ("list", (), {}, _list),
    "rank": ("rank", (), {"measures": ("pearson",)}, _rank),
    "compare": ("compare", (), {"measure": "pearson", "test": "williams"}, _tested),
    "compare, two": ("compare", ("both",), {"measure": "pearson"}, _pair),
    "advise": ("advise", (), {"measure": "pearson"}, _advise),
    "protocol": ("protocol", (), {}, _protocol),
    "systems": ("systems", (), {"test": "wilcoxon"}, _systems),
    "systems, domains": ("systems", (), {"view": "domains"}, _domains),
    "systems, two": ("systems", ("systems",), {"test": "wilcoxon"}, _two_systems),
    "autorank": ("autorank", (), {}, _autorank),
    "correlations": ("correlations", (), {}, _correlations),
    "trend": ("trend", (), {"measure": "pearson", "resamples": 2}, _years),
    "trend, over years": ("trend", (), {"measure": "pearson", "over_years": True, "resamples": 2}, _no_trend),
    "show": ("show", (), {"segment": 3}, _show),
    "segments": ("segments", ("metric",), {"n": 100_000}, _segments),
    "scatter": ("scatter", ("metric",), {}, _scatter),
    "counts": ("counts", (), {"by": "item"}, _counts),
    "thresholds": ("thresholds", (), {}, _thresholds),
    "means": ("means", (), {}, _means),
    "deltas": ("deltas", ("metric",), {"resamples": 20}, _deltas),
    "deltas, one": ("deltas", ("metric",), {"difference": 0.1, "resamples": 20}, _one_delta),
    "noise": ("noise", ("metric",), {"measures": ("pa",), "simulations": 2}, _noise),
    "plan": ("plan", ("first", "second"), {"measure": "pearson(by=none)", "simulations": 20, "resamples": 20}, _plan),
    "cutoff": ("cutoff", ("metric", "good"), {"precision": 0.7}, _safe),
    "cutoff, no": ("cutoff", ("metric", "good"), {"precision": 1.0}, _unsafe),
    "cutoff, curve": ("cutoff", ("metric", "good"), {"curve": True}, _curve),
    "sample": ("sample", (), {"size": 5}, _sample),
    "annotators": ("annotators", (), {"resamples": 5}, _annotators),
    "judges": ("judges", (), {}, _judges),
    "audit": ("audit", (), {}, _audit),
    "paper": ("paper", (), {}, _paper),
}
"""By name: the question, what of the place it takes, its other options, and the check."""
_WITHOUT_PLACE = ("list", "paper", "protocol")


def _asked(at: Place, case: str) -> Answer[Any]:
    name, of_place, more, _ = CASES[case]
    systems = [row[0] for row in at.rows(_RANKED, human=at.human)][:2] if "systems" in of_place else []
    known: dict[str, dict[str, Any]] = {
        "metric": {"metric": at.metric},
        "good": {"good": at.good},
        "both": {"metrics": (at.metric, at.other)},
        "first": {"first": at.metric},
        "second": {"second": at.other},
        "systems": {"scorer": systems[:1] and systems[0], "versions": systems[1:]},
    }
    given = {} if name in _WITHOUT_PLACE else dict(at.names)
    for one in of_place:
        given |= known[one]
    if name == "protocol":
        given = {"rules": "wmt24", "on": at.testset, "lp": at.lp}
    answer: Answer[Any] = function(name)(at.warehouse, **given, **more)
    return answer


_RANKED = """
    SELECT system FROM human_scores JOIN systems AS y USING (testset, lp, system)
    WHERE testset = $testset AND lp = $lp AND human = $human AND y.kind = 'mt' AND NOT y.is_outlier
    GROUP BY system ORDER BY avg(value ORDER BY segment) DESC
"""


def _check(at: Place, case: str) -> None:
    found = _asked(at, case)
    assert len(found.summary) <= LONGEST
    said = without_source(found.summary)
    for text in CASES[case][3](at, found):
        assert text in said, f"{text!r} not in {said!r}"


SLOW = {"trend", "trend, over years", "compare, two", "plan", "noise", "annotators", "audit", "deltas", "advise"}


@pytest.mark.parametrize("case", [pytest.param(one, marks=pytest.mark.slow if one in SLOW else ()) for one in CASES])
def test_numbers_of_the_sentence_on_the_simulated_task(case: str, simulated_warehouse: Warehouse) -> None:
    _check(Place(simulated_warehouse, "sim24", "cs-uk", "mqm", "simBLEU", "Oriole", "-1"), case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_numbers_of_the_sentence_on_wmt23(case: str, wmt23_warehouse: Warehouse) -> None:
    _check(Place(wmt23_warehouse, "wmt23", "en-de", "mqm", "COMET", "BLEU", "-5"), case)


def test_where_the_data_give_no_answer_the_sentence_is_a_no_or_one_error(simulated_warehouse: Warehouse) -> None:
    at = Place(simulated_warehouse, "sim24", "cs-uk", "mqm", "simBLEU", "Oriole", "-1")
    none = function("compare")(simulated_warehouse, **at.names, measure="pearson", test="williams", alpha=1e-300)
    assert "No metric is significantly worse" in none.summary
    with pytest.raises(QuestionError):
        function("advise")(simulated_warehouse, **at.names, domain=("nowhere",))


def test_every_question_has_a_case() -> None:
    assert {name for name, *_ in CASES.values()} >= set(QUESTIONS) - {"diff", "spans"}  # two warehouses; predictions
