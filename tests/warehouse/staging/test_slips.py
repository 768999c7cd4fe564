"""Names that are nearly others: faults where they take scores of theirs, and where they have their own none."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.helpers import together
from tests.warehouse.memory import File, Memory, scores
from tests.warehouse.small_files import SMALL, SYSTEMS, outcomes
from warehouse import load
from warehouse.database.stage import Stage
from warehouse.readers.claims import LoadHints

SEGMENTS = range(1, 9)
Faults = Callable[..., list[str]]


def file(name: str, *brought: tuple[str, str, Iterable[int]]) -> File:
    """Scores of metrics and systems: metric, system, segments."""
    return File(
        name, [row for metric, *of in brought for row in scores(((of[0], at, at / 10) for at in of[1]), metric)]
    )


def told(stage: Stage) -> list[str]:
    return [str(fault) for of_file in stage.faults.values() for fault in of_file]


@pytest.fixture(scope="module")
def faults() -> Faults:
    """Of one file."""
    memory = Memory()
    return lambda *brought: told(memory.staged(file("mine.csv", *brought))[0])


@pytest.mark.slow
@together("slip", ["birch", "BIRCH", "Birch.tsv", "Brch", "Birrch", "Bitch", "Bicrh"])
def test_a_name_that_takes_a_score_of_another_is_one_fault_that_names_both(slip: str, faults: Faults) -> None:
    (fault,) = faults(("M", "Aspen", SEGMENTS), ("M", "Birch", SEGMENTS[1:]), ("M", slip, [1]))
    assert f"mine.csv:16: system {slip!r} with 1 score, 'Birch' with 7, expected one spelling" in fault


def test_so_is_that_of_a_metric(faults: Faults) -> None:
    (fault,) = faults(("Fathom", "Aspen", SEGMENTS), ("Fathom", "Birch", SEGMENTS[1:]), ("fathom", "Birch", [1]))
    assert "metric or human score 'fathom' with 1 score, 'Fathom' with 15" in fault


@together(
    ("one", "other", "segments"),
    [
        ("ONLINE-A", "ONLINE-B", [1]),  # single letters and numbers tell systems apart
        ("hyp-1", "hyp-2", [1]),
        ("engdeu1a0f", "engdeu1a0e", [1]),
        ("GPT4o", "GPT4", [1]),
        ("XCOMET", "COMET", [8]),  # both have the segment
        ("mBART", "BART", SEGMENTS),  # both are whole
        ("Bork", "Birch", [1]),
    ],
)
def test_other_names_are_others(one: str, other: str, segments: list[int], faults: Faults) -> None:
    others = SEGMENTS if 8 in segments else SEGMENTS[1:]
    assert faults(("M", one, segments), ("M", other, others)) == []


def test_levels_are_looked_at_one_by_one(tmp_path: Path) -> None:
    """A metric with system scores alone beside another of nearly its name with segment scores alone."""
    rows = "".join(f"COMET,A,{segment},0.5\nCOMET,B,{segment},0.{segment}\n" for segment in SEGMENTS)
    (tmp_path / "mine.csv").write_text("metric,system,segment,score\n" + rows + "XCOMET,A,,0.5\nXCOMET,B,,0.5\n")
    assert not load([tmp_path], tmp_path / "w.duckdb", given=LoadHints("lab", "en-de")).faults


@pytest.mark.slow
@together("is_later", [True, False])
def test_a_system_that_one_file_alone_spells_otherwise_is_a_fault(*, is_later: bool) -> None:
    def of_file(number: int, system: str) -> File:
        return file(f"{number}.csv", (f"M{number}", "Aspen", SEGMENTS), (f"M{number}", system, SEGMENTS))

    memory, before = Memory(), [of_file(number, "Birch") for number in range(4)]
    if is_later:
        assert memory.write(*before)[1] == []
        before = []
    found = {
        name: told(memory.staged(*before, of_file(4, name))[0])
        for name in ("Bitch", "Bircch", "Bork", "Birch-2", "Birch")
    }
    assert [found[name] for name in ("Bork", "Birch-2", "Birch")] == [[], [], []]
    for name in ("Bitch", "Bircch"):
        (fault,) = found[name]
        assert f"4.csv:9: system {name!r}, which other files call 'Birch', expected one spelling" in fault


@pytest.mark.slow
def test_systems_that_are_declared_are_no_slips(tmp_path: Path) -> None:
    (tmp_path / "testset.toml").write_text('name = "lab"\nyear = 2024\n[lps.en-de.aliases]\nBitch = "Bitch"\n')
    for number, system in enumerate(("Birch", "Birch", "Birch", "Birch", "Bitch")):
        rows = (f"M{number},{one},{segment},0.{segment}\n" for one in ("Aspen", system) for segment in SEGMENTS)
        (tmp_path / f"{number}.csv").write_text("metric,system,segment,score\n" + "".join(rows))
    assert not load([tmp_path], tmp_path / "w.duckdb", given=LoadHints("lab", "en-de")).faults


def test_annotators_that_are_systems_elsewhere_are_swapped_with_them(tmp_path: Path) -> None:
    small = SMALL["ESA"]
    rows = [",".join([cells[1], cells[0], *cells[2:]]) for cells in (row.split(",") for row in small.rows)]
    files = {small.path: small.of(rows), "mine.csv": b"testset,lp,metric,system,segment,score\n"}
    files["mine.csv"] += "".join(f"wmt23,{small.lp},M,{name},1,0.{at}\n" for at, name in enumerate(SYSTEMS)).encode()
    faults = outcomes(tmp_path, {"ESA": files})["ESA"].faults
    assert any("annotators Aspen, Birch, Cédar, which are systems elsewhere" in fault for fault in faults)
