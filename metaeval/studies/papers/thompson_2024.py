"""Thompson et al. 2024: soft pairwise accuracy."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from metaeval import kernels
from metaeval.kernels.agreement.systems import difference_signs
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.stability import count_noise, segment_ablation, system_ablation
from metaeval.measures.judged import judged_segments
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestOptions
from metaeval.measures.pairwise_accuracy import sign_generator
from metaeval.measures.registry import parse_measure
from metaeval.measures.system_scores import system_scores
from metaeval.results.answer import or_none, table_signature
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs
from metaeval.results.signature import signed
from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request, cells_of
from metaeval.studies.protocols import protocols
from metaeval.studies.protocols.entry import enter
from metaeval.studies.protocols.scoring import ProtocolScore, score
from metaeval.studies.protocols.tables import rank_correlation
from metaeval.studies.significance.cached import prepare_comparison, run_or_load
from metaeval.studies.significance.comparison import Comparison
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.wording import counted, first_names, option

SPA, PA = parse_measure("spa"), parse_measure("pa")
MEASURES = {"pa": (PA, True), "spa": (SPA, False)}  # measure, and whether equal system scores are equal floats
SEEDS = 5  # whose values of spa show how often two metrics come out equal
DRAWS = 1000
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the judged segments, in figure 3
TIMED_PAIRS = 6  # p-values that are timed one by one
_LAST_YEAR = 2024  # of the rules that section 5 tells of


def _compared(request: Request, asked: Slice, name: str) -> Comparison:
    """Reference-based metrics compared as in the paper: segments swapped, two-sided, means over annotated segments."""
    measure, raw = MEASURES[name]
    asked = replace(asked, kind="reference-based")
    testing = TestOptions(test="perm-inputs", resamples=request.draws or DRAWS, keep_null=True)
    with request.opened() as warehouse:
        block = Inputs(warehouse, asked).block(measure)
        options = replace(request.options, raw_ties=raw)
        waiting = prepare_comparison(warehouse, block, measure, options, testing, in_depth=False)
    found, _ = run_or_load(waiting, None, request.progress)
    assert isinstance(found, Comparison)
    return found


def table_1(request: Request, asked: Slice) -> ItemValues:
    """Distinct values, significant comparisons and clusters by pairwise and by soft pairwise accuracy."""
    row = f"{asked.testset}.{asked.lp}"
    cells: list[Cell] = []
    signatures: list[str] = []
    block = request.block(replace(asked, kind="reference-based"))
    n_metrics = 0
    for name, (measure, _) in MEASURES.items():
        found = _compared(request, asked, name)
        n_metrics = n_metrics or len(found.names)
        assert found.null is not None
        others = [] if measure.n_draws is None else _other_seeds(measure, block, found, request.seed)
        of_pairs, of_clusters = count_noise(
            found.null,
            found.values,
            np.random.default_rng([request.seed, 1]),
            other_values=[values for values, _ in others],
            alpha=found.alpha,
        )
        of_distinct = float(np.std([found.n_distinct, *(n for _, n in others)], ddof=1)) if others else 0.0
        for column, value, error in (
            ("distinct", found.n_distinct, of_distinct),
            ("significant", found.n_significant, of_pairs),
            ("clusters", found.n_clusters, of_clusters),
        ):
            cells.append(Cell(row, f"{name}_{column}", asked.testset, asked.lp, float(value), error))
        signatures.append(found.signature)
    n_unequal = len({scores.tobytes() for scores in block.scores})
    cells += cells_of(
        asked.testset,
        asked.lp,
        row,
        {
            "n_systems": len(block.systems),
            "n_metrics": n_metrics,
            "max_distinct": n_unequal,
            "n_pairs": n_unequal * (n_unequal - 1) // 2,
        },
    )
    notes = (
        "pa compares system scores as floats, as the paper did; within the tolerance that is the default of compare, "
        "fewer pairs of metrics are significant",
        "standard errors: the test's resamples are resampled, and spa is computed with five more random seeds",
        "n_pairs, max_distinct: metrics with the same scores count once",
    )
    return ItemValues(tuple(cells), "\n".join(signatures), notes)


def _other_seeds(measure: Measure, block: Block, comparison: Comparison, seed: int) -> list[tuple[Floats, int]]:
    """Values by more random seeds, in the order of a comparison, with the number of distinct ones."""
    names = [metric.name for metric in block.metrics]
    order = [names.index(name) for name in comparison.names]
    runs = [evaluate(measure, block, Options(seed=seed + more)) for more in range(1, SEEDS + 1)]
    return [(run.value[order], run.n_distinct) for run in runs]


def _p_values(block: Block, seed: int, n_draws: int) -> Floats:
    """(1 + M, N, N) permutation p-values of system pairs: by human scores, then by each metric."""
    judged = judged_segments(block)
    signs = kernels.draw_signs(sign_generator(seed), n_draws, judged.human.shape[1])
    scores = np.concatenate([judged.human[np.newaxis], judged.scores])
    return kernels.sign_flip_p_values(scores, ~np.isnan(judged.human), signs)


def _metric(block: Block, wanted: tuple[str, ...], default: str) -> Block:
    """The block with one metric: the one that is named, else the paper's, else the first.

    Raises QuestionError: several are named.
    """
    if wanted and len(block.metrics) > 1:
        raise QuestionError(f"this item takes one metric; {option('metrics')} selects {len(block.metrics)}")
    names = [metric.base_name.casefold() for metric in block.metrics]
    place = names.index(default) if default in names and not wanted else 0
    return block.take(metrics=[place])


def figure_1(request: Request, asked: Slice) -> ItemValues:
    """p-values of human scores and of one metric, and how far they agree, for every pair of systems."""
    block = _metric(request.block(replace(asked, metrics=request.metrics)), request.metrics, "prismref")
    n_draws = request.draws or DRAWS
    p = _p_values(block, request.seed, n_draws)
    human = system_scores(block, "judged-mean").human
    order = np.lexsort((np.arange(human.size), -human))
    cells: list[Cell] = []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            soft = p[0, i, j], p[1, i, j]
            hard = tuple(float(one >= 0.5) for one in soft)
            row = f"{block.systems[i]} > {block.systems[j]}"
            values = {
                "pa_human": hard[0],
                "pa_metric": hard[1],
                "pa_agreement": 1.0 - abs(hard[0] - hard[1]),
                "spa_human": float(soft[0]),
                "spa_metric": float(soft[1]),
                "spa_agreement": 1.0 - abs(float(soft[0]) - float(soft[1])),
            }
            cells += cells_of(asked.testset, asked.lp, row, values)
    signature = table_signature(
        ("paper", "thompson-2024 figure-1"),
        block,
        ("metric", block.metrics[0].name),
        ("resamples", n_draws),
        ("seed", request.seed),
    )
    return ItemValues(
        tuple(cells), signature, (f"metric: {block.metrics[0].name}", "systems are sorted by human score")
    )


def _agreements(block: Block, seed: int) -> dict[str, Floats]:
    """The contribution of each pair of systems to pa and to spa, (M, N, N)."""
    p = _p_values(block, seed, DRAWS)
    found = system_scores(block, "judged-mean")
    n = len(block.systems)
    first, second = np.triu_indices(n, 1)
    hard = np.zeros((len(block.metrics), n, n))
    hard[:, first, second] = difference_signs(found.metrics) == difference_signs(found.human)
    return {"pa": hard, "spa": 1.0 - np.abs(p[1:] - p[0])}


def figure_2(request: Request, asked: Slice) -> ItemValues:
    """Pearson's r between the metrics' values by random subsets of systems and by all systems."""
    block = request.block(replace(asked, kind="reference-based", metrics=request.metrics))
    if len(block.metrics) < 3 or len(block.systems) < 4:
        raise QuestionError(
            f"{asked.testset} {asked.lp} has {counted(len(block.metrics), 'metric')} and "
            f"{counted(len(block.systems), 'system')}; the ablation needs at least 3 and 4"
        )
    sizes = list(range(3, len(block.systems) + 1))
    n_trials = request.draws or DRAWS
    cells: list[Cell] = []
    undefined = 0
    for name, agreements in _agreements(block, request.seed).items():
        found = system_ablation(agreements, sizes, np.random.default_rng([request.seed, 2]), n_trials)
        undefined += int(np.isnan(found).sum())
        for size, r in zip(sizes, found, strict=True):
            r = r[~np.isnan(r)]
            if not r.size:
                continue
            low, high = np.quantile(r, [0.025, 0.975])
            for what, value, error in (
                ("r", float(r.mean()), float(r.std()) / np.sqrt(r.size)),
                ("low", float(low), 0.0),
                ("high", float(high), 0.0),
            ):
                cells.append(
                    Cell(counted(size, "system"), f"{name}_{what}", asked.testset, asked.lp, value, float(error))
                )
    signature = table_signature(
        ("paper", "thompson-2024 figure-2"), block, ("trials", n_trials), ("seed", request.seed)
    )
    notes = ["low, high: 2.5% and 97.5% of the trials"]
    notes += [f"{undefined} trials excluded: all metrics had the same value"] if undefined else []
    return ItemValues(tuple(cells), signature, tuple(notes))


def figure_3(request: Request, asked: Slice) -> ItemValues:
    """Bootstrap 95% intervals of pairwise and soft pairwise accuracy by the number of annotated segments."""
    wanted = request.metrics or ("MetricX-23-ref*", "XCOMET-Ensemble-ref*")
    try:
        block = request.block(replace(asked, metrics=wanted))
    except QuestionError:
        if request.metrics:
            raise
        whole = request.block(asked)
        block = whole.take(metrics=[0, 1])
    judged = judged_segments(block)
    n_segments = judged.human.shape[1]
    sizes = sorted({max(2, round(share * n_segments)) for share in SHARES})
    n_draws = request.draws or DRAWS
    found = segment_ablation(judged.human, judged.scores, sizes, np.random.default_rng([request.seed, 3]), n_draws)
    cells: list[Cell] = []
    for place, metric in enumerate(block.metrics):
        for size, both in zip(sizes, found, strict=True):
            values: dict[str, float | int | None] = {}
            for name, drawn in zip(("pa", "spa"), (one[:, place] for one in both), strict=True):
                low, high = np.nanquantile(drawn, [0.025, 0.975])
                values |= {
                    f"{name}_mean": float(np.nanmean(drawn)),
                    f"{name}_low": float(low),
                    f"{name}_high": float(high),
                    f"{name}_width": float(high - low),
                }
            cells += cells_of(asked.testset, asked.lp, f"{metric.name}, {counted(size, 'segment')}", values)
    signature = table_signature(
        ("paper", "thompson-2024 figure-3"), block, ("resamples", n_draws), ("seed", request.seed)
    )
    return ItemValues(tuple(cells), signature, ("p-values are the normal limit of the permutation test, spa(n=inf)",))


def figure_4(request: Request, asked: Slice) -> ItemValues:
    """The p-value of every pair of metrics, clusters and exact ties, by pairwise and soft pairwise accuracy."""
    cells: list[Cell] = []
    signatures = []
    for name in MEASURES:
        found = _compared(replace(request, progress=request.progress), asked, name)
        signatures.append(found.signature)
        for place, metric in enumerate(found.names):
            tied = int(np.count_nonzero(np.abs(found.values - found.values[place]) <= 1e-12)) - 1
            values: dict[str, float | int | None] = {
                f"{name}_value": float(found.values[place]),
                f"{name}_rank": int(found.ranks[place]),
                f"{name}_cluster": int(found.clusters[place]),
                f"{name}_n_tied": tied,
            }
            values |= {
                f"{name}_p:{other}": float(found.p[place, later])
                for later, other in enumerate(found.names)
                if later > place
            }
            cells += cells_of(asked.testset, asked.lp, metric, values)
    return ItemValues(tuple(cells), "\n".join(signatures))


def section_3_2(request: Request, asked: Slice) -> ItemValues:
    """Time for a p-value of one system pair: all of an evaluation set at once, and one by one with SciPy."""
    from scipy.stats import permutation_test

    block = _metric(request.block(replace(asked, metrics=request.metrics)), request.metrics, "prismref")
    n_draws = request.draws or DRAWS
    started = time.perf_counter()
    p = _p_values(block, request.seed, n_draws)
    ours = (time.perf_counter() - started) / (2 * (p.shape[1] * (p.shape[1] - 1) // 2))
    scores, judged = block.scores[0], block.judged
    pairs = list(zip(*np.triu_indices(len(block.systems), 1), strict=True))[:TIMED_PAIRS]
    rng = np.random.default_rng(request.seed)
    started = time.perf_counter()
    for i, j in pairs:
        both = judged[i] & judged[j]
        permutation_test(
            (scores[i, both], scores[j, both]),
            lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis),
            permutation_type="samples",
            n_resamples=n_draws,
            alternative="greater",
            vectorized=True,
            rng=rng,
        )
    theirs = (time.perf_counter() - started) / len(pairs)
    values = {"ours_ms": 1000 * ours, "scipy_ms": 1000 * theirs, "times_faster": theirs / ours}
    signature = table_signature(
        ("paper", "thompson-2024 section-3.2"), block, ("resamples", n_draws), ("seed", request.seed)
    )
    row = "p-value of a system pair"
    return ItemValues(tuple(cells_of(asked.testset, asked.lp, row, values)), signature, ("times are of this machine",))


def _by_all_rules(request: Request, asked: Slice) -> dict[str, ProtocolScore | str]:
    """The score by the rules of each year on one evaluation set, oldest first, or why there is none.

    Raises QuestionError: unknown names, or no protocol has its inputs.
    """
    known = [one for one in protocols().values() if one.year <= _LAST_YEAR]
    ends = [*(later.year - 1 for later in known[1:]), _LAST_YEAR]
    found: dict[str, ProtocolScore | str] = {}
    for number, (protocol, last) in enumerate(zip(known, ends, strict=True)):
        if request.progress is not None:
            request.progress(protocol.name, number, len(known))
        name = f"{protocol.name} ({protocol.year if protocol.year == last else f'{protocol.year}-{last}'})"
        try:
            with request.opened() as warehouse:
                entry = enter(warehouse, protocol, asked.testset, lps=[asked.lp], asked=asked, options=request.options)
            found[name] = score(entry, options=request.options)
        except QuestionError as error:
            found[name] = error.reason
    reasons = [one for one in found.values() if isinstance(one, str)]
    if len(reasons) == len(found):
        raise QuestionError("; ".join(dict.fromkeys(reasons)))
    return found


def section_5(request: Request, asked: Slice) -> ItemValues:
    """The rules of the shared tasks from 2007 to 2024, each run on one evaluation set and compared with the newest.

    Rows: a year's rules as a whole, then each of their system-level tasks (on the whole test set, and without human
    references where it was also scored with them). overall, best: the highest value; n_distinct: different values among
    n_metrics; kendall: rank correlation with the ranking by the rules of 2024, and with that by soft pairwise accuracy.
    """
    found = _by_all_rules(request, replace(asked, metrics=request.metrics))
    *_, last = found.values()
    newest = None if isinstance(last, str) else last
    by_spa: dict[str, float] = {}
    if newest is not None:
        (task,) = (one for one in newest.tasks if one.level == "sys")
        by_spa = _defined(newest.metrics, task.values)
    cells: list[Cell] = []
    for name, one in found.items():
        if isinstance(one, str):
            cells.append(Cell(name, "overall", asked.testset, asked.lp, None, note=one))
            continue
        tasks = " + ".join(dict.fromkeys(task.measure for task in one.tasks))
        tau = float("nan") if newest is None else rank_correlation(one, newest)[0]
        overall = _defined(one.metrics, one.overall)
        cells += _cells_of_rules(asked, name, "overall", overall, one.winners, tau, f"rules: {tasks}")
        for task in one.tasks:
            if task.level == "sys" and task.domain is None and not task.human_references:
                systems = ", outliers included" if task.outliers == "none" else ""
                values = _defined(one.metrics, task.values)
                best = [name for name in sorted(values) if values[name] == max(values.values())]
                common = [name for name in values if name in by_spa]
                tau = float("nan")
                if len(common) > 1:
                    pair = [values[name] for name in common], [[by_spa[name] for name in common]]
                    tau = float(kernels.system_correlation(*pair, "kendall")[0])
                row, compared = f"{name} {task.measure}{systems}", f"metrics compared by {task.test}"
                cells += _cells_of_rules(asked, row, "best", values, best, tau, compared)
    signature = signed(
        ("paper", "thompson-2024 section-5"),
        ("testset", asked.testset),
        ("lp", asked.lp),
        ("human", asked.human or "official"),
        ("metrics", ",".join(request.metrics) or None),
        ("seed", request.seed),
    )
    notes = (
        f"`scorehouse protocol NAME {option('on', asked.testset)} {option('lp', asked.lp)}` gives each "
        "ranking whole; metrics: primary and baseline ones",
        "overall: mean over tasks, correlations as (r + 1) / 2; by wmt22 a mean of ranks, where lower is better",
        "kendall: with the overall ranking by wmt24, and of a task with that by spa",
    )
    return ItemValues(tuple(cells), signature, notes)


def _defined(metrics: Sequence[str], values: Floats) -> dict[str, float]:
    """The values of metrics that have one."""
    return {name: value for name, value in zip(metrics, values.tolist(), strict=True) if value == value}


def _cells_of_rules(
    asked: Slice, row: str, column: str, values: dict[str, float], best: Sequence[str], tau: float, note: str
) -> list[Cell]:
    """The cells for the results of one year's rules: the best metric, its value, and tau, NaN if it is not defined."""
    if not values:
        return [Cell(row, column, asked.testset, asked.lp, None, note=f"no metric has a value; {note}")]
    n_distinct = len(np.unique(np.round(list(values.values()), 12)))
    shown = {column: values[best[0]], "n_metrics": len(values), "n_distinct": n_distinct, "kendall": or_none(tau)}
    cells = cells_of(asked.testset, asked.lp, row, shown)
    return [replace(cells[0], note=f"best: {first_names(best, 1)}; {note}"), *cells[1:]]


_MQM = (
    ("wmt22", "en-de"),
    ("wmt22", "zh-en"),
    ("wmt22", "en-ru"),
    ("wmt23", "en-de"),
    ("wmt23", "he-en"),
    ("wmt23", "zh-en"),
)
_WMT23 = _MQM[3:]

PAPER = Paper(
    "thompson-2024",
    "Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy",
    (
        Item(
            "figure-1", "p-values of human scores and of one metric", _WMT23[:1], figure_1, human="mqm", chart="heatmap"
        ),
        Item("section-3.2", "time per p-value, compared with SciPy's", _WMT23[:1], section_3_2, human="mqm"),
        Item("figure-2", "ablation of systems", _MQM, figure_2, human="mqm", chart="curves"),
        Item("figure-3", "ablation of segments", _WMT23, figure_3, human="mqm", chart="curves"),
        Item("figure-4", "significance matrix", _MQM[:1], figure_4, human="mqm", chart="heatmap", is_stored=True),
        Item(
            "table-1", "distinct values, significant comparisons, clusters", _MQM, table_1, human="mqm", is_stored=True
        ),
        Item("section-5", "rules of the shared tasks from 2007 to 2024", _WMT23, section_5, human="mqm"),
    ),
)
