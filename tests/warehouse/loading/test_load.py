"""A first load: every value of every kind of file at its place, and a truthful report."""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import DOCUMENTS, LP, MQM, SYSTEMS, TESTSET, metric_tables, mqm_table, tiny_facts, tiny_layout
from tests.warehouse.building import (
    MAJOR,
    MARKS,
    MINOR,
    ask,
    by_cell,
    cells_of,
    empty_warehouse,
    loaded,
    nothing_hangs,
    small,
)
from warehouse import Given, Warehouse, load
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset, write_facts
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The tiny layout, and a warehouse that has loaded it; read them only."""
    folder = tmp_path_factory.mktemp("tiny")
    root = tiny_layout(folder)
    return root, loaded(root, folder / "a.duckdb")


def test_every_score_of_a_segment_stands_at_its_system_and_segment(tiny: tuple[Path, Path]) -> None:
    _, database = tiny
    with Warehouse.open(database) as warehouse:
        human = warehouse.rows("SELECT system, segment, value FROM human_scores WHERE human = 'mqm'")
        assert by_cell(human) == cells_of(SYSTEMS, np.array(MQM))
        for name, table in metric_tables().items():
            found = by_cell(
                warehouse.rows("SELECT system, segment, value FROM scores WHERE metric = $name", {"name": name})
            )
            assert found == ({} if table.seg is None else cells_of(tuple(table.systems), table.seg))


def test_every_submitted_score_of_a_system_stands_at_its_system(tiny: tuple[Path, Path]) -> None:
    _, database = tiny
    found = ask(database, "SELECT kind, scorer, system, level, unit, value FROM aggregate_scores ORDER BY ALL")
    tables = {("human", "mqm"): mqm_table(), **{("metric", name): table for name, table in metric_tables().items()}}
    assert found == sorted(
        (kind, name, system, "sys", None, value)
        for (kind, name), table in tables.items()
        if table.sys is not None
        for system, value in zip(table.systems, table.sys.tolist(), strict=True)
    )


def test_the_order_of_systems_may_differ_from_file_to_file(tmp_path: Path) -> None:
    seg = np.arange(20, dtype=float).reshape(4, 5)
    orders = {"A-src": [0, 1, 2, 3], "B-src": [3, 1, 0, 2], "C-src": [2, 3, 1, 0]}
    metrics = {
        name: ScoreTable([SYSTEMS[i] for i in order], seg=seg[order], sys=seg[order, 0])
        for name, order in orders.items()
    }
    database = loaded(small(tmp_path, metrics=metrics), tmp_path / "a.duckdb")
    for name in orders:
        found = ask(database, "SELECT system, segment, value FROM scores WHERE metric = $name", name=name)
        assert by_cell(found) == cells_of(SYSTEMS, seg)
        found = ask(database, "SELECT system, value FROM aggregate_scores WHERE scorer = $name", name=name)
        assert dict(found) == dict(zip(SYSTEMS, seg[:, 0].tolist(), strict=True))


def test_the_word_none_is_a_missing_score_at_every_level(tmp_path: Path) -> None:
    nan = math.nan
    table = ScoreTable(
        ["Ash"],
        seg=np.array([[1.0, nan, 3.0, nan, 5.0]]),
        doc=np.array([[nan, 2.0, nan]]),
        sys=np.array([nan]),
        domain={"news": np.array([nan]), "speech": np.array([4.0])},
    )
    database = loaded(small(tmp_path, humans={"mqm": table}), tmp_path / "a.duckdb")
    assert [value for (value,) in ask(database, "SELECT value FROM human_scores ORDER BY segment")] == [
        *(1.0, None, 3.0, None, 5.0)
    ]
    assert ask(database, "SELECT level, unit, value FROM aggregate_scores ORDER BY ALL") == [
        ("doc", "n1", None),
        ("doc", "n2", 2.0),
        ("doc", "s1", None),
        ("domain", "news", None),
        ("domain", "speech", 4.0),
        ("sys", None, None),
    ]
    assert ask(database, "SELECT level, n_values, n_missing FROM vector ORDER BY level") == [
        *(("doc", 1, 2), ("domain", 1, 1), ("seg", 3, 2), ("sys", 0, 1))
    ]
    assert ask(database, "SELECT origin, n_rows, n_missing FROM sources WHERE n_missing > 0 ORDER BY origin") == [
        ("tiny24/human-scores/en-de.mqm.doc.score", 3, 2),
        ("tiny24/human-scores/en-de.mqm.domain.score", 2, 1),
        ("tiny24/human-scores/en-de.mqm.seg.score", 5, 2),
        ("tiny24/human-scores/en-de.mqm.sys.score", 1, 1),
    ]


def test_a_zero_has_no_sign(tmp_path: Path) -> None:
    zeros = ScoreTable(
        ["Ash"],
        seg=np.array([[-0.0, 0.0, -0.0, -0.0, 1.0]]),
        doc=np.full((1, 3), -0.0),
        sys=np.array([-0.0]),
        domain={"news": np.array([-0.0])},
    )
    root = small(tmp_path, humans={"mqm": zeros}, ratings={"marked": RatingTable({"Ash": [[]] * 5})})
    database = loaded(root, tmp_path / "a.duckdb")
    found = [
        value
        for table in ("score", "aggregate_score", "judgement")
        for (value,) in ask(database, f"SELECT value FROM {table}")
    ]
    assert len(found) == 5 + 5 + 1 + 3 + 1 + 5
    assert {math.copysign(1.0, value) for value in found} == {1.0}


@pytest.mark.parametrize(
    "text",
    [
        *("1", "+1", "-1.5", ".5", "5.", "1e-3", "1E+2", "-0", "007", "1e-400", "4.9e-324", "9.999999999999999e99"),
        *("0.1", "0.30000000000000004", "0.1234567890123456789012345678901234567890", "2.2250738585072011e-308"),
        *("9007199254740993", "123456789012345678901234567890", "-138.00000000000003"),
    ],
)
def test_a_number_reads_as_the_nearest_double(text: str, number_database: Path) -> None:
    found = dict(ask(number_database, "SELECT system, value FROM aggregate_scores"))
    assert found[f"<{text}>"] == float(text)


_NUMBERS = test_a_number_reads_as_the_nearest_double.pytestmark[0].args[1]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def number_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A metric whose score of a system is written as the system's name says."""
    folder = tmp_path_factory.mktemp("numbers")
    file = folder / "t" / "metric-scores" / "en-de" / "N-src.sys.score"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"<{text}>\t{text}\n" for text in _NUMBERS))
    return loaded(folder, folder / "a.duckdb")


def test_segments_have_position_domain_document_and_index(tiny: tuple[Path, Path]) -> None:
    _, database = tiny
    query = "SELECT segment, position, domain, document, index_in_document FROM segments ORDER BY segment"
    assert ask(database, query) == [
        (1, 1, "news", "n1", 1),
        (2, 2, "news", "n1", 2),
        (3, 3, "news", "n2", 1),
        (4, 4, "speech", "s1", 1),
        (5, 5, "speech", "s1", 2),
    ]


def test_scores_of_documents_have_their_names_in_the_order_of_the_test_set(tmp_path: Path) -> None:
    table = ScoreTable(["Beech", "Ash"], doc=np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    database = loaded(small(tmp_path, metrics={"D-refA": table}), tmp_path / "a.duckdb")
    found = ask(database, "SELECT system, unit, value FROM aggregate_scores WHERE level = 'doc' ORDER BY ALL")
    assert found == [
        *(("Ash", "n1", 4.0), ("Ash", "n2", 5.0), ("Ash", "s1", 6.0)),
        *(("Beech", "n1", 1.0), ("Beech", "n2", 2.0), ("Beech", "s1", 3.0)),
    ]


def test_scores_of_domains_go_by_name_in_any_order(tmp_path: Path) -> None:
    root = small(tmp_path)
    lines = ["news\tAsh\t1", "news\tBeech\t2", "speech\tAsh\t3", "speech\tBeech\t4"]
    orders = {"by-domain": [0, 1, 2, 3], "by-system": [0, 2, 1, 3], "mixed": [3, 0, 1, 2]}
    (root / "human-scores").mkdir()
    for name, order in orders.items():
        file = root / "human-scores" / f"en-de.{name}.domain.score"
        file.write_text("".join(f"{lines[i]}\n" for i in order))
    database = loaded(root, tmp_path / "a.duckdb")
    for name in orders:
        query = "SELECT unit, system, level, value FROM aggregate_scores WHERE scorer = $name ORDER BY value"
        assert ask(database, query, name=name) == [
            *(("news", "Ash", "domain", 1.0), ("news", "Beech", "domain", 2.0)),
            *(("speech", "Ash", "domain", 3.0), ("speech", "Beech", "domain", 4.0)),
        ]


def test_domain_scores_of_some_domains_alone_are_taken(tmp_path: Path) -> None:
    table = ScoreTable(["Ash"], domain={"speech": np.array([1.0])})
    database = loaded(small(tmp_path, metrics={"D-src": table}), tmp_path / "a.duckdb")
    assert ask(database, "SELECT unit, value FROM aggregate_scores") == [("speech", 1.0)]


def test_a_system_and_a_domain_may_be_called_none(tmp_path: Path) -> None:
    root = tmp_path / "t24"
    documents = [("None", "n1"), ("news", "n2")]
    table = ScoreTable(
        ["Ash", "None"],
        seg=np.array([[1.0, np.nan], [2.0, 3.0]]),
        sys=np.array([np.nan, 5.0]),
        domain={"None": np.array([6.0, np.nan]), "news": np.array([8.0, 9.0])},
    )
    write_evalset(root, LP, documents=documents, metrics={"A-src": table})
    database = loaded(root, tmp_path / "a.duckdb")
    assert ask(database, "SELECT system, segment, domain, value FROM scores ORDER BY 1, 2") == [
        *(("Ash", 1, "None", 1.0), ("Ash", 2, "news", None), ("None", 1, "None", 2.0), ("None", 2, "news", 3.0))
    ]
    assert ask(database, "SELECT system, unit, value FROM aggregate_scores ORDER BY level, 1, 2") == [
        *(("Ash", "None", 6.0), ("Ash", "news", 8.0), ("None", "None", None), ("None", "news", 9.0)),
        *(("Ash", None, None), ("None", None, 5.0)),
    ]


def test_a_metric_is_named_in_full_and_by_its_base_with_the_reference_it_saw(tmp_path: Path) -> None:
    table = ScoreTable(["Ash"], sys=np.array([1.0]))
    names = ["UniTE-ref-refA", "UniTE-src-src", "X.1-QE-src", "B-refA.refB", "B-all", "B-synthetic_ref"]
    database = loaded(small(tmp_path, metrics=dict.fromkeys(names, table)), tmp_path / "a.duckdb")
    found = ask(database, "SELECT metric, base_metric, reference, is_reference_free FROM metrics ORDER BY metric")
    assert found == [
        ("B-all", "B", "all", False),
        ("B-refA.refB", "B", "refA.refB", False),
        ("B-synthetic_ref", "B", "synthetic_ref", False),
        ("UniTE-ref-refA", "UniTE-ref", "refA", False),
        ("UniTE-src-src", "UniTE-src", None, True),
        ("X.1-QE-src", "X.1-QE", None, True),
    ]


def test_a_human_score_may_have_dots_and_dashes_in_its_name(tmp_path: Path) -> None:
    table = ScoreTable(["Ash"], seg=np.ones((1, 5)))
    root = small(tmp_path, humans={"da-sqm": table, "mqm.v2": table, "esa-human1": table})
    database = loaded(root, tmp_path / "a.duckdb")
    assert ask(database, "SELECT DISTINCT human FROM human_scores ORDER BY 1") == [
        *(("da-sqm",), ("esa-human1",), ("mqm.v2",))
    ]


def test_annotations_are_judgements_whose_score_is_minus_the_sum_of_weights(tmp_path: Path) -> None:
    database = loaded(small(tmp_path, ratings={"mqm": MARKS}), tmp_path / "a.duckdb")
    judged = ask(database, "SELECT system, segment, rater, value, n_errors, status FROM judgements ORDER BY 1, 2")
    assert judged == [
        ("Ash", 1, "r1", 0.0, 0, "valid"),
        ("Ash", 2, "r1", -6.0, 2, "valid"),
        ("Ash", 4, "r2", -5.0, 1, "valid"),
        ("Ash", 5, None, 0.0, 0, "valid"),
        ("Beech", 1, "r3", -1.0, 1, "valid"),
        ("Beech", 2, "r3", 0.0, 0, "valid"),
        ("Beech", 3, "r3", 0.0, 0, "valid"),
        ("Beech", 5, "r3", -0.1, 1, "valid"),
    ]
    scores = by_cell(ask(database, "SELECT system, segment, value FROM human_scores WHERE human = 'mqm'"))
    assert scores == {
        **{(system, segment): None for system in ("Ash", "Beech") for segment in range(1, 6)},
        **{(system, segment): value for system, segment, _, value, _, _ in judged},
    }


def test_every_marked_error_is_kept_with_its_span_and_weight(tmp_path: Path) -> None:
    database = loaded(small(tmp_path, ratings={"mqm": MARKS}), tmp_path / "a.duckdb")
    found = ask(
        database,
        """
        SELECT y.name, j.segment, r.category, r.severity, r.weight, r.span_start, r.span_end, r.is_source_error
        FROM rating AS r
        JOIN judgement AS j USING (judgement_id)
        JOIN vector AS v USING (vector_id)
        JOIN system AS y USING (system_id)
        ORDER BY ALL
        """,
    )
    assert found == [
        ("Ash", 2, "fluency", "major", 5.0, 4, 9, True),
        ("Ash", 2, "style/odd", "minor", 1.0, 0, 3, None),
        ("Ash", 4, "fluency", "major", 5.0, 4, 9, True),
        ("Beech", 1, "style/odd", "minor", 1.0, 0, 3, None),
        ("Beech", 5, None, None, 0.1, None, None, None),
    ]


def test_errors_keep_the_order_that_they_have_in_the_file(tmp_path: Path) -> None:
    marks = RatingTable({"Ash": [[MAJOR, MINOR, {"score": 0.1}, {**MAJOR, "score": 2}], [], [], [], []]})
    database = loaded(small(tmp_path, ratings={"mqm": marks}), tmp_path / "a.duckdb")
    assert ask(database, "SELECT weight FROM rating") == [(5.0,), (1.0,), (0.1,), (2.0,)]


def test_annotations_of_one_name_with_a_score_file_stand_behind_its_scores(tmp_path: Path) -> None:
    scores = ScoreTable(["Beech", "Ash", "Cherry"], seg=np.array([[-1.0] * 5, [-2.0] * 5, [-3.0] * 5]))
    database = loaded(small(tmp_path, humans={"mqm": scores}, ratings={"mqm": MARKS}), tmp_path / "a.duckdb")
    found = by_cell(ask(database, "SELECT system, segment, value FROM human_scores"))
    assert found == cells_of(("Beech", "Ash", "Cherry"), scores.seg)
    judged = ask(database, "SELECT system, segment, human, value FROM judgements WHERE system = 'Ash' ORDER BY ALL")
    assert judged == [("Ash", 1, "mqm", 0.0), ("Ash", 2, "mqm", -6.0), ("Ash", 4, "mqm", -5.0), ("Ash", 5, "mqm", 0.0)]
    nothing_hangs(database)


def test_texts_of_sources_references_and_systems_are_kept_as_they_are(tmp_path: Path) -> None:
    odd = ['"quoted', "a\ttab", "", " blanks ", "ß 中文 \u2028 None"]
    write_evalset(
        tmp_path / "t24",
        LP,
        documents=DOCUMENTS,
        sources=odd,
        references={"refA": odd[::-1]},
        outputs={"Ash": ["x"] * 5, "GPT 5.5": odd},
    )
    database = loaded(tmp_path / "t24", tmp_path / "a.duckdb")
    found = ask(database, "SELECT kind, name, segment, text FROM texts ORDER BY ALL")
    assert sorted(found, key=str) == sorted(
        [
            *[("source", None, n, text) for n, text in enumerate(odd, 1)],
            *[("reference", "refA", n, text) for n, text in enumerate(odd[::-1], 1)],
            *[("output", "Ash", n, "x") for n in range(1, 6)],
            *[("output", "GPT 5.5", n, text) for n, text in enumerate(odd, 1)],
        ],
        key=str,
    )
    assert ask(database, "SELECT source_text FROM segments ORDER BY segment") == [(text,) for text in odd]
    assert ask(database, "SELECT system, kind FROM systems ORDER BY 1") == [
        *(("Ash", "mt"), ("GPT 5.5", "mt"), ("refA", "human"))
    ]


def test_texts_may_be_json_lines(tmp_path: Path) -> None:
    root = small(tmp_path)
    bodies = {"sources/en-de": "source", "references/en-de.refA": "target", "system-outputs/en-de/Ash": "hypothesis"}
    for place, key in bodies.items():
        file = root / f"{place}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({key: f"{key}\n{n}", "other": n}) for n in range(1, 6)]
        file.write_text("\n".join(lines) + "\n")
    database = loaded(root, tmp_path / "a.duckdb")
    assert ask(database, "SELECT kind, name, text FROM texts WHERE segment = 4 ORDER BY ALL") == [
        *(("output", "Ash", "hypothesis\n4"), ("reference", "refA", "target\n4"), ("source", None, "source\n4"))
    ]


def test_systems_may_have_any_name_that_fits_a_column(tmp_path: Path) -> None:
    names = ["nan", "GPT 5.5", "#1", "'q'", '"', '"a"', "a\\tb", "ß中", "-", "0", " x", "x,y", "NULL", "a|b"]
    seg = np.arange(5.0 * len(names)).reshape(-1, 5)
    root = tmp_path / "t24"
    write_evalset(root, LP, documents=DOCUMENTS, metrics={"M-src": ScoreTable(names, seg=seg, sys=seg[:, 0])})
    database = loaded(root, tmp_path / "a.duckdb")
    assert by_cell(ask(database, "SELECT system, segment, value FROM scores")) == cells_of(tuple(names), seg)
    assert dict(ask(database, "SELECT system, value FROM aggregate_scores")) == dict(
        zip(names, seg[:, 0].tolist(), strict=True)
    )


def test_human_translations_are_told_from_systems(tiny: tuple[Path, Path]) -> None:
    _, database = tiny
    assert ask(database, "SELECT system, kind FROM systems ORDER BY system") == [
        *(("Ash", "mt"), ("Beech", "mt"), ("Cherry", "mt"), ("refA", "human"))
    ]


def test_language_pairs_may_have_scripts_and_regions(tmp_path: Path) -> None:
    expected = [("bho-en", "bho", "en"), ("en-sr_Cyrl_RS", "en", "sr_Cyrl_RS"), ("en-zh_CN", "en", "zh_CN")]
    for lp, *_ in expected:
        root = tiny_layout(tmp_path, lp=lp, facts=False)
    database = empty_warehouse(tmp_path / "a.duckdb")
    assert load([root], database).is_clean
    assert ask(database, "SELECT lp, source_language, target_language FROM evalset ORDER BY ALL") == expected
    counts = ask(database, "SELECT lp, count(*) FROM human_scores GROUP BY ALL ORDER BY ALL")
    assert counts == [(lp, 20) for lp, *_ in expected]


def test_a_language_pair_written_with_three_dashes_is_the_same_with_one(tmp_path: Path) -> None:
    database = loaded(tiny_layout(tmp_path, lp="ces_Latn---deu_Latn", facts=False), tmp_path / "a.duckdb")
    assert ask(database, "SELECT lp FROM evalset") == [("ces_Latn-deu_Latn",)]
    assert len(ask(database, "FROM human_scores")) == 20


def test_a_last_line_without_its_end_is_a_line(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path)
    for path in [path for path in root.rglob("*") if path.is_file() and path.suffix != ".toml"]:
        path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    database = empty_warehouse(tmp_path / "a.duckdb")
    assert load([root], database, given=Given(may_lack_end=True)).is_clean
    assert by_cell(ask(database, "SELECT system, segment, value FROM human_scores")) == cells_of(SYSTEMS, np.array(MQM))
    assert len(ask(database, "FROM texts")) == 5 * 5


def test_system_scores_need_no_documents(tmp_path: Path) -> None:
    file = tmp_path / "old12" / "metric-scores" / "es-en" / "BLEU-refA.sys.score"
    file.parent.mkdir(parents=True)
    file.write_text("A\t1.5\nB\tNone\n")
    database = loaded(tmp_path, tmp_path / "a.duckdb")
    assert ask(database, "SELECT testset, lp, system, value FROM aggregate_scores ORDER BY system") == [
        *(("old12", "es-en", "A", 1.5), ("old12", "es-en", "B", None))
    ]
    assert ask(database, "SELECT n_segments, year FROM evalsets") == [(None, None)]


def test_what_the_organisers_declare_is_kept(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path, facts=False)
    standard = EvalsetFacts("refA", {"seg": "mqm", "sys": "da"}, frozenset({"Cherry"}), True, frozenset({"Rough"}))
    write_facts(root, TestsetFacts(TESTSET, 2024, "Tiny", frozenset({"Fine"}), frozenset({"Flat"}), {LP: standard}))
    database = loaded(root, tmp_path / "a.duckdb")
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT name, year, description FROM testset") == [(TESTSET, 2024, "Tiny")]
        assert warehouse.rows(
            """
            SELECT standard_reference, standard_human_sys, standard_human_domain, standard_human_doc,
              standard_human_seg, ranks_human_references
            FROM evalset
            """
        ) == [("refA", "da", None, None, "mqm", True)]
        assert warehouse.rows("SELECT system FROM systems WHERE is_outlier") == [("Cherry",)]
        assert dict(warehouse.rows("SELECT metric, status FROM metrics")) == {
            "Fine-src": "primary",
            "Flat-src": "baseline",
            "Only-src": "contrastive",
            "Rough-refA": "primary",
            "Wrong-src": "contrastive",
        }


def test_metrics_have_no_status_where_nothing_is_declared(tmp_path: Path) -> None:
    database = loaded(tiny_layout(tmp_path, facts=False), tmp_path / "a.duckdb")
    assert {status for (status,) in ask(database, "SELECT status FROM metrics")} == {None}
    assert ask(database, "SELECT year, standard_reference, standard_human_seg FROM evalsets") == [(None, None, None)]


def test_the_report_counts_files_rows_and_scores(tmp_path: Path) -> None:
    table = ScoreTable(["Ash", "Beech"], seg=np.array([[1.0, math.nan, 1, 1, 1], [1.0] * 5]), sys=np.array([1.0, 2.0]))
    report = load([small(tmp_path, humans={"mqm": table})], tmp_path / "a.duckdb")
    (evalset,) = report.evalsets
    assert (evalset.testset, evalset.lp, evalset.status) == (TESTSET, LP, "loaded")
    assert (evalset.n_files, evalset.n_unchanged, evalset.n_broken) == (3, 0, 0)
    assert (evalset.n_scores, evalset.n_rows, evalset.n_missing) == (9, 5 + 10 + 2, 1)
    assert 0 < evalset.seconds <= report.seconds
    assert report.is_clean


def test_every_file_is_recorded_with_its_checksum_and_size(tiny: tuple[Path, Path]) -> None:
    root, database = tiny
    found = ask(database, "SELECT path, origin, sha256, n_bytes, status, fault FROM sources ORDER BY path")
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.name != "testset.toml")
    assert found == [
        (
            str(path),
            f"{TESTSET}/{path.relative_to(root).as_posix()}",
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_size,
            "loaded",
            None,
        )
        for path in files
    ]


def test_evaluation_sets_of_several_test_sets_stand_apart(tmp_path: Path) -> None:
    low = ScoreTable(["Ash"], seg=np.full((1, 5), 1.0))
    high = ScoreTable(["Ash"], seg=np.full((1, 5), 2.0))
    for testset, lp, table in (("a20", "en-de", low), ("a20", "cs-uk", high), ("b21", "en-de", high)):
        write_evalset(tmp_path / "in" / testset, lp, documents=DOCUMENTS, metrics={"M-src": table})
    report = load([tmp_path / "in"], tmp_path / "a.duckdb")
    assert [(e.testset, e.lp, e.status) for e in report.evalsets] == [
        *(("a20", "cs-uk", "loaded"), ("a20", "en-de", "loaded"), ("b21", "en-de", "loaded"))
    ]
    assert ask(
        tmp_path / "a.duckdb",
        "SELECT testset, lp, min(value), max(value), count(*) FROM scores GROUP BY ALL ORDER BY ALL",
    ) == [*(("a20", "cs-uk", 2.0, 2.0, 5), ("a20", "en-de", 1.0, 1.0, 5), ("b21", "en-de", 2.0, 2.0, 5))]


def test_progress_grows_to_the_total_and_never_goes_back(tmp_path: Path) -> None:
    tiny_layout(tmp_path / "in", testset="t1")
    tiny_layout(tmp_path / "in", testset="t2")
    told: list[tuple[str, int, int]] = []
    load([tmp_path / "in"], tmp_path / "a.duckdb", progress=lambda *what: told.append(what))
    done = [n for _, n, _ in told]
    total = sum(p.stat().st_size for p in (tmp_path / "in").rglob("*") if p.is_file() and p.name != "testset.toml")
    assert done == sorted(done)
    assert {n for _, _, n in told} == {total}
    assert done[0] == 0
    assert 0.98 * total <= done[-1] <= total  # shares of bytes are rounded
    assert [told[0][0].split(":")[0], told[-1][0].split(":")[0]] == ["t1 en-de", "t2 en-de"]


def test_the_tables_of_scores_are_sorted_by_vector_and_segment(tiny: tuple[Path, Path]) -> None:
    _, database = tiny
    keys = ask(database, "SELECT vector_id, segment FROM score ORDER BY rowid")
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys) == 95


def test_the_facts_of_the_tiny_test_set_are_those_that_it_declares(tiny: tuple[Path, Path]) -> None:
    _, database = tiny
    declared = tiny_facts()
    assert ask(database, "SELECT testset, year, description FROM testsets") == [
        (declared.name, declared.year, declared.description)
    ]
