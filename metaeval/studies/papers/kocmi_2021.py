"""Kocmi et al. 2021: to ship or not to ship."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from metaeval import kernels
from metaeval.kernels.arrays.checks import Bools
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.evaluation import Evaluation, evaluate
from metaeval.results.notes import because
from metaeval.results.signature import Parts, signed
from metaeval.studies.pairs.pooled_pairs import (
    BOOTSTRAP_DRAWS,
    PooledPairs,
    accuracies,
    difference_correlations,
    errors,
    of_one_human,
    pooled_pairs,
)
from metaeval.studies.papers.items import Cell, ChartKind, Item, ItemValues, Paper, Request, cells_of
from queries.selection import select
from queries.slices import Outliers, Slice
from warehouse import QuestionError
from warehouse.facts.languages import language_pair
from warehouse.wording import option

PEARSON = parse_measure("pearson")
WITHOUT = {"wmt20": "en-zh"}  # the pair with a suspicious system; values in brackets are without it
POPULATIONS: dict[str, Outliers] = {"": "none", " no outliers": "organisers"}


def label_of(asked: Sequence[Slice]) -> tuple[str, str]:
    """Test set and language pair under which several evaluation sets are shown."""
    testsets = list(dict.fromkeys(one.testset for one in asked))
    return ",".join(testsets), "all" if len(asked) > 1 else asked[0].lp


def _places(asked: Sequence[Slice], humans: Iterable[str]) -> Parts:
    """The signature parts of several evaluation sets and their human scores."""
    return [
        ("testset", ",".join(dict.fromkeys(one.testset for one in asked))),
        ("lp", ",".join(dict.fromkeys(one.lp for one in asked))),
        ("human", "+".join(humans)),
        ("n_sets", len(asked)),
    ]


def table_6(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Hunter and Schmidt's mean correlation over the language pairs of each test set."""
    cells: list[Cell] = []
    notes: list[str] = []
    humans: dict[str, None] = {}
    for testset in dict.fromkeys(one.testset for one in asked):
        sets = [one for one in asked if one.testset == testset]
        lp = "all" if len(sets) > 1 else sets[0].lp
        seen: list[int] = []
        for suffix, outliers in POPULATIONS.items():
            found = []
            for one in sets:
                try:
                    block = request.block(replace(one, with_outliers=outliers == "none"), "sys")
                except QuestionError as error:
                    notes.append(because(f"{one.testset} {one.lp} is excluded: ", error))
                    continue
                humans[str(block.selection.human)] = None
                found.append((one.lp, evaluate(PEARSON, block, Options())))
            if not found or [one.n_systems for _, one in found] == seen:
                continue
            seen = [one.n_systems for _, one in found]
            cells += _pooled(testset, lp, suffix.strip(), found)
            rest = [one for one in found if one[0] != WITHOUT.get(testset)]
            if 0 < len(rest) < len(found):
                cells += _pooled(testset, lp, f"{suffix} without {WITHOUT[testset]}".strip(), rest)
    signature = signed(
        ("paper", "kocmi-2021 table-6"), ("measure", PEARSON), ("pool", "hunter-schmidt"), *_places(asked, humans)
    )
    notes.append("a metric needs scores in every language pair; outliers: those of the organisers' list")
    return ItemValues(tuple(cells), signature, tuple(dict.fromkeys(notes)))


def _pooled(testset: str, lp: str, column: str, found: Sequence[tuple[str, Evaluation]]) -> list[Cell]:
    """A cell for each metric with a value in every set: the mean of r weighted by systems."""
    values = [
        {
            metric.base_name: float(value)
            for metric, value in zip(one.metrics, one.value, strict=True)
            if not np.isnan(value)
        }
        for _, one in found
    ]
    sizes = [one.n_systems for _, one in found]
    column = column or "r"
    cells = [Cell("systems", f"n_systems {column}", testset, lp, float(sum(sizes)))]
    for name in sorted(set.intersection(*(set(one) for one in values))):
        mean = kernels.hunter_schmidt([one[name] for one in values], sizes).mean
        cells.append(Cell(name, column, testset, lp, mean))
    return cells


LOGOGRAMS = ("Hans", "Hant", "Jpan", "Kore", "Hang")  # scripts of Chinese, Japanese and Korean
ALPHAS = (0.05, 0.01, 0.001)
DRAWS = 10_000  # resamples of system pairs
ONE_DOMAIN = "discussion"  # of the domains in table 3, the one that is not news


def _pairs(request: Request, asked: Sequence[Slice], *, tests_metrics: bool = False) -> PooledPairs:
    """Pairs of the evaluation sets that were requested."""
    sets = [replace(one, metrics=request.metrics) for one in asked]
    with request.opened() as warehouse:
        return pooled_pairs(warehouse, sets, seed=request.seed if tests_metrics else None)


def _signature(
    request: Request, item: str, label: tuple[str, str], found: PooledPairs, *more: tuple[str, object]
) -> str:
    return signed(
        ("paper", f"kocmi-2021 {item}"),
        ("testset", label[0]),
        ("lp", ",".join(dict.fromkeys(found.lps))),
        ("human", "+".join(dict.fromkeys(found.humans))),
        ("metrics", ",".join(request.metrics) or None),
        ("n_systems", found.n_systems),
        ("n_pairs", found.human.size),
        ("n_metrics", len(found.metrics)),
        *more,
    )


def _shares(
    request: Request, asked: Sequence[Slice], item: str, found: PooledPairs, columns: dict[str, Bools]
) -> ItemValues:
    """Accuracy in percent over selected pairs, one column per selection, and which metrics are on par with the best."""
    label = label_of(asked)
    cells: list[Cell] = []
    n_draws = request.draws or DRAWS
    for column, counted in columns.items():
        accuracy, on_par = accuracies(found, counted, seed=request.seed, n_draws=n_draws)
        cells += cells_of(*label, "n", {column: int(counted.sum())})
        for place, name in enumerate(found.metrics):
            values = {column: 100 * float(accuracy[place])}
            if on_par is not None:
                values[f"{column} on par"] = float(on_par[place])
            cells += cells_of(*label, name, values)
    signature = _signature(request, item, label, found, ("resamples", n_draws), ("seed", request.seed))
    notes = (
        "accuracy in percent; on par: the best metric is ahead in less than 95% of the resampled pairs",
        *found.notes,
    )
    return ItemValues(tuple(cells), signature, notes)


def table_2(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Accuracy over all pairs, and over pairs that human scores tell apart."""
    found = _pairs(request, asked)
    columns: dict[str, Bools] = {"All": np.ones(found.human.size, dtype=np.bool_)}
    columns |= {f"{alpha:g}": found.significant(alpha) for alpha in ALPHAS}
    columns["Within"] = found.significant(0.05) & ~(found.human_p < 0.001)
    return _shares(request, asked, "table-2", found, columns)


def table_3(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Accuracy over pairs that human scores tell apart, by direction, script and language."""
    found = _pairs(request, asked)
    apart = found.significant(0.05)
    facts = [language_pair(lp) for lp in found.lps]

    def pairs_where(which: list[bool]) -> Bools:
        return apart & np.array(which, dtype=np.bool_)

    columns = {
        "Everything": apart,
        "Into EN": pairs_where([one is not None and one.direction == "into-english" for one in facts]),
        "From EN": pairs_where([one is not None and one.direction == "from-english" for one in facts]),
        "Non Latin": pairs_where([one is not None and one.target.script != "Latn" for one in facts]),
        "Logograms": pairs_where([one is not None and one.target.script in LOGOGRAMS for one in facts]),
        "Non WMT": pairs_where([one is not None and not one.target.da_years for one in facts]),
    }
    of_domain = _sets_of_domain(request, asked, ONE_DOMAIN)
    if of_domain:
        columns[ONE_DOMAIN.capitalize()] = pairs_where(
            [place in of_domain for place in zip(found.testsets, found.lps, strict=True)]
        )
    else:
        missing = f"there is no column {ONE_DOMAIN.capitalize()}: no test set is all of domain {ONE_DOMAIN}"
        found = replace(found, notes=(*found.notes, missing))
    return _shares(request, asked, "table-3", found, columns)


def _sets_of_domain(request: Request, asked: Sequence[Slice], domain: str) -> set[tuple[str, str]]:
    """Evaluation sets whose segments are all of one domain."""
    with request.opened() as warehouse:
        places = {(one.testset, one.lp): set(select(warehouse, one).domains) for one in asked}
    return {
        place for place, domains in places.items() if {str(name).casefold() for name in domains} == {domain.casefold()}
    }


def table_4(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Accuracy without and with the paired bootstrap, and the errors of the two tests against each other."""
    found = _pairs(request, asked, tests_metrics=True)
    label = label_of(asked)
    every, _ = accuracies(found, np.ones(found.human.size, dtype=np.bool_))
    tests = errors(found).rows(named=True)
    cells: list[Cell] = []
    assert found.metric_p is not None
    for place, name in enumerate(found.metrics):
        if np.isnan(found.metric_p[place]).all():
            continue
        values = {
            "No test": 100 * float(every[place]),
            "Boot.": 100 * tests[place]["right_if_found"],
            "Both": tests[place]["both"],
            "Neither": tests[place]["neither"],
            "Type I n": tests[place]["type_1"],
            "Type II n": tests[place]["type_2"],
            "Type II share": 100 * tests[place]["type_2_share"],
        }
        cells += cells_of(*label, name, values)
    signature = _signature(request, "table-4", label, found, ("resamples", BOOTSTRAP_DRAWS), ("seed", request.seed))
    notes = (
        "people: Wilcoxon's test of segments; metrics: paired bootstrap of segments, two-sided; both at 0.05, over "
        "pairs with segment scores of both; metrics without segment scores are excluded",
        *found.notes,
    )
    return ItemValues(tuple(cells), signature, notes)


def table_5(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Accuracy over pairs that human scores tell apart, by kind of system: anonymous online systems and submitted ones.

    The paper's incremental and independent pairs are marked only in its own campaigns.
    """
    found = _pairs(request, asked)
    apart = found.significant(0.05)
    online = np.array(
        [[name.casefold().startswith("online") for name in names] for names in (found.first, found.second)]
    )
    n_online = online.sum(axis=0) if found.human.size else np.zeros(0)
    columns = {
        "Both submitted": apart & (n_online == 0),
        "One online": apart & (n_online == 1),
        "Both online": apart & (n_online == 2),
    }
    return _shares(request, asked, "table-5", found, columns)


def table_7(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Systems and segments of each evaluation set."""
    cells: list[Cell] = []
    humans: dict[str, None] = {}
    for one in asked:
        block = request.block(one, "sys")
        humans[str(block.selection.human)] = None
        values = {"n_systems": len(block.systems), "n_segments": block.selection.n_segments}
        cells += cells_of(one.testset, one.lp, f"{one.testset}.{one.lp}", values)
    signature = signed(("paper", "kocmi-2021 table-7"), *_places(asked, humans))
    return ItemValues(tuple(cells), signature)


def table_8(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Correlations of metric with human differences over all pairs of systems with one human score."""
    found = of_one_human(_pairs(request, asked))
    label = label_of(asked)
    by_name = difference_correlations(found)
    cells: list[Cell] = []
    for place, name in enumerate(found.metrics):
        cells += cells_of(*label, name, {key.capitalize(): float(values[place]) for key, values in by_name.items()})
    return ItemValues(tuple(cells), _signature(request, "table-8", label, found), found.notes)


def table_9(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Accuracy over pairs that human scores tell apart, for each language pair."""
    found = _pairs(request, asked)
    apart, lps = found.significant(0.05), np.array(found.lps, dtype=object)
    columns: dict[str, Bools] = {lp: apart & (lps == lp) for lp in dict.fromkeys(found.lps)}
    return _shares(request, asked, "table-9", found, {lp: one for lp, one in columns.items() if one.any()})


def differences(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Differences of every pair by human scores and by each metric, with their correlations.

    The paper spreads its metrics over two such figures, and its text does not say which are in which.
    """
    found = of_one_human(_pairs(request, asked))
    label = label_of(asked)
    by_name = difference_correlations(found)
    cells: list[Cell] = []
    for place, name in enumerate(found.metrics):
        cells += cells_of(*label, name, {key: float(values[place]) for key, values in by_name.items()})
        for pair in range(found.human.size):
            row = f"{name}: {found.testsets[pair]} {found.lps[pair]} {found.first[pair]} - {found.second[pair]}"
            cells += cells_of(
                *label, row, {"human": float(found.human[pair]), "metric": float(found.metric[place, pair])}
            )
    notes = (
        "metric and human scores disagree where the signs differ: upper left and lower right quadrants",
        "figures 1 and 2 are of different metrics, drawn but not listed; "
        f"both items show all, {option('metrics')} chooses",
        *found.notes,
    )
    return ItemValues(tuple(cells), _signature(request, "figures-1-2", label, found), notes)


def section_5_3(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """How large a metric's differences are in pairs that human scores tell apart in the opposite direction."""
    found = _pairs(request, asked)
    label = label_of(asked)
    wrong = found.significant(0.05) & (np.sign(found.metric) == -np.sign(found.human))
    cells: list[Cell] = []
    for place, name in enumerate(found.metrics):
        sizes = np.abs(found.metric[place, wrong[place]])
        values = {"n_flipped": sizes.size, "median_difference": float(np.median(sizes)) if sizes.size else None}
        cells += cells_of(*label, name, values)
    return ItemValues(tuple(cells), _signature(request, "section-5.3", label, found), found.notes)


_YEARS = tuple((f"wmt{year}", "all") for year in ("20", "19", "18", "17", "16", "15", "14", "13"))
_CAMPAIGNS = f"the authors' campaigns are not public; {option('testset')} computes it on others"


def _on_campaigns(
    name: str,
    title: str,
    compute: Callable[[Request, Sequence[Slice]], ItemValues],
    chart: ChartKind | None = None,
    *,
    is_stored: bool = False,
) -> Item:
    return Item(name, title, compute_together=compute, chart=chart, is_stored=is_stored, unavailable=_CAMPAIGNS)


PAPER = Paper(
    "kocmi-2021",
    "To Ship or Not to Ship: An Extensive Evaluation of Automatic Metrics for Machine Translation",
    (
        _on_campaigns(
            "figure-1", "differences of system pairs by human scores and metrics", differences, "differences"
        ),
        _on_campaigns("table-2", "accuracy over all pairs, and over pairs with significant human differences", table_2),
        _on_campaigns("table-3", "accuracy by direction, script and language", table_3),
        _on_campaigns("section-5.3", "differences of pairs that a metric gets wrong", section_5_3),
        _on_campaigns("table-4", "accuracy with the paired bootstrap, and errors", table_4, is_stored=True),
        _on_campaigns("table-5", "accuracy by the kinds of systems", table_5),
        Item("table-6", "correlations of the shared tasks by Hunter and Schmidt", _YEARS, compute_together=table_6),
        _on_campaigns("table-7", "systems and segments", table_7),
        _on_campaigns("table-8", "correlations of differences", table_8),
        _on_campaigns("figure-2", "differences of system pairs, further metrics", differences, "differences"),
        _on_campaigns("table-9", "accuracy by language pair", table_9),
    ),
)
