"""Macros of the file: whatever names the query around a call has, it answers as the call with literals does."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pytest

import migrations
from tests.helpers import SYSTEMS, mqm_table, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.facts import human_protocols

ALIASES = ("e", "q", "asked")
PAIRS = (("en-de", "mqm"), ("de-en", "mqm"), ("de-en", "esa"), ("en-de", "esa"))
METRICS = ("Fine-src", "Flat-src", "Rough-refA", "Wrong-src")
ARGUMENTS = {
    "concordance": "{testset}, {lp}, {human}, 0",
    "concordance_by": "{testset}, {lp}, {human}, 0, 'none'",
    "concordance_official": "{testset}, {lp}",
    "pearson_by_metric": "{testset}, {lp}",
    "pairwise_accuracy_by_metric": "{testset}, {lp}",
}
"""What each table macro takes."""
SHARED = ("internal.question", "internal.official_list")
"""Table macros that those call."""
PASSED_ON = sorted(ARGUMENTS.keys() - {"concordance_by"})
"""Table macros but for that to which concordance passes its arguments on: the names of both are met."""
LONG = pytest.mark.long("names and views in all places of a macro's call: 1 minute")
FIFTHS, TWELFTHS = 5, 12
A_TWELFTH = [
    pytest.param(macro, twelfth, marks=() if twelfth == 2 * n else LONG)
    for n, macro in enumerate(PASSED_ON)
    for twelfth in range(TWELFTHS)
]
"""Each macro with a twelfth of the names that it must take, and with all where there is time. Those of the parts
that macros share are met in one of them or another."""
_LITERAL: dict[tuple[str, str, str | None], list[tuple[object, ...]]] = {}
SCALARS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("tau_a", "tau_b", "tau_10", "tau_13", "tau_14", "tau_23", "acc23"), ("7", "3", "2", "4", "1")),
    "tau_c": ("7", "3", "9", "4"),
    "kendall_like": ("7", "3", "4"),
    "protocol_of": ("'mqm.merged'",),
    "scale_of": ("-12.0", "0.0"),
    "pairwise_accuracy": ("[1.0, 2.0, 2.0, 4.0]", "[1.0, 3.0, 2.0, 2.5]"),
}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Two language pairs whose scores differ, of which en-de has no human score esa; and another test set of both."""
    folder = tmp_path_factory.mktemp("macros")
    turned = ScoreTable(systems=SYSTEMS, seg=np.flip(mqm_table().seg))
    layout = tiny_layout(folder / "layout")
    tiny_layout(folder / "layout", lp="de-en", humans={"mqm": turned, "esa": mqm_table()})
    other = tiny_layout(folder / "layout", testset="other24", humans={"mqm": turned})
    tiny_layout(folder / "layout", testset="other24", lp="de-en", humans={"mqm": mqm_table(), "esa": turned})
    with tiny_warehouse(folder, layout, other) as warehouse:
        yield warehouse


def body_of(macro: str) -> str:
    """The definitions of a table macro and of those that it calls, without texts in quotes."""
    text = "".join(text for _, _, text in migrations.sql_files())
    (body,) = re.findall(rf"(?ms)^CREATE (?:OR REPLACE )?MACRO {macro}\(.*?^COMMENT", text)
    called = [name for name in (*ARGUMENTS, *SHARED) if name != macro and re.search(rf"\b{name}\(", body)]
    return re.sub(r"'[^']*'", "", body) + "".join(body_of(name) for name in called)


def tables_of(macro: str) -> list[str]:
    """Every word in the definition that stands for a table: before a dot, behind FROM or JOIN, or named by AS."""
    found = re.findall(
        r"\b([a-z_]+)\.|\b(?:FROM|JOIN|AS) ([a-z_]+)\b|\b([a-z_]+)(?:\([a-z_, ]+\))? AS \(", body_of(macro)
    )
    return sorted({name for names in found for name in names if name})


def rows(warehouse: Warehouse, query: str) -> list[tuple[object, ...]]:
    return sorted(warehouse.sql(query).rows(), key=str)


def literal_rows(warehouse: Warehouse, macro: str, pairs: Iterable[tuple[str, str | None]]) -> list[tuple[object, ...]]:
    """What the macro gives for literals, one call for each language pair and human score, behind the two.

    Each is asked once: all tests ask of the same warehouse.
    """
    found = []
    for lp, human in pairs:
        if (macro, lp, human) not in _LITERAL:
            given = "NULL" if human is None else f"'{human}'"
            arguments = ARGUMENTS[macro].format(testset="'tiny24'", lp=f"'{lp}'", human=given)
            query = f"SELECT '{lp}' AS x_1, {given} AS x_2, m.* FROM {macro}({arguments}) AS m"
            _LITERAL[macro, lp, human] = warehouse.sql(query).rows()
        found += _LITERAL[macro, lp, human]
    return sorted(found, key=str)


def table_macros(warehouse: Warehouse) -> list[str]:
    found = warehouse.sql(
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE NOT internal AND schema_name = 'main' AND function_type = 'table_macro'"
    )
    return sorted(found["function_name"])


def test_every_macro_is_looked_at(two: Warehouse) -> None:
    assert table_macros(two) == sorted(ARGUMENTS)
    found = two.sql(
        "SELECT DISTINCT function_name FROM duckdb_functions() "
        "WHERE NOT internal AND schema_name = 'main' AND function_type = 'macro'"
    )
    assert sorted(found["function_name"]) == sorted(SCALARS)
    assert {"asked", "question", "j", "sc", "cell"} <= set(tables_of("concordance"))


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("turned", [0, pytest.param(1, marks=LONG), pytest.param(2, marks=LONG)])
@pytest.mark.parametrize(("macro", "twelfth"), A_TWELFTH)
def test_a_table_macro_takes_columns_of_tables_of_any_name(
    macro: str, twelfth: int, turned: int, two: Warehouse
) -> None:
    """Every name stands for the table of one of the arguments, of another one where they are turned."""
    reserved = set(two.sql("SELECT keyword_name FROM duckdb_keywords()")["keyword_name"])
    expected = literal_rows(two, macro, PAIRS)
    assert len({str(literal_rows(two, macro, [pair])) for pair in PAIRS}) == len(PAIRS)
    letters = "abcdefghijklmnopqrstuvwxyz" if macro == "concordance" else ""
    names = sorted({*tables_of(macro), *letters} - reserved)
    columns = [column for column in ("testset", "lp", "human") if f"{{{column}}}" in ARGUMENTS[macro]]
    columns = columns[turned % len(columns) :] + columns[: turned % len(columns)]
    cells = [{"testset": "tiny24", "lp": lp, "human": human} for lp, human in PAIRS]
    seen = set()
    for n in range(twelfth * len(columns), len(names), TWELFTHS * len(columns)):
        table_of = {column: names[n - back] for back, column in enumerate(columns)}
        seen |= {*table_of.values()}
        tables = []
        for column, table in ({"human": "x_0"} | table_of).items():
            values = ", ".join(f"({number}, '{row[column]}')" for number, row in enumerate(cells))
            tables.append(f"(VALUES {values}) AS {table}(x_n, {column})")
        given = {column: f"{table}.{column}" for column, table in table_of.items()}
        call = f"{macro}({ARGUMENTS[macro].format(**given)})"
        joined = " JOIN ".join([tables[0], *(f"{table} USING (x_n)" for table in tables[1:])])
        human = given.get("human", "x_0.human")
        query = f"SELECT {given['lp']} AS x_1, {human} AS x_2, m_0.* FROM ({joined}), {call} AS m_0"
        assert rows(two, query) == expected, table_of
    assert len(seen) >= len(names) // TWELFTHS - len(columns)


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("macro", "fifth"),
    [
        pytest.param(macro, fifth, marks=() if fifth == n else LONG)
        for n, macro in enumerate(sorted(ARGUMENTS))
        for fifth in range(FIFTHS)
    ],
)
def test_a_table_macro_takes_columns_of_every_view(macro: str, fifth: int, two: Warehouse, in_full: bool) -> None:
    """A fifth of them with each macro, and all where there is time; concordance_by under one name of each, or all."""
    columns = two.sql(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    )
    views: dict[str, set[str]] = {}
    for view, column in columns.rows():
        views.setdefault(view, set()).add(column)
    views = {view: names for view, names in views.items() if {"testset", "lp"} <= names}
    assert len(views) > 15
    answered = []
    for n, view in enumerate(sorted(views)[fifth::FIFTHS]):
        aliases = ALIASES if in_full else (ALIASES[n % len(ALIASES)],)
        human = next((name for name in ("human", "standard_human_seg") if name in views[view]), None)
        for alias in aliases if macro == "concordance_by" else ALIASES[:1]:
            given = "'mqm'" if human is None else f"{alias}.{human}"
            arguments = ARGUMENTS[macro].format(testset=f"{alias}.testset", lp=f"{alias}.lp", human=given)
            call = f"{macro}({arguments})"
            chosen = f"FROM (FROM {view} WHERE testset = 'tiny24') AS {alias}"
            found = rows(two, f"SELECT DISTINCT {alias}.lp AS x_1, {given} AS x_2, m.* {chosen}, {call} AS m")
            asked = two.sql(f"SELECT DISTINCT {alias}.lp, {given} {chosen}").rows()
            assert found == literal_rows(two, macro, asked), (view, alias)
            answered += [view] if found else []
    assert len(set(answered)) >= 2  # views of what the tiny task lacks are empty


@pytest.mark.every(3)
@pytest.mark.parametrize("name", sorted(SCALARS))
def test_a_scalar_macro_takes_columns_of_any_name(name: str, two: Warehouse) -> None:
    values = SCALARS[name]
    query = "SELECT parameters FROM duckdb_functions() WHERE function_name = $name"
    ((parameters,),) = two.rows(query, {"name": name})
    ((expected,),) = two.rows(f"SELECT {name}({', '.join(values)})")
    assert expected is not None
    for columns in (parameters, parameters[::-1], ["h", "m", "i", "a", "b"][: len(values)]):
        for table in ("a", "b", "cell", "asked", "x"):
            query = f"SELECT {name}({{}}) FROM (VALUES ({', '.join(values)})) AS {table}({', '.join(columns)})"
            for prefix in ("", f"{table}."):
                given = ", ".join(f"{prefix}{column}" for column in columns)
                assert two.rows(query.format(given)) == [(expected,)], (columns, table, prefix)


@pytest.mark.parametrize("what", ["*", "count(*)", "sum(n_concordant)"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("'tiny25', 'en-de', 'mqm', 0", "no evaluation set 'tiny25' 'en-de' in the warehouse; FROM evalsets"),
        ("'tiny24', 'en-dee', 'mqm', 0", "no evaluation set 'tiny24' 'en-dee'"),
        ("'tiny24', 'en-de', 'mqm', -0.1", "epsilon is -0.1"),
        ("'tiny24', 'en-de', 'mqm', 'nan'::DOUBLE", "epsilon is nan"),
        ("'tiny24', 'en-de', 'mqm', 'inf'::DOUBLE", "epsilon is inf"),
    ],
)
def test_a_name_that_is_none_is_an_error(arguments: str, words: str, what: str, two: Warehouse) -> None:
    for call in (f"concordance_by({arguments}, 'item')", f"concordance({arguments})"):
        with pytest.raises(QuestionError, match=re.escape(words)):
            two.sql(f"SELECT {what} FROM {call} WHERE metric = 'Rough-refA'")


def test_a_unit_that_is_none_is_an_error(two: Warehouse) -> None:
    with pytest.raises(QuestionError, match="unknown unit 'items'; available: item, system, doc, domain, none"):
        two.sql("SELECT count(*) FROM concordance_by('tiny24', 'en-de', 'mqm', 0, 'items')")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            "'tiny24', 'en-de', 'mqn', 0, 'item'",
            "human score 'mqn' has no segment scores for tiny24 en-de; loaded: mqm",
        ),
        ("'tiny24', 'en-de', NULL, 0, 'item'", "no human score given (NULL)"),
        ("'tiny24', 'en-de', 'mqm', NULL, 'item'", "no epsilon given (NULL)"),
        ("'tiny24', 'en-de', 'mqm', 0, NULL", "no unit given (NULL)"),
    ],
)
def test_what_cannot_be_counted_is_null_for_each_metric_with_the_reason(
    arguments: str, reason: str, two: Warehouse
) -> None:
    found = two.sql(f"FROM concordance_by({arguments})")
    assert found.rows() == [(metric, *[None] * 6, reason) for metric in METRICS]
    assert two.rows(f"SELECT sum(n_concordant) FROM concordance_by({arguments}) WHERE metric = 'Fine-src'") == [(None,)]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [("NULL, 'en-de'", "no test set given (NULL)"), ("'tiny24', NULL", "no language pair given (NULL)")],
)
def test_without_an_evaluation_set_one_row_has_the_reason(arguments: str, reason: str, two: Warehouse) -> None:
    assert two.rows(f"FROM concordance({arguments}, 'mqm', 0)") == [(*[None] * 7, reason)]


@pytest.mark.slow
def test_metrics_without_a_system_that_people_judged_are_named(tmp_path: Path) -> None:
    humans = {"mqm": ScoreTable(systems=SYSTEMS[:2], seg=mqm_table().seg[:2])}
    metrics = {"Guest-src": ScoreTable(systems=SYSTEMS[2:], seg=np.ones((2, 5))), "Flat-src": mqm_table()}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", humans=humans, metrics=metrics)) as warehouse:
        found = warehouse.rows("SELECT metric, reason FROM concordance_by('tiny24', 'en-de', 'mqm', 0, 'none')")
    assert found == [("Flat-src", None), ("Guest-src", "no system has segment scores of both")]


@pytest.mark.slow
def test_segments_whose_document_is_not_known_are_counted(tmp_path: Path) -> None:
    tiny_warehouse(tmp_path).close()
    with duckdb.connect(str(tmp_path / "tiny.duckdb")) as connection:
        connection.execute("UPDATE internal.segment SET document = NULL, domain = NULL WHERE segment = 2")
    with Warehouse.open(tmp_path / "tiny.duckdb") as warehouse:
        for unit, word in (("doc", "document"), ("domain", "domain")):
            query = "SELECT DISTINCT reason FROM concordance_by('tiny24', 'en-de', 'mqm', 0, $unit) WHERE unit IS NULL"
            assert warehouse.rows(query, {"unit": unit}) == [(f"segments in no unit, whose {word} is not known: 1",)]


@pytest.mark.parametrize("arguments", ["[1.0, 2.0, 3.0], [1.0, 2.0]", "[1.0], [1.0, 2.0]", "[], [1.0]"])
def test_lists_of_unequal_length_are_an_error(arguments: str, two: Warehouse) -> None:
    with pytest.raises(QuestionError, match="expected one of each for every system"):
        two.sql(f"SELECT pairwise_accuracy({arguments})")


@pytest.mark.parametrize("odd", ["NULL", "'NaN'::DOUBLE"])
def test_pairwise_accuracy_is_null_where_any_score_is_missing(odd: str, two: Warehouse) -> None:
    human, metric = SCALARS["pairwise_accuracy"]
    for sound in (human, metric):
        for score in sound.strip("[]").split(", "):
            given = f"{human}, {metric}".replace(sound, sound.replace(score, odd, 1))
            assert two.rows(f"SELECT pairwise_accuracy({given})") == [(None,)], given


@pytest.mark.slow
@pytest.mark.parametrize("macro", ["concordance_official", "pearson_by_metric", "pairwise_accuracy_by_metric"])
def test_a_macro_of_the_official_slice_needs_an_evaluation_set(macro: str, two: Warehouse) -> None:
    with pytest.raises(QuestionError, match="no evaluation set 'tiny24' 'en-fr' in the warehouse; FROM evalsets"):
        two.sql(f"SELECT count(*) FROM {macro}('tiny24', 'en-fr') WHERE metric = 'Rough-refA'")
    for arguments, reason in (("NULL, 'en-de'", "no test set given (NULL)"), ("'tiny24', NULL", "no language pair")):
        ((metric, found),) = two.rows(f"SELECT metric, reason FROM {macro}({arguments})")
        assert metric is None
        assert found.startswith(reason)
    assert [row for row in two.rows(f"SELECT metric FROM {macro}('tiny24', 'en-de')") if row == ("Only-src",)]


@pytest.mark.parametrize("epsilon", ["-0.1", "'nan'::DOUBLE", "'inf'::DOUBLE"])
def test_a_threshold_of_the_official_counts_is_finite_and_not_negative(epsilon: str, two: Warehouse) -> None:
    with pytest.raises(QuestionError, match="epsilon is"):
        two.sql(f"FROM concordance_official('tiny24', 'en-de', epsilon := {epsilon})")


def test_official_counts_without_a_threshold_have_the_reason(two: Warehouse) -> None:
    call = "concordance_official('tiny24', 'en-de', epsilon := NULL)"
    found = two.rows(f"SELECT DISTINCT n_concordant, reason FROM {call}")
    assert {n for n, _ in found} == {None}
    assert {"no epsilon given (NULL)", "no segment scores"} <= {reason for _, reason in found}


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        ("0.0", "1.0000005", "'0..1'"),
        ("0.0", "100.00000001", "'0..100'"),
        ("-25.0", "0.0", "'..0'"),
        ("-0.3", "0.4", "'other'"),
        ("-0.07", "0.53", "'other'"),
        ("0.6", "1.05", "'other'"),
        ("-0.05", "99.0", "'0..100'"),
        ("NULL", "NULL", "NULL"),
    ],
)
def test_a_scale_is_the_narrowest_that_holds_the_scores(low: str, high: str, scale: str, two: Warehouse) -> None:
    assert two.rows(f"SELECT scale_of({low}, {high}) IS NOT DISTINCT FROM {scale}") == [(True,)]


def test_human_scores_of_the_same_judgements_have_one_protocol(two: Warehouse) -> None:
    names = ("wmt-raw", "wmt-z", "da-sqm-src", "wmt-appraise", "esa-human1", "mqm.merged", "mqm", "HUMAN", "pqm.x")
    expected = ("da", "da", "da-sqm", "appraise", "esa", "mqm", "mqm", "rr", "pqm.x")
    assert tuple(map(human_protocols.protocol_of, names)) == expected


def test_sql_and_python_know_the_same_protocols_of_rounds_scales_and_spellings(two: Warehouse) -> None:
    known = ("wmt", "da", "mqm", "da-sqm", "esa", "esaai", "appraise", "psqm", "HUMAN")
    endings = ("", "-1", "-2", "-iaa", ".merged", "-raw", "-z", ":z", "-1-z", "ish")
    names = [one for protocol in known for end in endings for one in (protocol + end, f"own-{protocol}{end}")]
    rows = two.rows("SELECT name, protocol_of(name) FROM (SELECT unnest($names) AS name)", {"names": names})
    assert [row for row in rows if row[1] != human_protocols.protocol_of(row[0])] == []
    assert len(rows) == len(names)
