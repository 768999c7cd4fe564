"""Texts of invented words."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warehouse.simulation.plan import Floats, Integers, Plan

_N_WORDS = 500


@dataclass(frozen=True, eq=False)
class Texts:
    """Sources, references and outputs by name, one text a segment."""

    sources: tuple[str, ...]
    references: dict[str, tuple[str, ...]]
    outputs: dict[str, tuple[str, ...]]

    @classmethod
    def draw(cls, rng: np.random.Generator, plan: Plan) -> "Texts":
        """Sources of invented words, translated word by word; worse outputs differ more from this."""
        source_words, target_words = _vocabulary(rng), _vocabulary(rng)
        ends = np.cumsum(plan.n_words)
        tokens = np.asarray(len(source_words) * rng.random(int(ends[-1])) ** 2.5, dtype=np.int64)
        segment = np.repeat(np.arange(len(plan.n_words)), plan.n_words)

        def changed(rates: Floats) -> tuple[str, ...]:
            """The translation with a share of words replaced; rates: (n_segments,)."""
            replaced = rng.random(len(tokens)) < rates[segment]
            others = rng.integers(0, len(target_words), len(tokens))
            return _sentences(target_words[np.where(replaced, others, tokens)], ends)

        references = {name: changed(np.full(len(ends), 0.1)) for name in plan.references}
        rates = 0.9 / (1 + np.exp(1.2 + plan.quality))
        outputs = {
            system: references[system] if system in references else changed(rates[row])
            for row, system in enumerate(plan.systems)
        }
        return cls(sources=_sentences(source_words[tokens], ends), references=references, outputs=outputs)


def _vocabulary(rng: np.random.Generator) -> NDArray[np.object_]:
    """Distinct invented words of two to four syllables."""
    consonants, vowels = list("bdfgklmnprstvz"), list("aeiou")
    syllables = [a + b for a in rng.permutation(consonants)[:9] for b in vowels]
    words: dict[str, None] = {}
    while len(words) < _N_WORDS:
        words["".join(rng.choice(syllables, int(rng.integers(2, 5))).tolist())] = None
    return np.array(list(words), dtype=object)


def _sentences(words: NDArray[np.object_], ends: Integers) -> tuple[str, ...]:
    """One sentence of each run of words; ends: (n_segments,) where each run ends."""
    listed: list[str] = words.tolist()
    bounds = [0, *ends.tolist()]
    return tuple(" ".join(listed[first:end]).capitalize() + "." for first, end in pairwise(bounds))
