"""The real WMT23 in the warehouse, against independent readings of its files; skipped where they are not there."""

import hashlib
import math
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.helpers import real_data
from warehouse import Warehouse
from warehouse.names import MetricVariant

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def wmt23() -> Path:
    return real_data("mt-metrics-eval-v2", "wmt23")


def _files(wmt23: Path) -> list[Path]:
    return sorted(path for path in wmt23.rglob("*") if path.is_file() and not path.name.startswith("."))


def test_every_file_is_recorded_with_its_lines_missing_ones_and_checksum(
    wmt23: Path, wmt23_warehouse: Warehouse
) -> None:
    found = {path: rest for path, *rest in wmt23_warehouse.rows("SELECT path, n_rows, n_missing, n_bytes FROM sources")}
    expected = {}
    for path in _files(wmt23):
        data = path.read_bytes()
        n_missing = data.count(b"\tNone\n") + data.count(b"\tNone\t") if path.suffix in (".score", ".rating") else 0
        expected[str(path)] = [data.count(b"\n"), n_missing, len(data)]
    assert len(expected) == 466
    assert found == expected
    sample = random.Random(0).sample(sorted(expected), 10)
    for path in sample:
        ((sha256,),) = wmt23_warehouse.rows("SELECT sha256 FROM sources WHERE path = $path", {"path": path})
        assert sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_the_number_of_segments_and_missing_human_scores_are_the_known_ones(wmt23_warehouse: Warehouse) -> None:
    rows = wmt23_warehouse.rows("SELECT lp, n_segments FROM evalsets ORDER BY lp")
    assert rows == [("en-de", 557), ("he-en", 1910)]
    rows = wmt23_warehouse.rows(
        "SELECT lp, human, count(*) FILTER (WHERE value IS NULL) / count(DISTINCT system) FROM human_scores "
        "WHERE human IN ('mqm', 'da-sqm') GROUP BY ALL ORDER BY ALL"
    )
    assert rows == [("en-de", "da-sqm", 8), ("en-de", "mqm", 97), ("he-en", "mqm", 1090)]
    rows = wmt23_warehouse.rows(
        "SELECT lp, domain, count(*) FROM segments WHERE lp = 'en-de' GROUP BY ALL ORDER BY ALL"
    )
    assert rows == [
        *(("en-de", "news", 139), ("en-de", "social", 212), ("en-de", "speech", 113), ("en-de", "user_review", 93))
    ]
    rows = wmt23_warehouse.rows("SELECT lp, count(DISTINCT document) FROM segments GROUP BY lp ORDER BY lp")
    assert rows == [("en-de", 192), ("he-en", 94)]


def _values(text: str) -> list[float | None]:
    return [None if cell == "None" else float(cell) + 0.0 for cell in text.split()]


def _blocks(path: Path) -> dict[str, list[float | None]]:
    """system -> its scores in the order of the file's lines, read the plain way."""
    blocks: dict[str, list[float | None]] = defaultdict(list)
    for line in path.read_text().splitlines():
        *_, system, score = line.split("\t")
        blocks[system] += _values(score)
    return blocks


@pytest.mark.parametrize("lp", ["en-de", "he-en"])
def test_random_files_of_segment_scores_are_equal_to_the_last_digit(
    lp: str, wmt23: Path, wmt23_warehouse: Warehouse
) -> None:
    metrics = sorted((wmt23 / "metric-scores" / lp).glob("*.seg.score"))
    humans = sorted((wmt23 / "human-scores").glob(f"{lp}.*.seg.score"))
    for path in [*random.Random(1).sample(metrics, 6), *humans]:
        is_human = path in humans
        name = path.name.removesuffix(".seg.score").removeprefix(f"{lp}." if is_human else "")
        view, column = ("human_scores", "human") if is_human else ("scores", "metric")
        found: dict[str, list[float | None]] = defaultdict(list)
        for system, value in wmt23_warehouse.rows(
            f"SELECT system, value FROM {view} WHERE lp = $lp AND {column} = $name ORDER BY system, segment",
            {"lp": lp, "name": name},
        ):
            found[system].append(value)
        assert found == _blocks(path), path
        assert not any(
            value == 0 and math.copysign(1, value) < 0 for row in found.values() for value in row if value == 0
        )


def test_all_submitted_system_and_domain_scores_are_equal(wmt23: Path, wmt23_warehouse: Warehouse) -> None:
    found = {
        (lp, scorer, level, unit, system): value
        for lp, scorer, level, unit, system, value in wmt23_warehouse.rows(
            "SELECT lp, scorer, level, unit, system, value FROM aggregate_scores"
        )
    }
    expected = {}
    for path in _files(wmt23):
        if path.name.endswith((".sys.score", ".domain.score")):
            stem, level, _ = path.name.rsplit(".", 2)
            lp, name = (path.parent.name, stem) if path.parent.name != "human-scores" else stem.split(".", 1)
            for line in path.read_text().splitlines():
                *unit, system, score = line.split("\t")
                (value,) = _values(score)
                expected[lp, name, level, unit[0] if unit else None, system] = value
    assert found == expected


def test_metrics_are_those_of_the_files_with_their_references(wmt23: Path, wmt23_warehouse: Warehouse) -> None:
    found = wmt23_warehouse.rows("SELECT lp, metric, base_metric, reference FROM metrics")
    names = {(path.parent.name, path.name.rsplit(".", 2)[0]) for path in wmt23.glob("metric-scores/*/*.score")}
    assert sorted(found, key=repr) == sorted(
        [(lp, name, MetricVariant.parse(name).base_name, MetricVariant.parse(name).reference) for lp, name in names],
        key=repr,
    )


def test_texts_are_those_of_the_files(wmt23: Path, wmt23_warehouse: Warehouse) -> None:
    for path in random.Random(2).sample([path for path in _files(wmt23) if path.suffix == ".txt"], 6):
        kind = {"sources": "source", "references": "reference"}.get(path.relative_to(wmt23).parts[0], "output")
        lp = path.parent.name if kind == "output" else path.name.split(".")[0]
        name = {"source": None, "reference": path.name.split(".")[1], "output": path.stem}[kind]
        rows = wmt23_warehouse.rows(
            "SELECT text FROM texts WHERE lp = $lp AND kind = $kind AND name IS NOT DISTINCT FROM $name "
            "ORDER BY segment",
            {"lp": lp, "kind": kind, "name": name},
        )
        assert [text for (text,) in rows] == path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode().split("\n")[:-1]


def test_the_file_takes_at_most_twelve_bytes_a_score(wmt23_database: Path, wmt23_warehouse: Warehouse) -> None:
    ((n_rows,),) = wmt23_warehouse.rows("SELECT count(*) FROM score")
    assert wmt23_database.stat().st_size <= 12 * n_rows


@pytest.mark.long("all real files in a process of its own: a minute")
def test_all_years_load_in_less_than_2_gb(tmp_path: Path) -> None:
    program = """
import resource, sys
from pathlib import Path
from warehouse import load

assert load([Path(sys.argv[1])], Path(sys.argv[2])).is_clean
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""
    words = [str(real_data()), str(tmp_path / "all.duckdb")]
    ran = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(ran.stdout.splitlines()[-1]) < 2_000_000_000  # DuckDB may show its progress before


def test_weights_of_errors_add_up_to_the_official_scores(wmt23_warehouse: Warehouse) -> None:
    """In en-de, the one pair with errors, whatever their categories; he-en has scores alone."""
    query = """
    SELECT count(*), max(abs(coalesce(marked.points, 0) + official.value)) FROM human_scores AS official
    LEFT JOIN (
      SELECT lp, system, segment, sum(weight) AS points FROM spans WHERE scorer = 'mqm.merged' GROUP BY ALL
    ) AS marked USING (lp, system, segment)
    WHERE official.human = 'mqm' AND official.lp = 'en-de' AND official.value IS NOT NULL
    """
    ((n, difference),) = wmt23_warehouse.rows(query)
    assert n == 5980
    assert difference < 1e-9
