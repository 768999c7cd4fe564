"""The audit: each check finds what was planted, says it with its numbers, and is silent on sound data."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from queries.adhoc import answer
from queries.audit import KINDS, audit
from queries.catalog import questions
from queries.findings import CHECKS, MEANINGS, SEVERITIES, Finding, Severity, by_kind, findings_frame, shown_query
from tests.helpers import tiny_layout
from warehouse import LoadHints, QuestionError, Warehouse, load
from warehouse.export.mtme import RatingTable, ScoreTable
from warehouse.wording import option

N = 40
SYSTEMS = ("Ash", "Beech", "Cherry", "Dogwood", "Elm", "refA")
MT = SYSTEMS[:-1]
DOCUMENTS = tuple(("news", f"d{number // 5}") for number in range(N))


def _scores(seed: int, noise: float = 0.3) -> np.ndarray:
    """(systems, segments): difficulty of the segment, quality of the system, and noise of the scorer."""
    difficulty = np.random.default_rng(99).normal(size=N)
    quality = np.array([2.0, 1.5, 1.0, 0.5, 0.0, 3.0])
    own = np.random.default_rng(seed).normal(size=(len(SYSTEMS), N))
    return np.asarray(np.round(difficulty + quality[:, None] / 2 + noise * own, 4))


def _table(values: np.ndarray, systems: tuple[str, ...] = SYSTEMS, submitted: np.ndarray | None = None) -> ScoreTable:
    return ScoreTable(systems=systems, seg=values, sys=np.nanmean(values, axis=1) if submitted is None else submitted)


def _sound() -> dict[str, ScoreTable]:
    return {f"{name}-src": _table(_scores(seed)) for seed, name in enumerate(("COMETKiwi", "YiSi-2", "GEMBA-MQM"))}


def _changed(seed: int, *changes: tuple[Any, Any]) -> np.ndarray:
    """Scores with other values at some places."""
    values = _scores(seed)
    for place, value in changes:
        values[place] = value
    return values


def _kiwi(values: np.ndarray) -> dict[str, ScoreTable]:
    return {"COMETKiwi-src": _table(values)}


def _negated(places: list[int], submitted_alone: bool = False) -> dict[str, ScoreTable]:
    """Three sound metrics beside one whose scores of some systems are 1 - x."""
    metrics = {**_sound(), "COMET-refA": _table(_changed(8, (places, 1 - _scores(8)[places]))[:5], MT)}
    if submitted_alone:
        metrics = {name: ScoreTable(systems=table.systems, sys=table.sys) for name, table in metrics.items()}
    return metrics


NEGATED = [*(([place], False) for place in range(len(MT))), ([0, 1], False), ([*range(6)], False), ([*range(6)], True)]
_ALIKE = np.tile(_scores(0)[0], (len(SYSTEMS), 1)) + np.array([0, 0, 0, 0, 0, 1])[:, None]  # but for the translation
_NOISE = np.random.default_rng(5)
_BACK, _ON = (_changed(0, (3, np.roll(_scores(0)[3], shift))) for shift in (1, -2))
_ERROR = {"start": 0, "end": 1, "category": "a", "severity": "minor", "score": 1.0}
_RATED = RatingTable(
    errors={system: [[_ERROR]] * 10 + [None] * 30 for system in SYSTEMS},
    raters={system: ["r1"] * 6 + ["r2"] * 4 + [None] * 30 for system in SYSTEMS},
)
METRICS: dict[str, dict[str, ScoreTable]] = {
    "sound": {},
    # what COMETKiwi gave, without the reference
    "twice": {"BLEU-refA": _table(_scores(0)[:5], MT)},
    "nearly": {"xCOMET-src": _table(_changed(0, ((2, 7), _scores(0)[2, 7] + 0.0001)))},
    "submitted": {
        "YiSi-2-src": _table(_scores(1), submitted=_scores(1).mean(axis=1) + np.array([0, 0, 0.5, 0, 0, 0])),
        "BLEU-refA": _table(_scores(7)[:5], MT, submitted=np.arange(5.0)),
    },
    "constant": _kiwi(_changed(0, (1, 0.5))),
    "derived": _negated([*range(6)]),
    **{f"negated{number}": _negated(*case) for number, case in enumerate(NEGATED)},
    "missing": {
        "BLEU-refA": _table(_scores(3)[:5], MT),  # without refA: sound
        "chrF-refA": _table(_scores(3)[:4] + 1e-3, MT[:4]),
        "UniTE-src": _table(_changed(4, ((0, slice(3)), np.nan))),
    },
    "back": _kiwi(_BACK),
    "on": _kiwi(_ON),
    "moved": {"BLEURT-src": _table(np.roll(_scores(6), 1, axis=1))},
    "noise": {f"YiSi-{number}-src": _table(_NOISE.normal(size=(len(SYSTEMS), N))) for number in range(10)},
    "alike": {**_kiwi(_ALIKE), "sentinel-src-src": _table(_ALIKE), "BLEU-refA": ScoreTable(MT, sys=np.ones(5))},
    "unknown": {"SuperCOMET-9-src": _table(_scores(11))},
}
ALONE = {"noise", "negated8"}
"""Test sets without the three sound metrics; the others have them, or what stands in their place."""
HUMANS = {
    "humans": _table(np.roll(_scores(50), -1, axis=1)),
    "outlier": ScoreTable(systems=MT, sys=np.array([1.0, 2.0, 3.0, 4.0, 30.0])),  # median 3, MAD 1
    "covered": _table(_changed(50, (np.s_[:, 30:], np.nan), (np.s_[4, 5:], np.nan))),
    "floats": _table(_changed(50, (..., np.round(_scores(50))), ((0, 0), 25.2), ((1, 0), 25.200000000000003))),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Finding]]:
    """A warehouse with a test set for each fault, and all findings; read it only."""
    folder = tmp_path_factory.mktemp("planted")
    for name in (*METRICS, *HUMANS):
        tiny_layout(
            folder / "in",
            testset=name,
            documents=DOCUMENTS,
            systems=SYSTEMS,
            humans={"mqm": HUMANS.get(name) or _table(_scores(50))},
            metrics=METRICS.get(name, {}) if name in ALONE else {**_sound(), **METRICS.get(name, {})},
            ratings={"esa": _RATED} if name == "covered" else None,
            texts=False,
        )
    database = folder / "w.duckdb"
    report = load([folder / "in"], database)
    assert report.is_clean, report.faults
    with duckdb.connect(str(database)) as connection:
        of_derived = (
            "SELECT evalset_id FROM internal.evalset JOIN internal.testset USING (testset_id) WHERE name = 'derived'"
        )
        connection.execute(f"UPDATE internal.vector SET is_derived = true WHERE evalset_id = ({of_derived})")
    return database, _found(database)


def _of(planted: tuple[Path, list[Finding]], testset: str, *checks: str) -> list[Finding]:
    """The findings of some checks, or of all, in a test set, by what they are about."""
    found = [one for one in planted[1] if one.testset == testset and (not checks or one.check in checks)]
    return sorted(found, key=lambda finding: finding.subject)


def _found(database: Path, check: str | None = None) -> list[Finding]:
    with Warehouse.open(database) as warehouse:
        return audit(warehouse, checks=() if check is None else (check,))


Planted = tuple[Path, list[Finding]]


def test_sound_data_give_no_finding(planted: Planted) -> None:
    assert _of(planted, "sound") == []


def test_two_names_for_the_same_scores_are_found(planted: Planted) -> None:
    (finding,) = _of(planted, "twice", "identical")
    assert (finding.severity, finding.subject, finding.n) == ("warning", "BLEU-refA, COMETKiwi-src", 5)
    assert "200 segment scores for all 5 systems" in finding.finding


def test_scores_that_differ_in_one_segment_are_not_the_same(planted: Planted) -> None:
    assert _of(planted, "nearly", "identical") == []


def test_a_submitted_score_that_is_no_mean_is_a_warning_but_a_corpus_score_a_note(planted: Planted) -> None:
    bleu, yisi = _of(planted, "submitted", "submitted")
    assert (yisi.severity, yisi.subject, yisi.n) == ("warning", "YiSi-2-src", 1)
    assert yisi.value == pytest.approx(0.5)
    assert (bleu.severity, bleu.subject) == ("info", "BLEU-refA")


def test_constant_and_nearly_constant_vectors_are_found(planted: Planted) -> None:
    (finding,) = _of(planted, "constant", "constant")
    assert (finding.severity, finding.subject, finding.n) == ("warning", "COMETKiwi-src", 1)
    assert finding.finding == "segment scores of 1 of 6 systems do not vary: 1 constant"


def test_one_other_value_in_five_hundred_is_nearly_constant(tmp_path: Path) -> None:
    documents = tuple(("news", "d") for _ in range(500))
    values = np.random.default_rng(1).normal(size=(2, 500))
    values[0] = 0.5
    values[0, 100] = 0.7
    folder = tiny_layout(
        tmp_path, documents=documents, systems=("Ash", "Beech"), humans={}, texts=False,
        metrics={"Kiwi-src": ScoreTable(systems=("Ash", "Beech"), seg=values)},
    )  # fmt: skip
    assert load([folder], tmp_path / "w.duckdb").is_clean
    (finding,) = _found(tmp_path / "w.duckdb", "constant")
    assert finding.finding == "segment scores of 1 of 2 systems do not vary: 1 nearly constant"


def test_scores_that_are_made_of_error_spans_have_a_known_sign(planted: Planted) -> None:
    assert not _of(planted, "derived", "sign")


@pytest.mark.parametrize("number", range(len(NEGATED)))
def test_a_negated_metric_and_negated_systems_are_one_error(number: int, planted: Planted) -> None:
    places, _ = NEGATED[number]
    (finding,) = _of(planted, f"negated{number}", "sign")
    assert (finding.severity, finding.subject) == ("error", "COMET-refA")
    assert finding.finding.endswith("; wrong sign?")
    assert [name for name in MT if f"({name})" in finding.finding] == [MT[place] for place in places if len(places) < 3]
    assert finding.value is not None
    assert finding.value < -0.5
    if len(places) == 1:
        with Warehouse.open(planted[0]) as warehouse:
            shown = warehouse.rows(finding.query)
        assert {row[0]: row[-1] for row in shown}[MT[places[0]]] == pytest.approx(finding.value)


def test_a_system_without_human_scores_is_no_error(tmp_path: Path) -> None:
    for name, place in (("all", 0), ("some", 1)):
        human = _table(_scores(50)[place:], SYSTEMS[place:])
        tiny_layout(tmp_path / name, documents=DOCUMENTS, systems=SYSTEMS, humans={"mqm": human}, metrics=_negated([0]))
        assert load([tmp_path / name / "tiny24"], tmp_path / f"{name}.duckdb").is_clean
    (error,), (warning,) = (_found(tmp_path / f"{name}.duckdb", "sign") for name in ("all", "some"))
    assert (error.severity, warning.severity) == ("error", "warning")
    assert "(Ash)" in error.finding
    assert "(Ash, not judged); wrong sign?" in warning.finding


def test_other_scores_for_the_same_text_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "layout" / "tiny24"
    database = tmp_path / "w.duckdb"
    tiny_layout(
        tmp_path / "layout",
        documents=DOCUMENTS,
        systems=SYSTEMS,
        humans={"mqm": _table(_scores(50))},
        metrics={**_sound(), "Random-sysname-src": _table(_scores(7))},
    )
    outputs = folder / "system-outputs" / "en-de"
    lines = (outputs / "Ash.txt").read_text().splitlines()
    other = (outputs / "Beech.txt").read_text().splitlines()
    other[:10] = lines[:10]  # ten segments in common
    (outputs / "Beech.txt").write_text("\n".join(other) + "\n")
    assert load([folder], database).is_clean
    found = {finding.subject: finding for finding in _found(database, "outputs")}
    assert set(found) == {"COMETKiwi-src", "GEMBA-MQM-src", "YiSi-2-src", "mqm", "Random-sysname-src"}
    assert found["Random-sysname-src"].severity == "info"
    assert "scored differently (expected of random scores): " in found["Random-sysname-src"].finding
    values = _scores(0)
    gaps = np.abs(values[0, :10] - values[1, :10])
    kiwi = found["COMETKiwi-src"]
    assert kiwi.n == int((gaps > 0.01 * values.std()).sum())
    assert kiwi.value == pytest.approx(gaps.max())
    assert f"of 10 such texts, by up to {gaps.max():.4g}" in kiwi.finding
    assert (kiwi.severity, found["mqm"].severity) == ("warning", "info")


def test_missing_systems_and_segments_are_found_but_not_a_metrics_own_reference(planted: Planted) -> None:
    unite, chrf = _of(planted, "missing", "missing")
    assert (chrf.severity, chrf.subject, chrf.n) == ("warning", "chrF-refA", 1)
    assert chrf.finding == "no scores for 1 of 5 systems (Elm)"
    assert (unite.severity, unite.subject, unite.n) == ("warning", "UniTE-src", 3)
    assert unite.finding == (
        "3 segment scores missing, in 1 system: rankings that need any of these exclude the metric "
        f"(`{option('rank.intersection', True)}` does not)"
    )


def _own_table(folder: Path, rows: list[tuple[str, int, str]]) -> Path:
    (folder / "own.csv").write_text("system,segment,MetA\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    return folder / "own.csv"


_TABLE = [(system, segment, f"0.{segment}{at}") for at, system in enumerate(MT) for segment in range(1, 13)]


def test_scores_without_a_row_are_missing_as_well(tmp_path: Path) -> None:
    path = _own_table(tmp_path, [row for row in _TABLE if row[:2] != ("Cherry", 7)])
    assert load([path], tmp_path / "w.duckdb", given=LoadHints(testset="mine25", lp="en-de")).is_clean
    (finding,) = _found(tmp_path / "w.duckdb", "missing")
    assert (finding.subject, finding.n) == ("MetA-ref", 1)


def test_a_misspelt_system_is_an_error_and_its_query_shows_both(tmp_path: Path) -> None:
    """In a file of its own it loads."""
    for name in ("Cherry", "Chery"):
        (tmp_path / name).mkdir()
        rows = [(name, *row[1:]) for row in _TABLE if row[0] == "Cherry" and (row[1] == 7) is (name == "Chery")]
        report = load([_own_table(tmp_path / name, rows)], tmp_path / "w.duckdb", given=LoadHints("mine25", "en-de"))
        assert report.is_clean, report.faults
    (finding,) = _found(tmp_path / "w.duckdb", "misspelt")
    assert (finding.severity, finding.subject) == ("error", "Chery")
    assert finding.finding == "1 score of a system with nearly the same name as Cherry (11 scores); misspelt?"
    assert answer(tmp_path / "w.duckdb", finding.query).height == 2


@pytest.mark.parametrize(("testset", "words"), [("back", "back by 1 segment"), ("on", "forward by 2 segments")])
def test_a_block_that_was_shifted_is_found_with_its_shift(testset: str, words: str, planted: Planted) -> None:
    (finding,) = _of(planted, testset, "shifted")
    assert (finding.severity, finding.subject) == ("error", "COMETKiwi-src, Dogwood")
    assert f"shifted {words}" in finding.finding


@pytest.mark.parametrize(("testset", "scorer"), [("moved", "BLEURT-src"), ("humans", "mqm")])
def test_a_whole_file_that_was_shifted_is_found_in_every_block(testset: str, scorer: str, planted: Planted) -> None:
    assert [one.subject for one in _of(planted, testset, "shifted")] == [f"{scorer}, {system}" for system in SYSTEMS]


def test_noise_is_neither_shifted_nor_of_the_wrong_sign(planted: Planted) -> None:
    """Of 60 blocks of 40 segments that agree in nothing many seem so, by correlations of 0.2 and more."""
    assert _of(planted, "noise", "shifted", "sign") == []


def test_a_metric_that_scores_all_mt_systems_alike_is_found_however_its_segments_vary(planted: Planted) -> None:
    bleu, kiwi, sentinel = _of(planted, "alike", "constant")
    assert bleu.finding == kiwi.finding == sentinel.finding == "all 5 MT systems have the same score"
    assert (bleu.severity, kiwi.severity, sentinel.severity) == ("warning", "warning", "info")
    assert answer(planted[0], bleu.query).height == 5


def test_an_outlier_by_the_mad_rule_is_named_with_its_distance(planted: Planted) -> None:
    (finding,) = _of(planted, "outlier", "outliers")
    assert (finding.severity, finding.subject) == ("info", "mqm, Elm")
    assert finding.value == pytest.approx(27 / 1.4826)
    assert (
        "and not on the organisers' list: 30 lies 18.2 deviations above the median of 5 MT systems" in finding.finding
    )


def test_coverage_tells_cells_unevenness_and_annotators(planted: Planted) -> None:
    esa, mqm = _of(planted, "covered", "coverage")
    assert (
        mqm.finding
        == "155 of 240 (system, segment) pairs judged (65%); unevenly over 5 MT systems: 5 to 30 segments each"
    )
    assert (mqm.severity, mqm.n) == ("warning", 155)
    assert mqm.value == pytest.approx(155 / 240)
    assert esa.finding == "60 of 240 (system, segment) pairs judged (25%); 60 judgements by 2 annotators, 24 to 36 each"
    assert esa.severity == "info"


def test_values_that_differ_by_float_noise_are_counted(planted: Planted) -> None:
    (finding,) = _of(planted, "floats", "noise")
    n_distinct = len(np.unique(np.asarray(HUMANS["floats"].seg)))
    assert (finding.severity, finding.n) == ("info", 1)
    assert finding.finding.startswith(f"1 of {n_distinct} distinct values")
    assert answer(planted[0], finding.query).height == 1


def test_a_refused_file_is_an_error_with_its_fault(tmp_path: Path) -> None:
    folder = tiny_layout(tmp_path / "layout")
    path = folder / "metric-scores" / "en-de" / "Flat-src.seg.score"
    path.write_text(path.read_text().replace("\t1.0\n", "\tnan\n", 1))
    database = tmp_path / "w.duckdb"
    assert len(load([folder], database, skip_broken=True).faults) >= 1
    (finding,) = _found(database, "refused")
    assert finding.severity == "error"
    assert finding.subject.endswith("Flat-src.seg.score")
    assert "excluded as broken" in finding.finding


@pytest.mark.slow
def test_published_issues_are_told_where_the_test_set_is_loaded(tmp_path: Path) -> None:
    folder = tiny_layout(tmp_path, testset="wmt23", facts=False)
    assert load([folder], tmp_path / "w.duckdb").is_clean
    found = _found(tmp_path / "w.duckdb", "issues")
    assert {"sescoreX", "KG-BERTScore", "synthetic_ref"} <= {finding.subject for finding in found}
    assert answer(tmp_path / "w.duckdb", found[0].query).height >= len(found)


def test_names_that_the_registry_lacks_are_reported_with_the_family_by_rule(planted: Planted) -> None:
    (finding,) = _of(planted, "unknown", "names")
    assert (finding.severity, finding.subject) == ("info", "SuperCOMET-9")
    assert finding.finding == "not in the metric registry; family COMET inferred from its name"


@pytest.fixture(scope="module")
def all_faults(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Finding]]:
    """A warehouse in which every check of one evaluation set finds something, and the findings; read it only."""
    metrics = _sound()
    metrics["BLEU-refA"] = _table(_scores(0)[:5], MT)
    shifted = _scores(6)
    shifted[3] = np.roll(shifted[3], 1)
    shifted[1, :2] = np.nan
    metrics["MyMetric-src"] = _table(shifted, submitted=np.arange(6.0))
    flat = -_scores(8)
    flat[1] = 0.5
    metrics["TER-refA"] = _table(flat[:5], MT)
    human = _scores(50)
    human[4] -= 100
    human[0, 0], human[1, 0], human[2, :5] = 25.2, 25.200000000000003, np.nan
    folder = tmp_path_factory.mktemp("faults")
    humans = {"mqm": _table(human)}
    tiny_layout(folder / "in", documents=DOCUMENTS, systems=SYSTEMS, humans=humans, metrics=metrics)
    report = load([folder / "in"], folder / "w.duckdb")
    assert report.is_clean, report.faults
    return folder / "w.duckdb", _found(folder / "w.duckdb")


def test_every_kind_of_finding_has_a_meaning() -> None:
    assert set(MEANINGS) == set(KINDS)


@pytest.mark.slow
def test_each_finding_has_a_query_that_runs_in_the_sandbox_and_shows_something(
    all_faults: tuple[Path, list[Finding]], in_full: bool
) -> None:
    """The query of each check once, with the names of one finding, or of all where there is time."""
    database, found = all_faults
    shown = {finding.check for finding in found}
    assert shown >= set(CHECKS) - {"outputs", "refused", "misspelt"}
    for finding in found if in_full else {finding.check: finding for finding in found}.values():
        assert answer(database, finding.query).height > 0, finding.query


def test_findings_come_worst_first_and_then_by_place(all_faults: tuple[Path, list[Finding]]) -> None:
    _, found = all_faults
    ranks = [SEVERITIES.index(finding.severity) for finding in found]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 3
    frame = findings_frame(found)
    assert frame.columns == ["severity", "check", "testset", "lp", "subject", "finding", "n", "value", "query"]
    assert frame.height == len(found)


def test_an_audit_of_nothing_is_a_frame_with_its_columns() -> None:
    assert findings_frame([]).shape == (0, 9)


@pytest.mark.slow
def test_an_audit_can_be_narrowed_and_refuses_unknown_names(
    all_faults: tuple[Path, list[Finding]], in_full: bool
) -> None:
    """Each way of naming a place with some checks, or with all where there is time."""
    database, found = all_faults
    checks = () if in_full else ("identical", "shifted", "names")
    everything = [finding for finding in found if in_full or finding.check in checks]
    assert {finding.check for finding in everything} >= {"identical", "shifted", "names"}
    with Warehouse.open(database) as warehouse:
        assert audit(warehouse, "tiny24", "en-de") == found
        for testset, lp in (
            ("tiny24", None), ("all", "all"), ("tiny24,tiny24", "en-de"), (None, "en-de"), ("all", "en-de")
        ):  # fmt: skip
            assert audit(warehouse, testset, lp, checks) == everything, (testset, lp)
        with pytest.raises(QuestionError, match="tiny24"):
            audit(warehouse, "tiny25")
        with pytest.raises(QuestionError, match="tiny25"):
            audit(warehouse, "tiny24,tiny25")
        with pytest.raises(QuestionError, match="en-de"):
            audit(warehouse, "tiny24", "en-fr")


def test_an_audit_of_several_test_sets_or_language_pairs_is_that_of_each(simulated_warehouse: Warehouse) -> None:
    checks = ("names",)
    everything = audit(simulated_warehouse, checks=checks)
    several = audit(simulated_warehouse, "sim23,sim24", checks=checks)
    assert several == [finding for finding in everything if finding.testset in ("sim23", "sim24")]
    places = {(testset, lp) for testset in ("sim23", "sim24") for lp in ("en-de", "cs-uk")}
    of_pairs = audit(simulated_warehouse, "sim23,sim24", "en-de,cs-uk", checks)
    assert of_pairs == [finding for finding in everything if (finding.testset, finding.lp) in places]
    assert {(finding.testset, finding.lp) for finding in of_pairs} == places


def test_quotes_in_names_are_doubled_in_the_shown_query() -> None:
    assert "metric = 'it''s'" in shown_query("names", {"testset": "t", "lp": "en-de", "metric": "it's"})


def test_every_check_has_its_two_queries() -> None:
    for name in CHECKS:
        assert questions()[f"audit_{name}"].parameters == ("testset", "lp")
        assert {"testset", "lp"} <= set(questions()[f"audit_{name}_shown"].parameters)


@pytest.mark.slow
def test_wmt23_shows_what_is_known_of_it(wmt23_warehouse: Warehouse) -> None:
    found = audit(wmt23_warehouse)
    said = {(finding.check, finding.lp, finding.subject) for finding in found}
    assert ("identical", "en-de", "instructscore-refA, sescoreX-refA") in said
    not_means = {finding.subject for finding in found if finding.check == "submitted" and finding.lp == "en-de"}
    assert not_means == {
        *(f"{name}-{ref}" for name in ("BLEU", "chrF", "f200spBLEU") for ref in ("refA", "synthetic_ref")),
        "KG-BERTScore-src",
    }
    assert not {finding.check for finding in found} & {"shifted", "missing", "refused", "names", "constant"}
    coverage = {(finding.lp, finding.subject): finding.n for finding in found if finding.check == "coverage"}
    assert coverage["en-de", "mqm"] == 460 * 13
    assert coverage["he-en", "mqm"] == 820 * 13


def test_findings_of_one_kind_are_a_line_with_the_worst_and_errors_come_first() -> None:
    def found(severity: Severity, check: str, subject: str, n: int | None) -> Finding:
        return Finding(severity, check, "sim24", "en-de", subject, f"of {n}", n, None, "SELECT 1")

    two = [found("info", "missing", "A", 2), found("info", "missing", "B", 7)]
    frame = findings_frame([found("info", "noise", "mqm", None), *two, found("error", "sign", "C", 1)])
    assert by_kind(frame).rows() == [
        ("error", "sign", 1, "sim24 en-de C: of 1"),
        ("info", "missing", 2, "sim24 en-de B: of 7"),
        ("info", "noise", 1, "sim24 en-de mqm: of None"),
    ]
    assert by_kind(frame.clear()).rows() == []
