"""Studies: from a slice and measures to rows of a ranking, their signatures, notes and explanations."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metaeval
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.notes import Decisive
from metaeval.results.signature import program_version
from metaeval.results.study import RANKING_SCHEMA, ranking, ranking_order, study
from metaeval.studies.ranking.rankings import excluded, explanation
from metaeval.studies.tables.counts import pair_counts
from queries.slices import Slice
from tests.helpers import LP, SYSTEMS, TESTSET, metric_tables, rank, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.wording import option


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """The tiny task with a metric that is another one to the last digit."""
    folder: Path = tmp_path_factory.mktemp("tiny")
    tables = {**metric_tables(), "Copy-src": metric_tables()["Fine-src"]}
    with tiny_warehouse(folder, tiny_layout(folder / "layout", metrics=tables)) as warehouse:
        yield warehouse


def _study(warehouse: Warehouse, *measures: str, **asked: object) -> metaeval.results.study.Study:  # type: ignore[name-defined]
    parsed = [parse_measure(measure) for measure in measures]
    return study(warehouse, Slice(TESTSET, LP, **asked), parsed, Options())  # type: ignore[arg-type]


def test_a_ranking_worked_out_by_hand(tiny: Warehouse) -> None:
    # Humans on Ash, Beech, Cherry: 1: -1 -1 -10; 2: 0 -5 -5; 3: -5 -6 -11; 5: -1 0 -25; nobody judged 4.
    frame = rank(tiny, TESTSET, LP, ["acc23(by=item)"])
    values = dict(zip(frame["metric"], frame["value"], strict=True))
    # Fine: .9 .9 .2; .95 .5 .5; .5 .4 .1; .9 .95 0: every pair is right, the two ties included.
    assert values["Fine-src"] == 1
    # Rough: 50 40 10; 60 60 60; 20 30 20; 30 30 20: two pairs right, one (tied by both), one, two of three.
    assert values["Rough-refA"] == pytest.approx((2 / 3 + 1 / 3 + 1 / 3 + 2 / 3) / 4)
    # Wrong orders the other way round and ties where the humans do: right on ties alone.
    assert values["Wrong-src"] == pytest.approx((1 / 3 + 1 / 3 + 0 + 0) / 4)
    assert values["Flat-src"] == values["Wrong-src"]
    assert "Only-src" not in values
    assert frame["rank"].to_list() == [1, 1, 3, 4, 4]
    assert frame["metric"].to_list() == ["Copy-src", "Fine-src", "Rough-refA", "Flat-src", "Wrong-src"]


def test_rows_of_a_ranking_have_the_documented_columns_and_types(tiny: Warehouse) -> None:
    frame = rank(tiny, TESTSET, LP, ["spa", "pearson", "tau_b(by=system)"])
    assert dict(frame.schema) == RANKING_SCHEMA
    assert list(dict.fromkeys(frame["measure"])) == ["spa", "pearson", "tau_b(by=system)"]
    assert frame.filter(measure="spa")["system_score"].unique().to_list() == ["judged-mean"]
    assert frame.filter(measure="tau_b(by=system)")["system_score"].null_count() == 5
    assert frame.filter(pl.col("value").is_nan()).is_empty()  # undefined is null
    assert frame["base_metric"].to_list() == [name.rpartition("-")[0] for name in frame["metric"]]


def test_metrics_with_system_scores_alone_are_ranked_where_those_suffice(tiny: Warehouse) -> None:
    assert "Only-src" in rank(tiny, TESTSET, LP, ["pearson"])["metric"].to_list()
    found = _study(tiny, "pearson", "pdp")
    assert "pdp excludes Only-src (no segment scores)" in found.notes


def test_equal_and_undefined_metrics_are_reported(tiny: Warehouse) -> None:
    notes = _study(tiny, "kendall", "tau_b(by=item)").notes
    assert "Copy-src and Fine-src have exactly the same scores" in notes
    assert "kendall is not defined for Flat-src" in notes
    assert any(re.search(r"up to 4 groups are undefined for \d metrics", note) for note in notes)
    assert len(notes) == len(set(notes))


def test_few_systems_are_said_once_and_may_change_a_decision(tiny: Warehouse) -> None:
    notes = _study(tiny, "pa", "kendall", "tau_b(by=item)", systems=("Ash", "Beech", "Cherry")).notes
    (few,) = [note for note in notes if isinstance(note, Decisive) and note.kind == "few systems:"]
    assert few == "the values are based on only 3 systems"


def test_correlations_of_two_systems_come_with_a_caution(tiny: Warehouse) -> None:
    caution = "a correlation of 2 systems can only be 1 or -1"
    two = _study(tiny, "pearson", "pa", "kendall", "tau_ap", systems=("Ash", "Cherry")).notes
    assert [note for note in two if caution in note] == [
        f"{name}: {caution}" for name in ("pearson", "kendall", "tau_ap")
    ]
    three = _study(tiny, "pearson", "pearson(top=2)").notes
    assert [note for note in three if caution in note] == [f"pearson(top=2): {caution}"]


@given(
    values=st.lists(st.sampled_from([0.1, 0.5, 0.9, float("nan")]), max_size=8), rng=st.randoms(use_true_random=False)
)
def test_ranking_order_is_descending_with_competition_ranks_and_no_rank_for_undefined(values: list[float], rng) -> None:  # type: ignore[no-untyped-def]
    names = [f"m{number}" for number in range(len(values))]
    rng.shuffle(names)
    ordered = ranking_order(values, names)
    assert sorted(place for place, _ in ordered) == list(range(len(values)))
    for place, position in ordered:
        better = sum(other > values[place] for other in values)
        assert position == (None if np.isnan(values[place]) else 1 + better)
    keys = [(np.isnan(values[p]), -np.nan_to_num(values[p]), names[p]) for p, _ in ordered]
    assert keys == sorted(keys)


@pytest.mark.slow
def test_a_ranking_does_not_depend_on_which_measures_stand_beside(simulated_warehouse: Warehouse) -> None:
    both = rank(simulated_warehouse, "sim23", "cs-uk", ["spa", "acc_eq(by=item)"])
    for measure in ("spa", "acc_eq(by=item)"):
        assert rank(simulated_warehouse, "sim23", "cs-uk", [measure]).equals(both.filter(measure=measure))


def test_values_do_not_depend_on_which_metrics_stand_beside(simulated_warehouse: Warehouse) -> None:
    measures = ["spa", "acc_eq(by=item)", "pearson"]
    everyone = rank(simulated_warehouse, "sim23", "cs-uk", measures)
    few = rank(simulated_warehouse, "sim23", "cs-uk", measures, metrics=("Kestrel*", "simBLEU"))
    joined = few.join(everyone, on=["metric", "measure"], suffix="_all")
    assert joined.height == few.height
    np.testing.assert_allclose(joined["value"], joined["value_all"], rtol=0, atol=1e-12)


def test_levels_may_have_different_official_human_scores(simulated_warehouse: Warehouse) -> None:
    frame = rank(simulated_warehouse, "sim21", "en-de", ["pearson", "pearson(by=item)"])
    assert dict(frame.select("measure", "human").unique().iter_rows()) == {
        "pearson": "wmt-z",
        "pearson(by=item)": "wmt-raw",
    }


def test_questions_without_an_answer_are_refused(tiny: Warehouse) -> None:
    with pytest.raises(QuestionError, match="unknown measure 'sap'"):
        rank(tiny, TESTSET, LP, ["sap"])
    with pytest.raises(QuestionError, match="unknown test set"):
        rank(tiny, "wmt99", LP, ["spa"])
    with pytest.raises(QuestionError, match="a part of a test set has no submitted system scores"):
        rank(tiny, TESTSET, LP, ["pearson"], options=Options(system_score="submitted"), domain=("news",))


# ---------------------------------------------------------------- signatures


def _signature(text: str) -> dict[str, str]:
    return dict(part.split(":", 1) for part in text.split("|"))  # type: ignore[misc]


def test_a_signature_says_what_the_result_is(tiny: Warehouse) -> None:
    (spa,) = _study(tiny, "spa(n=50)").signatures
    assert _signature(spa) == {
        "measure": "spa(n=50)",
        "testset": TESTSET,
        "lp": LP,
        "human": "mqm",
        "reference": "refA",
        "n_systems": "3",
        "n_metrics": "5",
        "n_segments": "4/5",
        "n_missing": "3",
        "n_pairs": "3",
        "n_distinct": _signature(spa)["n_distinct"],
        "system_score": "judged-mean",
        "resamples": "50",
        "seed": "0",
        "p_value": "one_sided,ge,uncorrected",
        "scorehouse": program_version(),
    }


def test_a_signature_names_everything_that_differs_from_the_default(tiny: Warehouse) -> None:
    asked = {"domain": ("news",), "metrics": ("F*",), "systems": ("[ABC]*",), "kind": "reference-free"}
    parsed = [parse_measure("pa")]
    options = Options(system_score="judged-mean", raw_ties=True, round_human=2)
    (found,) = study(tiny, Slice(TESTSET, LP, **asked), parsed, options).signatures  # type: ignore[arg-type]
    parts = _signature(found)
    assert (parts["domain"], parts["metrics"], parts["systems"]) == ("news", "F*", "[ABC]*")
    assert (parts["only"], parts["system_score"]) == ("reference-free", "judged-mean")
    assert (parts["ties"], parts["round_human"]) == ("raw_floats", "2")
    assert "seed" not in parts


def test_equal_questions_have_equal_signatures_and_others_have_not(tiny: Warehouse) -> None:
    first, again = _study(tiny, "spa").signatures, _study(tiny, "spa(n=1000)").signatures
    assert first == again
    others = [_study(tiny, "spa(n=999)"), _study(tiny, "spa", segments="1-4"), _study(tiny, "spa", metrics=("F*",))]
    assert len({*first, *(other.signatures[0] for other in others)}) == 4


# ---------------------------------------------------------------- who takes part


def test_an_explanation_says_in_out_or_partly(tiny: Warehouse) -> None:
    measures = [parse_measure("pearson"), parse_measure("acc_eq(by=item)")]
    frame = explanation(tiny, Slice(TESTSET, LP), measures).frame
    assert frame.columns == ["kind", "name", "included", "reason"]
    rows = {name: (part, why) for _, name, part, why in frame.rows()}
    assert rows["Ash"] == rows["Fine-src"] == ("yes", "")
    assert rows["refA"] == ("no", "the reference that the metrics use")
    assert rows["Only-src"] == ("partly", "pearson: included; acc_eq(by=item): no segment scores")
    order = [(kind == "metric", ("yes", "partly", "no").index(part), name) for kind, name, part, _ in frame.rows()]
    assert order == sorted(order)


def test_what_is_left_out_is_counted_or_named(simulated_warehouse: Warehouse) -> None:
    (result,) = study(simulated_warehouse, Slice("sim24", "en-de"), [parse_measure("pa")], Options()).results
    assert excluded(result, verbose=False) == [
        f"2 of 17 systems are excluded ({option('explain', True)} says why)",
        f"3 of 18 metrics are excluded ({option('explain', True)} says why)",
    ]
    assert excluded(result, verbose=True) == [
        "1 system is excluded, not judged by mqm: refB",
        "1 system is excluded, the reference that the metrics use: refA",
        "3 metrics are excluded, computed with refB, not with "
        "reference refA: Kestrel-24-refB, simBLEU-refB, simchrF-refB",
    ]


# ---------------------------------------------------------------- pair counts


def test_counts_name_metrics_without_segments_and_have_a_signature(tiny: Warehouse) -> None:
    found = pair_counts(tiny, Slice(TESTSET, LP), "none", 0.5)
    assert found.notes[0] == "Only-src is excluded: no segment scores"
    assert found.frame["metric"].to_list() == ["Copy-src", "Fine-src", "Flat-src", "Rough-refA", "Wrong-src"]
    assert found.signature.startswith("counts:pairs(by=none, epsilon=0.5)|testset:tiny24|lp:en-de|human:mqm|")
    assert found.frame["epsilon"].unique().to_list() == [0.5]


def test_counts_add_up_to_all_pairs_and_carry_the_accuracy(simulated_warehouse: Warehouse) -> None:
    counts = pair_counts(simulated_warehouse, Slice("sim24", "cs-uk"), "item").frame
    n = counts.select(pl.sum_horizontal("^n_.*$"))["n_concordant"]
    accuracy = counts.select("metric", value=(pl.col("n_concordant") + pl.col("n_tied_both")) / n)
    means = dict(accuracy.group_by("metric").mean().iter_rows())
    frame = rank(simulated_warehouse, "sim24", "cs-uk", ["acc23(by=item)"])
    for metric, value in frame.select("metric", "value").iter_rows():
        assert means[metric] == pytest.approx(value, rel=1e-12)


def test_the_public_names_are_those_of_the_documentation() -> None:
    assert dir(metaeval) == sorted(metaeval.__all__)
    for name in metaeval.__all__:
        assert getattr(metaeval, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        metaeval.nothing  # noqa: B018


def test_a_score_table_of_one_system_cannot_be_ranked_but_is_explained(tmp_path: Path) -> None:
    tables = {"One-src": ScoreTable(systems=("Ash",), seg=np.zeros((1, 5)))}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        measures = ["acc_eq(by=item)", "spa", "pearson", "pa", "pdp", "tau_b(by=item)", "pearson(by=none)"]
        with pytest.raises(QuestionError, match=r"no metric of tiny24 en-de can be ranked: 1 excluded, no scores"):
            rank(warehouse, TESTSET, LP, measures)
        assert ranking(_study(warehouse, *measures)).is_empty()
        assert f"pa: no metric can be ranked ({option('explain', True)} says why)" in _study(warehouse, "pa").notes
        rows = explanation(warehouse, Slice(TESTSET, LP), [parse_measure("acc_eq(by=item)")]).frame.rows()
    assert ("metric", "One-src", "no", "no scores for the output of Beech, Cherry") in rows


def test_a_ranking_without_metrics_is_refused_with_the_commonest_reasons(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError) as raised:
        rank(simulated_warehouse, "sim24", "cs-uk", ["pa"], metrics=["*-src"], kind="reference-based")
    message = str(raised.value)
    assert message.startswith("no metric of sim24 cs-uk can be ranked: 15 excluded, ")
    frame = explanation(
        simulated_warehouse, Slice("sim24", "cs-uk", metrics=("*-src",), kind="reference-based"), [parse_measure("pa")]
    ).frame
    (why, n), *_ = frame.filter(kind="metric")["reason"].value_counts(sort=True).rows()
    assert f"{n} {why}" in message


def test_a_reference_that_no_metric_compared_with_is_reported(tiny: Warehouse) -> None:
    found = _study(tiny, "pa", "acc_eq(by=item)", metrics=("Fine-src", "Wrong-src"), reference="refA")
    line = (
        "no included metric uses reference refA, so only reference-free ones are left; "
        "tiny24 en-de has metrics with refA"
    )
    assert found.notes.count(line) == 1
    assert not any("uses reference" in note for note in _study(tiny, "pa", reference="refA").notes)
    assert not any("uses reference" in note for note in _study(tiny, "pa", metrics=("Fine-src",)).notes)


@pytest.mark.parametrize("kind", ["system", "metric"])
def test_what_is_named_exactly_and_excluded_is_told_by_name(kind: str, simulated_warehouse: Warehouse) -> None:
    found = explanation(simulated_warehouse, Slice("sim24", "en-de", kind="reference-based"), [parse_measure("pa")])
    out = found.frame.filter(kind=kind, included="no").row(0, named=True)
    asked: Any = {"kind": "reference-based", f"{kind}s": ["*", out["name"]]}
    notes = metaeval.rank(simulated_warehouse, "sim24", "en-de", "pa", **asked).notes
    assert [note for note in notes if " is excluded: " in note] == [f"{out['name']} is excluded: {out['reason']}"]
    asked[f"{kind}s"] = ["*"]
    assert not any(
        " is excluded: " in note for note in metaeval.rank(simulated_warehouse, "sim24", "en-de", "pa", **asked).notes
    )


@pytest.mark.slow
def test_where_no_metric_can_be_ranked_every_evaluation_set_is_told(tmp_path: Path) -> None:
    for lp, humans in (("en-de", None), ("en-fr", None), ("en-cs", {})):
        root = tiny_layout(tmp_path / "layout", lp=lp, humans=humans, facts=False)
    with tiny_warehouse(tmp_path, root) as warehouse, pytest.raises(QuestionError) as raised:
        metaeval.rank(warehouse, TESTSET, "all", "acc_eq(by=item)", metrics="Only-src", human="mqm")
    message = str(raised.value)
    assert message.startswith("no metric of tiny24 en-de can be ranked: ")
    assert message.endswith("; nor of tiny24 en-fr; without a human score: tiny24 en-cs")


@pytest.fixture(scope="module", params=["all levels", "no segments", "no scores"])
def not_submitted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """What metrics lack that were not submitted to the task, and the task, which has no others."""
    folder, lacking = tmp_path_factory.mktemp("lacking"), request.param
    tables = {}
    for name, table in metric_tables().items():
        if table.seg is not None and table.sys is not None:
            n = int(lacking == "no scores")
            seg = table.seg if lacking == "all levels" else None
            tables[name] = ScoreTable(table.systems[n:], seg=seg, sys=table.sys[n:])
    with tiny_warehouse(folder, tiny_layout(folder / "layout", metrics=tables)) as warehouse:
        path = warehouse.path
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE internal.entry SET status = 'no entry'")
    with Warehouse.open(path) as warehouse:
        yield lacking, warehouse


@pytest.mark.parametrize("measure", ["pearson", "spa", "acc_eq(by=item)"])
def test_a_way_out_is_named_only_where_something_remains(not_submitted: Any, measure: str) -> None:
    lacking, warehouse = not_submitted
    with pytest.raises(QuestionError) as raised:
        metaeval.rank(warehouse, TESTSET, LP, measure)
    hint = f"included by {option('status', 'all')}"
    by_systems = f"{hint} with pearson or pa, which rank by system scores"
    helps = lacking == "all levels" or (lacking == "no segments" and measure == "pearson")
    assert (hint in raised.value.hints) == helps
    assert (by_systems in raised.value.hints) == (lacking == "no segments" and measure != "pearson")
    if helps:
        assert metaeval.rank(warehouse, TESTSET, LP, measure, status="all").frame["rank"].count()
    if by_systems in raised.value.hints:
        assert metaeval.rank(warehouse, TESTSET, LP, "pearson", status="all").frame["rank"].count()
    for question in ("sample", "autorank"):
        with pytest.raises(QuestionError) if lacking != "all levels" else nullcontext():
            getattr(metaeval, question)(warehouse, TESTSET, LP, status="all")
        with pytest.raises(QuestionError) as refused:
            getattr(metaeval, question)(warehouse, TESTSET, LP)
        assert any("included by" in one for one in refused.value.hints) == (lacking == "all levels")


def test_a_threshold_of_direct_assessment_is_told_on_other_human_scores() -> None:
    for human in ("mqm", "mqm.merged", "wmt-z"):
        assert human in (parse_measure("kendall_like").remark_on(human) or "").split()
    for human, threshold in (("wmt-raw", ""), ("esa", ""), ("mqm", "(threshold=5)"), (None, "")):
        assert parse_measure(f"kendall_like{threshold}").remark_on(human) is None, (human, threshold)


def test_the_remark_on_a_threshold_is_in_the_notes_of_a_ranking(tiny: Warehouse) -> None:
    line = "kendall_like: a threshold of 25 is meant for raw direct assessment from 0 to 100, not for mqm"
    assert line in _study(tiny, "kendall_like").notes


def test_human_scores_apart_by_float_noise_are_counted_beside_the_value(tmp_path: Path) -> None:
    systems = ("A", "B", "C")
    human = np.array([[0.3, 0.1 + 0.2], [0.1 + 0.2, -1.0], [-2.0, -3.0]])
    layout = tiny_layout(
        tmp_path / "in",
        systems=systems,
        documents=(("news", "a"), ("news", "b")),
        humans={"mqm": ScoreTable(systems, seg=human, sys=human.mean(axis=1))},
        metrics={"Fine-src": ScoreTable(systems, seg=human + 1, sys=human.mean(axis=1) + 1)},
        texts=False,
    )
    with tiny_warehouse(tmp_path, layout) as warehouse:
        for measure, n_pairs in (("acc_eq", 1), ("tau_eq(by=none)", 2), ("acc_eq(by=system)", 1)):
            raw, rounded = (
                study(warehouse, Slice(TESTSET, LP), [parse_measure(measure)], Options(round_human=digits)).notes
                for digits in (None, 6)
            )
            (note,) = [note for note in raw if "floating-point error" in note]
            assert f": {n_pairs} pair" in note, measure
            assert not any("floating-point error" in note for note in rounded), measure


def test_the_error_for_several_sets_of_system_scores_alone_keeps_its_options_as_marks(tmp_path: Path) -> None:
    for lp in ("en-de", "en-fr"):
        means = ScoreTable(SYSTEMS, sys=np.arange(len(SYSTEMS), dtype=float))
        root = tiny_layout(tmp_path / "layout", lp=lp, metrics={"Fine-refA": means})
    with tiny_warehouse(tmp_path, root) as warehouse, pytest.raises(QuestionError) as caught:
        metaeval.rank(warehouse, TESTSET, "all", "acc_eq(by=item)")
    hint = f"(pearson and pa rank by system scores; {option('rank.explain', True)} lists all); nor of tiny24 en-fr"
    assert hint in caught.value.text
