"""The rankings of WMT15 as arrays, read by a plain loop over the released XML."""

import gzip
import itertools
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from functools import cache

import numpy as np

from tests.helpers import beside_data

Rankings = list[tuple[int, str, list[tuple[str, int]]]]  # segment, judge, and each output's systems with its rank
_CODES = {"deu": "de", "eng": "en", "fin": "fi", "rus": "ru", "ces": "cs", "cze": "cs", "fra": "fr", "fre": "fr"}


@cache
def wmt15() -> dict[str, Rankings]:
    """The rankings of WMT15 by language pair."""
    rankings: dict[str, Rankings] = defaultdict(list)
    with gzip.open(beside_data("more", "rankings", "wmt15", "wmt15.xml.gz")) as file:
        for hit in ElementTree.parse(file).getroot():
            lp = "-".join(_CODES[hit.attrib[f"{side}-language"]] for side in ("source", "target"))
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
