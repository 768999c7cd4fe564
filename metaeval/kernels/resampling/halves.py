"""Judgements split at random in two halves."""

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Ints


def half_of_annotators(rng: np.random.Generator, raters: Ints) -> Bools:
    """(n,) whether each judgement is in the first half: that of half of the annotators.

    raters: (n,) numbers of annotators from 0, without gaps; of an odd number the first half has one fewer.
    """
    n_raters = int(raters.max(initial=-1)) + 1
    return np.asarray((rng.permutation(n_raters) < n_raters // 2)[raters])


def half_of_judgements(rng: np.random.Generator, outputs: Ints) -> Bools:
    """(n,) whether each judgement is in the first half: judgements of one output are shared out evenly, at random.

    outputs: (n,) what each one judges. The halves of an output, and those of all, differ by at most one judgement.
    """
    order = np.lexsort((rng.permutation(len(outputs)), rng.permutation(int(outputs.max(initial=-1)) + 1)[outputs]))
    first = np.empty(len(outputs), dtype=np.bool_)
    first[order] = np.arange(len(outputs)) % 2 == rng.integers(2)
    return first
