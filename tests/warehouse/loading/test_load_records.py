"""Files whose rows say what they are of: how several of them make one evaluation set, and what a load refuses."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import mqm_table
from tests.sharing import written
from tests.warehouse.building import Loaded, ask, small
from tests.warehouse.loading.published import (
    BLEU,
    HUMAN,
    human,
    judged,
    metric,
    seg_scores,
    write_task,
)
from warehouse import LoadReport, load
from warehouse.export.mtme import ScoreTable, write_evalset
from warehouse.readers.claims import LoadHints
from warehouse.wording import option


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_task(tmp_path / "wmt20-metrics")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "scores.duckdb"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("loaded")
    task = write_task(folder / "wmt20-metrics")
    return Loaded(task, folder / "scores.duckdb", load([task], folder / "scores.duckdb"))


@pytest.fixture
def copy(loaded: Loaded, database: Path) -> Path:
    """The warehouse that has loaded the task, to be changed."""
    return written(database, loaded.database.read_bytes())


def statuses(report: LoadReport) -> dict[tuple[str, str], str]:
    return {(item.testset, item.lp): item.status for item in report.evalsets}


def told(report: LoadReport) -> list[tuple[str, int, str]]:
    return [(Path(fault.path).name, fault.line, fault.found) for fault in report.faults]


def test_human_and_metric_scores_meet_in_one_evaluation_set(loaded: Loaded) -> None:
    report, database = loaded.report, loaded.database
    assert report.is_clean, report.faults
    assert statuses(report) == {("wmt20", "en-de"): "loaded"}
    assert report.evalsets[0].n_rows == 3 + 9 + 18
    joined = ask(
        database,
        """
        SELECT s.system, s.segment, s.value, h.value
        FROM scores AS s
        JOIN human_scores AS h USING (testset, lp, system, segment)
        WHERE h.human = 'wmt-raw'
        ORDER BY ALL
        """,
    )
    assert joined == [
        (system, segment, value, 10 * value)
        for system, values in BLEU.items()
        for segment, value in enumerate(values, start=1)
    ]
    assert ask(database, "SELECT spelling, rule FROM system_spelling ORDER BY 1") == [
        ("A-B.1", "same letters and digits"),
        ("HUMAN-A", "declared alias"),
    ]
    assert ask(database, "SELECT name, canonical_name, kind FROM system ORDER BY 1") == [
        ("A_B.1", "a_b", "mt"),
        ("C.2", "c", "mt"),
        ("Human-A.0", "human-a.0", "human"),
    ]
    assert ask(database, "SELECT segment, position, document, index_in_document FROM segment ORDER BY 1") == [
        (1, 1, "n1", 1),
        (2, 2, "n1", 2),
        (3, 3, "n2", 1),
    ]
    assert ask(database, "SELECT DISTINCT n, status, rater FROM judgement") == [(2, "valid", None)]
    assert ask(database, "SELECT name, reference FROM scorer WHERE kind = 'metric'") == [("BLEU-ref", "ref")]


def test_the_same_files_again_change_nothing(loaded: Loaded) -> None:
    before = loaded.database.read_bytes()
    report = load([loaded.folder], loaded.database)
    assert statuses(report) == {("wmt20", "en-de"): "unchanged"}
    assert report.evalsets[0].n_unchanged == 3
    assert loaded.database.read_bytes() == before


@pytest.mark.slow
def test_a_changed_file_replaces_what_it_brought_and_nothing_else(task: Path, copy: Path) -> None:
    human(task).write_text(judged({**HUMAN, "C.2": (41.0, 51.0, 61.0)}))
    report = load([task], copy)
    assert statuses(report) == {("wmt20", "en-de"): "replaced"}
    assert report.evalsets[0].n_files == 1
    assert ask(copy, "SELECT value FROM human_scores WHERE human = 'wmt-raw' AND system = 'C.2' ORDER BY 1") == [
        (41.0,),
        (51.0,),
        (61.0,),
    ]
    assert ask(copy, "SELECT count(*), sum(value) FROM scores") == [(9, 45.0)]


@pytest.mark.slow
def test_a_file_brings_its_map_of_segments_along(task: Path, database: Path) -> None:
    report = load([metric(task)], database)
    assert report.is_clean, report.faults
    assert any("en-de.txt is also loaded, because" in note for note in report.notes)
    assert ask(database, "SELECT count(*) FROM segment WHERE position IS NOT NULL") == [(3,)]


@pytest.mark.slow
def test_a_broken_file_refuses_the_evaluation_sets_that_it_names_and_no_other(task: Path, database: Path) -> None:
    text = seg_scores(BLEU, "chrF") + seg_scores({"D.1": (1.0, "x", 2.0)}, "chrF", "en-cs")
    metric(task, "chrF.seg.score").write_text(text)
    metric(task, "TER.seg.score").write_text(seg_scores({"E.1": (1.0, 2.0, 3.0)}, "TER", "en-ru"))
    report = load([task], database)
    assert statuses(report) == {
        ("wmt20", "en-cs"): "refused",
        ("wmt20", "en-de"): "refused",
        ("wmt20", "en-ru"): "loaded",
    }
    assert [(name, line) for name, line, _ in told(report)] == [("chrF.seg.score", 11)]
    skipping = load([task], database, skip_broken=True)
    assert statuses(skipping)["wmt20", "en-de"] == "loaded"
    assert ask(database, "SELECT DISTINCT metric FROM scores WHERE lp = 'en-de'") == [("BLEU-ref",)]
    assert ask(database, "SELECT DISTINCT status FROM source WHERE origin LIKE '%chrF%'") == [("refused",)]


@pytest.mark.slow
def test_a_language_pair_that_a_changed_file_no_longer_has_is_taken_away(task: Path, database: Path) -> None:
    metric(task, "chrF.seg.score").write_text(
        seg_scores(BLEU, "chrF") + seg_scores({"D.1": (1, 2, 3)}, "chrF", "en-cs")
    )
    load([task], database)
    assert ask(database, "SELECT count(*) FROM scores WHERE lp = 'en-cs'") == [(3,)]
    metric(task, "chrF.seg.score").write_text(seg_scores(BLEU, "chrF"))
    report = load([task], database)
    assert report.is_clean
    assert statuses(report) == {("wmt20", "en-cs"): "removed", ("wmt20", "en-de"): "replaced"}
    assert ask(database, "SELECT count(*) FROM scores WHERE lp = 'en-cs'") == [(0,)]
    assert ask(database, "SELECT lp FROM evalsets") == [("en-de",)]
    assert statuses(load([task], database)) == {("wmt20", "en-de"): "unchanged"}


def _own_table(testsets: Sequence[str], n_segments: int, metric: str = "M") -> str:
    rows = [
        f"{testset}\ten-de\t{system}\t{segment}\t{segment % 5}\n"
        for testset in testsets
        for system in ("A", "B")
        for segment in range(1, n_segments + 1)
    ]
    return f"testset\tlp\tsystem\tsegment\t{metric}\n" + "".join(rows)


def test_what_a_table_no_longer_has_goes_with_its_test_set_and_segments(tmp_path: Path, database: Path) -> None:
    table, other = tmp_path / "mine.tsv", tmp_path / "other.tsv"
    table.write_text(_own_table(["alpha", "beta", "gamma"], 6))
    other.write_text(_own_table(["gamma"], 3, "N"))
    assert load([table, other], database).is_clean
    table.write_text(_own_table(["alpha"], 6))
    report = load([table, other], database)
    assert statuses(report) == {
        ("alpha", "en-de"): "replaced",
        ("beta", "en-de"): "removed",
        ("gamma", "en-de"): "replaced",
    }
    assert ask(database, "SELECT testset FROM testsets ORDER BY ALL") == [("alpha",), ("gamma",)]
    assert ask(database, "SELECT DISTINCT testset, metric FROM scores ORDER BY ALL") == [
        ("alpha", "M-ref"),
        ("gamma", "N-ref"),
    ]
    assert ask(database, "SELECT testset, max(segment) FROM segments GROUP BY ALL ORDER BY ALL") == [
        ("alpha", 6),
        ("gamma", 3),
    ]
    table.write_text(_own_table(["alpha"], 4))
    report = load([table], database)
    assert statuses(report) == {("alpha", "en-de"): "replaced"}
    assert report.notes == []  # the segments of before are not missing
    assert ask(database, "SELECT count(*), max(segment) FROM segments WHERE testset = 'alpha'") == [(4, 4)]
    assert statuses(load([table], database)) == {("alpha", "en-de"): "unchanged"}
    table.write_text(_own_table(["alpha", "beta"], 6))
    assert statuses(load([table], database))["beta", "en-de"] == "loaded"


@pytest.mark.slow
def test_systems_that_one_side_lacks_are_named_with_the_nearest(task: Path, database: Path) -> None:
    human(task).write_text(judged({**HUMAN, "CC.2": (1.0, 2.0, 3.0), "HUMAN-Q": (1.0, 2.0, 3.0)}))
    notes = load([task], database).notes
    assert "wmt20 en-de: 1 system judged by humans but scored by no metric: CC.2" in notes
    (line,) = [note for note in notes if "human translation" in note]
    assert line.startswith("wmt20 en-de: 1 human translation judged by humans but scored by no metric: HUMAN-Q")


def esa(rows_: Sequence[tuple[str, str, int, str, float, str]]) -> str:
    """Judgements as an annotation campaign of WMT24 exported them."""
    return "".join(
        f"{user},{system},{segment},{kind},eng,jpn,{score},{document},False,[],1724108643.0,1724108650.0\n"
        for user, system, segment, kind, score, document in rows_
    )


@pytest.mark.slow
def test_judgements_of_two_waves_make_one_score(tmp_path: Path, database: Path) -> None:
    folder = tmp_path / "wmt24-news-systems" / "humeval"
    folder.mkdir(parents=True)
    first, second = folder / "esa_generalMT2024_wave2.csv", folder / "esa_generalMT2024_wave3.csv"
    first.write_text(
        esa(
            [
                ("u1", "ende-tutorial1", 1000001, "TGT", 0, "ende-tutorial1"),
                ("u1", "S", 1, "TGT", 40, "news_1"),
                ("u1", "S", 1, "BAD", 5, "news_1"),
                ("u1", "T", 1, "TGT", 70, "news_1"),
            ]
        )
    )
    second.write_text(esa([("u2", "S", 1, "TGT", 60, "news_1"), ("u2", "S", 2, "TGT", 90, "news_1")]))
    report = load([folder], database)
    assert report.is_clean, report.faults
    assert report.evalsets[0].n_rows == 6
    assert ask(database, "SELECT system, value FROM human_scores WHERE value IS NOT NULL ORDER BY ALL") == [
        ("S", 50.0),
        ("S", 90.0),
        ("T", 70.0),
    ]
    assert ask(database, "SELECT status, count(*) FROM judgement GROUP BY 1 ORDER BY 1") == [
        ("bad", 1),
        ("tutorial", 1),
        ("valid", 4),
    ]
    assert ask(database, "SELECT name FROM system WHERE kind = 'qc'") == [("ende-tutorial1",)]
    assert set(statuses(load([folder], database)).values()) == {"unchanged"}
    second.write_text(esa([("u2", "S", 1, "TGT", 80, "news_1")]))
    assert set(statuses(load([folder], database)).values()) == {"replaced"}
    assert ask(database, "SELECT value FROM human_scores WHERE system = 'S' AND value IS NOT NULL") == [(60.0,)]
    second.write_text(esa([("u2", "S", 1, "TGT", 20, "news_1")]))
    alone = load([second], database)
    assert set(statuses(alone).values()) == {"refused"}
    assert ask(database, "SELECT value FROM human_scores WHERE system = 'S' AND value IS NOT NULL") == [(60.0,)]


@pytest.mark.slow
def test_scores_that_are_no_entry_stay_out_of_a_test_set_of_the_organisers(tmp_path: Path, database: Path) -> None:
    (small(tmp_path, testset="wmt23", humans={"mqm": mqm_table()}) / "testset.toml").unlink()
    folder = tmp_path / "wmt23-news-systems" / "scores"
    folder.mkdir(parents=True)
    (folder / "automatic-scores.tsv").write_text(
        "pair\tsystem\tid\tis_constrained\tmetric\tscore\nen-de\tAsh\t1\tTrue\tbleu-refA\t30.5\n"
    )
    report = load([tmp_path], database)
    assert report.is_clean, report.faults
    assert ask(database, "SELECT metric, status, is_own FROM metrics WHERE metric = 'bleu-refA'") == [
        ("bleu-refA", "no entry", False)
    ]


@pytest.mark.slow
def test_what_a_table_does_not_tell_is_asked_for_and_taken_from_the_user(tmp_path: Path, database: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("system,seg,score\nA,1,0.5\nB,1,0.25\n")
    given = LoadHints(testset="lab", lp="en-de", human="quality")
    for lacking, word in (
        (LoadHints(lp="en-de", human="quality"), "with testset"),
        (LoadHints(testset="wmt24", human="quality"), "with lp"),
        (LoadHints(testset="lab", lp="en-de"), "with human"),
    ):
        with pytest.raises(Exception, match=word):
            load([table], database, given=lacking)
    assert load([table], database, given=given).is_clean
    assert ask(database, "SELECT human, system, segment, value FROM human_scores ORDER BY ALL") == [
        ("quality", "A", 1, 0.5),
        ("quality", "B", 1, 0.25),
    ]


def test_half_an_archive_a_last_line_without_an_end_and_a_header_alone_are_refused(
    task: Path, tmp_path: Path, database: Path
) -> None:
    data = metric(task).read_bytes()
    metric(task).write_bytes(data[: len(data) // 2])
    header = "testset,lp,metric,system,score\n"
    (tmp_path / "mine.csv").write_text(f"{header}lab,en-de,M-src,A,0.5\nlab,en-de,M-src,B,0.")
    (tmp_path / "DA-newstest2019-decs-sys-nohy-scores.csv").write_text("LP SYSTEM HUMAN BLEU\n")
    report = load([task, *tmp_path.glob("*.csv")], database)
    assert statuses(report).get(("wmt20", "en-de")) == "refused"
    assert sorted((name, line, found.partition(":")[0]) for name, line, found in told(report)) == [
        ("BLEU.seg.score.gz", 0, "cannot be unpacked"),
        ("DA-newstest2019-decs-sys-nohy-scores.csv", 0, "no scores"),
        ("mine.csv", 3, "the last line has no line feed; the file may be truncated"),
    ]
    assert not database.exists() or ask(database, "SELECT count(*) FROM evalset") == [(0,)]


@pytest.mark.slow
def test_judgements_beside_published_scores_of_that_name_can_get_a_name_of_their_own(
    tmp_path: Path, database: Path
) -> None:
    """The mean of judgements need not be the published score; neither may stand for the other."""
    published = {"esa": ScoreTable(["S"], seg=np.array([[0.0, 41.0, 60.0]]))}
    write_evalset(tmp_path / "wmt24", "en-ja", documents=[("news", "d")] * 3, humans=published)
    wave = tmp_path / "esa_generalMT2024_wave2.csv"
    wave.write_text(esa([("u1", "S", 1, "TGT", 40, "d"), ("u1", "S", 2, "TGT", 60, "d")]))
    together = load([tmp_path / "wmt24", wave], database)
    assert load([tmp_path / "wmt24"], database).is_clean
    later = load([wave], database)
    for report in (together, later):
        told = {fault.way_out for fault in report.faults if fault.path == str(wave)}
        assert told == {f"to keep both, load this one with {option('human')} and another name"}
    assert load([wave], database, given=LoadHints(human="esa-campaign")).is_clean
    assert ask(database, "SELECT human, segment, value FROM human_scores WHERE segment > 1 ORDER BY ALL") == [
        ("esa", 2, 41.0),
        ("esa", 3, 60.0),
        ("esa-campaign", 2, 40.0),
        ("esa-campaign", 3, 60.0),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("skip_broken", [False, True])
def test_a_damaged_file_keeps_its_evaluation_set_out_as_far_as_its_lines_can_be_read(
    skip_broken: bool, tmp_path: Path, database: Path
) -> None:
    """Three damages, each in a test set of its own."""
    header = "testset,lp,metric,system,score\n"
    broken: dict[Path, Callable[[bytes], bytes]] = {
        tmp_path / "cut.csv.gz": lambda data: gzip.compress(data)[:-12],
        tmp_path / "bytes.csv": lambda data: data + b"bytes,\xff\xfe,x\n",
        tmp_path / "nul.csv": lambda data: data + b"n\0ul,en-fr,x\n",
    }
    testsets = [path.name.partition(".")[0] for path in broken]
    for testset, (path, damage) in zip(testsets, broken.items(), strict=True):
        lines = [f"{testset},en-de,M-src,S{number},{number}\n" for number in range(1, 2001)]
        path.write_bytes(damage((header + "".join(lines)).encode()))
        (tmp_path / f"{testset}-same.csv").write_text(f"{header}{testset},en-de,N-src,S1,1\n")
    (tmp_path / "other.csv").write_text(f"{header}elsewhere,en-de,N-src,S1,1\n")
    report = load([tmp_path], database, skip_broken=skip_broken)
    assert {fault.path for fault in report.faults} == {str(path) for path in broken}
    assert statuses(report) == {
        **dict.fromkeys(((testset, "en-de") for testset in testsets), "loaded" if skip_broken else "refused"),
        ("elsewhere", "en-de"): "loaded",
    }
