"""What there is before anyone scores it: years, systems, segments and their hidden quality."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """What is there before anyone scores it."""

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
