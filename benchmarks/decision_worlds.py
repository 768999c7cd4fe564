"""Whether decisions keep their promises when the truth is known: safe thresholds, lowest costs, carried thresholds.

    nice -n 15 python -m benchmarks.decision_worlds 100 > benchmarks/decision_worlds.csv

Outputs of 8 systems in documents of 6 segments. Quality = system + document + segment + noise, and an output is good if
its quality is above 0. A metric sees it through its own noise, part of which a document shares. True values are
computed on 20,000 documents. Targets are computed on another sample of documents from the same population.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.bootstrap import interval
from metaeval.kernels.resampling.resampled_thresholds import mcc_of
from metaeval.measures.judged import Units
from metaeval.studies.cutoffs.carried import Carrying
from metaeval.studies.cutoffs.decisions import DecisionInputs, bands, cheapest_ends, grid, last_of_run

N_SYSTEMS, PER_DOCUMENT, TRUE_DOCUMENTS = 8, 6, 20_000
MISS, LOOK = 10.0, 2.0
N_DRAWS = 100


@dataclass(frozen=True)
class World:
    """documents: in a sample; likeness: standard deviation shared by a document's outputs; noise: the metric's."""

    documents: int
    likeness: float
    noise: float
    precision: float

    def sample(self, rng: np.random.Generator, n_documents: int) -> tuple[Floats, Floats, Ints]:
        """Good (N, S) 1 or 0, scores (N, S), documents (S,)."""
        documents = np.repeat(np.arange(n_documents), PER_DOCUMENT)
        shared = rng.normal(0, self.likeness, (2, n_documents))[:, documents]
        shape = (N_SYSTEMS, len(documents))
        quality = np.linspace(-0.5, 0.5, N_SYSTEMS)[:, np.newaxis] + shared[0] + rng.normal(0, 0.6, len(documents))
        quality = quality + rng.normal(0, 1, shape)
        return (quality > 0).astype(float), quality + 0.7 * shared[1] + rng.normal(0, self.noise, shape), documents


WORLDS = (
    World(40, 0.7, 0.8, 0.8),
    World(15, 0.7, 0.8, 0.8),
    World(40, 0.7, 0.8, 0.95),
    World(20, 0.7, 1.5, 0.9),
    World(40, 0.0, 0.8, 0.8),
)


def decided(sample: tuple[Floats, Floats, Ints], unit: str) -> DecisionInputs:
    """The decision inputs of a sample, with documents or segments as units."""
    good, scores, documents = sample
    segments, whole = Units("segment", len(documents)), Units("document", int(documents.max()) + 1, documents)
    return DecisionInputs(good, scores, whole if unit == "document" else segments, "", None)  # type: ignore[arg-type]


def measured(world: World, n: int, seed: int) -> Iterator[tuple[str, str, Floats]]:
    """Name of the quantity, unit, and its values in n data sets; NaN without an answer."""
    rng = np.random.default_rng(seed)
    good, scores, _ = world.sample(rng, TRUE_DOCUMENTS)
    order = np.argsort(scores, axis=None)
    ordered, is_good = scores.ravel()[order], good.ravel()[order]
    n_called = np.arange(len(ordered), 0, -1)
    n_true = np.cumsum(is_good[::-1])[::-1]
    costs = (MISS * (n_called - n_true) + LOOK * (len(ordered) - n_called)) / len(ordered)

    def at(threshold: float, values: Floats, beyond: float) -> float:
        place = int(np.searchsorted(ordered, threshold))
        return float(values[place]) if place < len(values) else beyond

    samples = [world.sample(rng, world.documents) for _ in range(n)]
    for unit in ("document", "segment"):
        misses, held, held_here, carried, zero = (np.full(n, np.nan) for _ in range(5))
        optimistic = np.full(n, np.nan)
        for k, sample in enumerate(samples):
            one = decided(sample, unit)
            thresholds = grid(one, 400)
            if safe := last_of_run(thresholds, bands(one, thresholds)[0][0] >= world.precision):
                misses[k] = at(safe[0], n_true / n_called, 1.0) < world.precision
            if unit == "segment":  # to compare
                continue
            ends, _ = cheapest_ends(one, MISS, LOOK, N_DRAWS, k)
            outputs = one.outputs()
            _, (threshold,) = outputs.cheapest(outputs.once, MISS, LOOK)
            held[k] = ends.low <= min(float(costs.min()), LOOK) <= ends.high
            held_here[k] = ends.low <= at(threshold, costs, LOOK) <= ends.high
            source = Carrying.of(decided(samples[k - 1], unit).outputs(), N_DRAWS, (seed, k, 0))
            target = Carrying.of(outputs, N_DRAWS, (seed, k, 1))
            found = outputs.called(outputs.once, np.array([[source.threshold]]))[:, 0, 0]
            carried[k] = mcc_of(target.own) - mcc_of(found)
            in_sample = outputs.called(outputs.once, np.array([[target.threshold]]))[:, 0, 0]
            optimistic[k] = mcc_of(in_sample) - mcc_of(found)
            loss = interval(carried[k], target.losses([source], N_DRAWS)[:, 0], 0.95, "normal")
            zero[k] = loss.low <= 0 <= loss.high
        yield "safe threshold misses", unit, misses
        if unit == "segment":
            continue
        yield "lowest cost in its interval", unit, held
        yield "cost of the chosen threshold in it", unit, held_here
        yield "loss, own threshold judged on its own data", unit, optimistic
        yield "loss, own threshold cross-fitted", unit, carried
        yield "loss of 0 in its interval", unit, zero


def main(n: int) -> None:
    """Print one line for each world, unit and quantity, as CSV."""
    print("documents,likeness,noise,precision,measured,unit,mean,error,n_answers,n")
    for place, world in enumerate(WORLDS):
        for what, unit, values in measured(world, n, place):
            there = values[~np.isnan(values)]
            # a world without a safe threshold misses nothing
            share = np.nan_to_num(values) if "safe" in what else there
            error = share.std() / np.sqrt(max(len(share), 1))
            row = (world.documents, world.likeness, world.noise, world.precision, what.replace(",", ":"), unit)
            print(*row, f"{share.mean():.4f}", f"{error:.4f}", len(there), n, sep=",", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
