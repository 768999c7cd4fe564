"""The result store: a second run answers from it, with the same numbers; a change of the scores is another question."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pytest

from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.results import cache
from metaeval.results.cache import DAMAGED
from metaeval.results.run import Run
from metaeval.studies.protocols import protocol_named
from metaeval.studies.protocols.scoring import scored
from metaeval.studies.protocols.tables import as_json as protocol_json
from metaeval.studies.significance.cached import FROM_STORE, WithNotes, compared
from metaeval.studies.significance.comparison import Comparison, as_json, pair_json
from metaeval.studies.significance.pairwise import PairwiseComparison
from queries.slices import Slice
from tests.helpers import metric_tables, tiny_layout
from tests.sharing import written
from warehouse import Warehouse, load
from warehouse.simulation import simulate_shared_task, write_shared_task

SIM = Slice("sim24", "cs-uk")
TWO = replace(SIM, metrics=("simBLEU-refA", "simchrF-refA"))
FEW = replace(SIM, metrics=("simBLEU-refA", "simchrF-refA", "Kestrel*"))
QUICK = TestOptions(resamples=40)
PEARSON = parse_measure("pearson")


@pytest.fixture(scope="module")
def without_results(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small file: of the simulated task the evaluation sets that are asked of."""
    folder = tmp_path_factory.mktemp("sim24")
    write_shared_task(folder / "task", simulate_shared_task(years=(2024,), lps=("cs-uk", "en-de")))
    database = folder / "sim24.duckdb"
    report = load([folder / "task"], database)
    assert report.is_clean, report.faults
    return database.read_bytes()


@pytest.fixture
def database(without_results: bytes, tmp_path: Path) -> Path:
    """A copy that may be written, without results."""
    return written(tmp_path / "copy.duckdb", without_results)


@pytest.fixture(scope="module")
def with_result(without_results: bytes, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, WithNotes]:
    """The same file with the result of a comparison, and what was answered."""
    database = written(tmp_path_factory.mktemp("compared") / "compared.duckdb", without_results)
    answered = ran(database)
    return database.read_bytes(), answered


@pytest.fixture
def compared_before(with_result: tuple[bytes, WithNotes], tmp_path: Path) -> Path:
    """A copy that may be written, with that result."""
    return written(tmp_path / "copy.duckdb", with_result[0])


def ran(database: Path, asked: Slice = SIM, testing: TestOptions = QUICK, **more: object) -> WithNotes:
    return compared(on(database, more.pop("progress", None)), asked, PEARSON, Options(), testing, **more)  # type: ignore[arg-type]


def on(database: Path, progress: object = None) -> Run:
    return Run(lambda: Warehouse.open(database), database, progress)  # type: ignore[arg-type]


def n_results(database: Path) -> int:
    with Warehouse.open(database) as warehouse:
        return int(warehouse.rows("SELECT count(*) FROM result")[0][0])


def same(one: Comparison | None, other: Comparison | None) -> None:
    for name in ("values", "p", "corrected", "clusters", "ranks"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
    for name in ("names", "signature", "notes", "n_significant", "n_distinct", "indistinct", "resamples"):
        assert getattr(one, name) == getattr(other, name)
    assert str(as_json(one)) == str(as_json(other))


@pytest.mark.slow
def test_a_second_comparison_comes_from_the_store_with_the_same_numbers(database: Path) -> None:
    first, second = ran(database), ran(database)
    assert first[1] == []
    assert second[1] == [FROM_STORE]
    same(first[0], second[0])
    assert n_results(database) == 1


@pytest.mark.slow
def test_a_second_pairwise_comparison_comes_from_the_store_with_the_same_numbers(database: Path) -> None:
    first, second = ran(database, TWO), ran(database, TWO)
    assert second[1] == [FROM_STORE]
    assert pair_json(first[0]) == pair_json(second[0])
    assert (first[0].words, first[0].notes) == (second[0].words, second[0].notes)


@pytest.mark.slow
def test_a_result_is_computed_anew_where_other_levels_were_measured_since(
    compared_before: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metaeval.studies.significance.cached.levels_checksum", lambda: "others")
    assert ran(compared_before)[1] == []


@pytest.mark.slow
def test_fresh_computes_again_and_keeps_one_result(with_result: tuple[bytes, WithNotes], compared_before: Path) -> None:
    first, second = with_result[1], ran(compared_before, fresh=True)
    assert second[1] == []
    same(first[0], second[0])
    assert n_results(compared_before) == 1


def test_threads_do_not_make_another_question(compared_before: Path) -> None:
    for n_threads in (2, 1):
        assert ran(compared_before, testing=replace(QUICK, threads=n_threads))[1] == [FROM_STORE]


@pytest.mark.slow
def test_another_question_is_computed(compared_before: Path) -> None:
    changes: list[dict[str, object]] = [
        {"resamples": 41},
        {"alpha": 0.01},
        {"alternative": "greater"},
        {"population": "systems"},
        {"test": "perm-inputs", "plus_one": True},
        {"test": "williams"},
    ]
    for changed in changes:
        assert ran(compared_before, testing=replace(QUICK, **changed))[1] == [], changed  # type: ignore[arg-type]
    assert n_results(compared_before) == 1 + len(changes)


def test_a_named_test_that_is_the_default_is_the_same_question_and_another_slice_keeps_its_own_signature(
    with_result: tuple[bytes, WithNotes], compared_before: Path
) -> None:
    whole = with_result[1]
    assert ran(compared_before, testing=replace(QUICK, test="bootstrap-normal"))[1] == [FROM_STORE]
    other = ran(compared_before, replace(SIM, metrics=("*",)))
    assert other[1] == []
    assert "|metrics:*|" in other[0].signature
    assert "metrics:*" not in whole[0].signature


@pytest.mark.slow
def test_kept_differences_are_computed_every_time(compared_before: Path) -> None:
    for _ in range(2):
        found = ran(compared_before, testing=replace(QUICK, test="perm-inputs", keep_null=True))
        assert found[0].null is not None
    again = ran(compared_before, testing=replace(QUICK, test="perm-inputs"))
    assert again[0].null is None


@pytest.mark.slow
def test_changed_scores_are_another_question(tmp_path: Path) -> None:
    database, layout = tmp_path / "tiny.duckdb", tmp_path / "layout"
    asked = Slice("tiny24", "en-de", metrics=("Fine-src", "Rough-refA", "Wrong-src"))
    assert load([tiny_layout(layout)], database).is_clean
    first = compared(on(database), asked, parse_measure("pearson(by=none)"), Options(), QUICK)
    tables = metric_tables()
    seg = tables["Fine-src"].seg
    changed = seg.copy()
    changed[0, 0] += 0.01
    shutil.rmtree(layout)
    tables["Fine-src"] = replace(tables["Fine-src"], seg=changed)
    assert not load([tiny_layout(layout, metrics=tables)], database).faults
    second = compared(on(database), asked, parse_measure("pearson(by=none)"), Options(), QUICK)
    assert second[1] == []
    assert not np.array_equal(first[0].values, second[0].values)


def test_an_interrupt_stores_nothing(database: Path) -> None:
    def interrupted(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    for asked in (SIM, TWO):
        with pytest.raises(KeyboardInterrupt):
            ran(database, asked, replace(QUICK, test="bootstrap-normal"), progress=interrupted)
    with pytest.raises(KeyboardInterrupt):
        protocol(database, progress=interrupted)
    assert n_results(database) == 0


SPOILED = ("", "{", "[]", "null", "7", '{"measure": 1}', "[" * 100_000, "half")


def test_a_payload_that_is_no_result_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    for spoiled, answer in product(SPOILED[:-1], (Comparison, PairwiseComparison)):
        monkeypatch.setattr(
            cache, "stored_payloads", lambda warehouse, keys, spoiled=spoiled: dict.fromkeys(keys, spoiled)
        )
        question = cache.CacheEntry("key", "compare", "sim24", "cs-uk", answer)
        assert question.stored(None) is None, spoiled[:20]  # type: ignore[arg-type]
        assert question.notes == [DAMAGED], spoiled[:20]


@pytest.mark.slow
@pytest.mark.every(2)
@pytest.mark.parametrize(("asked", "spoilings"), [(FEW, SPOILED[-3:]), (TWO, SPOILED[-1:])])
def test_a_damaged_result_is_computed_anew_and_stored(asked: Slice, spoilings: tuple[str, ...], database: Path) -> None:
    first = ran(database, asked)
    for spoiled in spoilings:
        with duckdb.connect(database) as connection:
            how = "payload[:length(payload) // 2]" if spoiled == "half" else "$spoiled"
            values = {} if spoiled == "half" else {"spoiled": spoiled}
            connection.execute(f"UPDATE internal.result SET payload = {how}", values)
        anew = ran(database, asked)
        assert anew[1] == [DAMAGED], spoiled[:20]
        again = ran(database, asked)
        assert again[1] == [FROM_STORE], spoiled[:20]
        if asked is FEW:
            same(again[0], first[0])
        else:
            assert str(pair_json(again[0])) == str(pair_json(first[0]))


# --- where it cannot be stored --------------------------------------------------------------------------------------


@pytest.fixture
def reader(database: Path) -> Iterator[None]:
    """Another process that has the warehouse open for reading."""
    program = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); input()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open\n"
    yield
    process.communicate("\n", timeout=30)


@pytest.mark.long("a process: 1 second")
@pytest.mark.usefixtures("reader")
def test_a_file_in_use_by_another_process_still_gives_the_answer(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.database.connection.LOCK_TIMEOUT", 0.2)
    found = ran(database)
    assert isinstance(found[0], Comparison)
    (note,) = found[1]
    assert note.startswith("the result was not stored: ")
    assert "locked by" in note
    _, (note,) = protocol(database)
    assert note.startswith("the result was not stored: ")
    assert n_results(database) == 0


# --- protocols ------------------------------------------------------------------------------------------------------


def protocol(
    database: Path,
    name: str = "wmt23",
    *,
    significance: bool = True,
    lps: tuple[str, ...] = ("cs-uk",),
    testing: TestOptions = QUICK,
    all_metrics: bool = False,
    options: Options | None = None,
    **more: object,
) -> tuple[dict[str, object], list[str]]:
    """What `protocol` shows, and notes on the store."""
    run = on(database, more.pop("progress", None))
    asked = (run, protocol_named(name), Slice("sim24", ""), lps, options or Options(), testing)
    found, notes = scored(*asked, all_metrics=all_metrics, significance=significance, **more)  # type: ignore[arg-type]
    shape = protocol_json(found)
    return {**shape, "notes": found.notes, "n_significant": found.n_significant}, notes


@pytest.mark.slow
def test_a_second_protocol_score_comes_from_the_store_with_the_same_numbers(database: Path) -> None:
    first, notes = protocol(database)
    assert notes == []
    second, notes = protocol(database)
    assert notes == [FROM_STORE]
    assert str(first) == str(second)  # NaN is not equal to itself
    third, notes = protocol(database, fresh=True)
    assert notes == []
    assert str(third) == str(first)


@pytest.mark.long("whole protocols: 2 seconds")
def test_another_protocol_is_another_question(database: Path) -> None:
    few = replace(QUICK, resamples=5)
    protocol(database, testing=few)
    changes: list[dict[str, object]] = [
        {"name": "wmt24", "significance": False},  # soft pairwise accuracy takes long
        {"lps": ("cs-uk", "en-de")},
        {"testing": replace(few, resamples=6)},
        {"significance": False},
        {"all_metrics": True},
        {"options": Options(seed=7)},
    ]
    for changed in changes:
        _, notes = protocol(database, **{"testing": few, **changed})  # type: ignore[arg-type]
        assert notes == [], changed
    assert n_results(database) == 1 + len(changes)


@pytest.mark.slow
def test_without_significance_the_test_s_settings_do_not_matter(database: Path) -> None:
    protocol(database, significance=False)
    _, notes = protocol(database, significance=False, testing=TestOptions(resamples=7, alpha=0.2))
    assert notes == [FROM_STORE]
