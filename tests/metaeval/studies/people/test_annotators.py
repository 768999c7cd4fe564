"""Annotators of a small campaign, from its file to the tables: counted by hand; and what is refused."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import metaeval
from metaeval.studies.people.annotators import pace
from metaeval.studies.people.headlines import of_annotators
from tests.helpers import tiny_warehouse
from tests.warehouse.readers.samples import esa
from warehouse import LoadHints, QuestionError, Warehouse, load


@pytest.mark.slow
def test_seconds_breaks_and_change_are_those_of_the_times(tmp_path: Path) -> None:
    """Six gaps of 40 seconds, then six of 20, with a break of an hour between; another annotator judged once."""
    times, now = [0], 0
    for gap in (*[40] * 6, 3600, *[20] * 6):
        now += gap
        times.append(now)
    lines = [
        esa("Ash", n + 1, score="50", user="u1", document=f"d{n}", end=f"{1724876000 + time}.0")
        for n, time in enumerate(times)
    ]
    lines.append(esa("Ash", 99, score="50", user="u2", document="d99", end="1724876000.0"))
    path = tmp_path / "wmt24" / "esa.csv"
    path.parent.mkdir()
    path.write_text("".join(lines), encoding="utf-8")
    assert load([path], tmp_path / "paced.duckdb").faults == []
    with Warehouse.open(tmp_path / "paced.duckdb") as opened:
        first, second = pace(opened, "wmt24", "en-ja").frame.rows(named=True)
    assert (first["annotator"], first["n_judgements"], first["n_gaps"], first["n_breaks"]) == ("u1", 14, 12, 1)
    assert (first["seconds"], first["change"]) == (30.0, 0.5)
    assert (second["n_gaps"], second["seconds"], second["change"]) == (0, None, None)


def test_without_times_there_is_no_pace(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as opened, pytest.raises(QuestionError):
        pace(opened, "tiny24", "en-de")


SET = ("wmt24", "en-ja")
SYSTEMS = ("Ash", "Beech", "Cherry")
USERS = ("u1", "u2", "u3", "u4", "u5")


def _score(user: int, system: int, item: int) -> int:
    """Scores rise by system; u2 is 5 below u1 on the items that they share; u3's fall over time."""
    base = 60 + 10 * system + (item * 7) % 5
    return base - 5 * (user == 1) - 2 * item * (user == 2)


def _rows() -> list[tuple[int, int, int, int]]:
    """User, system, item, score: u1 and u2 judge items 1 to 4, the others some of their own, in turn."""
    items = {0: (1, 2, 3, 4), 1: (1, 2, 3, 4), 2: (5, 6, 7, 8, 9, 10), 3: (11, 12), 4: (13, 14)}
    return [
        (user, system, item, _score(user, system, item))
        for user in items
        for item in items[user]
        for system in range(len(SYSTEMS))
    ]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("campaign")
    lines = [
        esa(
            SYSTEMS[system], item, score=str(score), user=USERS[user], document=f"doc-{item}", end=f"{1724876000 + n}.5"
        )
        for n, (user, system, item, score) in enumerate(_rows())
    ]
    lines.append(esa("Ash", 1, "BAD", score="3", user="u2", document="doc-1#bad"))
    lines.append(esa("ende-tutorial1", 1000001, user="u3", document="ende-tutorial1"))
    path = folder / "wmt24" / "esa.csv"
    path.parent.mkdir()
    path.write_text("".join(lines), encoding="utf-8")
    report = load([path], folder / "campaign.duckdb")
    assert report.faults == []
    with Warehouse.open(folder / "campaign.duckdb") as opened:
        yield opened


def _count_types(frame: pl.DataFrame) -> set[pl.DataType]:
    return {kind for name, kind in frame.schema.items() if name.startswith("n_")}


@pytest.mark.slow
def test_each_annotator_is_counted_with_mean_spread_and_what_does_not_count(campaign: Warehouse) -> None:
    frame = metaeval.annotators(campaign, *SET, resamples=50).frame
    assert _count_types(frame) == {pl.Int64}
    assert frame["annotator"].to_list() == list(USERS)
    assert frame["n_judgements"].to_list() == frame["n_outputs"].to_list() == [12, 12, 18, 6, 6]
    assert frame["n_excluded"].to_list() == [0, 1, 1, 0, 0]
    assert frame["n_shared"].to_list() == [12, 12, 0, 0, 0]
    for number, row in enumerate(frame.rows(named=True)):
        own = np.array([score for user, _, _, score in _rows() if user == number], dtype=float)
        assert (row["mean"], row["sd"]) == pytest.approx((own.mean(), own.std(ddof=1)))
    assert frame["difference"].to_list() == [5.0, -5.0, None, None, None]
    total = math.fsum(n * lenient for n, lenient in frame.select("n_judgements", "leniency").rows())
    assert total == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_drift_is_the_slope_of_residuals_over_the_order_of_annotation(campaign: Warehouse) -> None:
    rows = _rows()
    means = [np.mean([score for _, system, _, score in rows if system == one]) for one in range(3)]
    own = [score - means[system] for user, system, _, score in rows if user == 2]
    expected = stats.linregress(np.linspace(0, 1, len(own)), own).slope
    found = metaeval.annotators(campaign, *SET, resamples=200).frame.row(2, named=True)
    assert found["drift"] == pytest.approx(expected, abs=1e-9)
    assert found["drift_low"] < found["drift"] < found["drift_high"]
    of_few_documents = metaeval.annotators(campaign, *SET, resamples=20).frame.row(0, named=True)
    assert of_few_documents["drift"] is not None
    assert of_few_documents["drift_low"] is None


def test_pairs_are_those_with_outputs_in_common(campaign: Warehouse) -> None:
    frame = metaeval.annotators(campaign, *SET, view="pairs").frame
    (row,) = frame.rows(named=True)
    assert _count_types(frame) == {pl.Int64}
    assert (row["annotator_a"], row["annotator_b"], row["n_shared"]) == ("u1", "u2", 12)
    assert (row["difference"], row["distance"]) == (5.0, 5.0)
    a = np.array([score for user, _, _, score in _rows() if user == 0], dtype=float)
    assert row["tau_b"] == pytest.approx(1.0)
    both = np.concatenate([a, a - 5])
    # observed: 2/24 * 12 * 2 * 12.5; expected: 2 SS / 23
    observed, expected = 25.0, 2 * ((both - both.mean()) ** 2).sum() / 23
    assert row["alpha"] == pytest.approx(1 - observed / expected)


def test_a_human_score_has_agreement_and_reliability_in_one_row(campaign: Warehouse) -> None:
    found = metaeval.annotators(campaign, *SET, view="sets", resamples=100)
    assert _count_types(found.frame) == {pl.Int64}
    (row,) = found.frame.rows(named=True)
    assert (row["n_annotators"], row["n_judgements"], row["n_outputs"], row["n_shared"]) == (5, 54, 42, 12)
    assert (row["n_excluded"], row["halves"], row["n_systems"]) == (2, "annotators", 3.0)
    (pair,) = metaeval.annotators(campaign, *SET, view="pairs").frame["alpha"]
    assert row["alpha"] == pytest.approx(pair)
    assert row["alpha_low"] <= row["alpha"] <= row["alpha_high"]
    assert row["system_r"] > 0.9
    assert "systems:all_judged|n_judgements:54|n_annotators:5" in found.signature


def test_repeats_and_fillers_count_and_are_named(tmp_path: Path) -> None:
    lines = [
        esa(system, 1, score=str(score), user=user, document=f"doc-1{mark}")
        for user, mark in (("u1", ""), ("u2", "#dup"), ("u3", "#incomplete"))
        for system, score in (("Ash", 50), ("Beech", 70))
    ]
    path = tmp_path / "wmt24" / "esa.csv"
    path.parent.mkdir()
    path.write_text("".join(lines), encoding="utf-8")
    assert load([path], tmp_path / "campaign.duckdb").faults == []
    with Warehouse.open(tmp_path / "campaign.duckdb") as opened:
        found = metaeval.annotators(opened, *SET, view="sets", resamples=20)
    (row,) = found.frame.rows(named=True)
    assert (row["n_judgements"], row["n_outputs"], row["n_shared"], row["alpha"]) == (6, 2, 2, 1.0)
    assert "|judgements:valid,repeat,filler|" in found.signature
    counts = "(2 repeats, 2 fillers)"
    assert f"wmt24 en-ja esa {counts}: repeats and fillers count although they are no part of the human score" in (
        found.notes
    )


def test_columns_of_ratings_are_named_where_no_annotators_are_known(tmp_path: Path) -> None:
    scores = tmp_path / "wmt23" / "human-scores"
    scores.mkdir(parents=True)
    for column in ("mqm", "mqm-col1", "mqm-col2"):
        (scores / f"en-de.{column}.seg.score").write_text("Ash\t-1\nBeech\t-2\n", encoding="utf-8")
    assert load([tmp_path / "wmt23"], tmp_path / "columns.duckdb").faults == []
    hint = r"only their scores \(mqm-col1, mqm-col2 of wmt23 en-de are ratings of the same outputs by different"
    with Warehouse.open(tmp_path / "columns.duckdb") as opened, pytest.raises(QuestionError, match=hint):
        metaeval.annotators(opened, "wmt23", "en-de")


@pytest.mark.slow
def test_what_is_not_on_file_is_said(simulated_warehouse: Warehouse) -> None:
    sets = metaeval.annotators(simulated_warehouse, resamples=20).frame
    assert sets["lp"].n_unique() > 1
    found = metaeval.annotators(simulated_warehouse, "sim24", "en-de", resamples=20)
    assert found.frame["annotator"].to_list() == [f"rater{number}" for number in range(1, 6)]
    assert found.frame.select("drift", "difference").null_count().row(0) == (5, 5)  # one annotator an output, no times
    assert "sim24 en-de mqm.merged: drift is unknown, because the order of annotation is" in found.notes
    with pytest.raises(QuestionError, match="sim24 en-de: no two annotators judged the same output"):
        metaeval.annotators(simulated_warehouse, "sim24", "en-de", view="pairs")


def test_names_without_judgements_are_refused(simulated_warehouse: Warehouse) -> None:
    for given, words in (
        (("wmt42",), "unknown test set 'wmt42'"),
        (("sim24", "en-xx"), "unknown language pair 'en-xx' for sim24"),
        (("sim21", "en-de"), "no single judgements of sim21 en-de are loaded"),
    ):
        with pytest.raises(QuestionError, match=words):
            metaeval.annotators(simulated_warehouse, *given)
    with pytest.raises(QuestionError, match="unknown human score with judgements 'mqm' for sim24 en-de"):
        metaeval.annotators(simulated_warehouse, "sim24", "en-de", human="mqm")


@pytest.mark.slow
def test_pairs_agree_on_spans(tmp_path: Path) -> None:
    """One span of b covers two of a's: two of a's three are found, and one of b's four."""
    rows = (
        ("a", 1, "<v>Ein</v> kleiner Tag"),
        ("a", 1, "Ein <v>kleiner</v> Tag"),
        ("a", 2, "Noch <v>ein</v> Tag"),
        ("b", 1, "<v>Ein klei</v>ner Tag"),
        ("b", 1, "Ein kleiner <v>Tag</v>"),
        ("b", 2, "<v>Noch</v> ein Tag"),
        ("b", 2, "Noch ein <v>Tag</v>"),
    )
    columns = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
    lines = [f"Ash\td\t{n}\t{n}\t{rater}\tOne day\t{text}\tFluency/Grammar\tMinor\t{{}}" for rater, n, text in rows]
    path = tmp_path / "mqm.tsv"
    path.write_text("\n".join([columns, *lines]) + "\n")
    load([path], tmp_path / "w.duckdb", given=LoadHints(testset="wmt99", lp="en-de"))
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = metaeval.annotators(warehouse, view="pairs")
    (row,) = found.frame.rows(named=True)
    assert (row["annotator_a"], row["annotator_b"], row["n_shared"]) == ("a", "b", 2)
    assert row["spans_f"] == pytest.approx(2 * (2 / 3) * (1 / 4) / (2 / 3 + 1 / 4))
    assert "spans:mp,matching=many_to_many" in found.signature
    assert not [note for note in found.notes if "drift" in note]


@pytest.mark.parametrize(
    ("drifting", "tested", "sentence"),
    [
        (0, 0, "Whether any drifts over time is unknown."),
        (0, 40, "None drifts over time (95% intervals)."),
        (2, 40, "2 of 40 drift over time, no more than by chance."),
        (1, 10, "a00 drifts over time (95% intervals)."),
        (3, 40, "a00, a01 and a02 drift over time (95% intervals)."),
    ],
)
def test_the_sentence_says_whether_drift_is_known_and_more_than_chance(
    drifting: int, tested: int, sentence: str
) -> None:
    names, leniency = [f"a{one:02}" for one in range(40)], [float(one) for one in range(40)]
    low = [0.1 if one < drifting else -0.1 if one < tested else None for one in range(40)]
    frame = pl.DataFrame(
        {"annotator": names, "leniency": leniency, "drift_low": low, "drift_high": [one and 0.2 for one in low]},
        schema_overrides={"drift_low": pl.Float64, "drift_high": pl.Float64},
    )
    start = f"How well annotators of {' '.join(SET)} esa agree cannot be measured: no two judged the same output."
    assert (
        of_annotators(frame, None, [_on_agreement()])
        == f"{start} Leniency ranges from +0 (a00) to +39 (a39). {sentence}"
    )


def _on_agreement(alpha: float | None = None, reach: float = 0.01, **more: Any) -> dict[str, Any]:
    """A row of view sets."""
    ends = {"alpha_low": None, "alpha_high": None} if alpha is None else {}
    if alpha is not None:
        ends = {"alpha_low": alpha - reach, "alpha_high": alpha + reach}
    place = {"testset": SET[0], "lp": SET[1], "human": "esa"}
    counts = {"n_annotators": 4, "n_outputs": 90, "n_shared": 0 if alpha is None else 30}
    return {**place, **counts, "alpha": alpha, **ends, "system_r": 0.5, **more}


@pytest.mark.parametrize(
    ("alpha", "reach", "verdict", "limit"),
    [
        (0.9, 0.01, "agree well enough", "reaches the limit of .8 (reliable)"),
        (0.81, 0.05, "probably agree well enough", "reaches the limit of .8 (reliable)"),
        (0.7, 0.01, "agree just enough", "reaches only the limit of .667 (tentative)"),
        (0.666, 0.1, "probably agree too little", "is below the limit of .667 (tentative)"),
        (-0.2, 0.1, "agree too little", "is below the limit of .667 (tentative)"),
    ],
)
def test_the_sentence_says_whether_annotators_agree_enough(
    alpha: float, reach: float, verdict: str, limit: str
) -> None:
    frame = pl.DataFrame({"annotator": ["a", "b"], "leniency": [-1.5, 2.0], "drift_low": [None, None]})
    ends = f"[{alpha - reach:.3f}, {alpha + reach:.3f}]"
    said = of_annotators(frame.with_columns(drift_high=None), None, [_on_agreement(alpha, reach)])
    start = f"Annotators of {' '.join(SET)} esa {verdict}: Krippendorff's alpha {alpha:.3f} {ends} on 30 of 90 outputs"
    assert said.startswith(f"{start} {limit}. Leniency ranges from -1.5")
    assert len(said) <= 200


def test_the_sentence_on_variance_names_the_share_of_systems_first() -> None:
    """The interaction is no variance between systems, which is small but decides how well systems are told apart."""
    shares = {"system": 0.058, "segment": 0.098, "system:segment": 0.465, "segment:rater": 0.314, "residual": 0.066}
    frame = pl.DataFrame({"component": [*shares], "share": [*shares.values()]})
    said = "Of the variance of single judgements, 6% is between systems, 46% is the interaction of systems and segments"
    assert of_annotators(frame, "variance") == f"{said} and 31% is between annotators of a segment."
    least = frame.filter(pl.col("component").is_in(["segment", "residual"]))
    assert of_annotators(least, "variance").endswith(", 10% is between segments and 7% is the residual.")


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (
            [_on_agreement(0.1), _on_agreement(0.2), _on_agreement(), _on_agreement(n_annotators=None)],
            "Annotators agree too little for both human scores with shared outputs: Krippendorff's alpha is 0.100 to "
            "0.200 on 33% of outputs, below the limit of .667 (tentative). The other 2 cannot be measured.",
        ),
        (
            [_on_agreement(0.9), _on_agreement(0.7), _on_agreement(0.3)],
            "By Krippendorff's alpha, of 3 human scores with shared outputs, annotators agree reliably (.8) "
            "for 1, tentatively (.667) for 1, too little for 1.",
        ),
        (
            [_on_agreement(0.9), _on_agreement(0.9), _on_agreement(0.9)],
            "Annotators agree well enough for all 3 human scores with shared outputs: Krippendorff's alpha is 0.900 "
            "on 33% of outputs, the limit is .8 (reliable).",
        ),
        (
            [_on_agreement(0.5, 0.2, n_shared=4), *[_on_agreement(0.1)] * 9],
            "Annotators agree too little for all 10 human scores with shared outputs (for 1 only probably): "
            "Krippendorff's alpha is 0.100 to 0.500 on 4% to 33% of outputs, below the limit of .667 (tentative).",
        ),
        (
            [_on_agreement(0.6, 0.2), _on_agreement(0.5, 0.2)],
            "Annotators probably agree too little for both human scores with shared outputs: Krippendorff's alpha is "
            "0.500 to 0.600 on 33% of outputs, below the limit of .667 (tentative).",
        ),
        (
            [_on_agreement(0.9, 0.2), _on_agreement(0.3), _on_agreement(0.2)],
            "By Krippendorff's alpha, of 3 human scores with shared outputs, annotators agree reliably (.8) "
            "for 1 (1 probably), tentatively (.667) for none, too little for 2.",
        ),
        (
            [_on_agreement(alpha, 0.2) for alpha in (0.9, 0.7, 0.5) for _ in range(100)],
            "By Krippendorff's alpha, of 300 human scores with shared outputs, annotators agree reliably (.8) for 100 "
            "(100 probably), tentatively (.667) for 100 (100 probably), too little for 100 (100 probably).",
        ),
        (
            [_on_agreement(0.1), _on_agreement()],
            f"Annotators of {' '.join(SET)} esa agree too little: Krippendorff's alpha 0.100 [0.090, 0.110] on 30 of "
            "90 outputs is below the limit of .667 (tentative). The other cannot be measured.",
        ),
        (
            [_on_agreement(), _on_agreement(n_annotators=None, system_r=0.7)],
            "How well annotators agree can be measured for none of 2 human scores: annotators are unknown, or no two "
            "judged the same output. System scores of random halves correlate at 0.500 to 0.700.",
        ),
    ],
)
def test_the_sentence_on_several_human_scores_counts_those_without_agreement(
    scores: list[dict[str, Any]], sentence: str
) -> None:
    assert of_annotators(pl.DataFrame(scores), None, scores) == sentence
