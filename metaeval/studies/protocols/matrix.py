"""Every protocol on every test set that has its inputs: winners, and agreement between protocols."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from metaeval.measures.options import Options
from metaeval.results.answer import Result
from metaeval.results.cache import CacheEntry, keep, key_of
from metaeval.results.inputs import WarehouseOpener
from metaeval.results.run import Run
from metaeval.results.signature import option_parts, stamped
from metaeval.studies.protocols import Protocol, protocol_named, protocols
from metaeval.studies.protocols.entry import Blocks, Entry, enter
from metaeval.studies.protocols.scoring import NothingScoredError, ProtocolScore, score
from metaeval.studies.protocols.tables import rank_correlation
from queries.longitudinal import EvalsetState, evalset_states
from warehouse import QuestionError
from warehouse.wording import are, first_names


@dataclass(frozen=True)
class Cell:
    """One protocol on one test set: its scores, or the reason why there are none. year: of the test set."""

    protocol: str
    testset: str
    year: int | None
    score: ProtocolScore | None
    reason: str | None

    @property
    def winners(self) -> tuple[str, ...]:
        """The metrics of rank 1; empty without scores."""
        return () if self.score is None else self.score.winners

    @property
    def signature(self) -> str:
        """The signature under which it is stored."""
        return f"protocol:{self.protocol}|testset:{self.testset}" if self.score is None else self.score.signature


def scored_cells(cells: Sequence[Cell], testset: str) -> list[Cell]:
    """The cells of a test set that have scores."""
    return [cell for cell in cells if cell.testset == testset and cell.score is not None]


def matrix(run: Run, testsets: str, options: Options, *, fresh: bool = False) -> tuple[list[Cell], list[str]]:
    """Every test set by every protocol, by year, test set and protocol; and a note if results could not be stored.

    Stored results are reused. testsets: joined by commas, or "all".
    A task without its inputs is dropped, as in `protocol`; a protocol without any task has a reason.
    Raises QuestionError: unknown test sets.
    """
    states: dict[str, list[EvalsetState]] = {}
    with run.opened() as warehouse:
        for state in evalset_states(warehouse, testsets, "all"):
            states.setdefault(state.testset, []).append(state)
    cells: list[Cell] = []
    unsaved: list[tuple[CacheEntry[Cell], Cell, float]] = []
    work = partial(_cells, states=states, options=options, fresh=fresh)
    for found in run.each(work, [(name, "all") for name in states], "protocols", is_storing=True):
        if isinstance(found, QuestionError):
            raise found
        cells += [cell for cell, *_ in found]
        unsaved += [(question, cell, seconds) for cell, question, seconds in found if question is not None]
    notes = keep(run.database, unsaved) if run.database is not None and unsaved else []
    return cells, notes


def _cells(
    run: Run, testset: str, lp: str, *, states: Mapping[str, list[EvalsetState]], options: Options, fresh: bool
) -> list[tuple[Cell, CacheEntry[Cell] | None, float]]:
    """The cells of a test set, and how those that were not stored are kept, with the seconds they took."""
    of_testset = states[testset]
    year = of_testset[0].year
    if not any(one.n_humans and one.n_metrics for one in of_testset):
        reason = "no language pair has human and metric scores"
        return [(Cell(name, testset, year, None, reason), None, 0.0) for name in protocols()]
    found: list[tuple[Cell, CacheEntry[Cell] | None, float]] = []
    waiting = _stored_or_entered(run.opened, testset, of_testset, options, fresh, year)
    # Blocks are large: those of each protocol are let go as soon as it is scored.
    while waiting:
        protocol, question, inputs, seconds = waiting.pop(0)
        started = time.perf_counter()
        cell = inputs if isinstance(inputs, Cell) else _scored(protocol, inputs, options, year)
        is_new = seconds is not None
        found.append((cell, question if is_new else None, (seconds or 0.0) + time.perf_counter() - started))
    return found


def _cache_entry(
    protocol: Protocol, testset: str, states: Sequence[EvalsetState], options: Options
) -> CacheEntry[Cell]:
    rules = [replace(rule, measure=str(rule.measure)) for rule in protocol.rules]  # type: ignore[arg-type]
    key = key_of(
        "matrix", [one.fingerprint for one in states], protocol.name, protocol.overall, str(rules), testset, options
    )
    return CacheEntry(key, "matrix", testset, "all", Cell)


def _stored_or_entered(
    opened: WarehouseOpener,
    testset: str,
    states: Sequence[EvalsetState],
    options: Options,
    fresh: bool,
    year: int | None,
) -> list[tuple[Protocol, CacheEntry[Cell], Cell | Entry, float | None]]:
    """Stored results of a test set, and inputs of protocols to score, which share blocks.

    With the seconds that reading took; None for a stored result.
    """
    found: list[tuple[Protocol, CacheEntry[Cell], Cell | Entry, float | None]] = []
    with opened() as warehouse:
        blocks = Blocks(warehouse, options)
        for protocol in protocols().values():
            question = _cache_entry(protocol, testset, states, options)
            if not fresh and (kept := question.stored(warehouse)) is not None:
                found.append((protocol, question, kept, None))
                continue
            started = time.perf_counter()
            try:
                inputs: Cell | Entry = enter(warehouse, protocol, testset, options=options, blocks=blocks)
            except QuestionError as error:
                inputs = Cell(protocol.name, testset, year, None, _reason(error))
            found.append((protocol, question, inputs, time.perf_counter() - started))
    return found


def _scored(protocol: Protocol, entry: Entry, options: Options, year: int | None) -> Cell:
    """The scores, or the reason why there are none."""
    try:
        return Cell(protocol.name, entry.testset, year, score(entry, options=options), None)
    except QuestionError as error:
        return Cell(protocol.name, entry.testset, year, None, _reason(error))


def _reason(error: QuestionError) -> str:
    return error.by_any if isinstance(error, NothingScoredError) else error.reason


def winners_frame(cells: Sequence[Cell]) -> pl.DataFrame:
    """One row per test set and protocol: the winner, and the correlation with the ranking by the year's own rules.

    Columns: testset, year, protocol, winner (several joined by commas), overall, n_metrics (with an overall score),
    tasks, lps, kendall, spearman (rank correlation with the ranking by the test set's own rules), n_common, reason; by
    year, test set and protocol.
    """
    rows = [_winner_row(cell, cells) for cell in cells]
    of_winner = ("winner", "overall", "n_metrics", "tasks", "lps")
    return _frame(rows, *("testset", "year", "protocol"), *of_winner, *("kendall", "spearman", "n_common", "reason"))


def _frame(rows: Sequence[Any], *columns: str) -> pl.DataFrame:
    """A frame of text columns, except for integers and correlations; NaN becomes null."""
    kinds: dict[str, pl.DataType] = dict.fromkeys(("year", "n_metrics", "n_common"), pl.Int64())
    kinds |= dict.fromkeys(("overall", "kendall", "spearman"), pl.Float64())
    schema = {name: kinds.get(name, pl.String()) for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.selectors.float().fill_nan(None))


def _winner_row(cell: Cell, cells: Sequence[Cell]) -> dict[str, Any]:
    row: dict[str, Any] = {"testset": cell.testset, "year": cell.year, "protocol": cell.protocol}
    if cell.score is None:
        return row | {"reason": cell.reason}
    own = next((one.score for one in scored_cells(cells, cell.testset) if one.protocol == _own_rules(cell)), None)
    row |= {
        "winner": ", ".join(cell.winners) or None,
        "overall": float(cell.score.overall[0]),
        "n_metrics": int(np.count_nonzero(~np.isnan(cell.score.overall))),
        "tasks": "; ".join(dict.fromkeys(task.measure for task in cell.score.tasks)),
        "lps": ",".join(dict.fromkeys(lp for task in cell.score.tasks for lp in task.lps)),
        "reason": None if cell.winners else "no metric has every task",
    }
    if own is not None:
        kendall, spearman, n = rank_correlation(cell.score, own)
        row |= {"kendall": kendall, "spearman": spearman, "n_common": n}
    return row


def _own_rules(cell: Cell) -> str | None:
    """The protocol of a test set's year; None if there is none."""
    try:
        return protocol_named(cell.testset.partition(".")[0]).name
    except QuestionError:
        return None


def agreement_frame(cells: Sequence[Cell]) -> pl.DataFrame:
    """Rank correlation between every two protocols on each test set.

    Columns: testset, year, protocol, versus, kendall, spearman, n_common; by year, test set and protocols.
    """
    rows = []
    for testset in dict.fromkeys(cell.testset for cell in cells):
        for first, second in combinations(scored_cells(cells, testset), 2):
            assert first.score is not None
            assert second.score is not None
            both = rank_correlation(first.score, second.score)
            rows.append((testset, first.year, first.protocol, second.protocol, *both))
    return _frame(rows, "testset", "year", "protocol", "versus", "kendall", "spearman", "n_common")


def wide_winners(cells: Sequence[Cell]) -> pl.DataFrame:
    """One line per protocol, one column per test set with scores: the winner.

    Also Kendall's tau with the ranking by the year's own rules.
    """
    rows: Mapping[tuple[str, str], dict[str, Any]] = {
        (row["protocol"], row["testset"]): row for row in winners_frame(cells).rows(named=True)
    }
    answered = [name for name in dict.fromkeys(cell.testset for cell in cells) if scored_cells(cells, name)]
    columns: dict[str, list[str]] = {"rules of": list(protocols())}
    for testset in answered:
        columns[testset] = [_winner_text(rows[name, testset]) for name in protocols()]
    return pl.DataFrame(columns)


def wide_ranks(cells: Sequence[Cell], testset: str) -> pl.DataFrame:
    """One line per metric of a test set, one column per protocol with scores: the metric's rank.

    The best by the year's own rules comes first, else the one with the best mean rank.
    """
    cells = scored_cells(cells, testset)
    ranks = {
        cell.protocol: {
            name: int(rank) or None for name, rank in zip(cell.score.metrics, cell.score.ranks, strict=True)
        }
        for cell in cells
        if cell.score is not None
    }
    own = next((cell.protocol for cell in cells if cell.protocol == _own_rules(cell)), None)

    def order(name: str) -> tuple[float, float, str]:
        of_name = [rank for by in ranks.values() if (rank := by.get(name)) is not None]
        by_own = ranks.get(own or "", {}).get(name)
        return (by_own or np.inf, float(np.mean(of_name)) if of_name else np.inf, name)

    metrics = sorted({name for by in ranks.values() for name in by}, key=order)
    columns: dict[str, Any] = {"metric": metrics}
    for protocol, by in ranks.items():
        short = protocol.removeprefix("wmt")
        columns[short if short.isdecimal() else protocol] = pl.Series(
            [by.get(name) for name in metrics], dtype=pl.Int64
        )
    return pl.DataFrame(columns)


def _winner_text(row: dict[str, Any]) -> str:
    if row["winner"] is None:
        return "-"
    who = first_names(row["winner"].split(", "), 1)
    return f"{who} of {row['n_metrics']}" + ("" if row["kendall"] is None else f" ({row['kendall']:.2f})")


def matrix_result(cells: Sequence[Cell], frame: pl.DataFrame, what: str, options: Options) -> Result:
    """A frame of the matrix with its signature and notes on missing results."""
    answered = dict.fromkeys(cell.testset for cell in cells if cell.score is not None)
    parts = stamped(
        ("protocols", what),
        ("testset", ",".join(answered) or None),
        ("n_protocols", len(protocols())),
        ("system_score", options.system_score),
        ("seed", options.seed),
        *option_parts(options),
    )
    reasons: dict[str, dict[str, list[str]]] = {}
    for cell in cells:
        if cell.score is None:
            reasons.setdefault(str(cell.reason), {}).setdefault(cell.testset, []).append(cell.protocol)
    n = len(protocols())
    notes = []
    for reason, where in reasons.items():
        places = [name if len(rules) == n else f"{name} by {', '.join(rules)}" for name, rules in where.items()]
        notes.append(f"{'; '.join(places)} {are(len(places), have=True)} no scores: {reason}")
    return Result(frame, parts, tuple(notes))
