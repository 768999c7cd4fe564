"""Views of a metric's decisions: one table each, as the command shows them."""

from collections.abc import Mapping
from dataclasses import replace

from metaeval.answer import Table, table_signature
from metaeval.decisions.curves import Decided, cost, curve, decided, threshold_for
from metaeval.decisions.reliability import reliability
from metaeval.decisions.transfer import transfer
from metaeval.measures import Measure
from queries.evalsets import expand
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.human_protocols import protocol_of
from warehouse.wording import counted


def elsewhere(
    warehouse: Warehouse, asked: Slice, one: Decided, measure: Measure
) -> tuple[dict[str, Decided], tuple[str, ...]]:
    """The metric on a slice, on its domains, and on other evaluation sets that have it and the protocol; and a note.

    one: the metric on the slice. The note counts evaluation sets and domains where nothing can be decided.
    """
    base_name, human = one.block.metrics[0].base_name, str(one.block.selection.human)
    found = {f"{asked.testset} {asked.lp}": one}
    slices = {
        f"{asked.testset} {asked.lp}, {domain}": replace(asked, domains=(domain,))
        for domain in sorted({name for name in one.block.selection.domains if name is not None})
    }
    others = [pair for pair in expand(warehouse, "all", "all").chosen if pair != (asked.testset, asked.lp)]
    slices |= {f"{testset} {lp}": Slice(testset, lp) for testset, lp in others}
    if sum(", " in name for name in slices) == 1:  # the one domain is the slice itself
        slices = {name: part for name, part in slices.items() if ", " not in name}
    n_without = 0
    for name, part in slices.items():
        try:
            there = decided(warehouse, part, base_name, measure)
        except QuestionError:
            n_without += 1
            continue
        if protocol_of(str(there.block.selection.human)) == protocol_of(human):
            found[name] = there
        else:
            n_without += 1
    note = (
        f"without {counted(n_without, 'evaluation set or domain', 'evaluation sets or domains')}: no metric or scores"
    )
    return found, (f"{note} like {human}, or all outputs good or none",) if n_without else ()


def transferred(decisions: Mapping[str, Decided], one: Decided, notes: tuple[str, ...]) -> Table:
    """Thresholds with the highest MCC, carried from each to each other: columns as of `transfer`."""
    more = (*one.said, ("sets", len(decisions)))
    return Table(transfer(decisions), table_signature(("decide", "transfer"), one.block, *more), notes)


def shown(view: str, one: Decided, *, precision: float, miss: float, look: float, draws: int, seed: int) -> Table:
    """A view of one slice: curve, threshold, cost or reliability."""
    if view == "threshold":
        return threshold_for(one, precision, draws=draws, seed=seed)
    if view == "cost":
        return cost(one, miss, look)
    if view == "reliability":
        return reliability(one, draws=draws, seed=seed)
    return curve(one, points=50, draws=draws, seed=seed)
