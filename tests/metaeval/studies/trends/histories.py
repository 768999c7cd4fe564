"""Histories made by hand, without a warehouse."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from metaeval.kernels.resampling.difference_tests import NORMAL
from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.studies.trends.history import Entry, History, SetHistory
from metaeval.studies.trends.points import Ceiling, Context, Point
from queries.blocks import Block
from queries.selection import Selection
from queries.slices import Slice
from warehouse import QuestionError

NAN = float("nan")


def made_point(
    testset: str,
    lp: str,
    values: Mapping[str, float],
    *,
    human: str = "wmt-z",
    bridge: str | None = None,
    anchor: str | None = "BLEU",
    covariance: npt.ArrayLike | None = None,
    excluded: Mapping[str, str] | None = None,
    n_systems: int = 10,
    reference_free: Sequence[str] = (),
    ceiling: float | None = None,
    gap_p: float = 0.5,
) -> Point:
    """values: base name -> value. covariance: by default 0.01 for each metric, independent."""
    names = tuple(values)
    value = np.array(list(values.values()), dtype=np.float64)
    c = np.eye(len(names)) * 0.01 if covariance is None else np.asarray(covariance, dtype=np.float64)
    place = None if anchor is None or anchor not in names else names.index(anchor)
    gap = value * NAN if place is None else value - value[place]
    return Point(
        testset=testset,
        lp=lp,
        human=human,
        bridge=bridge,
        measure="pa",
        metrics=tuple(f"{name}-src" if name in reference_free else f"{name}-ref" for name in names),
        base_names=names,
        reference_free=tuple(name in reference_free for name in names),
        value=value,
        low=value - 0.1,
        high=value + 0.1,
        anchor=None if place is None else f"{names[place]}-ref",
        gap=gap,
        gap_low=gap - 0.1,
        gap_high=gap + 0.1,
        gap_error=gap * 0 + 0.1 / NORMAL,
        gap_p=np.full(len(names), gap_p),
        covariance=c,
        excluded=dict(excluded or {}),
        context=Context(n_systems, 100, 0.5, 0.6, 0.01, 0.9),
        ceiling=None if ceiling is None else Ceiling(ceiling, NAN, NAN, "by hand"),
        signature=f"measure:pa|testset:{testset}",
        notes=(),
    )


def made_history(
    *points: tuple[int, Point], missing: Sequence[tuple[int, str, str, str]] = (), measure: str = "pa"
) -> History:
    """points: (year, point), those of one evaluation set side by side. missing: (year, test set, lp, reason)."""
    entries: dict[tuple[int, str, str], list[Point]] = {}
    for year, one in points:
        entries.setdefault((year, one.testset, one.lp), []).append(one)
    found = [
        Entry(testset, lp, year, SetHistory(tuple(own), None, "s")) for (year, testset, lp), own in entries.items()
    ]
    found += [
        Entry(testset, lp, year, SetHistory.without(QuestionError(reason))) for year, testset, lp, reason in missing
    ]
    return History(
        asked=Slice("all", "all"),
        measure=parse_measure(measure),
        options=Options(),
        testing=TestOptions(),
        anchor="BLEU",
        entries=tuple(found),
    )


def block_of(systems: Sequence[str], n_segments: int) -> Block:
    """Systems and segments without metrics and with human scores of 0: what single judgements are laid on."""
    shape = (len(systems), n_segments)
    selection = Selection(Slice("t", "en-de"), 1, "da", 1, None, (), (), (), (), (), n_segments)
    return Block(
        selection,
        tuple(systems),
        np.arange(1, n_segments + 1),
        (),
        np.zeros(shape),
        np.empty((0, *shape)),
        np.full(len(systems), np.nan),
        np.empty((0, len(systems))),
    )
