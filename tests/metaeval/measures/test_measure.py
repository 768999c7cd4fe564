"""Measures as values: read as written, printed as they are read, and refused with a reason."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaeval.measures.pair_counts import coefficient_table
from metaeval.measures.parameters import GROUPINGS
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.studies.protocols.catalogue import measures as catalogue
from warehouse import QuestionError

POSITIVE = st.floats(min_value=0, max_value=1e300, exclude_min=True, allow_nan=False)


@st.composite
def _tables(draw: st.DrawFn) -> str:
    """Coefficient tables that are unchanged when rotated by 180 degrees."""
    cell = st.one_of(st.just("X"), st.floats(-10, 10, allow_nan=False).map(repr))
    a, b, c, d, e = (draw(cell) for _ in range(5))
    return f"{a}:{b}:{c}/{d}:{e}:{d}/{c}:{b}:{a}"


WORDS: dict[str, st.SearchStrategy[str]] = {
    "by": st.sampled_from(GROUPINGS),
    "epsilon": st.one_of(st.just("0"), POSITIVE.map(repr), POSITIVE.map(lambda value: f"{value!r}sd")),
    "pool": st.sampled_from(["groups", "pairs"]),
    "on_nan": st.sampled_from(["drop", "zero", "common"]),
    "ties": st.sampled_from(["organisers", "tship"]),
    "n": st.one_of(st.just("inf"), st.integers(1, 10**6).map(str)),
    "binary": st.sampled_from(["no", "yes"]),
    "threshold": POSITIVE.map(repr),
    "coefficients": _tables(),
    "top": st.integers(2, 10**3).map(str),
    "good": st.one_of(st.just("error_free"), st.floats(-100, 100).map(repr)),
    "beta2": POSITIVE.map(repr),
    "matching": st.sampled_from(["one_to_one", "many_to_many"]),
    "algorithm": st.sampled_from(["optimal", "greedy"]),
    "average": st.sampled_from(["micro", "macro"]),
    "severity_penalty": st.floats(0, 1).map(repr),
    "side": st.sampled_from(["both", "target", "source"]),
    "weights": st.one_of(st.just("none"), st.tuples(POSITIVE, POSITIVE).map(lambda pair: f"{pair[0]!r}:{pair[1]!r}")),
}


@st.composite
def _texts(draw: st.DrawFn) -> str:
    """Any measure as a user might write it: parameters in any order, some left out, spaces anywhere."""
    definition = draw(st.sampled_from(list(DEFINITIONS.values())))
    named = [p for p in definition.parameters if p.name in ("by", "top") or draw(st.booleans())]
    if definition.name == "tau_c":
        named = [p for p in named if p.name != "epsilon"]
    if definition.name in ("accuracy", "tau_rr"):  # their words for ties are others
        named = [p for p in named if p.name != "ties"]
    words = WORDS
    if definition.name == "acc_rr":  # its threshold is the best one or a number
        words = {**WORDS, "epsilon": st.one_of(st.just("best"), st.just("0"), POSITIVE.map(repr))}
    parts = [
        f"{p.name}{draw(st.sampled_from(['=', ' = ']))}{draw(words[p.name])}" for p in draw(st.permutations(named))
    ]
    space = draw(st.sampled_from(["", " "]))
    return f"{space}{definition.name}{space}({f',{space}'.join(parts)})" if parts else definition.name


@given(text=_texts())
def test_printing_and_parsing_are_inverse(text: str) -> None:
    measure = parse_measure(text)
    printed = str(measure)
    assert parse_measure(printed) == measure
    assert str(parse_measure(printed)) == printed


def test_every_parameter_is_drawn_in_these_tests_and_its_default_is_valid() -> None:
    parameters = [parameter for definition in DEFINITIONS.values() for parameter in definition.parameters]
    assert {parameter.name for parameter in parameters} == set(WORDS)
    for parameter in parameters:
        assert parameter.parse(parameter.show(parameter.default)) == parameter.default
        assert parameter.meaning


def test_a_measure_prints_as_documented() -> None:
    expected = [
        ("spa", "spa", "sys"),
        ("spa(n=1000)", "spa", "sys"),
        ("spa(n=inf)", "spa(n=inf)", "sys"),
        ("spa(n=saddlepoint)", "spa(n=saddlepoint)", "sys"),
        ("spa(binary=yes, n=500)", "spa(n=500, binary=yes)", "sys"),
        ("pa(ties=tship)", "pa(ties=tship)", "sys"),
        ("pearson", "pearson", "sys"),
        ("pearson(by=none)", "pearson(by=none)", "seg"),
        ("pearson(top=8)", "pearson(top=8)", "sys"),
        ("pearson( top=10 )", "pearson(top=10)", "sys"),
        ("pearson(on_nan=zero)", "pearson(by=item, on_nan=zero)", "seg"),
        ("tau_ap", "tau_ap", "sys"),
        ("kendall()", "kendall", "sys"),
        ("acc_eq", "acc_eq(by=item)", "seg"),
        ("acc_eq( by = system )", "acc_eq(by=system)", "seg"),
        ("tau_b(epsilon=0.50,by=doc)", "tau_b(by=doc, epsilon=0.5)", "seg"),
        ("tau_b(epsilon=0)", "tau_b(by=item)", "seg"),
        ("tau_b(epsilon=0sd)", "tau_b(by=item)", "seg"),
        ("tau_b(epsilon=0.1sd)", "tau_b(by=item, epsilon=0.1sd)", "seg"),
        ("tau_b(epsilon=0.1)", "tau_b(by=item, epsilon=0.1)", "seg"),
        ("tau_b(epsilon=2.0)", "tau_b(by=item, epsilon=2)", "seg"),
        ("tau_14(pool=pairs)", "tau_14(by=item, pool=pairs)", "seg"),
        ("kendall_like", "kendall_like", "seg"),
        ("kendall_like(threshold=30)", "kendall_like(threshold=30)", "seg"),
        ("tabular(coefficients=1:X:-1/X:X:X/-1:X:1)", "tabular(by=item, coefficients=1:X:-1/X:X:X/-1:X:1)", "seg"),
        ("pdp", "pdp", "seg"),
        ("mcc(good=error_free, threshold=best)", "mcc", "seg"),
        ("MCC(good=-1.0, threshold=0.50)", "mcc(good=-1, threshold=0.5)", "seg"),
        ("f_beta(threshold=wmt22, beta2=0.5)", "f_beta(beta2=0.5, threshold=wmt22)", "seg"),
        ("roc-auc(good=85)", "roc_auc(good=85)", "seg"),
    ]
    assert [(text, str(one), one.level) for text, *_ in expected for one in [parse_measure(text)]] == expected


def test_what_is_no_measure_is_refused_with_the_reason() -> None:
    reasons = [
        ("sap", "unknown measure 'sap'; did you mean 'spa'?"),
        ("zzz", "unknown measure 'zzz'; available: "),
        ("", "expected NAME or NAME(parameter=value, ...)"),
        ("spa(", "expected NAME or NAME(parameter=value, ...)"),
        ("spa(n=5", "expected NAME or NAME(parameter=value, ...)"),
        ("spa(5)", "found '5', expected parameter=value"),
        ("spa(n=)", "found 'n=', expected parameter=value"),
        ("spa(n=5, n=6)", "parameter 'n' is given twice"),
        ("spa(draws=5)", "unknown parameter 'draws' for measure 'spa'; available: binary, n"),
        ("acc_eq(buy=item)", "unknown parameter 'buy' for measure 'acc_eq'; did you mean 'by'?"),
        ("pa(by=item)", "unknown parameter 'by' for measure 'pa'"),
        ("spa(n=0)", "found n=0, expected a whole number of at least 1, inf, or saddlepoint"),
        ("pearson(top=1)", "found top=1, expected a whole number of at least 2"),
        ("pearson(top=5, by=item)", "top and by cannot be combined"),
        ("spa(n=1.5)", "found n=1.5, expected a whole number"),
        ("tau_b(by=items)", "expected one of none, item, system, doc, domain; did you mean 'item'?"),
        ("pa(ties=x)", "found ties=x, expected one of organisers, tship"),
        ("tau_b(epsilon=-1)", "found epsilon=-1, expected a number of at least 0"),
        ("tau_b(epsilon=nan)", "found epsilon=nan, expected a number of at least 0"),
        ("tau_b(epsilon=inf)", "found epsilon=inf, expected a number of at least 0"),
        ("tau_c(epsilon=0.1)", "tau_c is defined for epsilon = 0 only"),
        ("kendall_like(threshold=0)", "found threshold=0, expected a number above 0"),
        ("mcc(good=perfect)", "found good=perfect, expected a number (the lowest human score that counts as good)"),
        ("mcc(good=nan)", "found good=nan, expected a number"),
        ("mcc(threshold=inf)", "found threshold=inf, expected a number, best, or the name of a test set"),
        ("f_beta(beta2=0)", "found beta2=0, expected a number above 0"),
        ("rrp(good=1)", "unknown parameter 'good' for measure 'rrp'"),
        ("tabular(coefficients=1:2)", "expected 3 rows separated by '/', each of 3 coefficients separated by ':'"),
        ("tabular(coefficients=1:0:1/0:0:0/0:0:1)", "unchanged when rotated by 180 degrees"),
        ("tabular(coefficients=inf:0:0/0:0:0/0:0:inf)", "expected finite coefficients, or X"),
    ]
    for text, message in reasons:
        with pytest.raises(QuestionError, match=re.escape(message)) as raised:
            parse_measure(text)
        assert "\n" not in str(raised.value)


def test_a_parameter_is_read_by_its_name() -> None:
    measure = parse_measure("tau_b(by=system, epsilon=0.5)")
    assert (measure["by"], measure["epsilon"], measure["pool"]) == ("system", 0.5, "groups")
    with pytest.raises(KeyError):
        measure["n"]


def test_equal_measures_are_equal_however_they_were_written() -> None:
    assert parse_measure("tau_b(epsilon=0.5, by=item)") == parse_measure("tau_b( by=item,epsilon=5e-1 )")
    assert len({parse_measure("spa"), parse_measure("spa(n=1000)"), parse_measure("spa(n=999)")}) == 2


def test_a_coefficient_table_has_rows_of_humans_and_columns_of_metrics() -> None:
    assert coefficient_table("1:0:-1/x:X:X/-1:0:1") == [[1, 0, -1], [None, None, None], [-1, 0, 1]]


def test_the_catalogue_of_measures_has_a_row_each_with_meaning_formula_and_source() -> None:
    frame = catalogue()
    assert frame.height == len(DEFINITIONS)
    for row in frame.rows(named=True):
        assert str(parse_measure(row["measure"])) == row["measure"]
        assert all(row[column] for column in ("level", "meaning", "formula", "range", "source"))
