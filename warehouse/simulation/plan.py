"""The data before scoring: years, systems, segments, hidden quality and texts; and aggregation to levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warehouse.export.mtme import ScoreTable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

YEARS = (2021, 2022, 2023, 2024)
LPS = ("cs-uk", "en-de", "ja-en")
DOMAINS = ("literary", "news", "social", "speech")
N_MT_SYSTEMS = {"cs-uk": (12, 13), "en-de": (14, 15), "ja-en": (13, 15)}
"""Fewest and most MT systems of a language pair, outlier and human reference aside."""
N_SEGMENTS = (300, 600)
DA_YEARS = frozenset({2021, 2022})
MQM_YEARS = frozenset({2022, 2023, 2024})
RATING_YEARS = frozenset({2024})
DOC_SCORE_YEARS = frozenset({2021})
HUMAN_REFERENCE = "refA"
OUTLIER = "Thistle-0shot"
OUTLIER_PLACES = frozenset({(2021, "cs-uk"), (2022, "cs-uk")})
STRENGTH_RANGE = (-1.1, 1.1)
OUTLIER_STRENGTH = -3.5
HUMAN_REFERENCE_STRENGTH = 1.5
CLOSE_GAP = 0.01
DOCUMENT_SD, SEGMENT_SD, CELL_SD = 0.4, 0.7, 0.9

MT_SYSTEMS = (
    *("Alder-Base", "Birch_NMT", "Cedar-1.3B", "Dogwood", "Elm-Big", "Ginkgo-5shot", "Hazel_MBR", "Juniper"),
    *("Larch-MT", "Maple.v2", "Oak-Ensemble", "Rowan-7B", "WEB-K", "WEB-L", "WEB-M"),
)
"""From the usually weakest to the usually strongest."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The data before scoring."""

    year: int
    lp: str
    documents: tuple[tuple[str, str], ...]
    systems: tuple[str, ...]
    references: tuple[str, ...]
    strengths: Floats  # (n_systems,)
    difficulty: Floats  # (n_segments,)
    quality: Floats  # (n_systems, n_segments)
    n_words: Integers  # (n_segments,)

    @classmethod
    def draw(cls, rng: np.random.Generator, year: int, lp: str) -> "Plan":
        documents = _documents(rng, lp, int(rng.integers(N_SEGMENTS[0], N_SEGMENTS[1] + 1)))
        systems, strengths = _systems(rng, year, lp)
        n_segments = len(documents)
        position = positions(documents)
        difficulty = rng.normal(0, DOCUMENT_SD, position.max() + 1)[position] + rng.normal(0, SEGMENT_SD, n_segments)
        cells = rng.normal(0, CELL_SD, (len(systems), n_segments))
        cells -= cells.mean(axis=1, keepdims=True)  # a system's mean quality differs by its strength alone
        return cls(
            year=year,
            lp=lp,
            documents=documents,
            systems=systems,
            references=("refA", "refB") if lp == "en-de" else ("refA",),
            strengths=strengths,
            difficulty=difficulty,
            quality=strengths[:, None] - difficulty + cells,
            n_words=np.asarray(5 + rng.poisson(9, n_segments), dtype=np.int64),
        )


def _documents(rng: np.random.Generator, lp: str, n_segments: int) -> tuple[tuple[str, str], ...]:
    """(domain, document) of each segment: contiguous documents of 3 to 14 segments, domain after domain."""
    cuts = np.linspace(0, n_segments, len(DOMAINS) + 1).astype(int).tolist()
    documents: list[tuple[str, str]] = []
    for domain, end in zip(DOMAINS, cuts[1:], strict=True):
        number = 0
        while len(documents) < end:
            number += 1
            size = min(int(rng.integers(3, 15)), end - len(documents))
            documents += [(domain, f"{domain}-{lp.split('-')[0]}.{number:03d}")] * size
    return tuple(documents)


def positions(keys: Sequence[object]) -> Integers:
    """The number of each key among the distinct ones, in order of first appearance.

    >>> positions(["b", "b", "a", "b"]).tolist()
    [0, 0, 1, 0]
    """
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([order[key] for key in keys], dtype=np.int64)


def _systems(rng: np.random.Generator, year: int, lp: str) -> tuple[tuple[str, ...], Floats]:
    """Names and strengths, sorted by name: evenly spread, but the second and third best are nearly equal."""
    fewest, most = N_MT_SYSTEMS[lp]
    chosen = np.sort(rng.choice(len(MT_SYSTEMS), int(rng.integers(fewest, most + 1)), replace=False))
    by_strength = chosen[np.argsort(chosen + rng.normal(0, 3, len(chosen)))]
    values = np.linspace(*STRENGTH_RANGE, len(chosen))
    values[-3] = values[-2] - CLOSE_GAP
    strengths = {MT_SYSTEMS[index]: float(value) for index, value in zip(by_strength, values, strict=True)}
    if (year, lp) in OUTLIER_PLACES:
        strengths[OUTLIER] = OUTLIER_STRENGTH
    if lp == "en-de":
        strengths[HUMAN_REFERENCE] = HUMAN_REFERENCE_STRENGTH
    names = tuple(sorted(strengths))
    return names, np.array([strengths[name] for name in names])


_N_WORDS = 500


@dataclass(frozen=True, eq=False)
class Texts:
    """Sources, references and outputs by name, one text per segment."""

    sources: tuple[str, ...]
    references: dict[str, tuple[str, ...]]
    outputs: dict[str, tuple[str, ...]]

    @classmethod
    def draw(cls, rng: np.random.Generator, plan: Plan) -> "Texts":
        """Sources of invented words, translated word by word; worse outputs differ more from the translation."""
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
    """One sentence per run of words; ends: (n_segments,) the end of each run."""
    listed: list[str] = words.tolist()
    bounds = [0, *ends.tolist()]
    return tuple(" ".join(listed[first:end]).capitalize() + "." for first, end in pairwise(bounds))


def score_table(
    plan: Plan, seg: Floats, *, weights: Integers | None = None, rows: Sequence[int] | None = None
) -> ScoreTable:
    """All levels from the segment scores of the systems in `rows` (None: all).

    A level's value is the mean of its judged segments. With `weights`, the words of each segment, it is a corpus
    score, which differs from the mean but ranks systems nearly the same.
    """
    kept = range(len(plan.systems)) if rows is None else rows
    seg = seg[list(kept)]

    def aggregate(columns: Flags) -> Floats:
        values = seg[:, columns]
        return np.array(
            [_corpus_score(row, weights[columns]) if weights is not None else _judged_mean(row) for row in values]
        )

    domains = np.array([domain for domain, _ in plan.documents])
    position = positions(plan.documents)
    doc = None
    if plan.year in DOC_SCORE_YEARS:
        doc = np.column_stack([aggregate(position == number) for number in range(position.max() + 1)])
    return ScoreTable(
        systems=tuple(plan.systems[row] for row in kept),
        seg=seg,
        sys=aggregate(np.ones(seg.shape[1], dtype=bool)),
        doc=doc,
        domain={domain: aggregate(domains == domain) for domain in DOMAINS},
    )


def _judged_mean(values: Floats) -> float:
    judged = values[~np.isnan(values)]
    return float(judged.mean()) if len(judged) else float("nan")


def _corpus_score(values: Floats, n_words: Integers) -> float:
    return float(0.95 * np.average(values, weights=n_words))
