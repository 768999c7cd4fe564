"""What differs between two warehouses: worked out by hand, and against a comparison row by row."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from queries.differences import Differences, differences
from tests.helpers import LP, TESTSET, tiny_bytes, tiny_layout
from tests.sharing import written
from warehouse import QuestionError, Warehouse, load

Alter = Callable[..., Path]
RESULT = "INSERT INTO result VALUES ('{0}', 'compare', 'tiny24', 'en-de', 'measure:pa', '{1}', '1', {2}, now())"
WHERE = "(SELECT vector_id FROM vector JOIN scorer USING (scorer_id) JOIN system USING (system_id) WHERE {})"


@pytest.fixture
def alter(tmp_path: Path) -> Alter:
    """Make a copy of the tiny warehouse, changed by statements on its tables."""

    def make(name: str, *statements: str) -> Path:
        path = tmp_path / name
        path.write_bytes(tiny_bytes())
        with duckdb.connect(str(path)) as connection:
            connection.execute("SET search_path = 'internal'")
            for one in statements:
                connection.execute(one)
        return path

    return make


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return written(tmp_path / "before.duckdb", tiny_bytes())


def laid(before: Path, after: Path, **asked: Any) -> Differences:
    with Warehouse.open(before) as first, Warehouse.open(after) as second:
        return differences(first, second, **asked)


def of_vector(metric: str, system: str, level: str = "seg") -> str:
    return f"vector_id = {WHERE.format(f'scorer.name = {metric!r} AND system.name = {system!r} AND level = {level!r}')}"


def counts(found: Differences) -> dict[tuple[str, str | None], tuple[int, int, int]]:
    rows = found.counted.select("what", "name", "added", "gone", "changed").rows()
    return {(what, name): (added, gone, changed) for what, name, added, gone, changed in rows}


def test_copies_do_not_differ(tiny: Path, alter: Alter) -> None:
    found = laid(tiny, alter("copy.duckdb"))
    assert found.is_equal
    assert found.evalsets == ((TESTSET, LP),)


@pytest.mark.long("two loads: 1 second")
def test_the_order_of_loads_and_the_places_of_files_do_not_count(tmp_path: Path) -> None:
    """Identifiers differ throughout; a table is called by its path, and is the same from elsewhere."""
    table = "testset,lp,level,metric,system,score\n" + "".join(
        f"tiny24,en-de,sys,Mine-src,{system},0.{number}\n" for number, system in enumerate(("Ash", "Beech", "Cherry"))
    )
    databases = []
    for name, order in (("a", ("tiny24", "tiny25")), ("b", ("tiny25", "tiny24"))):
        database = tmp_path / f"{name}.duckdb"
        for testset in order:
            report = load([tiny_layout(tmp_path / name, testset=testset)], database)
            assert not report.faults, report.faults
        (tmp_path / name / "own.csv").write_text(table)
        assert load([tmp_path / name / "own.csv"], database).is_clean
        databases.append(database)
    found = laid(*databases)
    assert found.is_equal, (found.named.rows(), found.counted.rows())
    with Warehouse.open(databases[0]) as warehouse:
        assert warehouse.rows("SELECT count(*) FROM sources WHERE origin LIKE '%own.csv'") == [(1,)]


@pytest.mark.slow
def test_a_change_of_each_kind_is_counted_and_the_largest_is_named(tiny: Path, alter: Alter) -> None:
    changed = alter(
        "changed.duckdb",
        f"UPDATE score SET value = value + 0.5 WHERE segment = 2 AND {of_vector('Fine-src', 'Ash')}",
        f"UPDATE score SET value = value - 0.75 WHERE segment = 3 AND {of_vector('Fine-src', 'Beech')}",
        f"UPDATE score SET value = NULL WHERE segment = 1 AND {of_vector('Fine-src', 'Cherry')}",
        f"UPDATE score SET value = 4 WHERE segment = 4 AND {of_vector('mqm', 'Ash')}",
        f"UPDATE aggregate_score SET value = 0.5 WHERE {of_vector('Only-src', 'Cherry', 'sys')}",
    )
    found = laid(tiny, changed)
    assert found.named.is_empty()
    assert counts(found) == {
        ("metric scores", "Fine-src"): (0, 1, 2),
        ("human scores", "mqm"): (1, 0, 0),
        ("system scores", "Only-src"): (0, 0, 1),
    }
    rows = {row["name"]: row for row in found.counted.rows(named=True)}
    assert [rows["Fine-src"][name] for name in ("system", "unit")] == ["Beech", "segment 3"]
    assert [rows["Fine-src"][name] for name in ("before", "after")] == pytest.approx([0.4, -0.35])
    assert [rows["Only-src"][name] for name in ("system", "unit", "before", "after")] == ["Cherry", None, 0.2, 0.5]
    assert rows["mqm"]["before"] is None
    assert counts(laid(changed, tiny)) == {
        ("metric scores", "Fine-src"): (1, 0, 2),
        ("human scores", "mqm"): (0, 1, 0),
        ("system scores", "Only-src"): (0, 0, 1),
    }


@pytest.mark.slow
def test_a_scorer_of_one_warehouse_alone_is_added_or_gone_with_its_scores(tiny: Path, alter: Alter) -> None:
    mine = WHERE.format("scorer.name = 'Fine-src'")
    without = alter(
        "without.duckdb",
        f"DELETE FROM score WHERE vector_id IN {mine}",
        f"DELETE FROM aggregate_score WHERE vector_id IN {mine}",
        f"DELETE FROM vector WHERE vector_id IN {mine}",
    )
    found = laid(tiny, without)
    assert counts(found) == {("metric scores", "Fine-src"): (0, 20, 0), ("system scores", "Fine-src"): (0, 4, 0)}
    assert found.named.select("what", "name", "change").rows() == [("metrics", "Fine-src", "gone")]
    assert laid(without, tiny).named["change"].to_list() == ["added"]


@pytest.mark.slow
def test_texts_segments_and_judgements_that_differ_are_counted(tmp_path: Path, alter: Alter) -> None:
    judged = (
        "INSERT INTO judgement SELECT {0}, vector_id, {1}, '{2}', NULL, {3}, NULL, NULL, 'valid' FROM vector WHERE "
    )
    ash = of_vector("mqm", "Ash")
    before = alter(
        "first.duckdb",
        *(judged.format(*row) + ash for row in ((1, 1, "ann", -1), (2, 1, "ben", -2), (3, 2, "ann", 0))),
        "INSERT INTO span VALUES (1, 'style', 'minor', 1, 0, 4, false, 'minor')",
    )
    after = alter(
        "second.duckdb",
        *(judged.format(*row) + ash for row in ((7, 1, "ben", -2), (8, 1, "ann", -1), (9, 3, "ann", -5))),
        "INSERT INTO span VALUES (8, 'style', 'major', 1, 0, 4, false, 'major')",
        "UPDATE segment_text SET text = 'another' WHERE kind = 'output' AND name = 'Ash' AND segment IN (1, 2)",
        "DELETE FROM segment_text WHERE kind = 'source' AND segment = 5",
        "UPDATE segment SET domain = 'sports' WHERE segment = 3",
    )
    assert counts(laid(before, after)) == {
        ("segments", None): (0, 0, 1),
        ("texts", "output Ash"): (0, 0, 2),
        ("texts", "source"): (0, 1, 0),
        ("judgements", "mqm"): (1, 1, 1),
    }


@pytest.mark.slow
def test_segments_without_lines_are_those_of_their_documents_whatever_their_numbers(
    tmp_path: Path, alter: Alter
) -> None:
    """Numbers 1 and 2 change places everywhere; then one score of number 1, which was 2 before, changes."""
    unknown = "UPDATE segment SET position = NULL"
    turned = [
        f"UPDATE {table} SET segment = 3 - segment WHERE segment IN (1, 2)"
        for table in ("segment", "score", "segment_text")
    ]
    before, same = alter("first.duckdb", unknown), alter("second.duckdb", unknown, *turned)
    assert laid(before, same).is_equal
    one = f"UPDATE score SET value = 0 WHERE segment = 1 AND {of_vector('Rough-refA', 'Ash')}"
    found = laid(before, alter("third.duckdb", unknown, *turned, one))
    assert counts(found) == {("metric scores", "Rough-refA"): (0, 0, 1)}
    assert found.counted.select("before", "after", "system", "unit").row(0) == (60.0, 0.0, "Ash", "segment 1")


def test_segments_that_no_file_lists_are_those_of_their_numbers(alter: Alter) -> None:
    unlisted = "DELETE FROM segment"
    one = f"UPDATE score SET value = 0 WHERE segment = 1 AND {of_vector('Rough-refA', 'Ash')}"
    found = laid(alter("first.duckdb", unlisted), alter("second.duckdb", unlisted, one))
    assert counts(found) == {("metric scores", "Rough-refA"): (0, 0, 1)}


def test_what_has_a_name_and_is_known_otherwise_is_told(tiny: Path, alter: Alter) -> None:
    changed = alter(
        "changed.duckdb",
        "UPDATE system SET is_outlier = true WHERE name = 'Ash'",
        "UPDATE evalset SET standard_reference = NULL",
        "UPDATE entry SET status = 'contrastive' WHERE status = 'baseline'",
        "UPDATE source SET sha256 = 'new' WHERE path LIKE '%Flat-src.seg.score'",
        "INSERT INTO known_issue VALUES ('tiny24', NULL, 'Fine', NULL, 'odd', 'us')",
        "INSERT INTO system_spelling SELECT system_id, 'ASH', 'case' FROM system WHERE name = 'Ash'",
        f"{RESULT.format('k', '{}', 1)}",
    )
    found = laid(tiny, changed)
    assert found.counted.is_empty()
    assert sorted(found.named.select("what", "name", "change", "after").rows()) == [
        ("evaluation sets", "", "changed", ""),
        ("known issues", "Fine, odd", "added", "us"),
        ("metrics", "Flat-src", "changed", "status contrastive"),
        ("results", "compare measure:pa", "added", "payload 99914b932bd37a50b983c5e7c90ae93b"),
        ("sources", "tiny24/metric-scores/en-de/Flat-src.seg.score", "changed", "sha256 new"),
        ("spellings", "Ash: ASH", "added", "rule case"),
        ("systems", "Ash", "changed", "is_outlier true"),
    ]
    before = dict(found.named.select("what", "before").iter_rows())
    assert before.pop("sources").startswith("sha256 ")
    assert before == {
        "evaluation sets": "standard_reference refA",
        "known issues": None,
        "metrics": "status baseline",
        "results": None,
        "spellings": None,
        "systems": "is_outlier false",
    }


@pytest.mark.slow
def test_a_result_under_one_signature_is_changed_and_when_it_was_stored_does_not_count(alter: Alter) -> None:
    first = alter("first.duckdb", RESULT.format("k1", "[1]", 1))
    assert laid(first, alter("second.duckdb", RESULT.format("k2", "[1]", 9))).is_equal
    found = laid(first, alter("third.duckdb", RESULT.format("k2", "[2]", 1)))
    assert found.named.select("what", "change").rows() == [("results", "changed")]


@pytest.mark.slow
def test_an_evaluation_set_of_one_warehouse_alone_is_added_with_all_it_has(tiny: Path, tmp_path: Path) -> None:
    more = written(tmp_path / "more.duckdb", tiny_bytes())
    assert load([tiny_layout(tmp_path, testset="tiny25", texts=False)], more).is_clean
    found = laid(tiny, more)
    assert set(found.named["testset"]) == set(found.counted["testset"]) == {"tiny25"}
    assert set(found.named["change"]) == {"added"}
    assert counts(found)["segments", None] == (5, 0, 0)
    assert counts(found)["human scores", "mqm"] == (15, 0, 0)
    assert found.evalsets == ((TESTSET, LP),)
    assert laid(tiny, more, testset=TESTSET).is_equal


def test_names_that_neither_warehouse_has_and_one_file_twice_are_refused(tiny: Path, alter: Alter) -> None:
    other = alter("other.duckdb")
    with pytest.raises(QuestionError, match="unknown test set 'tiny25'; did you mean 'tiny24'"):
        laid(tiny, other, testset="tiny25")
    for testset in (TESTSET, None):
        with pytest.raises(QuestionError, match="unknown language pair 'en-fr'"):
            laid(tiny, other, testset=testset, lp="en-fr")
    with pytest.raises(QuestionError, match="are the same file; name two warehouses"):
        laid(tiny, tiny.parent / ".." / tiny.parent.name / tiny.name)


def _scores(warehouse: Warehouse) -> Mapping[tuple[object, ...], float]:
    return {
        tuple(key): value
        for *key, value in warehouse.rows(
            """
            SELECT 'metric scores', metric, system, segment, value FROM scores WHERE value IS NOT NULL
            UNION ALL
            SELECT 'human scores', human, system, segment, value FROM human_scores WHERE value IS NOT NULL
            """
        )
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_counts_are_those_of_a_comparison_row_by_row(seed: int, tiny: Path, alter: Alter) -> None:
    """Random scores change, go and come."""
    rng = random.Random(seed)
    with Warehouse.open(tiny) as warehouse:
        vectors = [
            number for (number,) in warehouse.rows("SELECT vector_id FROM vector WHERE level = 'seg' ORDER BY 1")
        ]
    statements = [
        f"UPDATE score SET value = {rng.choice(['NULL', '0.5', 'value + 1', 'value'])} "
        f"WHERE vector_id = {rng.choice(vectors)} AND segment = {rng.randint(1, 5)}"
        for _ in range(40)
    ]
    changed = alter("changed.duckdb", *statements)
    with Warehouse.open(tiny) as first, Warehouse.open(changed) as second:
        before, after = _scores(first), _scores(second)
        found = differences(first, second)
    expected: dict[tuple[object, ...], list[int]] = {}
    for key in sorted({*before, *after}, key=str):
        told = expected.setdefault(key[:2], [0, 0, 0])
        told[0] += key not in before
        told[1] += key not in after
        told[2] += key in before and key in after and before[key] != after[key]
    largest = {
        row["name"]: abs(row["after"] - row["before"])
        for row in found.counted.filter(pl.col("before").is_not_null()).rows(named=True)
    }
    assert counts(found) == {key: tuple(told) for key, told in expected.items() if any(told)}
    assert largest == {
        name: max(abs(after[key] - before[key]) for key in before if key[1] == name and key in after)
        for (_, name), told in expected.items()
        if told[2]
    }
