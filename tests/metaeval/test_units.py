"""Whole documents or single segments: which of them a test or an interval takes, and that it takes them whole."""

from dataclasses import replace

import numpy as np
import pytest

from metaeval.measures.judged import units_of
from metaeval.measures.options import Options, TestOptions, Unit
from metaeval.measures.registry import parse_measure
from metaeval.studies.significance.metric_tests import chosen, run_test
from queries.slices import Slice
from tests.metaeval.document_blocks import block, documents, selection
from warehouse import QuestionError
from warehouse.wording import are, counted

JUDGED = Options(system_score="judged-mean")


@pytest.mark.parametrize(
    ("names", "asked", "unit", "words"),
    [
        (documents(12), None, "document", "by document (12 documents)"),
        (documents(10), None, "document", "by document (10 documents)"),
        (documents(9), None, "segment", "by segment (18 segments: fewer than 10 documents)"),
        ((*documents(12), None), None, "segment", "by segment (25 segments: not every segment has a document)"),
        (documents(12), "segment", "segment", "by segment (24 segments)"),
        (documents(6), "document", "document", "by document (6 documents)"),
        ((), None, "segment", "by segment (0 segments)"),
    ],
)
def test_documents_are_the_unit_from_ten_on(
    names: tuple[str | None, ...], asked: Unit | None, unit: str, words: str
) -> None:
    found = units_of(selection(names), np.ones(len(names), dtype=bool), asked)
    assert (found.unit, found.words) == (unit, words)
    assert (found.documents is not None) == (unit == "document")


def test_only_documents_with_human_scores_count() -> None:
    names = documents(12)
    assert units_of(selection(names), np.arange(24) < 16).words == "by segment (16 segments: fewer than 10 documents)"


def test_documents_that_are_scored_themselves_are_the_rows() -> None:
    of_documents = replace(selection(documents(4, size=1)), slice=Slice("made", "xx-yy", level="doc"))
    found = units_of(of_documents, np.ones(4, dtype=bool))
    assert (found.words, found.documents) == ("by document (4 documents)", None)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_too_few_documents_that_are_asked_for_are_refused(n: int) -> None:
    with pytest.raises(QuestionError, match=rf"made xx-yy has {n} documents? .* needs at least 6: fewer cannot reach"):
        units_of(selection(documents(n)), np.ones(2 * n, dtype=bool), "document")


def test_documents_without_names_are_refused_where_they_are_asked_for() -> None:
    with pytest.raises(QuestionError, match="segments without a document"):
        units_of(selection((*documents(12), None)), np.ones(25, dtype=bool), "document")


@pytest.mark.parametrize(
    "text",
    [
        *("pearson", "spearman", "kendall", "pa", "tau_ap", "pearson(top=4)", "spa(n=inf)", "acc_eq(by=item)"),
        *("tau_b(by=item)", "tau_c(by=item)", "pearson(by=item)", "pearson(by=none)", "pdp", "tau_b(by=system)"),
        *("mcc(good=2)", "brier(good=2)"),
    ],
)
@pytest.mark.parametrize("is_of_systems", [False, True])
def test_resampled_documents_are_the_measure_on_their_segments(text: str, is_of_systems: bool) -> None:
    """Documents of one to five segments, so that resamples differ in length; drawn systems beside them."""
    names = tuple(name for place in range(8) for name in (f"d{place % 7}",) * (1 + place % 5))
    data, measure, rng = block(names), parse_measure(text), np.random.default_rng(1)
    units = units_of(data.selection, data.judged.any(axis=0), "document")
    epsilon = measure.value(data, JUDGED).epsilon if measure.is_calibrated else None
    plain = measure.resampled(data, JUDGED, epsilon)
    picks = rng.integers(0, units.n, (4, units.n))
    systems = rng.integers(0, 6, (4, 6)) if is_of_systems else None
    found = units.resampled(plain).values(systems, picks, 4)
    assert units.documents is not None
    for k, row in enumerate(picks):
        segments = np.concatenate([np.flatnonzero(units.documents == document) for document in row])
        one = plain.values(None if systems is None else systems[k : k + 1], segments[np.newaxis], 1)[0]
        np.testing.assert_allclose(found[k], one, atol=1e-12)


@pytest.mark.parametrize(
    "text", ["pearson", "pa", "spa(n=20)", "acc_eq(by=item)", "pearson(by=none)", "acc_eq(by=none)"]
)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_too_few_units_leave_no_p_by_any_test_and_say_so(text: str, n: int) -> None:
    measure, data = parse_measure(text), block(documents(n, size=1))
    for test in measure.tests:
        if measure.claims(test) != "systems":
            testing = chosen(measure, data, JUDGED, TestOptions(test=test, resamples=20))
            found = run_test(data, measure, JUDGED, testing)
            assert np.isnan(found.p).all(), test
            there = f"{counted(n, 'segment')} {are(n, have=True)} human scores"
            assert found.why == f"there is no test: {there}, and it takes at least 5", test


@pytest.mark.parametrize("text", ["pearson", "pa", "spa(n=20)"])
def test_two_systems_leave_no_p_by_any_test_of_system_scores(text: str) -> None:
    measure, data = parse_measure(text), block(documents(12), n_systems=2)
    for test in measure.tests:
        testing = chosen(measure, data, JUDGED, TestOptions(test=test, resamples=20))
        found = run_test(data, measure, JUDGED, testing)
        assert np.isnan(found.p).all(), test
        assert found.why == "there is no test: 2 systems have human scores, and it takes at least 3", test


@pytest.mark.slow
@pytest.mark.parametrize("document_size", [1, 3])
@pytest.mark.parametrize(
    "text",
    [
        *("pearson", "spearman", "kendall", "pa", "tau_ap", "spa(n=20)", "spa(n=inf)", "acc_eq(by=item)"),
        *("tau_b(by=item)", "pearson(by=item)", "pearson(by=none)", "pdp", "acc_eq(by=none)", "pearson(top=5)"),
        *("mcc(good=2)", "brier(good=2)", "rmse", "mae"),
    ],
)
def test_metrics_that_differ_by_rounding_alone_differ_by_no_test(text: str, document_size: int) -> None:
    """The same scores in other units, near people's (correlations near 1) and far from them."""
    measure, data = parse_measure(text), block(documents(12, document_size))
    near, far = data.human + 1e-5 * data.scores[0], data.scores[0]
    others = [(one * 3 + 0.1 - 0.1) / 3 for one in (near, far)]
    for first, second in ((near, others[0]), (far, others[1])):
        assert np.abs(first - second).max() > 0
        two = replace(data.take(metrics=np.array([True, True, False])), scores=np.stack([first, second]))
        for test in measure.tests:
            for side in ("two-sided", "greater"):
                testing = chosen(measure, two, JUDGED, TestOptions(test=test, resamples=40, alternative=side))  # type: ignore[arg-type]
                p = run_test(two, measure, JUDGED, testing).p
                assert not (p < 0.4).any(), (test, side, p)
