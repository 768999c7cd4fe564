"""Loading into a warehouse that holds something already: what is news comes in, and the report says how."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import DOCUMENTS, LP, MQM, SYSTEMS, TESTSET, mqm_table, tiny_bytes, tiny_facts, tiny_layout
from tests.sharing import written
from tests.warehouse.building import (
    MARKS,
    ask,
    by_cell,
    cells_of,
    edited,
    empty_warehouse,
    held,
    loaded,
    small,
    statuses,
)
from warehouse import load
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset, write_facts
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts

FINE = "metric-scores/en-de/Fine-src.seg.score"
DOCS = "documents/en-de.docs"
N_FILES = 17  # of the tiny layout


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return tiny_layout(tmp_path / "in")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A warehouse that has loaded the same content as the layout's, from another folder."""
    return written(tmp_path / "a.duckdb", tiny_bytes())


def fresh(root: Path, folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a warehouse holds that loads this folder alone."""
    folder.mkdir(exist_ok=True)
    return held(loaded(root, folder / "fresh.duckdb"))


def test_the_same_content_is_unchanged_to_the_last_byte(layout: Path, database: Path) -> None:
    before = database.read_bytes()
    report = load([layout], database)
    (evalset,) = report.evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged, evalset.n_rows) == ("unchanged", 0, N_FILES, 0)
    assert database.read_bytes() == before


def test_the_same_content_in_another_place_is_unchanged(layout: Path, database: Path, tmp_path: Path) -> None:
    before = database.read_bytes()
    moved = shutil.copytree(layout, tmp_path / "elsewhere" / TESTSET)
    assert statuses(load([moved], database)) == ["unchanged"]
    assert database.read_bytes() == before


def test_a_changed_file_replaces_what_it_brought_and_nothing_else(layout: Path, database: Path, tmp_path: Path) -> None:
    edited(layout / FINE, lambda lines: ["Ash\t0.125", *lines[1:4], "Ash\tNone", *lines[5:]])
    report = load([layout], database)
    (evalset,) = report.evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged) == ("replaced", 1, N_FILES - 1)
    assert (evalset.n_scores, evalset.n_rows, evalset.n_missing) == (19, 20, 1)
    assert held(database) == fresh(layout, tmp_path / "b")


def test_a_file_with_fewer_systems_takes_the_others_away(layout: Path, database: Path, tmp_path: Path) -> None:
    edited(layout / FINE, lambda lines: lines[5:])
    assert statuses(load([layout], database)) == ["replaced"]
    assert held(database) == fresh(layout, tmp_path / "b")


def test_a_system_that_no_file_names_any_more_is_gone(tmp_path: Path) -> None:
    one = small(tmp_path / "in", metrics={"A-src": ScoreTable(["Ash", "Elm"], seg=np.ones((2, 5)))})
    database = loaded(one, tmp_path / "a.duckdb")
    small(tmp_path / "in", metrics={"A-src": ScoreTable(["Ash", "Oak"], seg=np.ones((2, 5)))})
    assert statuses(load([one], database)) == ["replaced"]
    assert ask(database, "SELECT system FROM systems ORDER BY 1") == [("Ash",), ("Oak",)]


def test_further_files_are_added(tmp_path: Path, layout: Path, database: Path) -> None:
    new = ScoreTable(["Ash", "Beech"], seg=np.arange(10.0).reshape(2, 5))
    write_evalset(layout, LP, documents=DOCUMENTS, metrics={"New-src": new})
    (evalset,) = load([layout], database).evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged, evalset.n_scores) == ("added", 1, N_FILES, 10)
    found = by_cell(ask(database, "SELECT system, segment, value FROM scores WHERE metric = 'New-src'"))
    assert found == cells_of(("Ash", "Beech"), new.seg)
    assert held(database) == fresh(layout, tmp_path / "b")


def test_changed_and_further_files_together_are_replaced(layout: Path, database: Path) -> None:
    edited(layout / FINE, lambda lines: ["Ash\t0.125", *lines[1:]])
    shutil.copy(layout / FINE, layout / "metric-scores/en-de/New-src.seg.score")
    (evalset,) = load([layout], database).evalsets
    assert (evalset.status, evalset.n_files) == ("replaced", 2)


def test_a_file_that_is_gone_leaves_what_it_brought(layout: Path, database: Path) -> None:
    before = held(database)
    (layout / FINE).unlink()
    assert statuses(load([layout], database)) == ["unchanged"]
    assert held(database) == before


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


def test_a_subfolder_reads_its_documents_along(layout: Path, tmp_path: Path) -> None:
    report = load([layout / "metric-scores" / LP], empty_warehouse(tmp_path / "b.duckdb"))
    (evalset,) = report.evalsets
    assert (evalset.status, evalset.n_files) == ("loaded", 9 + 1)
    assert len(report.notes) == 1
    assert report.notes[0].startswith(f"{layout / DOCS}: needed by Fine-src.seg.score, ")
    assert len(ask(tmp_path / "b.duckdb", "FROM scores")) == 75
    assert ask(tmp_path / "b.duckdb", "SELECT n_segments, year FROM evalsets") == [(5, 2024)]


@pytest.mark.parametrize(
    "order", [("human-scores", "metric-scores", "system-outputs"), ("system-outputs", "metric-scores", "human-scores")]
)
def test_parts_in_any_order_hold_the_same_as_all_at_once(
    order: tuple[str, ...], layout: Path, database: Path, tmp_path: Path
) -> None:
    parts = empty_warehouse(tmp_path / "b.duckdb")
    for place in (*order, "references", "sources"):
        assert load([layout / place], parts).faults == []
    assert held(parts) == held(database)


def test_a_single_file_is_loaded(layout: Path, tmp_path: Path) -> None:
    report = load([layout / FINE], empty_warehouse(tmp_path / "b.duckdb"))
    assert [(e.status, e.n_files) for e in report.evalsets] == [("loaded", 2)]
    assert len(ask(tmp_path / "b.duckdb", "FROM scores")) == 20


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


def test_other_documents_for_the_same_number_of_segments_replace_the_old(
    layout: Path, database: Path, tmp_path: Path
) -> None:
    edited(layout / DOCS, lambda lines: ["talk\tt1", *lines[1:]])
    assert statuses(load([layout], database)) == ["replaced"]
    assert ask(database, "SELECT domain, document FROM segments WHERE segment = 1") == [("talk", "t1")]
    assert held(database) == fresh(layout, tmp_path / "b")


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


def test_fewer_segments_with_scores_that_fit_them_replace_the_old(layout: Path, database: Path, tmp_path: Path) -> None:
    for path in [layout / DOCS, *layout.rglob("*.txt")]:
        edited(path, lambda lines: lines[:-1])
    for path in layout.rglob("*.seg.score"):
        edited(path, lambda lines: [text for number, text in enumerate(lines) if number % 5 < 4])
    assert statuses(load([layout], database)) == ["replaced"]
    assert ask(database, "SELECT count(*), max(segment) FROM segments") == [(4, 4)]
    assert held(database) == fresh(layout, tmp_path / "b")


def test_other_documents_are_refused_while_scores_outside_the_load_hang_on_the_old(
    layout: Path, database: Path
) -> None:
    before = database.read_bytes()
    edited(layout / DOCS, lambda lines: ["talk\tt1", *lines[1:]])
    report = load([layout / "documents"], database)
    (fault,) = report.faults
    assert fault.path == str(layout / DOCS)
    assert fault.found.startswith("other segments than those that ")
    assert fault.expected == "the same segments"
    together = "load the two together, with all else that tiny24 en-de was loaded from, or all into a new file"
    assert fault.way_out == together
    assert statuses(report) == ["refused"]
    assert database.read_bytes() == before or held(database)["segments"][0][4] == "news"


def test_documents_read_along_with_a_subfolder_are_refused_when_they_changed(layout: Path, database: Path) -> None:
    before = held(database)
    edited(layout / DOCS, lambda lines: ["talk\tt1", *lines[1:]])
    edited(layout / FINE, lambda lines: ["Ash\t0.125", *lines[1:]])
    report = load([layout / "metric-scores"], database)
    assert statuses(report) == ["refused"]
    assert [fault.path for fault in report.faults] == [str(layout / DOCS)]
    assert held(database) == before


@pytest.mark.parametrize("place", ["references/en-de.refA.txt", "system-outputs/en-de/Ash.txt"])
def test_a_changed_text_is_replaced(place: str, layout: Path, database: Path, tmp_path: Path) -> None:
    edited(layout / place, lambda lines: ["new", *lines[1:]])
    assert statuses(load([layout], database)) == ["replaced"]
    assert held(database) == fresh(layout, tmp_path / "b")


def test_a_further_output_makes_a_system_known(layout: Path, database: Path, tmp_path: Path) -> None:
    (layout / "system-outputs/en-de/Elm.txt").write_text("x\n" * 5)
    edited(layout / FINE, lambda lines: [*lines, *["Elm\t1"] * 5])
    report = load([layout], database)
    assert (statuses(report), report.faults) == (["replaced"], [])
    assert held(database) == fresh(layout, tmp_path / "b")


def test_a_further_text_is_added_though_everything_is_read_again(layout: Path, database: Path, tmp_path: Path) -> None:
    (layout / "system-outputs/en-de/Elm.txt").write_text("x\n" * 5)
    (evalset,) = load([layout], database).evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged) == ("added", 1, N_FILES)
    assert (evalset.n_scores, evalset.n_rows, evalset.n_missing) == (0, 5, 0)
    assert held(database) == fresh(layout, tmp_path / "b")


def test_a_load_after_other_documents_has_nothing_to_do(layout: Path, database: Path, tmp_path: Path) -> None:
    """A second load after a replacement finds nothing to do."""
    edited(layout / DOCS, lambda lines: ["talk\tt1", *lines[1:]])
    load([layout], database)
    assert statuses(load([layout], database)) == ["unchanged"]


def test_other_facts_alone_are_an_update(layout: Path, database: Path, tmp_path: Path) -> None:
    standard = EvalsetFacts("refB", {"seg": "da"}, frozenset({"Cherry"}), True)
    write_facts(layout, TestsetFacts(TESTSET, 2025, "Other", frozenset({"Wrong"}), frozenset(), {LP: standard}))
    (evalset,) = load([layout], database).evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged) == ("updated", 0, N_FILES)
    assert held(database) == fresh(layout, tmp_path / "b")
    assert statuses(load([layout], database)) == ["unchanged"]


@pytest.mark.parametrize(
    "facts",
    [
        TestsetFacts(TESTSET, 2025, "A tiny task", tiny_facts().primary, tiny_facts().baseline, tiny_facts().lps),
        TestsetFacts(TESTSET, 2024, "Tiny", tiny_facts().primary, tiny_facts().baseline, tiny_facts().lps),
        TestsetFacts(TESTSET, 2024, "A tiny task", frozenset({"Fine"}), tiny_facts().baseline, tiny_facts().lps),
        TestsetFacts(TESTSET, 2024, "A tiny task", tiny_facts().primary, frozenset({"Fine"}), tiny_facts().lps),
        TestsetFacts(TESTSET, 2024, "A tiny task", tiny_facts().primary, tiny_facts().baseline, {}),
        TestsetFacts(
            *(TESTSET, 2024, "A tiny task", tiny_facts().primary, tiny_facts().baseline),
            {LP: EvalsetFacts("refA", {"seg": "mqm", "sys": "mqm"}, frozenset({"Ash"}))},
        ),
    ],
    ids=["year", "description", "primary", "baseline", "standards", "outliers"],
)
def test_every_single_fact_counts(facts: TestsetFacts, layout: Path, database: Path, tmp_path: Path) -> None:
    write_facts(layout, facts)
    assert statuses(load([layout], database)) == ["updated"]
    assert held(database) == fresh(layout, tmp_path / "b")


def test_facts_that_are_gone_leave_what_was_told_before(layout: Path, database: Path) -> None:
    before = database.read_bytes()
    (layout / "testset.toml").unlink()
    assert statuses(load([layout], database)) == ["unchanged"]
    assert database.read_bytes() == before


def test_without_facts_of_its_own_a_further_file_gets_the_status_that_nobody_declares(
    layout: Path, database: Path
) -> None:
    (layout / "testset.toml").unlink()
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


def test_a_broken_change_leaves_everything_as_it_was(layout: Path, database: Path) -> None:
    before = database.read_bytes()
    edited(layout / FINE, lambda lines: ["Ash\tnan", *lines[1:]])
    edited(layout / "human-scores/en-de.mqm.seg.score", lambda lines: ["Ash\t-3", *lines[1:]])
    assert statuses(load([layout], database)) == ["refused"]
    assert database.read_bytes() == before


def test_skip_broken_takes_the_old_content_of_a_file_away_that_is_broken_now(
    layout: Path, database: Path, tmp_path: Path
) -> None:
    edited(layout / FINE, lambda lines: ["Ash\tnan", *lines[1:]])
    (evalset,) = load([layout], database, skip_broken=True).evalsets
    assert (evalset.n_files, evalset.n_broken, evalset.n_unchanged) == (0, 1, N_FILES - 1)
    assert ask(database, "FROM scores WHERE metric = 'Fine-src'") == []
    assert ask(database, "SELECT count(*) FROM sources WHERE status = 'refused'") == [(1,)]


def test_skip_broken_again_changes_nothing_and_tells_the_fault_again(layout: Path, tmp_path: Path) -> None:
    edited(layout / FINE, lambda lines: ["Ash\tnan", *lines[1:]])
    database = empty_warehouse(tmp_path / "a.duckdb")
    first = load([layout], database, skip_broken=True)
    before = database.read_bytes()
    again = load([layout], database, skip_broken=True)
    assert again.faults == first.faults != []
    assert (statuses(first), statuses(again)) == (["loaded"], ["unchanged"])
    assert (again.evalsets[0].n_broken, again.evalsets[0].n_unchanged) == (1, N_FILES - 1)
    assert database.read_bytes() == before


def test_a_refused_file_that_was_mended_is_added(layout: Path, tmp_path: Path) -> None:
    sound = (layout / FINE).read_bytes()
    edited(layout / FINE, lambda lines: ["Ash\tnan", *lines[1:]])
    database = empty_warehouse(tmp_path / "a.duckdb")
    load([layout], database, skip_broken=True)
    (layout / FINE).write_bytes(sound)
    (evalset,) = load([layout], database).evalsets
    assert (evalset.status, evalset.n_files, evalset.n_unchanged) == ("added", 1, N_FILES - 1)
    assert held(database) == fresh(layout, tmp_path / "b")


def test_a_refused_file_is_refused_again_without_skip_broken(layout: Path, tmp_path: Path) -> None:
    edited(layout / FINE, lambda lines: ["Ash\tnan", *lines[1:]])
    database = empty_warehouse(tmp_path / "a.duckdb")
    load([layout], database, skip_broken=True)
    before = database.read_bytes()
    report = load([layout], database)
    assert (statuses(report), [fault.line for fault in report.faults]) == (["refused"], [1])
    assert database.read_bytes() == before


ERRORS = RatingTable({system: [[{"score": 2.0}], [], [], None, []] for system in SYSTEMS})


@pytest.mark.parametrize("first", ["scores", "annotations"])
def test_scores_and_annotations_of_one_name_may_come_one_after_the_other(first: str, tmp_path: Path) -> None:
    both = small(tmp_path / "both", humans={"mqm": mqm_table()}, ratings={"mqm": ERRORS})
    at_once = fresh(both, tmp_path / "fresh")
    root = small(tmp_path / "in", humans={"mqm": mqm_table()}, ratings={"mqm": ERRORS})
    names = {"scores": "en-de.mqm.seg.score", "annotations": "en-de.mqm.seg.rating"}
    later = root / "human-scores" / names["annotations" if first == "scores" else "scores"]
    content = later.read_bytes()
    later.unlink()
    database = loaded(root, tmp_path / "a.duckdb")
    later.write_bytes(content)
    report = load([root], database)
    assert report.faults == []
    assert held(database) == at_once
    found = by_cell(ask(database, "SELECT system, segment, value FROM human_scores"))
    assert found == cells_of(SYSTEMS, np.array(MQM))
    assert statuses(load([root], database)) == ["unchanged"]


@pytest.mark.parametrize("suffix", ["score", "rating"])
def test_a_change_of_scores_or_of_annotations_keeps_the_other(suffix: str, tmp_path: Path) -> None:
    root = small(tmp_path / "in", humans={"mqm": mqm_table()}, ratings={"mqm": ERRORS})
    database = loaded(root, tmp_path / "a.duckdb")
    new = {"score": "Ash\t-7", "rating": 'Ash\t{"errors": [{"score": 3}]}'}[suffix]
    edited(root / "human-scores" / f"en-de.mqm.seg.{suffix}", lambda lines: [new, *lines[1:]])
    report = load([root], database)
    assert (statuses(report), report.faults) == (["replaced"], [])
    assert held(database) == fresh(root, tmp_path / "fresh")


def test_annotations_alone_become_a_score_that_a_score_file_replaces(tmp_path: Path) -> None:
    root = small(tmp_path / "in", ratings={"mqm": MARKS})
    database = loaded(root, tmp_path / "a.duckdb")
    assert ask(database, "SELECT value FROM human_scores WHERE system = 'Ash' AND segment = 2") == [(-6.0,)]
    write_evalset(root, LP, documents=DOCUMENTS, humans={"mqm": ScoreTable(["Ash", "Beech"], seg=np.zeros((2, 5)))})
    report = load([root], database)
    assert report.faults == []
    assert ask(database, "SELECT DISTINCT value FROM human_scores") == [(0.0,)]
    assert ask(database, "SELECT value FROM judgements WHERE system = 'Ash' AND segment = 2") == [(-6.0,)]


def test_identifiers_of_a_replaced_file_hang_nowhere(layout: Path, database: Path) -> None:
    for n in range(3):
        edited(layout / FINE, lambda lines, n=n: [f"Ash\t{n}", *lines[1:]])
        assert statuses(load([layout], database)) == ["replaced"]
        held(database)
    assert ask(database, "SELECT count(*), count(DISTINCT vector_id) FROM vector") == [(42, 42)]
