"""One slice, whatever the command: every command sees the same systems, metrics, segments and missing scores."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.questions.question import question_with
from metaeval.questions.rank import Rank
from metaeval.results.answer import Table
from metaeval.results.study import check_ranked, study
from metaeval.studies.significance.systems import compare_systems
from metaeval.studies.tables.agreement import agreement
from metaeval.studies.tables.counts import pair_counts
from metaeval.studies.tables.means import system_means
from metaeval.studies.tables.thresholds import thresholds, ties
from queries.slices import Slice
from tests.cli.running import Scorehouse, refused
from tests.comparing import compare
from tests.helpers import LP, MQM, NAN, TESTSET, tiny_layout, tiny_warehouse, together
from warehouse import Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.fields import fields_of

TAU, ACC_EQ, PEARSON = (parse_measure(text) for text in ("tau_b(by=item)", "acc_eq(by=item)", "pearson(by=none)"))
Seen = tuple[set[str] | None, str]  # metrics (None: it has none), signature


def _ranked(warehouse: Warehouse, asked: Slice) -> Seen:
    found = study(warehouse, asked, [TAU], Options())
    check_ranked([found])
    return {metric.name for metric in found.results[0].evaluation.metrics}, found.signatures[0]


def _compared(warehouse: Warehouse, asked: Slice) -> Seen:
    found = compare(warehouse, asked, TAU, Options(), TestOptions(resamples=5))
    return set(found.names), found.signature


def _tabled(table: Table, names: Iterable[str]) -> Seen:
    return set(names), table.signature


def _tied(warehouse: Warehouse, asked: Slice) -> Seen:
    found = ties(warehouse, asked)
    return _tabled(found, found.frame.filter(kind="metric")["scorer"])


def _tested(warehouse: Warehouse, asked: Slice) -> Seen:
    return None, compare_systems(warehouse, asked, None, "permutation", Options(), draws=5).signature


def _averaged(warehouse: Warehouse, asked: Slice) -> Seen:
    """Metrics with a score for all that is judged, which other commands use; `means` shows the others, too."""
    found = system_means(warehouse, asked)
    of_human = found.frame.filter(kind="human").select("system", judged="n_judged")
    complete = found.frame.filter(kind="metric").join(of_human, on="system").group_by("scorer")
    return _tabled(found, complete.agg((pl.col("n_judged") == pl.col("judged")).all()).filter("n_judged")["scorer"])


COMMANDS: dict[str, Callable[[Warehouse, Slice], Seen]] = {
    "rank": _ranked,
    "compare": _compared,
    "ties": _tied,
    "counts": lambda w, asked: _tabled(found := pair_counts(w, asked, "none"), found.frame["metric"]),
    "means": _averaged,
    "thresholds": lambda w, asked: _tabled(found := thresholds(w, asked, ACC_EQ, Options()), found.frame["metric"]),
    "correlations": lambda w, asked: _tabled(found := agreement(w, asked, PEARSON, Options()), found.frame["metric"]),
    "systems": _tested,
}
FLAGS: dict[str, tuple[object, ...]] = {
    "human": ("esa",),
    "reference": ("refB",),
    "domain": (["news"],),
    "document": (["s*"], ["n1", "n2"]),
    "phenomenon": (["idi*"],),
    "segments": ("1-3",),
    "systems": (["[ABD]*"],),
    "metrics": (["F*", "Guest", "Mine-src"], ["*-src"]),
    "kind": ("reference-based", "reference-free"),
    "status": ("primary", "all"),
    "human_references": (True,),
    "with_outliers": (True,),
    "mad_outliers": (True,),
    "user_metrics": (True,),
    "intersection": (True,),
}
CASES = [(name, value) for name, values in FLAGS.items() for value in values]
BY_ARRAYS = ("mad_outliers", "intersection")
"""Flags that `means` does not have."""


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny task with more systems, one of them an outlier by its scores, and metrics of every status."""
    folder = tmp_path_factory.mktemp("varied")
    systems = ("Ash", "Beech", "Cherry", "Damson", "Elder", "refA", "refB")
    human = np.array([*MQM[:3], (-2.0, -1.0, -4.0, NAN, -2.0), (-90.0, -80.0, -70.0, NAN, -99.0), *MQM[3:], MQM[1]])
    rng = np.random.default_rng(1)

    def table(*, part: int = len(systems), hole: bool = False) -> ScoreTable:
        seg = rng.normal(size=(part, 5)).round(2)
        seg[1, 2] = NAN if hole else seg[1, 2]
        return ScoreTable(systems=systems[:part], seg=seg)

    metrics = {
        "Fine-src": table(),
        "Rough-refA": table(),
        "Rough-refB": table(),
        "Flat-refA": table(),
        "Wrong-src": table(),
        "Other-src": table(),
        "Guest-src": table(),
        "Mine-src": table(),
        "Holes-src": table(hole=True),
        "Part-src": table(part=3),
    }
    judged = {"mqm": ScoreTable(systems=systems, seg=human), "esa": ScoreTable(systems=systems[:4], seg=human[:4])}
    layout = tiny_layout(folder / "layout", systems=systems, humans=judged, metrics=metrics)
    tiny_warehouse(folder, layout).close()
    with duckdb.connect(str(folder / "tiny.duckdb")) as connection:
        of = "WHERE scorer_id = (SELECT scorer_id FROM internal.scorer WHERE name = ?)"
        connection.execute(f"UPDATE internal.entry SET is_own = true, status = 'no entry' {of}", ["Mine-src"])
        connection.execute(f"UPDATE internal.entry SET status = 'no entry' {of}", ["Guest-src"])
        connection.execute("UPDATE internal.segment SET phenomenon = 'idiom' WHERE segment <= 3")
        connection.execute("UPDATE internal.system SET is_outlier = true WHERE name = 'Damson'")
    return folder / "tiny.duckdb"


@pytest.fixture(scope="module")
def warehouse(varied: Path) -> Iterator[Warehouse]:
    with Warehouse.open(varied) as opened:
        yield opened


@pytest.fixture(scope="module")
def whole(warehouse: Warehouse) -> tuple[set[str] | None, dict[str, str]]:
    """What `rank` sees without any flag."""
    return _seen("rank", warehouse, Slice(TESTSET, LP))


def _seen(command: str, warehouse: Warehouse, asked: Slice) -> tuple[set[str] | None, dict[str, str]]:
    """The metrics, and what the signature says of the human score, systems and segments."""
    metrics, signature = COMMANDS[command](warehouse, asked)
    parts = dict(part.split(":", 1) for part in signature.split("|"))
    return metrics, {key: parts[key] for key in ("human", "n_systems", "n_segments", "n_missing") if key in parts}


def _slice(flag: str, value: object) -> Slice:
    return question_with(Rank, {"testset": TESTSET, "lp": LP, flag: value}).part(Slice)


def test_every_flag_of_a_slice_is_tested_here() -> None:
    assert set(FLAGS) == fields_of(Slice).keys() - {"testset", "lp"}


@pytest.mark.every(3)
@pytest.mark.parametrize(("flag", "value"), [("human", None), *CASES])
def test_every_command_sees_the_same_slice(
    warehouse: Warehouse, whole: tuple[set[str] | None, dict[str, str]], flag: str, value: object
) -> None:
    asked = _slice(flag, value)
    metrics, parts = _seen("rank", warehouse, asked)
    assert metrics
    assert {"human", "n_systems", "n_segments"} <= set(parts)
    for command in COMMANDS.keys() - {"rank", *(("means",) if flag in BY_ARRAYS else ())}:
        seen, of_command = _seen(command, warehouse, asked)
        if command == "systems" and asked.human_references:  # people also rank the reference of the metrics
            assert int(of_command["n_systems"]) == int(parts["n_systems"]) + 1
            of_command = {**of_command, "n_systems": parts["n_systems"]}
            del of_command["n_missing"]
        assert seen == (metrics if command != "systems" else None), command
        assert of_command == {key: parts[key] for key in of_command}, command
        assert {"human", "n_systems", "n_segments"} <= set(of_command), command
    if (flag, value) != ("human", None):
        assert (metrics, parts) != whole, "the flag changes nothing"


@pytest.mark.slow
@together(
    ("flags", "field", "value"),
    [((), "human", "mqm"), (("--human", "esa"), "human", "esa"), (("--ref", "refB"), "reference", "refB")],
)
def test_a_protocol_sees_the_slice_that_a_ranking_sees(
    scorehouse: Scorehouse, varied: Path, flags: tuple[str, ...], field: str, value: str
) -> None:
    chosen = (*flags, "--format", "json")
    ranked = scorehouse("--db", varied, "rank", TESTSET, LP, "-m", "pearson", "--status", "all", *chosen)
    ruled = scorehouse("--db", varied, "protocol", "wmt23", "--on", TESTSET, "--lp", LP, "--all-metrics", *chosen)
    assert (ranked.code, ruled.code) == (0, 0), ruled.err
    of_rank, of_rules = (
        next(dict(part.split(":", 1) for part in line.split("|")) for line in ran.notes if "|lp:" in line)
        for ran in (ranked, ruled)
    )
    assert of_rank[field] == of_rules[field] == value
    assert [of_rank[key] for key in ("human", "n_systems")] == [of_rules[key] for key in ("human", "n_systems")]
    names = {name for row in ranked.json if (name := row["metric"]).startswith("Rough")}
    assert names == {"Rough-refB" if "refB" in flags else "Rough-refA"}
    assert "Rough" in {row["metric"] for row in ruled.json["metrics"]}


def test_several_names_after_one_flag_say_to_repeat_it(scorehouse: Scorehouse) -> None:
    refused(scorehouse("counts", "sim24", "en-de", "--metrics", "A", "B"), 2, "repeat --metrics", "--metrics B")
    refused(scorehouse("rank", "sim24", "en-de", "-m", "pa", "spa"), 2, "repeat -m", "-m spa")


def test_metrics_without_their_flag_are_answered_with_the_whole_command(scorehouse: Scorehouse) -> None:
    whole = "to select metrics: scorehouse means sim24 en-de --human mqm --metrics 'sim*' --metrics B"
    refused(scorehouse("means", "sim24", "en-de", "sim*", "B", "--human", "mqm"), 2, whole)
    assert "filter" not in scorehouse("cutoff", "sim24", "en-de", "simBLEU", "B").err
