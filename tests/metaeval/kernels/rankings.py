"""The rankings of WMT15 as arrays, read by a plain loop over the released XML."""

import gzip
import itertools
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np

from tests.helpers import beside_data

Rankings = list[tuple[int, str, list[tuple[str, int]]]]  # segment, judge, and each output's systems with its rank
_CODES = {"deu": "de", "eng": "en", "fin": "fi", "rus": "ru", "ces": "cs", "cze": "cs", "fra": "fr", "fre": "fr"}


def _hits() -> Iterator[tuple[str, ElementTree.Element]]:
    """Language pair and tasks of each HIT of WMT15."""
    with gzip.open(beside_data("more", "rankings", "wmt15", "wmt15.xml.gz")) as file:
        for hit in ElementTree.parse(file).getroot():
            yield "-".join(_CODES[hit.attrib[f"{side}-language"]] for side in ("source", "target")), hit


@cache
def wmt15() -> dict[str, Rankings]:
    """The rankings of WMT15 by language pair."""
    rankings: dict[str, Rankings] = defaultdict(list)
    for lp, hit in _hits():
        for task in hit:
            for result in task:
                outputs = [(output.attrib["system"], int(output.attrib["rank"])) for output in result]
                rankings[lp].append((int(task.attrib["id"]), result.attrib["user"], outputs))
    return rankings


def pairs_of(
    rankings: Rankings, by_output: bool = False, numbers: dict[str, int] | None = None
) -> list[tuple[int, str, int, int, int]]:
    """Segment, judge, two systems (or distinct outputs) in the file's order, and the answer; numbers: of systems."""
    numbers = {} if numbers is None else numbers
    found = []
    for segment, judge, outputs in rankings:
        names = [([systems] if by_output else systems.split(","), rank) for systems, rank in outputs]
        ranked = [(numbers.setdefault(name, len(numbers)), rank) for group, rank in names for name in group if rank > 0]
        found += [
            (segment, judge, a, b, int(np.sign(other - rank)))
            for (a, rank), (b, other) in itertools.combinations(ranked, 2)
        ]
    return found


def converted_pairs(lp: str) -> list[tuple[str, str, int]]:
    """Two systems and the answer, as the organisers converted the XML for TrueSkill.

    For each submission of a task they paired the outputs of all its submissions; a system with itself is no pair.
    """
    found = []
    for of, hit in _hits():
        for task in hit if of == lp else ():
            outputs = [
                (output.attrib["system"].split(","), int(output.attrib["rank"])) for output in task.iter("translation")
            ]
            ranked = [(name, rank) for names, rank in outputs for name in names if rank > 0]
            pairs = [(a, b, int(np.sign(other - rank))) for (a, rank), (b, other) in itertools.combinations(ranked, 2)]
            found += len(task) * [pair for pair in pairs if pair[0] != pair[1]]
    return found
