"""Broken files: refused, not mended; each fault with file, line, what was found and what was expected."""

import os
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import DOCUMENTS, LP, TESTSET, metric_tables, tiny_layout
from tests.sharing import made_once
from tests.warehouse.building import ask, edited, empty_warehouse, held, loaded, small, statuses
from warehouse import LoadReport, SourceError, load
from warehouse.errors import EXAMPLES
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset

FINE = "metric-scores/en-de/Fine-src.seg.score"  # 20 lines: Ash 1-5, Beech 6-10, Cherry 11-15, refA 16-20
DOCS = "documents/en-de.docs"
DOMAIN = "human-scores/en-de.mqm.domain.score"
RATING = "human-scores/en-de.marked.seg.rating"

Edit = Callable[[bytes], bytes]
TWO = "SYSTEM and SCORE, separated by a tab"
NUMBER = "a finite number, or None if missing"
PLAIN = "lines that end in a line feed"


def line(number: int, text: str | bytes) -> Edit:
    """Put another text in the place of a line."""

    def edit(data: bytes) -> bytes:
        lines = data.split(b"\n")
        lines[number - 1] = text if isinstance(text, bytes) else text.encode()
        return b"\n".join(lines)

    return edit


def order(*numbers: int) -> Edit:
    """Take these lines in this order."""
    return lambda data: b"".join(data.splitlines(keepends=True)[n - 1] for n in numbers)


def span(first: int, last: int) -> range:
    return range(first, last + 1)


def annotated_layout(folder: Path, testset: str = TESTSET) -> Path:
    """The tiny layout with two metrics, a file of domain scores and one of annotations."""
    metrics = {name: table for name, table in metric_tables().items() if name in ("Fine-src", "Only-src")}
    root = tiny_layout(folder, testset=testset, metrics=metrics)
    errors = {system: [[], None, [{"score": 1}], [], []] for system in ("Ash", "Beech")}
    table = ScoreTable(["Ash", "Beech"], domain={"news": np.array([1.0, 2.0]), "speech": np.array([3.0, 4.0])})
    write_evalset(
        root,
        LP,
        documents=DOCUMENTS,
        humans={"mqm": table},
        ratings={"marked": RatingTable(errors, raters={system: ["r"] * 5 for system in errors})},
    )
    return root


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return annotated_layout(tmp_path / "in")


SCORE_FAULTS: dict[str, tuple[Edit, int, str, str]] = {
    **{
        f"no number: {text!r}": (line(3, f"Ash\t{text}"), 3, f"score {text!r}", NUMBER)
        for text in ("1_0", "0x1p3", "0,5", " 1", "1 ", "٣", "none", "NaN", "-1e400", "true", "")
    },
    "infinity": (line(20, "refA\tInfinity"), 20, "score 'Infinity'", NUMBER),
    "one column": (line(3, "Ash"), 3, "1 column", TWO),
    "three columns": (line(3, "news\tAsh\t1"), 3, "3 columns", TWO),
    "a tab at the end": (line(3, "Ash\t1\t"), 3, "3 columns", TWO),
    "a blank first line": (lambda data: b"\n" + data, 1, "a blank line", TWO),
    "a blank line between systems": (line(5, b"Ash\t1\n"), 6, "a blank line", TWO),
    "a blank for a line": (line(5, b" "), 5, "a blank line", TWO),
    "no system": (line(3, "\t0.5"), 3, "an empty system name", "SYSTEM before the score"),
    "CR": (lambda data: data.replace(b"\n", b"\r"), 1, "a carriage return", PLAIN),
    "a form feed": (line(4, b"Ash\t1\f"), 4, "a control character, b'\\x0c'", "lines that end in a line feed"),
    "BOM": (lambda data: b"\xef\xbb\xbf" + data, 1, "the file begins with a byte order mark", "plain UTF-8"),
    "UTF-16": (
        lambda data: data.decode().encode("utf-16"),
        *(1, "the file begins with a byte order mark", "plain UTF-8"),
    ),
    "NUL": (line(9, b"Beech\t1\0"), 9, "a NUL byte", "text in UTF-8"),
    "Latin 1": (line(2, "Äsch\t1".encode("latin-1")), 2, "bytes that are not UTF-8 (invalid continuation byte)", ""),
    "a cut-off letter": (lambda data: data + "é".encode()[:1], 21, "bytes that are not UTF-8 (unexpected end of", ""),
    "an empty file": (lambda data: b"", 0, "the file is empty", "scores or texts, one per line"),
    "a line too few": (order(*span(1, 8), *span(10, 20)), 9, "system 'Beech' has 4 scores", "5 (segments of tiny24"),
    "a line too many": (order(*span(1, 8), *span(8, 20)), 11, "system 'Beech' has 6 scores", "5 (segments of tiny24"),
    "one line of a system": (order(*span(1, 5), 6), 6, "system 'Beech' has 1 score", "5 (segments of tiny24 en-de)"),
    "interleaved blocks": (
        order(1, 6, 2, 7, 3, 8, 4, 9, 5, 10, *span(11, 20)),
        *(1, "lines of system 'Ash' are not consecutive", "one block of lines per system"),
    ),
    "a system in two pieces": (
        order(1, 2, *span(6, 10), 3, 4, 5, *span(11, 20)),
        *(1, "lines of system 'Ash' are not consecutive", "one block of lines per system"),
    ),
    "a block again at once": (order(*span(1, 5), *span(1, 20)), 10, "system 'Ash' has 10 scores", "5 (segments of"),
    "a block again at the end": (order(*span(1, 20), *span(1, 5)), 25, "system 'Ash' has 10 scores", "5 (segments"),
    "an unknown system": (
        lambda data: data.replace(b"Beech", b"Beach"),
        *(6, "unknown system 'Beach'", "one of the 4 systems of tiny24 en-de, such as 'Beech'"),
    ),
    "a system in other letters": (
        lambda data: data.replace(b"refA", b"REFA"),
        *(16, "unknown system 'REFA'", "one of the 4 systems of tiny24 en-de"),
    ),
}


SCORE_FAULTS |= {
    "many": (lambda data: 2 * data.replace(b"\t", b"\tx"), 1, "score 'x0.9'", NUMBER),
    "two kinds": (lambda data: line(12, "Cherry")(line(4, "Ash\tinf")(data)), 4, "score 'inf'", NUMBER),
    "too large": (
        *(line(3, "Ash\t1.0001e100"), 0, "1 score that is infinite or beyond 1e+100, first for"),
        "",
    ),
}
WRONG_ERRORS = {
    '{"score": "5"}': "an error with score '5'",
    '{"score": NaN}': "an error with score nan",
    '{"score": true}': "an error with score True",
    '{"score": 1, "start": "a"}': "an error span with character 'a'",
    '{"score": 1, "end": -1}': "an error span with character -1",
    '{"score": 1, "category": "\\ud800"}': "text that is not Unicode",
}
OTHER_FAULTS: dict[str, tuple[str, Edit, int, str, str]] = {
    "sys: a system twice": (
        "human-scores/en-de.mqm.sys.score",
        *(order(1, 2, 3, 4, 1), 5, "system 'Ash' has 2 scores", "1"),
    ),
    "sys: nan": ("human-scores/en-de.mqm.sys.score", line(2, "Beech\tnan"), 2, "score 'nan'", NUMBER),
    "sys: unknown": ("metric-scores/en-de/Only-src.sys.score", line(1, "Elm\t1"), 1, "unknown system 'Elm'", "one of"),
    "domain: unknown": (
        DOMAIN,
        lambda data: data.replace(b"speech", b"speach"),
        3,
        "unknown domain 'speach'",
        "one of news, speech",
    ),
    "domain: unknown in one line": (
        *(DOMAIN, line(3, "speach\tAsh\t1"), 3, "unknown domain 'speach'", "one of news, speech"),
    ),
    "domain: a tab at the end": (DOMAIN, line(2, "news\tBeech\t2\t"), 2, "4 columns", "DOMAIN, SYSTEM and SCORE"),
    "domain: empty": (DOMAIN, line(3, "\tAsh\t1"), 3, "an empty domain", "one of news, speech"),
    "domain: twice": (DOMAIN, order(1, 2, 3, 4, 2), 5, "domain 'news' and system 'Beech' a second time", "each once"),
    "domain: one missing": (
        DOMAIN,
        *(order(1, 2, 3), 2, "system 'Beech' has no line for domain 'speech'", "one for every domain"),
    ),
    "domain: two columns": (DOMAIN, line(2, "Beech\t1"), 2, "2 columns", "DOMAIN, SYSTEM and SCORE, separated by tabs"),
    "domain: blank line": (DOMAIN, line(2, b"news\tBeech\t2\n"), 3, "a blank line", "DOMAIN, SYSTEM and SCORE"),
    "domain: unknown system": (
        DOMAIN,
        *(lambda data: data.replace(b"Beech", b"Birch"), 2, "unknown system 'Birch'", "one of the 4 systems"),
    ),
    "documents: comes again": (
        DOCS,
        *(line(4, "news\tn1"), 4, "document 'n1' begins a second time", "each document in one block of lines"),
    ),
    "documents: in two domains": (
        DOCS,
        *(line(2, "speech\tn1"), 2, "document 'n1' in domain 'speech'", "'news', as on its first line"),
    ),
    "documents: one column": (DOCS, line(2, "n1"), 2, "1 column", "DOMAIN and DOCUMENT, separated by a tab"),
    "documents: no domain": (DOCS, line(2, "\tn1"), 2, "an empty column", "DOMAIN and DOCUMENT, separated by a tab"),
    "documents: blank line": (DOCS, line(2, ""), 2, "", "DOMAIN and DOCUMENT, separated by a tab"),
    "documents: empty": (DOCS, lambda data: b"", 0, "the file is empty", ""),
    **{
        f"rating: {text}": (RATING, line(2, text), 2, found, "SYSTEM, JSON or None, and optionally RATER")
        for text, found in {
            "Ash\t{": "not valid JSON",
            "Ash": "1 column",
            "": "a blank line",
            "\tNone\tr": "an empty system name",
            "Ash\t[]": "not a list of errors",
            'Ash\t{"errors": [1]}': "not a list of errors",
            **{f'Ash\t{{"errors": [{error}]}}': found for error, found in WRONG_ERRORS.items()},
        }.items()
    },
    "rating: no weight": (RATING, line(2, 'Ash\t{"errors": [{}]}'), 2, "an error with score None", "SYSTEM, JSON"),
    "rating: deeply nested": (RATING, line(2, "Ash\t" + "[" * 9**6), 2, "nested too deeply", "SYSTEM, JSON"),
    "rating: too few": (RATING, order(1, 2, *span(4, 10)), 4, "system 'Ash' has 4 annotations", "5 (segments of"),
    "rating: not together": (RATING, order(6, *span(1, 5), *span(7, 10)), 1, "lines of system 'Beech'", "one"),
    "rating: unknown system": (
        RATING,
        *(lambda data: data.replace(b"Beech", b"Beach"), 6, "unknown system 'Beach'", "one of the 4 systems"),
    ),
    "source: too few": ("sources/en-de.txt", order(1, 2, 3, 4), 4, "4 lines", "5 (segments of tiny24 en-de)"),
    "reference: too many": (
        "references/en-de.refA.txt",
        *(order(1, 2, 3, 4, 5, 5), 6, "6 lines", "5 (segments of tiny24 en-de)"),
    ),
    "output: empty": ("system-outputs/en-de/Ash.txt", lambda data: b"", 0, "the file is empty", ""),
    "output: Latin 1": ("system-outputs/en-de/Ash.txt", line(3, b"\xe4\n"), 3, "bytes that are not UTF-8", ""),
}


FAULTS = {
    **{kind: (FINE, *fault) for kind, fault in SCORE_FAULTS.items()},
    **{f"{fault[0]}: {kind}": fault for kind, fault in OTHER_FAULTS.items()},
}


TOGETHER = "broken"
"""A test set with a file for each fault of a kind of file of which it may have many."""


def broken_at(kind: str) -> Path:
    """Where the file with this fault lies: a test set has it alone, or it is one of many in TOGETHER."""
    number, place = list(FAULTS).index(kind), Path(FAULTS[kind][0])
    name = {FINE: f"Fine{number}-src.seg.score", RATING: f"en-de.marked{number}.seg.rating"}
    name |= {DOMAIN: f"en-de.mqm{number}.domain.score"}
    if str(place) in name:
        return Path(TOGETHER) / place.with_name(name[str(place)])
    return Path(f"{TOGETHER}{number}") / place


@pytest.fixture(scope="session")
def every_fault(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LoadReport]:
    """A folder of test sets with a broken file for each of FAULTS, and the report of one load of all."""

    def make(folder: Path) -> None:
        sound = annotated_layout(folder / "sound")
        for kind, (place, edit, *_) in FAULTS.items():
            file = folder / "in" / broken_at(kind)
            testset = broken_at(kind).parts[0]
            if not (folder / "in" / testset).exists():
                annotated_layout(folder / "in", testset)
            file.write_bytes(edit((sound / place).read_bytes()))
        report = load([folder / "in"], folder / "a.duckdb")
        (folder / "report").write_bytes(pickle.dumps(report))

    folder = made_once(tmp_path_factory, "every fault", make)
    report = pickle.loads((folder / "report").read_bytes())
    assert isinstance(report, LoadReport)
    return folder, report


@pytest.mark.slow
def test_nothing_is_loaded_where_every_evaluation_set_has_a_broken_file(every_fault: tuple[Path, LoadReport]) -> None:
    folder, report = every_fault
    assert not (folder / "a.duckdb").exists()
    n_broken = Counter(broken_at(kind).parts[0] for kind in FAULTS)
    assert n_broken[TOGETHER] > 60
    assert {e.testset: e.n_broken for e in report.evalsets} == n_broken
    assert {(e.status, e.n_files, e.n_rows) for e in report.evalsets} == {("refused", 0, 0)}


@pytest.mark.slow
def test_sound_files_beside_broken_ones_have_no_faults(every_fault: tuple[Path, LoadReport]) -> None:
    folder, report = every_fault
    assert {Path(fault.path) for fault in report.faults} == {folder / "in" / broken_at(kind) for kind in FAULTS}


def test_broken_files_are_refused_with_line_found_and_expected(every_fault: tuple[Path, LoadReport]) -> None:
    folder, report = every_fault
    first = {fault.path: fault for fault in reversed(report.faults)}
    others = {}
    for kind, (_, _, number, found, expected) in FAULTS.items():
        file = folder / "in" / broken_at(kind)
        told, expected = first[str(file)], expected.replace(TESTSET, broken_at(kind).parts[0])
        is_placed = str(told).startswith(f"{file}:{number}: " if number else f"{file}: ") and "\n" not in str(told)
        if not (told.line == number and found in told.found and told.expected.startswith(expected) and is_placed):
            others[kind] = told
    assert others == {}


def test_faults_of_a_file_come_in_the_order_of_its_lines_and_those_behind_the_first_are_counted(
    every_fault: tuple[Path, LoadReport],
) -> None:
    folder, report = every_fault

    def told(kind: str) -> list[tuple[int, str]]:
        path = str(folder / "in" / broken_at(kind))
        return [(fault.line, fault.found) for fault in report.faults if fault.path == path]

    assert told(f"{DOMAIN}: domain: unknown in one line") == [(3, "unknown domain 'speach'")]
    assert told("two kinds") == [(4, "score 'inf'"), (12, "1 column")]
    assert [number for number, _ in told("many")] == [*range(1, EXAMPLES + 1), 0]
    assert told("many")[-1] == (0, f"{40 - EXAMPLES} more such lines")


@pytest.mark.slow
def test_annotations_that_the_score_file_cannot_take_are_reported_once(tmp_path: Path) -> None:
    """Scores of another system, and scores that are refused themselves."""
    errors = RatingTable({system: [[{"score": 1}]] * 5 for system in ("Ash", "Elm")})
    files = {}
    for testset, scores in {"t23": np.zeros((1, 5)), "t24": np.full((1, 5), 2e100)}.items():
        root = tmp_path / "in" / testset
        write_evalset(
            root, LP, documents=DOCUMENTS, humans={"mqm": ScoreTable(["Ash"], seg=scores)}, ratings={"mqm": errors}
        )
        files[testset] = root / "human-scores" / "en-de.mqm.seg.score"
    report = load([tmp_path / "in"], tmp_path / "a.duckdb")
    other, annotated, scored = sorted(report.faults, key=lambda fault: fault.path)
    assert other.found == f"annotations of system 'Elm', which {files['t23']} does not have"
    assert (annotated.found, annotated.expected) == (
        f"not loaded, because {files['t24']} has errors",
        "that file without errors",
    )
    assert scored.found == "5 scores that are infinite or beyond 1e+100, first for system 'Ash'"
    report = load([tmp_path / "in"], tmp_path / "a.duckdb", skip_broken=True)
    assert statuses(report) == ["loaded", "loaded"]
    assert ask(tmp_path / "a.duckdb", "SELECT count(*) FROM judgement UNION ALL SELECT count(*) FROM span") == [
        *((0,), (0,))
    ]


def test_json_lines_without_a_text_are_refused(tmp_path: Path) -> None:
    root = small(tmp_path / "in")
    file = root / "sources" / "en-de.jsonl"
    file.parent.mkdir()
    file.write_text('{"source": "a"}\n{"text": 1}\nabc\n["source"]\n{"source": "\\ud800"}\n')
    report = load([root], tmp_path / "a.duckdb")
    assert [(fault.line, fault.found) for fault in report.faults] == [(n, "no text") for n in (2, 3, 4, 5)]
    assert {fault.expected for fault in report.faults} == {"a JSON object with one of source, src, text"}


def test_document_scores_without_documents_name_the_file_that_lacks(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in", texts=False)
    (root / DOCS).unlink()
    (root / FINE).with_name("Fine-src.doc.score").write_text("Ash\t1\nAsh\t2\n")
    report = load([root], tmp_path / "a.duckdb")
    (fault,) = report.faults
    assert (fault.line, fault.found) == (2, "system 'Ash' has 2 scores")
    assert fault.expected == "documents/en-de.docs, which says which documents there are"


@pytest.mark.slow
def test_broken_files_facts_and_links_keep_no_other_evaluation_set_out(tmp_path: Path) -> None:
    scores = ScoreTable(["Ash"], seg=np.ones((1, 5)))
    for testset in ("broken", "facts", "link", "other", "sound"):
        small(tmp_path / "in", testset=testset, metrics={"A-src": scores})
    write_evalset(tmp_path / "in" / "broken", "cs-uk", documents=DOCUMENTS, metrics={"A-src": scores})
    edited(tmp_path / "in" / "broken" / "metric-scores" / LP / "A-src.seg.score", lambda lines: lines[1:])
    (tmp_path / "in" / "facts" / "testset.toml").write_text("name = 'facts'\nyears = 2024\n")
    link = tmp_path / "in" / "link" / "metric-scores" / LP / "A-src.seg.score"
    link.unlink()
    link.symlink_to(tmp_path / "gone")
    (tmp_path / "in" / "other").rename(tmp_path / "in" / "other25")
    report = load([tmp_path / "in"], tmp_path / "a.duckdb")
    assert not report.is_clean
    assert [(e.testset, e.lp, e.status) for e in report.evalsets] == [
        ("broken", "cs-uk", "loaded"),
        ("broken", "en-de", "refused"),
        ("facts", "en-de", "refused"),
        ("link", "en-de", "refused"),
        ("other25", "en-de", "refused"),
        ("sound", "en-de", "loaded"),
    ]
    told = {Path(fault.path).relative_to(tmp_path / "in").parts[0]: fault for fault in report.faults}
    assert len(told) == len(report.faults) == 4
    assert str(told["facts"]).startswith(f"{tmp_path / 'in' / 'facts' / 'testset.toml'}: years: unknown key")
    assert "name is 'other', expected 'other25'" in told["other25"].found
    assert (told["link"].path, told["link"].line) == (str(link), 0)
    assert told["link"].found == "cannot be read: No such file or directory"
    assert ask(tmp_path / "a.duckdb", "SELECT testset, lp FROM evalsets ORDER BY ALL") == [
        *(("broken", "cs-uk"), ("sound", "en-de"))
    ]


@pytest.mark.slow
def test_skip_broken_takes_the_rest_and_records_the_refusal(layout: Path, tmp_path: Path) -> None:
    file = layout / FINE
    file.write_bytes(line(3, "Ash\tnan")(file.read_bytes()))
    report = load([layout], tmp_path / "a.duckdb", skip_broken=True)
    (evalset,) = report.evalsets
    assert (evalset.status, evalset.n_broken, len(report.faults)) == ("loaded", 1, 1)
    refused = ask(tmp_path / "a.duckdb", "SELECT path, n_rows, fault FROM sources WHERE status = 'refused'")
    assert refused == [(str(file), 0, f"{file}:3: score 'nan', expected {NUMBER}")]
    found = held(tmp_path / "a.duckdb")
    file.unlink()
    (tmp_path / "b").mkdir()
    rest = held(loaded(layout, tmp_path / "b" / "b.duckdb"))
    assert {name: rows for name, rows in found.items() if name not in ("sources", "metrics")} == {
        name: rows for name, rows in rest.items() if name not in ("sources", "metrics")
    }


def test_skip_broken_never_loads_scores_beside_faulty_documents(layout: Path, tmp_path: Path) -> None:
    file = layout / DOCS
    file.write_bytes(line(3, "n2")(file.read_bytes()))
    report = load([layout], tmp_path / "a.duckdb", skip_broken=True)
    assert statuses(report) == ["refused"]
    assert not (tmp_path / "a.duckdb").exists()


@pytest.mark.slow
def test_skip_broken_with_nothing_but_broken_files_loads_no_scores(tmp_path: Path) -> None:
    root = small(tmp_path / "in", metrics={"A-src": ScoreTable(["Ash"], seg=np.ones((1, 5)))})
    edited(root / "metric-scores" / "en-de" / "A-src.seg.score", lambda lines: ["x"])
    load([root / "metric-scores"], empty_warehouse(tmp_path / "a.duckdb"), skip_broken=True)
    assert ask(tmp_path / "a.duckdb", "FROM scores") == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read every file")
def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    (root / FINE).chmod(0)
    report = load([root], tmp_path / "a.duckdb")
    (fault,) = report.faults
    assert (fault.path, fault.found) == (str(root / FINE), "cannot be read: Permission denied")


def test_nothing_to_load_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="empty: an empty folder"):
        load([tmp_path / "empty"], tmp_path / "a.duckdb")
    with pytest.raises(SourceError, match="gone: no such file or folder"):
        load([small(tmp_path / "in"), tmp_path / "gone"], tmp_path / "a.duckdb")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("hello\n")
    (tmp_path / "notes" / "b.csv").write_text("hello\n")
    with pytest.raises(SourceError, match="no score files among 2 files"):
        load([tmp_path / "notes"], tmp_path / "a.duckdb")
    assert not (tmp_path / "a.duckdb").exists()


@pytest.mark.parametrize("value", ["0.5", "x"])
@pytest.mark.parametrize("name", ["Mine-refA.seg.score", "Mine-src.sys.score", "mqm.seg.score"])
def test_a_score_file_outside_the_organisers_folders_is_sent_where_it_belongs(
    tmp_path: Path, name: str, value: str
) -> None:
    (tmp_path / name).write_text(f"Ash\t{value}\n", encoding="utf-8")
    (fault,) = load([tmp_path / name], tmp_path / "scores.duckdb").faults
    assert fault.line == 0
    assert fault.found == "a score file of an unknown test set"
    assert "scorehouse add" in fault.way_out
