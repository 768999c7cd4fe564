"""Every command, on evaluation sets of every kind: an answer, or one clear line why there is none."""

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.cli.odd_warehouses import ODD, odd_warehouse
from tests.cli.sweeping import calls, fault
from warehouse import LoadReport, Warehouse

EVERY_NTH = 47  # of some 250 calls on each odd warehouse, in each run


def _halved(database: Path) -> Path:
    """A warehouse beside another, whose segment scores are half as large."""
    other = database.with_name("halved.duckdb")
    shutil.copy(database, other)
    with duckdb.connect(str(other)) as connection:
        connection.execute("UPDATE internal.score SET value = value / 2")
    return other


@pytest.mark.parametrize("name", ODD)
def test_odd_warehouses_have_answers_or_reasons(name: str, tmp_path: Path, in_full: bool) -> None:
    database = odd_warehouse(name, tmp_path)
    with Warehouse.open(database) as warehouse:
        every = list(dict.fromkeys(calls(warehouse, other=_halved(database), thorough=tmp_path / "exports")))
    assert len(every) > 150
    some = every if in_full else every[5 * list(ODD).index(name) % EVERY_NTH :: EVERY_NTH]
    found = {" ".join(words): fault(database, words) for words in some}
    assert {words: what for words, what in found.items() if what is not None} == {}


@pytest.mark.long("every command on all real evaluation sets: tens of minutes")
def test_every_real_evaluation_set_has_answers_or_reasons(real_load: tuple[Path, LoadReport], tmp_path: Path) -> None:
    own = Path(shutil.copy(real_load[0], tmp_path))  # commands store results, and other tests read meanwhile
    with Warehouse.open(own) as warehouse:
        every = list(calls(warehouse, other=_halved(own)))
    found = {" ".join(words): fault(own, words) for words in every}
    assert {words: what for words, what in found.items() if what is not None} == {}
