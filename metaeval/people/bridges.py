"""Bridges: evaluation sets whose systems were judged by two human protocols, so that these can be compared."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from metaeval.inputs import Inputs
from metaeval.measures import Measure
from metaeval.options import Options
from queries.blocks import Block
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.human_protocols import by_scale, protocol_of
from warehouse.wording import counted

Humans = Mapping[str, tuple[bool, bool, int]]  # name -> has segment scores, has submitted system scores, judgements
FEWEST_SYSTEMS = 3


def judged_by(humans: Humans, official: str) -> str | None:
    """The human score with the single judgements behind one: itself, else the first of its protocol that has any.

    >>> judged_by({"mqm": (True, True, 0), "mqm.merged": (True, False, 5980), "esa": (True, True, 3)}, "mqm")
    'mqm.merged'
    """
    there = [name for name in humans if protocol_of(name) == protocol_of(official) and humans[name][2]]
    return official if official in there else min(there, default=None)


def second_humans(humans: Humans, official: str, measure: Measure) -> list[str]:
    """One human score for each protocol beside the official one, with scores that the measure can use.

    >>> from metaeval.measures import Measure, parse_measure
    >>> there = dict.fromkeys(("wmt-raw", "wmt-z", "mqm.merged", "mqm"), (True, True, 0))
    >>> second_humans(there, "wmt-z", parse_measure("pa")), second_humans(there, "mqm", parse_measure("acc_eq"))
    (['mqm'], ['wmt-raw'])
    """
    needs_segments = measure.definition.needs_segments
    by_protocol: dict[str, list[str]] = {}
    for name, (has_segments, has_systems, _) in humans.items():
        if protocol_of(name) != protocol_of(official) and (has_segments or (has_systems and not needs_segments)):
            by_protocol.setdefault(protocol_of(name), []).append(name)
    return [by_scale(names, measure.level)[0] for _, names in sorted(by_protocol.items())]


def common_blocks(
    warehouse: Warehouse, asked: Slice, first: str, second: str, measure: Measure, options: Options
) -> tuple[Block, Block]:
    """The blocks of two human scores on the systems that both judged, with the metrics that have scores there.

    Measures of segments are on the scores that both judged.
    Raises QuestionError: a human score has nothing, or they share fewer than 3 systems.
    """
    blocks = [
        Inputs(warehouse, replace(asked, human=human), options.round_human).block(measure) for human in (first, second)
    ]
    common = sorted(set(blocks[0].systems) & set(blocks[1].systems))
    where = f"{asked.testset} {asked.lp}"
    if len(common) < FEWEST_SYSTEMS:
        raise QuestionError(
            f"{first} and {second} of {where} share {counted(len(common), 'system')}, too few for a bridge"
        )
    one, other = (
        Inputs(warehouse, replace(asked, human=human, systems=tuple(common)), options.round_human).block(measure)
        for human in (first, second)
    )
    if measure.definition.needs_segments:
        both = one.judged & other.judged
        if not both.any():
            raise QuestionError(f"{first} and {second} of {where} judged no (system, segment) pair both")
        one, other = (replace(block, human=np.where(both, block.human, np.nan)) for block in (one, other))
    return one, other
