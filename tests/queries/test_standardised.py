"""Human scores standardised by annotator (NAME:z): by hand and by numpy, and what they are refused for."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest

from metaeval.measures.options import Options
from metaeval.results.inputs import Inputs
from metaeval.studies.significance.systems import compare_systems
from metaeval.studies.tables.means import domain_means, system_means
from queries.slices import Slice
from tests.helpers import real_data
from tests.warehouse.readers.samples import esa
from warehouse import QuestionError, Warehouse, load

SYSTEMS = ("Ash", "Beech")
RAW = {  # annotator: (system, item, score)
    "wide": (("Ash", 1, 100), ("Beech", 1, 0), ("Ash", 2, 50), ("Beech", 2, 50)),
    "mild": (("Ash", 1, 70), ("Beech", 1, 60), ("Ash", 3, 80), ("Beech", 3, 70)),
    "flat": (("Ash", 2, 90), ("Beech", 2, 90)),
    "once": (("Ash", 4, 10),),
}
ASKED = Slice("wmt24", "en-ja", human="esa:z")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("campaign")
    rows = [(user, *one) for user, judged in RAW.items() for one in judged]
    lines = [
        esa(system, item, score=str(score), user=user, document=f"doc-{item}", end=f"{1724876000 + n}.5")
        for n, (user, system, item, score) in enumerate(rows)
    ]
    lines.append(esa("Ash", 1, "BAD", score="3", user="wide", document="doc-1#bad"))  # counts in no mean
    path = folder / "wmt24" / "esa.csv"
    path.parent.mkdir()
    path.write_text("".join(lines), encoding="utf-8")
    assert load([path], folder / "campaign.duckdb").faults == []
    with Warehouse.open(folder / "campaign.duckdb") as opened:
        yield opened


def _expected() -> np.ndarray:
    """(systems, items): mean z over the annotators with a spread."""
    found: dict[tuple[str, int], list[float]] = {}
    for judged in RAW.values():
        values = np.array([score for _, _, score in judged], dtype=float)
        if len(values) > 1 and np.ptp(values):
            for (system, item, _), z in zip(judged, (values - values.mean()) / values.std(ddof=1), strict=True):
                found.setdefault((system, item), []).append(z)
    return np.array([[np.mean(found.get((system, item), np.nan)) for item in (1, 2, 3, 4)] for system in SYSTEMS])


@pytest.mark.slow
def test_scores_are_mean_z_of_annotators_with_a_spread(campaign: Warehouse) -> None:
    block = Inputs(campaign, ASKED).of_level("seg")
    assert block.systems == SYSTEMS
    assert block.human == pytest.approx(_expected(), nan_ok=True)
    assert block.human[:, 1].tolist() == [0.0, 0.0]  # of "wide" alone; "flat" has no spread
    assert np.isnan(block.human_submitted).all()


def test_sql_has_them_too(campaign: Warehouse) -> None:
    query = "SELECT system, segment, avg(z) FROM standardised_judgements WHERE human = 'esa' GROUP BY ALL"
    found = {(system, segment): z for system, segment, z in campaign.rows(query)}
    block = Inputs(campaign, ASKED).of_level("seg")
    places = [(one, segment) for one in block.systems for segment in block.segments.tolist()]
    assert [found.get(place, np.nan) for place in places] == pytest.approx(block.human.ravel(), nan_ok=True)


def test_what_is_left_out_is_counted(campaign: Warehouse) -> None:
    (note,) = Inputs(campaign, ASKED).of_level("seg").selection.notes
    assert note == (
        "esa is standardised by annotator: 8 judgements, 2 annotators; 3 judgements of 2 annotators with one judgement "
        "or no spread are excluded"
    )


def test_systems_are_ranked_by_means_of_z_and_the_signature_says_so(campaign: Warehouse) -> None:
    found = compare_systems(campaign, ASKED, None, "paired-t", Options())
    assert "|human:esa:z|" in found.signature
    by_name = dict(found.frame.select("system", "value").rows())
    assert [by_name[name] for name in SYSTEMS] == pytest.approx(np.nanmean(_expected(), axis=1))


def test_a_score_without_judgements_and_a_table_of_stored_scores_are_refused(
    campaign: Warehouse, simulated_warehouse: Warehouse
) -> None:
    with pytest.raises(QuestionError, match="unknown human score 'mqm:z'"):
        Inputs(campaign, Slice("wmt24", "en-ja", human="mqm:z")).of_level("seg")
    with pytest.raises(QuestionError, match="means shows scores as they are stored"):
        system_means(campaign, ASKED)


def test_means_by_domain_are_those_of_the_scores(campaign: Warehouse) -> None:
    frame = domain_means(campaign, ASKED).frame
    assert set(frame["domain"]) == {None}  # the file knows none
    by_name = dict(frame.select("system", "mean").iter_rows())
    assert [by_name[name] for name in SYSTEMS] == pytest.approx(np.nanmean(_expected(), axis=1))
    assert frame["n"].to_list() == [3, 3]


@pytest.mark.slow
def test_real_z_is_that_of_plain_loops(tmp_path: Path) -> None:
    """WMT24's ESA. No release read here has both annotators and z, so that published z (wmt-z) cannot be compared."""
    load(sorted(real_data("wmt24-news-systems", "humeval").glob("esa_*.csv")), tmp_path / "w.duckdb")
    query = "SELECT lp, rater, system, segment, value FROM judgements WHERE human = 'esa' AND status = 'valid'"
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        rows = warehouse.rows(query)
        lps = sorted({row[0] for row in rows})
        blocks = {lp: Inputs(warehouse, Slice("wmt24", lp, human="esa:z")).of_level("seg") for lp in lps}
    own, outputs = defaultdict(list), defaultdict(list)
    for lp, rater, *_, value in rows:
        own[lp, rater].append(value)
    scale = {who: (fmean(one), stdev(one)) for who, one in own.items() if len(one) > 1 and len(set(one)) > 1}
    for lp, rater, system, segment, value in rows:
        if (lp, rater) in scale:
            mean, deviation = scale[lp, rater]
            outputs[lp, system, segment].append((value - mean) / deviation)
    n = 0
    for lp, block in blocks.items():
        expected = [
            [fmean(outputs.get((lp, one, k), [np.nan])) for k in block.segments.tolist()] for one in block.systems
        ]
        assert block.human == pytest.approx(np.array(expected), nan_ok=True, abs=1e-9)
        n += int((~np.isnan(block.human)).sum())
    assert n > 20_000
