"""A first load: every value of every kind of file at its place, and a truthful report."""

import hashlib
import json
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import (
    DOCUMENTS,
    LP,
    MQM,
    SYSTEMS,
    TESTSET,
    metric_tables,
    mqm_table,
    tiny_layout,
    together,
)
from tests.warehouse.building import (
    MAJOR,
    MARKS,
    MINOR,
    Rows,
    ask,
    asking,
    by_cell,
    cells_of,
    empty_warehouse,
    loaded,
    nothing_hangs,
    small,
)
from warehouse import LoadHints, load
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset, write_facts
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts

Asked = Callable[..., Rows]
_WRITERS: list[Callable[[Path, str], object]] = []


def _testset(write: Callable[[Path, str], object]) -> str:
    """Have a test set written below a folder and loaded with the others; its name, which is the function's."""
    _WRITERS.append(write)
    return write.__name__


EXPECTED = ("without a rater", "which were normalised")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the test sets that tests declare beside themselves."""
    return tmp_path_factory.mktemp("several")


@pytest.fixture(scope="module")
def several(folder: Path) -> Iterator[Asked]:
    """What a warehouse answers that has loaded them."""
    for write in _WRITERS:
        write(folder / "in", write.__name__)
    database = empty_warehouse(folder / "a.duckdb")
    report = load([folder / "in"], database)
    assert (report.faults, [note for note in report.notes if not note.endswith(EXPECTED)]) == ([], [])
    assert {evalset.status for evalset in report.evalsets} == {"loaded"}
    nothing_hangs(database)
    with asking(database) as answer:
        yield lambda query, **parameters: answer(query, parameters)


@_testset
def tiny(folder: Path, testset: str) -> None:
    tiny_layout(folder, testset=testset, facts=False)


def test_every_score_of_a_segment_stands_at_its_system_and_segment(several: Asked) -> None:
    query = "SELECT system, segment, value FROM human_scores WHERE testset = $testset AND human = 'mqm'"
    assert by_cell(several(query, testset=tiny)) == cells_of(SYSTEMS, np.array(MQM))
    for name, table in metric_tables().items():
        query = "SELECT system, segment, value FROM scores WHERE testset = $testset AND metric = $name"
        found = by_cell(several(query, testset=tiny, name=name))
        assert found == ({} if table.seg is None else cells_of(tuple(table.systems), table.seg))


def test_every_submitted_score_of_a_system_stands_at_its_system(several: Asked) -> None:
    query = (
        "SELECT kind, scorer, system, level, unit, value FROM aggregate_scores WHERE testset = $testset ORDER BY ALL"
    )
    tables = {("human", "mqm"): mqm_table(), **{("metric", name): table for name, table in metric_tables().items()}}
    assert sorted(several(query, testset=tiny)) == sorted(
        (kind, name, system, "sys", None, value)
        for (kind, name), table in tables.items()
        if table.sys is not None
        for system, value in zip(table.systems, table.sys.tolist(), strict=True)
    )


_ORDERS = {"A-src": [0, 1, 2, 3], "B-src": [3, 1, 0, 2], "C-src": [2, 3, 1, 0]}
_TWENTY = np.arange(20, dtype=float).reshape(4, 5)


@_testset
def orders(folder: Path, testset: str) -> None:
    metrics = {
        name: ScoreTable([SYSTEMS[i] for i in order], seg=_TWENTY[order], sys=_TWENTY[order, 0])
        for name, order in _ORDERS.items()
    }
    small(folder, testset=testset, metrics=metrics)


def test_the_order_of_systems_may_differ_from_file_to_file(several: Asked) -> None:
    for name in _ORDERS:
        query = "SELECT system, segment, value FROM scores WHERE testset = $testset AND metric = $name"
        assert by_cell(several(query, testset=orders, name=name)) == cells_of(SYSTEMS, _TWENTY)
        query = "SELECT system, value FROM aggregate_scores WHERE testset = $testset AND scorer = $name"
        found = several(query, testset=orders, name=name)
        assert dict(found) == dict(zip(SYSTEMS, _TWENTY[:, 0].tolist(), strict=True))


@_testset
def gaps(folder: Path, testset: str) -> None:
    nan = math.nan
    table = ScoreTable(
        ["Ash"],
        seg=np.array([[1.0, nan, -1e100, nan, 1e100]]),  # the largest that there may be
        doc=np.array([[nan, 2.0, nan]]),
        sys=np.array([nan]),
        domain={"news": np.array([nan]), "speech": np.array([4.0])},
    )
    small(folder, testset=testset, humans={"mqm": table})


def test_the_word_none_is_a_missing_score_at_every_level(several: Asked) -> None:
    found = several("SELECT value FROM human_scores WHERE testset = $testset ORDER BY segment", testset=gaps)
    assert [value for (value,) in found] == [1.0, None, -1e100, None, 1e100]
    query = "SELECT level, unit, value FROM aggregate_scores WHERE testset = $testset ORDER BY ALL"
    assert several(query, testset=gaps) == [
        ("doc", "n1", None),
        ("doc", "n2", 2.0),
        ("doc", "s1", None),
        ("domain", "news", None),
        ("domain", "speech", 4.0),
        ("sys", None, None),
    ]
    query = """
        SELECT v.level, v.n_values, v.n_missing
        FROM vector AS v JOIN evalset AS e USING (evalset_id) JOIN testset AS t USING (testset_id)
        WHERE t.name = $testset
        ORDER BY v.level
    """
    assert several(query, testset=gaps) == [*(("doc", 1, 2), ("domain", 1, 1), ("seg", 3, 2), ("sys", 0, 1))]
    query = """
        SELECT origin, n_rows, n_missing FROM sources WHERE testset = $testset AND n_missing > 0 ORDER BY origin
    """
    assert several(query, testset=gaps) == [
        (f"{gaps}/human-scores/en-de.mqm.doc.score", 3, 2),
        (f"{gaps}/human-scores/en-de.mqm.domain.score", 2, 1),
        (f"{gaps}/human-scores/en-de.mqm.seg.score", 5, 2),
        (f"{gaps}/human-scores/en-de.mqm.sys.score", 1, 1),
    ]


@_testset
def zeros(folder: Path, testset: str) -> None:
    table = ScoreTable(
        ["Ash"],
        seg=np.array([[-0.0, 0.0, -0.0, -0.0, 1.0]]),
        doc=np.full((1, 3), -0.0),
        sys=np.array([-0.0]),
        domain={"news": np.array([-0.0])},
    )
    marked = {"marked": RatingTable({"Ash": [[]] * 5})}
    small(folder, testset=testset, humans={"mqm": table}, ratings=marked)


def test_a_zero_has_no_sign(several: Asked) -> None:
    found = [
        value
        for view in ("human_scores", "aggregate_scores", "judgements")
        for (value,) in several(f"SELECT value FROM {view} WHERE testset = $testset", testset=zeros)
    ]
    assert len(found) == 5 + 5 + 1 + 3 + 1 + 5
    assert {math.copysign(1.0, value) for value in found} == {1.0}


_NUMBERS = (
    *("1", "+1", "-1.5", ".5", "5.", "1e-3", "1E+2", "-0", "007", "1e-400", "4.9e-324", "9.999999999999999e99"),
    *("0.1", "0.30000000000000004", "0.1234567890123456789012345678901234567890", "2.2250738585072011e-308"),
    *("1e100", "-1e100", "9007199254740993", "123456789012345678901234567890", "-138.00000000000003"),
)


def _decimal(rng: random.Random) -> str:
    """A decimal number in any of its forms, not too large for a score."""

    def digits(least: int, most: int) -> str:
        return "".join(rng.choices("0123456789", k=rng.randint(least, most)))

    while True:
        number = rng.choice((digits(1, 20), f"{digits(1, 20)}.{digits(0, 25)}", f".{digits(1, 25)}"))
        exponent = rng.choice(("", f"{rng.choice('eE')}{rng.choice(('', '+', '-'))}{digits(1, 3)}"))
        text = f"{rng.choice(('', '+', '-'))}{number}{exponent}"
        if abs(float(text)) <= 9.9e99:
            return text


@pytest.mark.slow
def test_a_number_reads_as_the_nearest_double(tmp_path: Path) -> None:
    rng = random.Random(17)
    numbers = {f"S{at}": text for at, text in enumerate([*_NUMBERS, *(_decimal(rng) for _ in range(500))])}
    file = tmp_path / "t" / "metric-scores" / "en-de" / "N-src.sys.score"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{system}\t{text}\n" for system, text in numbers.items()))
    found = ask(loaded(tmp_path, tmp_path / "a.duckdb"), "SELECT system, value FROM aggregate_scores")
    assert dict(found) == {system: float(text) + 0.0 for system, text in numbers.items()}


def test_segments_have_position_domain_document_and_index(several: Asked) -> None:
    query = """
        SELECT segment, position, domain, document, index_in_document FROM segments
        WHERE testset = $testset
        ORDER BY segment
    """
    assert several(query, testset=tiny) == [
        (1, 1, "news", "n1", 1),
        (2, 2, "news", "n1", 2),
        (3, 3, "news", "n2", 1),
        (4, 4, "speech", "s1", 1),
        (5, 5, "speech", "s1", 2),
    ]


_AGGREGATES = "SELECT unit, system, level, value FROM aggregate_scores WHERE testset = $testset ORDER BY ALL"


@_testset
def documents(folder: Path, testset: str) -> None:
    table = ScoreTable(["Beech", "Ash"], doc=np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    small(folder, testset=testset, metrics={"D-refA": table})


def test_scores_of_documents_have_their_names_in_the_order_of_the_test_set(several: Asked) -> None:
    assert several(_AGGREGATES, testset=documents) == [
        *(("n1", "Ash", "doc", 4.0), ("n1", "Beech", "doc", 1.0)),
        *(("n2", "Ash", "doc", 5.0), ("n2", "Beech", "doc", 2.0)),
        *(("s1", "Ash", "doc", 6.0), ("s1", "Beech", "doc", 3.0)),
    ]


_DOMAIN_ORDERS = {"by-domain": [0, 1, 2, 3], "by-system": [0, 2, 1, 3], "mixed": [3, 0, 1, 2]}


@_testset
def domains(folder: Path, testset: str) -> None:
    root = small(folder, testset=testset)
    lines = ["news\tAsh\t1", "news\tBeech\t2", "speech\tAsh\t3", "speech\tBeech\t4"]
    (root / "human-scores").mkdir()
    for name, order in _DOMAIN_ORDERS.items():
        file = root / "human-scores" / f"en-de.{name}.domain.score"
        file.write_text("".join(f"{lines[i]}\n" for i in order))


@together("order", _DOMAIN_ORDERS)
def test_scores_of_domains_go_by_name_in_any_order(order: str, several: Asked) -> None:
    query = """
        SELECT unit, system, level, value FROM aggregate_scores
        WHERE testset = $testset AND scorer = $order
        ORDER BY value
    """
    assert several(query, testset=domains, order=order) == [
        *(("news", "Ash", "domain", 1.0), ("news", "Beech", "domain", 2.0)),
        *(("speech", "Ash", "domain", 3.0), ("speech", "Beech", "domain", 4.0)),
    ]


@_testset
def one_domain(folder: Path, testset: str) -> None:
    small(folder, testset=testset, metrics={"D-src": ScoreTable(["Ash"], domain={"speech": np.array([1.0])})})


def test_domain_scores_of_some_domains_alone_are_taken(several: Asked) -> None:
    assert several(_AGGREGATES, testset=one_domain) == [("speech", "Ash", "domain", 1.0)]


@_testset
def called_none(folder: Path, testset: str) -> None:
    table = ScoreTable(
        ["Ash", "None"],
        seg=np.array([[1.0, np.nan], [2.0, 3.0]]),
        sys=np.array([np.nan, 5.0]),
        domain={"None": np.array([6.0, np.nan]), "news": np.array([8.0, 9.0])},
    )
    write_evalset(folder / testset, LP, documents=[("None", "n1"), ("news", "n2")], metrics={"A-src": table})


def test_a_system_and_a_domain_may_be_called_none(several: Asked) -> None:
    query = "SELECT system, segment, domain, value FROM scores WHERE testset = $testset ORDER BY 1, 2"
    assert several(query, testset=called_none) == [
        *(("Ash", 1, "None", 1.0), ("Ash", 2, "news", None), ("None", 1, "None", 2.0), ("None", 2, "news", 3.0))
    ]
    query = "SELECT system, unit, value FROM aggregate_scores WHERE testset = $testset ORDER BY level, 1, 2"
    assert several(query, testset=called_none) == [
        *(("Ash", "None", 6.0), ("Ash", "news", 8.0), ("None", "None", None), ("None", "news", 9.0)),
        *(("Ash", None, None), ("None", None, 5.0)),
    ]


@_testset
def named(folder: Path, testset: str) -> None:
    table = ScoreTable(["Ash"], sys=np.array([1.0]))
    names = ["UniTE-ref-refA", "UniTE-src-src", "X.1-QE-src", "B-refA.refB", "B-all", "B-synthetic_ref"]
    judged = ScoreTable(["Ash"], seg=np.ones((1, 5)))
    small(
        folder,
        testset=testset,
        metrics=dict.fromkeys(names, table),
        humans=dict.fromkeys(("da-sqm", "mqm.v2", "esa-human1"), judged),
    )


def test_a_metric_is_named_in_full_and_by_its_base_with_the_reference_it_saw(several: Asked) -> None:
    query = """
        SELECT metric, base_metric, reference, is_reference_free FROM metrics
        WHERE testset = $testset
        ORDER BY metric
    """
    assert several(query, testset=named) == [
        ("B-all", "B", "all", False),
        ("B-refA.refB", "B", "refA.refB", False),
        ("B-synthetic_ref", "B", "synthetic_ref", False),
        ("UniTE-ref-refA", "UniTE-ref", "refA", False),
        ("UniTE-src-src", "UniTE-src", None, True),
        ("X.1-QE-src", "X.1-QE", None, True),
    ]


def test_a_human_score_may_have_dots_and_dashes_in_its_name(several: Asked) -> None:
    query = "SELECT DISTINCT human FROM human_scores WHERE testset = $testset ORDER BY 1"
    assert several(query, testset=named) == [("da-sqm",), ("esa-human1",), ("mqm.v2",)]


@_testset
def marked(folder: Path, testset: str) -> None:
    small(folder, testset=testset, ratings={"mqm": MARKS})


def test_annotations_are_judgements_whose_score_is_minus_the_sum_of_weights(several: Asked) -> None:
    query = """
        SELECT system, segment, rater, value, n_errors, status FROM judgements
        WHERE testset = $testset
        ORDER BY 1, 2
    """
    judged = several(query, testset=marked)
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
    query = "SELECT system, segment, value FROM human_scores WHERE testset = $testset AND human = 'mqm'"
    scores = by_cell(several(query, testset=marked))
    assert scores == {
        **{(system, segment): None for system in ("Ash", "Beech") for segment in range(1, 6)},
        **{(system, segment): value for system, segment, _, value, _, _ in judged},
    }


def test_every_marked_error_is_kept_with_its_span_and_weight(several: Asked) -> None:
    found = several(
        """
        SELECT y.name, j.segment, r.category, r.severity, r.weight, r.span_start, r.span_end, r.is_source_error
        FROM span AS r
        JOIN judgement AS j USING (judgement_id)
        JOIN vector AS v USING (vector_id)
        JOIN system AS y USING (system_id)
        JOIN evalset AS e ON e.evalset_id = v.evalset_id
        JOIN testset AS t USING (testset_id)
        WHERE t.name = $testset
        ORDER BY ALL
        """,
        testset=marked,
    )
    assert found == [
        ("Ash", 2, "fluency", "major", 5.0, 4, 9, True),
        ("Ash", 2, "style/odd", "minor", 1.0, 0, 3, None),
        ("Ash", 4, "fluency", "major", 5.0, 4, 9, True),
        ("Beech", 1, "style/odd", "minor", 1.0, 0, 3, None),
        ("Beech", 5, None, None, 0.1, None, None, None),
    ]


@_testset
def many_marks(folder: Path, testset: str) -> None:
    marks = RatingTable({"Ash": [[MAJOR, MINOR, {"score": 0.1}, {**MAJOR, "score": 2}], [], [], [], []]})
    small(folder, testset=testset, ratings={"mqm": marks})


def test_errors_keep_the_order_that_they_have_in_the_file(several: Asked) -> None:
    found = several("SELECT weight FROM spans WHERE testset = $testset", testset=many_marks)
    assert found == [(5.0,), (1.0,), (0.1,), (2.0,)]


_BEHIND = ScoreTable(["Beech", "Ash", "Cherry"], seg=np.array([[-1.0] * 5, [-2.0] * 5, [-3.0] * 5]))


@_testset
def behind(folder: Path, testset: str) -> None:
    small(folder, testset=testset, humans={"mqm": _BEHIND}, ratings={"mqm": MARKS})


def test_annotations_of_one_name_with_a_score_file_stand_behind_its_scores(several: Asked) -> None:
    query = "SELECT system, segment, value FROM human_scores WHERE testset = $testset"
    assert by_cell(several(query, testset=behind)) == cells_of(("Beech", "Ash", "Cherry"), _BEHIND.seg)
    query = """
        SELECT system, segment, human, value FROM judgements WHERE testset = $testset AND system = 'Ash' ORDER BY ALL
    """
    assert several(query, testset=behind) == [
        *(("Ash", 1, "mqm", 0.0), ("Ash", 2, "mqm", -6.0), ("Ash", 4, "mqm", -5.0), ("Ash", 5, "mqm", 0.0))
    ]


_ODD = ['"quoted', "a\ttab", "", " blanks ", "ß 中文 \u2028 None"]


@_testset
def odd_texts(folder: Path, testset: str) -> None:
    write_evalset(
        folder / testset,
        LP,
        documents=DOCUMENTS,
        sources=_ODD,
        references={"refA": _ODD[::-1]},
        outputs={"Ash": ["x"] * 5, "GPT 5.5": _ODD},
    )


def test_texts_of_sources_references_and_systems_are_kept_as_they_are(several: Asked) -> None:
    query = "SELECT kind, name, segment, text FROM texts WHERE testset = $testset ORDER BY ALL"
    assert sorted(several(query, testset=odd_texts), key=str) == sorted(
        [
            *[("source", None, n, text) for n, text in enumerate(_ODD, 1)],
            *[("reference", "refA", n, text) for n, text in enumerate(_ODD[::-1], 1)],
            *[("output", "Ash", n, "x") for n in range(1, 6)],
            *[("output", "GPT 5.5", n, text) for n, text in enumerate(_ODD, 1)],
        ],
        key=str,
    )
    query = "SELECT source_text FROM segments WHERE testset = $testset ORDER BY segment"
    assert several(query, testset=odd_texts) == [(text,) for text in _ODD]
    query = "SELECT system, kind FROM systems WHERE testset = $testset ORDER BY 1"
    assert several(query, testset=odd_texts) == [("Ash", "mt"), ("GPT 5.5", "mt"), ("refA", "human")]


@_testset
def json_texts(folder: Path, testset: str) -> None:
    root = small(folder, testset=testset)
    bodies = {"sources/en-de": "source", "references/en-de.refA": "target", "system-outputs/en-de/Ash": "hypothesis"}
    for place, key in bodies.items():
        file = root / f"{place}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({key: f"{key}\n{n}", "other": n}) for n in range(1, 6)]
        file.write_text("\n".join(lines) + "\n")


def test_texts_may_be_json_lines(several: Asked) -> None:
    query = "SELECT kind, name, text FROM texts WHERE testset = $testset AND segment = 4 ORDER BY ALL"
    assert several(query, testset=json_texts) == [
        *(("output", "Ash", "hypothesis\n4"), ("reference", "refA", "target\n4"), ("source", None, "source\n4"))
    ]


_NAMES = ["nan", "GPT 5.5", "#1", "'q'", '"', '"a"', "a\\tb", "ß中", "-", "0", " x", "x,y", "NULL", "a|b"]
_OF_NAMES = np.arange(5.0 * len(_NAMES)).reshape(-1, 5)


@_testset
def odd_systems(folder: Path, testset: str) -> None:
    table = ScoreTable(_NAMES, seg=_OF_NAMES, sys=_OF_NAMES[:, 0])
    write_evalset(folder / testset, LP, documents=DOCUMENTS, metrics={"M-src": table})


def test_systems_may_have_any_name_that_fits_a_column(several: Asked) -> None:
    query = "SELECT system, segment, value FROM scores WHERE testset = $testset"
    seen = tuple(name.strip() for name in _NAMES)  # blanks around a name are no part of it
    assert by_cell(several(query, testset=odd_systems)) == cells_of(seen, _OF_NAMES)
    query = "SELECT system, value FROM aggregate_scores WHERE testset = $testset"
    assert dict(several(query, testset=odd_systems)) == dict(zip(seen, _OF_NAMES[:, 0].tolist(), strict=True))


_LPS = {"en-sr_Cyrl_RS": ("en", "sr_Cyrl_RS"), "en-zh_CN": ("en", "zh_CN"), "bho-en": ("bho", "en")}


@_testset
def scripts(folder: Path, testset: str) -> None:
    for lp in _LPS:
        tiny_layout(folder, testset=testset, lp=lp, facts=False)


@together("lp", _LPS)
def test_language_pairs_may_have_scripts_and_regions(lp: str, several: Asked) -> None:
    assert several("SELECT source_language, target_language FROM evalset WHERE lp = $lp", lp=lp) == [_LPS[lp]]
    assert len(several("FROM human_scores WHERE lp = $lp", lp=lp)) == 20


@_testset
def dashes(folder: Path, testset: str) -> None:
    tiny_layout(folder, testset=testset, lp="ces_Latn---deu_Latn", facts=False)


def test_a_language_pair_written_with_three_dashes_is_in_the_codes_of_wmt(several: Asked) -> None:
    assert several("SELECT lp FROM evalsets WHERE testset = $testset", testset=dashes) == [("cs-de",)]
    assert len(several("FROM human_scores WHERE testset = $testset", testset=dashes)) == 20


@pytest.mark.slow
def test_a_last_line_without_its_end_is_a_line(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path)
    for path in [path for path in root.rglob("*") if path.is_file() and path.suffix != ".toml"]:
        path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    database = empty_warehouse(tmp_path / "a.duckdb")
    assert load([root], database, given=LoadHints(may_lack_end=True)).is_clean
    assert by_cell(ask(database, "SELECT system, segment, value FROM human_scores")) == cells_of(SYSTEMS, np.array(MQM))
    assert len(ask(database, "FROM texts")) == 5 * 5


@_testset
def old12(folder: Path, testset: str) -> None:
    file = folder / testset / "metric-scores" / "es-en" / "BLEU-refA.sys.score"
    file.parent.mkdir(parents=True)
    file.write_text("A\t1.5\nB\tNone\n")


def test_system_scores_need_no_documents(several: Asked) -> None:
    query = "SELECT testset, lp, system, value FROM aggregate_scores WHERE testset = $testset ORDER BY system"
    assert several(query, testset=old12) == [("old12", "es-en", "A", 1.5), ("old12", "es-en", "B", None)]
    query = "SELECT n_segments, year FROM evalsets WHERE testset = $testset"
    assert several(query, testset=old12) == [(None, None)]


@_testset
def declared(folder: Path, testset: str) -> None:
    root = tiny_layout(folder, testset=testset, facts=False)
    standard = EvalsetFacts("refA", {"seg": "mqm", "sys": "da"}, frozenset({"Cherry"}), True, frozenset({"Rough"}))
    write_facts(root, TestsetFacts(testset, 2024, "Tiny", frozenset({"Fine"}), frozenset({"Flat"}), {LP: standard}))


def test_what_the_organisers_declare_is_kept(several: Asked) -> None:
    query = "SELECT name, year, description FROM testset WHERE name = $testset"
    assert several(query, testset=declared) == [(declared, 2024, "Tiny")]
    query = """
        SELECT e.standard_reference, e.standard_human_sys, e.standard_human_domain, e.standard_human_doc,
          e.standard_human_seg, e.ranks_human_references
        FROM evalset AS e JOIN testset AS t USING (testset_id)
        WHERE t.name = $testset
    """
    assert several(query, testset=declared) == [("refA", "da", None, None, "mqm", True)]
    query = "SELECT system FROM systems WHERE is_outlier AND testset = $testset"
    assert several(query, testset=declared) == [("Cherry",)]
    assert dict(several("SELECT metric, status FROM metrics WHERE testset = $testset", testset=declared)) == {
        "Fine-src": "primary",
        "Flat-src": "baseline",
        "Only-src": "contrastive",
        "Rough-refA": "primary",
        "Wrong-src": "contrastive",
    }


def test_metrics_have_no_status_where_nothing_is_declared(several: Asked) -> None:
    query = "SELECT DISTINCT status FROM metrics WHERE testset = $testset"
    assert several(query, testset=tiny) == [(None,)]
    query = "SELECT year, standard_reference, standard_human_seg FROM evalsets WHERE testset = $testset"
    assert several(query, testset=tiny) == [(None, None, None)]


def test_the_report_counts_files_rows_and_scores(tmp_path: Path) -> None:
    table = ScoreTable(["Ash", "Beech"], seg=np.array([[1.0, math.nan, 1, 1, 1], [1.0] * 5]), sys=np.array([1.0, 2.0]))
    report = load([small(tmp_path, humans={"mqm": table})], tmp_path / "a.duckdb")
    (evalset,) = report.evalsets
    assert (evalset.testset, evalset.lp, evalset.status) == (TESTSET, LP, "loaded")
    assert (evalset.n_files, evalset.n_unchanged, evalset.n_broken) == (3, 0, 0)
    assert (evalset.n_scores, evalset.n_rows, evalset.n_missing) == (9, 5 + 10 + 2, 1)
    assert 0 < evalset.seconds <= report.seconds
    assert report.is_clean


def test_every_file_is_recorded_with_its_checksum_and_size(several: Asked, folder: Path) -> None:
    query = """
        SELECT path, origin, sha256, n_bytes, status, fault FROM sources WHERE testset = $testset ORDER BY path
    """
    files = sorted(path for path in (folder / "in" / tiny).rglob("*") if path.is_file())
    assert several(query, testset=tiny) == [
        (
            str(path),
            path.relative_to(folder / "in").as_posix(),
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_size,
            "loaded",
            None,
        )
        for path in files
    ]


@pytest.mark.slow
def test_progress_grows_to_the_total_with_the_largest_evaluation_set_first(tmp_path: Path) -> None:
    small(tmp_path / "in", testset="t1", humans={"mqm": mqm_table()})
    tiny_layout(tmp_path / "in", testset="t2")
    told: list[tuple[str, int, int]] = []
    report = load([tmp_path / "in"], tmp_path / "a.duckdb", progress=lambda *what: told.append(what))
    done = [n for _, n, _ in told]
    total = sum(p.stat().st_size for p in (tmp_path / "in").rglob("*") if p.is_file() and p.name != "testset.toml")
    assert done == sorted(done)
    assert {n for _, _, n in told} == {total}
    assert done[0] == 0
    assert 0.98 * total <= done[-1] <= total  # shares of bytes are rounded
    assert list(dict.fromkeys(what.split(":")[0] for what, *_ in told)) == ["t2 en-de", "t1 en-de"]
    assert [(evalset.testset, evalset.status) for evalset in report.evalsets] == [("t1", "loaded"), ("t2", "loaded")]


def test_the_tables_of_scores_are_sorted_by_vector_and_segment(several: Asked) -> None:
    keys = several("SELECT vector_id, segment FROM score ORDER BY rowid")
    assert keys == sorted(set(keys))
    assert len(keys) > 500
