"""Many files of many formats, some of them broken: each is named, and keeps out its own evaluation set alone.

8 evaluation sets with ten files each, and a thousand of them with --all.
"""

import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.main import exit_code
from warehouse import Warehouse, load

N_FILES = 10
SYSTEMS = ("Ash", "Beech", "Cherry")
SEGMENTS = range(1, 6)


def score(metric: int, system: str, segment: int) -> float:
    return round(random.Random(f"{metric} {system} {segment}").uniform(-1, 1), 3)


def organisers_layout(root: Path, testset: str) -> Iterator[Path]:
    folder = root / testset
    for name in ("documents", "human-scores", "metric-scores/en-de"):
        (folder / name).mkdir(parents=True)
    documents = folder / "documents" / "en-de.docs"
    documents.write_text("news\tn1\n" * len(SEGMENTS))
    yield documents
    metrics = [f"metric-scores/en-de/M{number}-src.seg.score" for number in range(N_FILES - 2)]
    for number, name in enumerate(["human-scores/en-de.mqm.seg.score", *metrics]):
        lines = (f"{system}\t{score(number, system, segment)}\n" for system in SYSTEMS for segment in SEGMENTS)
        (folder / name).write_text("".join(lines))
        yield folder / name


def long_tables(root: Path, testset: str) -> Iterator[Path]:
    (root / testset).mkdir()
    for number in range(N_FILES):
        path = root / testset / f"M{number}.csv"
        rows = (
            f"{testset},en-de,M{number}-src,{system},{segment},{score(number, system, segment)}\n"
            for system in SYSTEMS
            for segment in SEGMENTS
        )
        path.write_text("testset,lp,metric,system,seg,score\n" + "".join(rows))
        yield path


def json_lines(root: Path, testset: str) -> Iterator[Path]:
    (root / testset).mkdir()
    for number in range(N_FILES):
        path = root / testset / f"M{number}.jsonl"
        rows = (
            {
                "testset": testset,
                "lp": "en-de",
                "metric": f"M{number}-src",
                "system": system,
                "seg": segment,
                "score": score(number, system, segment),
            }
            for system in SYSTEMS
            for segment in SEGMENTS
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        yield path


def five_columns(root: Path, testset: str) -> Iterator[Path]:
    (root / testset).mkdir()
    for number in range(N_FILES):
        path = root / testset / f"M{number}.scores.gz"
        rows = (f"M{number}\ten-de\t{testset}\t{system}\t{score(number, system, 0)}\n" for system in SYSTEMS)
        path.write_bytes(gzip.compress(("METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\n" + "".join(rows)).encode()))
        yield path


FORMATS = (organisers_layout, long_tables, json_lines, five_columns)


def no_number(data: bytes) -> bytes:
    """A word for the last score."""
    head, _, _ = data.rstrip(b"}\n").rpartition(data[data.rstrip(b"}\n").rfind(b"0.") - 1 : data.rfind(b"0.") + 1])
    return head + b" x" + (b"}" if data.endswith(b"}\n") else b"") + b"\n"


def not_text(data: bytes) -> bytes:
    return data[:-3] + b"\xff\xfe\n"


DAMAGES: tuple[Callable[[bytes], bytes], ...] = (no_number, not_text)


@pytest.fixture(scope="module", params=[8, pytest.param(1000, marks=pytest.mark.long("10,000 files: minutes"))])
def many(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[Path], int]:
    """The folder, its broken files (one in a hundred, at least four), and how many evaluation sets there are."""
    n_evalsets: int = request.param
    root = tmp_path_factory.mktemp("many")
    files = [list(FORMATS[number % 4](root, f"lab{number:04}")) for number in range(n_evalsets)]
    rng = random.Random(7)
    broken = set()
    for number in rng.sample(range(n_evalsets), max(4, n_evalsets * N_FILES // 100)):
        path = rng.choice(files[number])
        data = path.read_bytes()
        if path.suffix == ".gz":
            path.write_bytes(data[:-12])
        else:
            path.write_bytes(rng.choice(DAMAGES if path.suffix != ".docs" else DAMAGES[1:])(data))
        broken.add(path)
    return root, broken, n_evalsets


@pytest.mark.slow
def test_every_broken_file_is_named_and_all_sound_evaluation_sets_are_loaded(
    many: tuple[Path, set[Path], int], tmp_path: Path
) -> None:
    root, broken, n_evalsets = many
    report = load([root], tmp_path / "scores.duckdb")
    assert {Path(fault.path) for fault in report.faults} == broken
    assert all(fault.found and (fault.line > 0 or Path(fault.path).suffix == ".gz") for fault in report.faults)
    loaded = {item.testset for item in report.evalsets if item.status == "loaded"}
    spoiled = {path.relative_to(root).parts[0] for path in broken}
    assert loaded == {f"lab{number:04}" for number in range(n_evalsets)} - spoiled
    assert len(spoiled) == len(broken)


@pytest.mark.slow
@pytest.mark.every(2)
def test_without_the_broken_files_everything_sound_is_loaded(many: tuple[Path, set[Path], int], tmp_path: Path) -> None:
    root, broken, n_evalsets = many
    database = tmp_path / "scores.duckdb"
    assert exit_code(["--db", str(database), "-q", "load", str(root), "--skip-broken"]) == 3
    with Warehouse.open(database) as warehouse:
        ((n_loaded,),) = warehouse.rows("SELECT count(*) FROM source WHERE status = 'loaded'")
        refused = {Path(str(path)) for (path,) in warehouse.rows("SELECT path FROM source WHERE status = 'refused'")}
    layouts = {path.parents[0] for path in broken if path.suffix == ".docs"}
    assert refused <= broken
    assert n_loaded == n_evalsets * N_FILES - len(broken) - (N_FILES - 1) * len(layouts)
