"""Every command, on evaluation sets of every kind: an answer, or one clear line why there is none."""

import shutil
from pathlib import Path

import duckdb
import pytest

from cli.main import exit_code
from metaeval.questions import QUESTIONS
from tests.cli.odd_warehouses import ODD, odd_warehouse
from tests.cli.sweeping import calls, fault
from tests.helpers import but_slow
from warehouse import LoadReport, Warehouse

SAID = (
    ("one_system", "counts tiny24 en-de", "no pairs: mqm has scores of no two outputs of a segment"),
    (
        "people_of_systems",
        "scatter tiny24 en-de Noise2-src --view segments",
        "no (system, segment) score by both mqm and Noise2-src",
    ),
    (
        "one_metric",
        "trend all all --anchor Noise1-src --over-years --resamples 5",
        "no slope: a trend needs 3 years with a gap to the anchor, there is 1",
    ),
    (
        "one_system",
        "trend all all --over-years",
        "pa is not defined, mqm has scores of one system alone (tiny24 en-de)",
    ),
    ("documents_alone", "rank tiny24 en-de -m pa", "2 excluded, 2 no system or segment scores"),
    ("documents_alone", "compare tiny24 en-de", "2 excluded, 2 no system or segment scores"),
    (
        "documents_alone",
        "protocol wmt24 --on tiny24",
        "by wmt24: no metric can be ranked: 2 no system or segment scores",
    ),
    ("documents_alone", "show tiny24 en-de 1", "no segment has human scores; mqm has only document scores"),
    ("documents_alone", "show tiny24 en-de 1 --human mqm", "mqm' of tiny24 en-de has no segment scores, only document"),
    ("half_judged", "plan tiny24 en-de Ash Elm --compare systems", "Elm is excluded: not judged by mqm"),
    (
        "one_score",
        "segments tiny24 en-de --metric Noise2-src --metric Noise6-src",
        "both score 1 output of tiny24 en-de that mqm judged, too few to compare",
    ),
)
"""An odd warehouse, a command, and part of a line that says why there is no answer."""
EVERY_NTH = 79  # of some 250 calls on each odd warehouse, in each run


def _halved(database: Path) -> Path:
    """A warehouse beside another, whose segment scores are half as large."""
    other = database.with_name("halved.duckdb")
    shutil.copy(database, other)
    with duckdb.connect(str(other)) as connection:
        connection.execute("UPDATE internal.score SET value = value / 2")
    return other


@pytest.mark.slow
@pytest.mark.parametrize("name", but_slow([name for place, name in enumerate(ODD) if place % 9], ODD))
def test_odd_warehouses_have_answers_or_reasons(name: str, tmp_path: Path, in_full: bool) -> None:
    database = odd_warehouse(name, tmp_path)
    with Warehouse.open(database) as warehouse:
        every = list(dict.fromkeys(calls(warehouse, other=_halved(database), thorough=tmp_path / "exports")))
    assert len(every) > 150
    some = every if in_full else every[5 * list(ODD).index(name) % EVERY_NTH :: EVERY_NTH]
    found = {" ".join(words): fault(database, words) for words in some}
    assert {words: what for words, what in found.items() if what is not None} == {}


@pytest.mark.slow
def test_every_question_is_asked(tmp_path: Path) -> None:
    with Warehouse.open(odd_warehouse("two_systems", tmp_path)) as warehouse:
        asked = {words[0] for words in calls(warehouse, other=tmp_path)}
    assert {*QUESTIONS, "report"} - asked == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({name for name, *_ in SAID}))
def test_what_is_missing_is_said(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = odd_warehouse(name, tmp_path)
    for words, line in [(words, line) for of, words, line in SAID if of == name]:
        exit_code(["--db", str(database), "--format", "json", *words.split()])
        assert line in capsys.readouterr().err


@pytest.mark.long("every command on all real evaluation sets: tens of minutes")
def test_every_real_evaluation_set_has_answers_or_reasons(real_load: tuple[Path, LoadReport], tmp_path: Path) -> None:
    own = Path(shutil.copy(real_load[0], tmp_path))  # commands store results, and other tests read meanwhile
    with Warehouse.open(own) as warehouse:
        every = list(calls(warehouse, other=_halved(own)))
    found = {" ".join(words): fault(own, words) for words in every}
    assert {words: what for words, what in found.items() if what is not None} == {}
