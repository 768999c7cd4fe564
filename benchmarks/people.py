"""Cost of human annotation: replays of past campaigns, and false-positive rates of the tests of human scores.

    python -m benchmarks.people all.duckdb    # a warehouse with the real data; about 10 minutes of CPU time

Writes benchmarks/people.csv, which `python -m docs.generate` puts into docs/plan-annotation.md:

- assisted: samples of n segments of a campaign that annotated all. How often intervals of differences of two systems
  hold the difference over all segments, from judgements alone and with a metric's help; the share of judgements saved
  (mean of the estimates, and from the observed squared errors); Kendall's tau between the ranking and the one by all
  judgements.
- sequential: campaigns in random order of documents, looked at after each. How often an interval excludes the true
  difference of two systems: the difference over the whole campaign; 0, with documents drawn with replacement around a
  difference of 0; and 0 for exchangeable systems. How much early stopping saves, and how often the winner stays the
  same.
- replace: a metric that is just like another annotator, epsilon 0: how often it beats an annotator at p <= .05, with
  items treated as independent, or clustered by segment or document.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from metaeval.kernels.agreement.alternative_annotator import alternative_annotator_test
from metaeval.kernels.resampling.assisted_means import assisted_mean
from metaeval.kernels.resampling.confidence_sequences import confidence_sequence, possible_winners
from metaeval.results.inputs import Inputs, metric_place
from metaeval.studies.people.reliability import numbered
from queries.blocks import Block
from queries.slices import Slice
from warehouse import Warehouse

TABLE = Path(__file__).with_name("people.csv")
FIELDS = ("study", "testset", "lp", "n", "by", "measure", "value")
CAMPAIGNS = {
    ("wmt23", "en-de"): ("MetricX-23-QE", "GEMBA-MQM", "COMET", "chrF", "BLEU"),
    ("wmt23", "he-en"): ("MetricX-23-QE", "GEMBA-MQM", "COMET", "chrF", "BLEU"),
    ("wmt24.news", "en-es"): ("MetricX-24-Hybrid-QE", "GEMBA-ESA", "COMET-22", "chrF", "BLEU"),
    ("wmt24.news", "en-de"): ("MetricX-24-Hybrid-QE", "GEMBA-ESA", "COMET-22", "chrF", "BLEU"),
    ("wmt24.news", "ja-zh"): ("MetricX-24-Hybrid-QE", "GEMBA-ESA", "COMET-22", "chrF", "BLEU"),
}
ONLY_PEOPLE = (("wmt24", "en-cs"), ("wmt24", "en-ja"), ("wmt24", "en-zh"), ("wmt24", "en-hi"))
SIZES = (25, 50, 100, 200)
N_REPLAYS, N_PAIRS = 100, 10
N_ORDERS = 200
N_WORLDS = 400


def main(database: str) -> None:
    rows: list[tuple[Any, ...]] = []
    with Warehouse.open(Path(database)) as warehouse:
        for (testset, lp), metrics in CAMPAIGNS.items():
            block = _judged(warehouse, testset, lp)
            rows += [("assisted", testset, lp, *row) for row in _assisted(block, metrics)]
        for testset, lp in (*CAMPAIGNS, *ONLY_PEOPLE):
            rows += [("sequential", testset, lp, *row) for row in _sequential(_judged(warehouse, testset, lp))]
    rows += [("replace", "simulated", "", *row) for row in _replaced()]
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows((*row[:-1], f"{row[-1]:.4f}") for row in rows)


def _judged(warehouse: Warehouse, testset: str, lp: str) -> Block:
    """The segments that were annotated for all systems."""
    block = Inputs(warehouse, Slice(testset=testset, lp=lp), None).of_level("seg")
    return block.take(segments=block.judged.all(axis=0))


def _assisted(block: Block, metrics: tuple[str, ...]) -> Iterator[tuple[int, str, str, float]]:
    places = {name: [metric_place(block, name)] for name in metrics}
    places["+".join(metrics[:2])] = [place for name in metrics[:2] for place in places[name]]
    n_systems, n_all = block.human.shape
    truth = block.human.mean(axis=1)
    pairs = np.array(np.triu_indices(n_systems, 1)).T
    for n in (size for size in SIZES if size <= n_all / 2):
        for name, chosen in places.items():
            if None in chosen or np.isnan(block.scores[chosen]).any():
                continue
            rng = np.random.default_rng(n)
            scores = block.scores[chosen]
            held, plain_held, saved, errors, plain_errors = [], [], [], [], []
            taus: list[list[float]] = [[], []]
            for _ in range(N_REPLAYS):
                sample = rng.permutation(n_all)[:n]
                for i, j in pairs[rng.permutation(len(pairs))[:N_PAIRS]]:
                    human, gaps = block.human[i] - block.human[j], scores[:, i] - scores[:, j]
                    found = assisted_mean(human[sample], gaps[:, sample], gaps)
                    plain = assisted_mean(human[sample], np.zeros(n), np.zeros(n_all))
                    target = human.mean()
                    held.append(found.low <= target <= found.high)
                    plain_held.append(plain.low <= target <= plain.high)
                    saved.append(found.saved)
                    errors.append((found.estimate - target) ** 2)
                    plain_errors.append((plain.estimate - target) ** 2)
                helped = [
                    assisted_mean(block.human[i, sample], scores[:, i, sample], scores[:, i]).estimate
                    for i in range(n_systems)
                ]
                for place, means in enumerate((block.human[:, sample].mean(axis=1), helped)):
                    taus[place].append(float(kendalltau(means, truth).statistic))
            yield n, name, "coverage", float(np.mean(held))
            yield n, name, "coverage_without", float(np.mean(plain_held))
            yield n, name, "saved", float(np.nanmean(saved))
            yield n, name, "saved_of_squared_errors", float(1 - np.mean(errors) / np.mean(plain_errors))
            yield n, name, "tau", float(np.mean(taus[1]))
            yield n, name, "tau_without", float(np.mean(taus[0]))


def _sequential(block: Block) -> Iterator[tuple[int, str, str, float]]:
    documents = numbered(block.selection.documents)
    units = np.arange(len(block.segments)) if documents is None else documents
    sizes = np.bincount(units)
    totals = np.array([np.bincount(units, row) for row in block.human])
    n = len(sizes)
    first, second = np.triu_indices(len(totals), 1)
    gaps = totals[first] - totals[second]
    true = gaps.sum(axis=1) / sizes.sum()
    rng = np.random.default_rng(5)
    excluded = {"of_the_campaign": 0.0, "of_new_documents": 0.0, "of_exchangeable_systems": 0.0}
    saved, kept, n_left, found_clear = [], [], [], []
    best = int(totals.sum(axis=1).argmax())
    for _ in range(N_ORDERS):
        order = rng.permutation(n)
        _, low, high = confidence_sequence(gaps[:, order], sizes[order], alpha=0.05)
        excluded["of_the_campaign"] += ((low > true[:, None]) | (high < true[:, None])).any(axis=1).mean()
        found_clear.append(((low > 0) | (high < 0)).any(axis=1).mean())
        drawn = rng.integers(0, n, n)
        # What the kernel waits for, differences other than 0, are those of the real scores.
        shifted = gaps[:, drawn]
        _, low, high = confidence_sequence(shifted, sizes[drawn], alpha=0.05)
        excluded["of_new_documents"] += ((low > true[:, None]) | (high < true[:, None])).any(axis=1).mean()
        flipped = gaps[:, order] * rng.choice([-1, 1], size=gaps.shape)
        _, low, high = confidence_sequence(flipped, sizes[order], alpha=0.05)
        excluded["of_exchangeable_systems"] += ((low > 0) | (high < 0)).any(axis=1).mean()
        alive, out = possible_winners(totals[:, order], sizes[order], alpha=0.05)
        is_decided = alive.sum(axis=0) == 1
        end = int(np.argmax(is_decided)) + 1 if is_decided.any() else n
        judged = np.cumsum(sizes[order]) / sizes.sum()
        saved.append(1 - judged[np.minimum(out, end) - 1].mean())
        kept.append(alive[best, -1])
        n_left.append(alive[:, -1].sum())
    for name, count in excluded.items():
        yield n, "document" if documents is not None else "segment", f"excluded_{name}", count / N_ORDERS
    yield n, "", "pairs_told_apart", float(np.mean(found_clear))
    yield n, "", "saved", float(np.mean(saved))
    yield n, "", "winner_kept", float(np.mean(kept))
    yield n, "", "n_left", float(np.mean(n_left))
    yield n, "", "n_systems", float(len(totals))


def _replaced() -> Iterator[tuple[int, str, str, float]]:
    """Six annotators, three of each segment, eight systems, 120 segments in 30 documents."""
    n_systems, n_documents, per_document, n_raters = 8, 30, 4, 6
    first, second = np.triu_indices(n_systems, 1)
    n_segments = n_documents * per_document
    document = np.repeat(np.arange(n_documents), per_document)
    for name, of_document in (("independent segments", 0.0), ("dependent documents", 1.0)):
        rng = np.random.default_rng(7)
        beaten: dict[str, list[float]] = {"authors": [], "segment": [], "document": []}
        for _ in range(N_WORLDS):
            quality = rng.normal(size=(n_systems, n_segments))
            own = rng.normal(size=(n_raters + 1, n_systems, n_segments))
            own += of_document * rng.normal(size=(n_raters + 1, n_systems, n_documents))[:, :, document]
            # What an annotator is worth differs by segment, or by document, for all pairs of outputs alike.
            scale = np.exp(rng.normal(size=(n_raters + 1, 1, n_segments)) * 0.5)
            scale *= np.exp(of_document * rng.normal(size=(n_raters + 1, 1, n_documents))[:, :, document] * 0.7)
            judged = np.round(quality + scale * own)
            answers = np.sign(judged[:, first] - judged[:, second])
            chosen = rng.permuted(np.tile(np.arange(n_raters), (n_documents, 1)), axis=1)[:, :3]
            is_there = np.zeros((n_raters, n_segments), dtype=bool)
            for place in range(3):
                is_there[chosen[document, place], np.arange(n_segments)] = True
            people = np.where(is_there[:, None], answers[:n_raters], np.nan).reshape(n_raters, -1)
            metric = answers[n_raters].reshape(-1)
            segment = np.tile(np.arange(n_segments), len(first))
            for rule, clusters in (("authors", None), ("segment", segment), ("document", document[segment])):
                found = alternative_annotator_test(people, metric, epsilon=0, clusters=clusters)
                beaten[rule].append(float(np.mean(found.p <= 0.05)))
        for rule, shares in beaten.items():
            yield N_WORLDS, rule, name, float(np.mean(shares))


if __name__ == "__main__":
    main(*sys.argv[1:])
