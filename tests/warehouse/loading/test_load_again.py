"""Loading into a warehouse that holds something already: what is news comes in, and the report says how."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import DOCUMENTS, LP, MQM, SYSTEMS, TESTSET, tiny_bytes, tiny_facts, tiny_layout, together
from tests.sharing import written
from tests.warehouse.building import (
    MARKS,
    Loaded,
    ask,
    cells_of,
    edited,
    empty_warehouse,
    held,
    loaded,
    nothing_hangs,
    small,
    statuses,
)
from warehouse import LoadReport, Warehouse, load
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset, write_facts
from warehouse.facts.testsets import EvalsetFacts

FINE = "metric-scores/en-de/Fine-src.seg.score"
DOCS = "documents/en-de.docs"
N_FILES = 17  # of the tiny layout
Held = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return tiny_layout(tmp_path / "in")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A warehouse that has loaded the same content as the layout's, from another folder."""
    return written(tmp_path / "a.duckdb", tiny_bytes())


def fresh(root: Path, folder: Path) -> Held:
    """What a warehouse holds that loads this folder alone."""
    folder.mkdir(exist_ok=True)
    return held(loaded_all(root, folder / "fresh.duckdb"))


def test_the_same_content_from_another_place_is_unchanged_to_the_last_byte_also_while_it_is_read(
    layout: Path, database: Path
) -> None:
    before = database.read_bytes()
    with Warehouse.open(database) as warehouse:
        report = load([layout], database)
        assert warehouse.rows("SELECT count(*) FROM evalsets") == [(1,)]
    (evalset,) = report.evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged, evalset.n_rows) == ("unchanged", 0, N_FILES, 0)
    assert database.read_bytes() == before


ELM = "system-outputs/en-de/Elm.txt"


def _other_facts(root: Path, **changes: Any) -> None:
    write_facts(root, replace(tiny_facts(root.name), **changes))


def _fewer_segments(root: Path) -> None:
    for path in [root / DOCS, *root.rglob("*.txt")]:
        edited(path, lambda lines: lines[:-1])
    for path in root.rglob("*.seg.score"):
        edited(path, lambda lines: [text for number, text in enumerate(lines) if number % 5 < 4])


def _further_output(root: Path) -> None:
    (root / ELM).write_text("x\n" * 5)
    edited(root / FINE, lambda lines: [*lines, *["Elm\t1"] * 5])


def _changed_and_further(root: Path) -> None:
    edited(root / FINE, lambda lines: ["Ash\t0.125", *lines[1:]])
    shutil.copy(root / FINE, root / "metric-scores/en-de/New-src.seg.score")


NEW = ScoreTable(["Ash", "Beech"], seg=np.arange(10.0).reshape(2, 5))
OUTLIER = EvalsetFacts("refA", {"seg": "mqm", "sys": "mqm"}, frozenset({"Ash"}))
ERRORS = RatingTable({system: [[{"score": 2.0}], [], [], None, []] for system in SYSTEMS})
SCORES, ANNOTATIONS = "human-scores/en-de.mqm.seg.score", "human-scores/en-de.mqm.seg.rating"
MARKED = {
    "annotations after scores": ANNOTATIONS,
    "scores after annotations": SCORES,
    "changed scores with annotations behind them": None,
    "changed annotations behind scores": None,
}
"""Changes of test sets with annotations of the human score, and the file that comes with the change alone."""


def _written_again(root: Path) -> None:
    tiny_layout(root.parent, testset=root.name, ratings={"mqm": ERRORS})


CHANGES: dict[str, tuple[str, int, Callable[[Path], object]]] = {
    "a changed file": (
        *("replaced", 1),
        lambda root: edited(root / FINE, lambda lines: ["Ash\t0.125", *lines[1:4], "Ash\tNone", *lines[5:]]),
    ),
    "a file with fewer systems": ("replaced", 1, lambda root: edited(root / FINE, lambda lines: lines[5:])),
    "a further file": (
        *("added", 1),
        lambda root: write_evalset(root, LP, documents=DOCUMENTS, metrics={"New-src": NEW}),
    ),
    "a changed and a further file": ("replaced", 2, _changed_and_further),
    "other documents for as many segments": (
        *("replaced", 1),
        lambda root: edited(root / DOCS, lambda lines: ["talk\tt1", *lines[1:]]),
    ),
    "fewer segments with scores that fit them": ("replaced", 11, _fewer_segments),
    "another reference": (
        *("replaced", 1),
        lambda root: edited(root / "references/en-de.refA.txt", lambda lines: ["new", *lines[1:]]),
    ),
    "another output": (
        *("replaced", 1),
        lambda root: edited(root / "system-outputs/en-de/Ash.txt", lambda lines: ["new", *lines[1:]]),
    ),
    "a further output that makes a system known": ("replaced", 2, _further_output),
    "a further output without scores": ("added", 1, lambda root: (root / ELM).write_text("x\n" * 5)),
    "another year": ("updated", 0, lambda root: _other_facts(root, year=2025)),
    "another description": ("updated", 0, lambda root: _other_facts(root, description="Tiny")),
    "other primary metrics": ("updated", 0, lambda root: _other_facts(root, primary=frozenset({"Fine"}))),
    "another baseline": ("updated", 0, lambda root: _other_facts(root, baseline=frozenset({"Fine"}))),
    "no standards": ("updated", 0, lambda root: _other_facts(root, lps={})),
    "an outlier": ("updated", 0, lambda root: _other_facts(root, lps={LP: OUTLIER})),
    "other facts of all kinds": (
        *("updated", 0),
        lambda root: _other_facts(
            *(root,),
            year=2025,
            primary=frozenset({"Wrong"}),
            baseline=frozenset(),
            lps={LP: EvalsetFacts("refB", {"seg": "da"}, frozenset({"Cherry"}), True)},
        ),
    ),
    "annotations after scores": ("added", 1, _written_again),
    "scores after annotations": ("added", 1, _written_again),
    "changed scores with annotations behind them": (
        *("replaced", 1),
        lambda root: edited(root / SCORES, lambda lines: ["Ash\t-7", *lines[1:]]),
    ),
    "changed annotations behind scores": (
        *("replaced", 1),
        lambda root: edited(root / ANNOTATIONS, lambda lines: ['Ash\t{"errors": [{"score": 3}]}', *lines[1:]]),
    ),
}
"""What changes in a folder that was loaded: how a second load calls it, how many files it writes anew, the change."""
ALONE = {"another year", "other primary metrics", "another baseline", "an outlier"}
"""Changes that are part of the facts of all kinds, too."""


@dataclass(frozen=True)
class Changed:
    """A warehouse with a test set for each change, loaded before and after, and what a third load said."""

    before: Held
    after: Held
    fresh: Held
    report: LoadReport
    again: LoadReport


def _testset(change: str) -> str:
    return f"change{list(CHANGES).index(change)}"


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory, in_full: bool) -> Changed:
    folder = tmp_path_factory.mktemp("changed")
    changes = [change for change in CHANGES if in_full or change not in ALONE]
    for change in changes:
        marks = {"mqm": ERRORS} if change in MARKED else None
        root = tiny_layout(folder / "in", testset=_testset(change), ratings=marks)
        if (later := MARKED.get(change)) is not None:
            (root / later).unlink()
    database = loaded_all(folder / "in", folder / "a.duckdb")
    before = held(database)
    for change in changes:
        _, _, make = CHANGES[change]
        make(folder / "in" / _testset(change))
    report = load([folder / "in"], database)
    again = load([folder / "in"], database)
    return Changed(before, held(database), held(loaded_all(folder / "in", folder / "b.duckdb")), report, again)


def loaded_all(root: Path, database: Path) -> Path:
    report = load([root], empty_warehouse(database))
    assert report.is_clean, report.faults
    return database


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(change, marks=pytest.mark.long("each fact by itself: 1 second") if change in ALONE else ())
        for change in CHANGES
    ],
)
def test_a_second_load_holds_what_a_load_of_the_changed_files_alone_holds(change: str, changed: Changed) -> None:
    testset, (status, n_files, _) = _testset(change), CHANGES[change]
    (evalset,) = (one for one in changed.report.evalsets if one.testset == testset)
    assert (evalset.status, evalset.n_files) == (status, n_files)
    before, after, expected = (
        {name: [row for row in rows if row[0] == testset] for name, rows in content.items()}
        for content in (changed.before, changed.after, changed.fresh)
    )
    assert after == expected
    assert after != before
    assert next(one.status for one in changed.again.evalsets if one.testset == testset) == "unchanged"


def test_changes_of_many_test_sets_are_reported_without_faults_and_hold_nothing_else(changed: Changed) -> None:
    assert changed.report.faults == changed.again.faults == []
    assert changed.after == changed.fresh


def test_counts_of_a_second_load_are_of_what_it_wrote(changed: Changed) -> None:
    counts = {
        one.testset: (one.n_unchanged, one.n_scores, one.n_rows, one.n_missing) for one in changed.report.evalsets
    }
    assert counts[_testset("a changed file")] == (N_FILES - 1, 19, 20, 1)
    assert counts[_testset("a further file")] == (N_FILES, 10, 10, 0)
    assert counts[_testset("a further output without scores")] == (N_FILES, 0, 5, 0)
    assert counts[_testset("another description")] == (N_FILES, 0, 0, 0)


def test_a_further_file_and_other_segments_are_held_as_they_are_written(changed: Changed) -> None:
    added = [row for row in changed.after["scores"] if row[0] == _testset("a further file") and "New-src" in row]
    assert len(added) == NEW.seg.size
    talk = _testset("other documents for as many segments")
    assert [row for row in changed.after["segments"] if row[0] == talk and {"talk", "t1"} <= set(row)] != []
    fewer = _testset("fewer segments with scores that fit them")
    assert len([row for row in changed.after["segments"] if row[0] == fewer]) == 4


@together("change", ["annotations after scores", "scores after annotations"])
def test_scores_and_annotations_of_one_name_may_come_one_after_the_other(change: str, changed: Changed) -> None:
    found = {
        (system, segment): value
        for testset, *_, segment, system, _, value in changed.after["human_scores"]
        if testset == _testset(change)
    }
    assert found == cells_of(SYSTEMS, np.array(MQM))


@pytest.mark.slow
def test_a_system_that_no_file_names_any_more_is_gone(tmp_path: Path) -> None:
    one = small(tmp_path / "in", metrics={"A-src": ScoreTable(["Ash", "Elm"], seg=np.ones((2, 5)))})
    database = loaded(one, tmp_path / "a.duckdb")
    small(tmp_path / "in", metrics={"A-src": ScoreTable(["Ash", "Oak"], seg=np.ones((2, 5)))})
    assert statuses(load([one], database)) == ["replaced"]
    assert ask(database, "SELECT system FROM systems ORDER BY 1") == [("Ash",), ("Oak",)]


@pytest.mark.slow
def test_a_further_language_pair_or_test_set_leaves_the_first_alone(layout: Path, database: Path) -> None:
    before = held(database)["human_scores"]
    tiny_layout(layout.parent, lp="cs-uk", facts=False)
    tiny_layout(layout.parent, testset="tiny25", facts=False)
    report = load([layout.parent], database)
    assert [(e.testset, e.lp, e.status) for e in report.evalsets] == [
        *((TESTSET, "cs-uk", "loaded"), (TESTSET, "en-de", "unchanged"), ("tiny25", "en-de", "loaded"))
    ]
    assert [row for row in held(database)["human_scores"] if row[0] == TESTSET and row[2] == LP] == before
    assert len(ask(database, "FROM human_scores")) == 3 * 20


@pytest.mark.slow
def test_a_subfolder_reads_its_documents_along(layout: Path, tmp_path: Path) -> None:
    report = load([layout / "metric-scores" / LP], empty_warehouse(tmp_path / "b.duckdb"))
    (evalset,) = report.evalsets
    assert (evalset.status, evalset.n_files) == ("loaded", 9 + 1)
    assert report.notes == [f"{layout / DOCS} is also loaded, because Fine-src.seg.score needs it"]
    assert len(ask(tmp_path / "b.duckdb", "FROM scores")) == 75
    assert ask(tmp_path / "b.duckdb", "SELECT n_segments, year FROM evalsets") == [(5, 2024)]


@pytest.mark.long("many loads: 1 second")
def test_parts_in_any_order_hold_the_same_as_all_at_once(tmp_path: Path) -> None:
    """Two test sets side by side, the parts of one in the opposite order."""
    roots = [tiny_layout(tmp_path / "in", testset=testset) for testset in ("one24", "two24")]
    places = ("human-scores", "metric-scores", "system-outputs", "references", "sources")
    parts = empty_warehouse(tmp_path / "b.duckdb")
    for one, other in zip(places, (*places[2::-1], *places[3:]), strict=True):
        assert load([roots[0] / one, roots[1] / other], parts).faults == []
    assert held(parts) == fresh(tmp_path / "in", tmp_path / "fresh")


@pytest.mark.slow
def test_later_scores_are_counted_against_the_segments_that_are_there(layout: Path, database: Path) -> None:
    (layout / DOCS).unlink()
    edited(layout / FINE, lambda lines: lines[:-1])
    report = load([layout / "metric-scores"], database)
    (fault,) = report.faults
    assert (fault.line, fault.found) == (19, "system 'refA' has 4 scores")
    edited(layout / FINE, lambda lines: [*lines, "refA\t1"])
    edited(layout / FINE, lambda lines: ["Ash\t0", *lines[1:]])
    assert statuses(load([layout / "metric-scores"], database)) == ["replaced"]


def test_later_scores_are_checked_against_the_systems_that_are_there(
    layout: Path, database: Path, tmp_path: Path
) -> None:
    """Texts of systems are in the warehouse, not in the folder of the second load."""
    later = small(tmp_path / "later", metrics={"New-src": ScoreTable(["Ash", "Elm"], seg=np.ones((2, 5)))})
    report = load([later], database)
    assert [(fault.line, fault.found) for fault in report.faults] == [(6, "unknown system 'Elm'")]
    assert statuses(report) == ["refused"]


def test_fewer_documents_make_faults_of_all_scores_that_no_longer_fit(layout: Path, database: Path) -> None:
    before = database.read_bytes()
    edited(layout / DOCS, lambda lines: lines[:-1])
    report = load([layout], database)
    assert statuses(report) == ["refused"]
    blamed = {Path(fault.path).relative_to(layout).as_posix() for fault in report.faults}
    seg = {path.relative_to(layout).as_posix() for path in layout.rglob("*.seg.score")}
    texts = {path.relative_to(layout).as_posix() for path in layout.rglob("*.txt")}
    assert blamed == seg | texts
    assert database.read_bytes() == before


def test_other_documents_are_refused_while_scores_outside_the_load_hang_on_the_old(
    layout: Path, database: Path
) -> None:
    before = database.read_bytes()
    edited(layout / DOCS, lambda lines: ["talk\tt1", *lines[1:]])
    report = load([layout / "documents"], database)
    (fault,) = report.faults
    assert fault.path == str(layout / DOCS)
    assert fault.found.startswith("segments that differ from those of ")
    assert fault.expected == "the same segments"
    together = "load both together with every other file of tiny24 en-de, or load all into a new warehouse"
    assert fault.way_out == together
    assert statuses(report) == ["refused"]
    assert database.read_bytes() == before or held(database)["segments"][0][4] == "news"


@pytest.mark.slow
def test_documents_read_along_with_a_subfolder_are_refused_when_they_changed(layout: Path, database: Path) -> None:
    before = held(database)
    edited(layout / DOCS, lambda lines: ["talk\tt1", *lines[1:]])
    edited(layout / FINE, lambda lines: ["Ash\t0.125", *lines[1:]])
    report = load([layout / "metric-scores"], database)
    assert statuses(report) == ["refused"]
    assert [fault.path for fault in report.faults] == [str(layout / DOCS)]
    assert held(database) == before


@pytest.mark.slow
def test_facts_and_scores_that_are_gone_stay_and_a_further_file_gets_the_status_that_nobody_declares(
    layout: Path, database: Path
) -> None:
    before = database.read_bytes()
    (layout / "testset.toml").unlink()
    (layout / "metric-scores/en-de/Wrong-src.seg.score").unlink()
    assert statuses(load([layout], database)) == ["unchanged"]
    assert database.read_bytes() == before
    shutil.copy(layout / FINE, layout / "metric-scores/en-de/New-src.seg.score")
    assert statuses(load([layout], database)) == ["added"]
    assert dict(ask(database, "SELECT metric, status FROM metrics")) == {
        "Fine-src": "primary",
        "Flat-src": "baseline",
        "New-src": None,
        "Only-src": "contrastive",
        "Rough-refA": "primary",
        "Wrong-src": "contrastive",
    }


@pytest.mark.slow
def test_a_broken_change_leaves_everything_and_skip_broken_takes_the_old_content_of_the_file_away(
    layout: Path, database: Path
) -> None:
    before = database.read_bytes()
    edited(layout / FINE, lambda lines: ["Ash\tnan", *lines[1:]])
    edited(layout / SCORES, lambda lines: ["Ash\t-3", *lines[1:]])
    assert statuses(load([layout], database)) == ["refused"]
    assert database.read_bytes() == before
    (evalset,) = load([layout], database, skip_broken=True).evalsets
    assert (evalset.n_files, evalset.n_broken, evalset.n_unchanged) == (1, 1, N_FILES - 2)
    assert ask(database, "FROM scores WHERE metric = 'Fine-src'") == []
    assert ask(database, "SELECT count(*) FROM sources WHERE status = 'refused'") == [(1,)]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """A folder with a broken file, of which the warehouse has loaded the rest."""
    folder = tmp_path_factory.mktemp("broken")
    layout = tiny_layout(folder / "in")
    edited(layout / FINE, lambda lines: ["Ash\tnan", *lines[1:]])
    database = empty_warehouse(folder / "a.duckdb")
    return Loaded(layout, database, load([layout], database, skip_broken=True))


@pytest.mark.slow
def test_a_refused_file_is_refused_again_and_skip_broken_changes_nothing(broken: Loaded) -> None:
    before = broken.database.read_bytes()
    refused = load([broken.folder], broken.database)
    again = load([broken.folder], broken.database, skip_broken=True)
    assert refused.faults == again.faults == broken.report.faults
    assert [fault.line for fault in again.faults] == [1]
    assert [statuses(one) for one in (broken.report, refused, again)] == [["loaded"], ["refused"], ["unchanged"]]
    assert (again.evalsets[0].n_broken, again.evalsets[0].n_unchanged) == (1, N_FILES - 1)
    assert broken.database.read_bytes() == before


@pytest.mark.slow
def test_a_refused_file_that_was_mended_is_added(broken: Loaded, layout: Path, database: Path, tmp_path: Path) -> None:
    mended = written(tmp_path / "mended.duckdb", broken.database.read_bytes())
    (evalset,) = load([layout], mended).evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged) == ("added", 1, N_FILES - 1)
    assert held(mended) == held(database)


@pytest.mark.slow
def test_annotations_alone_become_a_score_that_a_score_file_replaces(tmp_path: Path) -> None:
    root = small(tmp_path / "in", ratings={"mqm": MARKS})
    database = empty_warehouse(tmp_path / "a.duckdb")
    assert load([root], database).is_clean
    assert ask(database, "SELECT value FROM human_scores WHERE system = 'Ash' AND segment = 2") == [(-6.0,)]
    write_evalset(root, LP, documents=DOCUMENTS, humans={"mqm": ScoreTable(["Ash", "Beech"], seg=np.zeros((2, 5)))})
    report = load([root], database)
    assert report.faults == []
    assert ask(database, "SELECT DISTINCT value FROM human_scores") == [(0.0,)]
    assert ask(database, "SELECT value FROM judgements WHERE system = 'Ash' AND segment = 2") == [(-6.0,)]


@pytest.mark.slow
def test_identifiers_of_a_replaced_file_hang_nowhere(layout: Path, database: Path) -> None:
    for n in range(2):
        edited(layout / FINE, lambda lines, n=n: [f"Ash\t{n}", *lines[1:]])
        assert statuses(load([layout], database)) == ["replaced"]
        nothing_hangs(database)
    assert ask(database, "SELECT count(*), count(DISTINCT vector_id) FROM vector") == [(42, 42)]
