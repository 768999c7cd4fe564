"""Means of human scores by domain."""

import numpy as np
import polars as pl

from metaeval.answer import Table, table_signature
from metaeval.inputs import Inputs, check_judged
from queries.selection import Slice
from warehouse import Warehouse


def domain_means(warehouse: Warehouse, asked: Slice, round_human: int | None = None) -> Table:
    """Each system's mean human score in each domain, over what was judged of it there.

    Columns domain, system, mean, n (segments judged), n_domain (segments of the domain), by domain, best first; domain
    is null where it is not known. Raises QuestionError: see `Inputs`; no segment scores.
    """
    block = Inputs(warehouse, asked, round_human).of_level("seg")
    check_judged(block)
    domains = np.array([name or "" for name in block.selection.domains])
    rows = []
    for domain in dict.fromkeys(domains.tolist()):
        inside = domains == domain
        for system, scores in zip(block.systems, block.human[:, inside], strict=True):
            there = scores[~np.isnan(scores)]
            if there.size:
                rows.append((domain or None, system, float(there.mean()), len(there), int(inside.sum())))
    schema = {"domain": pl.String, "system": pl.String, "mean": pl.Float64, "n": pl.Int64, "n_domain": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame = frame.sort("domain", "mean", "system", descending=[False, True, False])
    return Table(
        frame, table_signature(("table", "domain_means"), block, ("round_human", round_human)), block.selection.notes
    )
