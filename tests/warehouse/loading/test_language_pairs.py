"""A pair of languages is one, however a file or its place spells it."""

from pathlib import Path

import pytest

from tests.warehouse.small_files import SMALL, outcome, unchanged, written
from warehouse import load
from warehouse.readers.claims import Given

SPELLINGS = {
    "en-zh": ["en-cmn", "en-zho", "eng-zho_Hans", "en-zh_Hans", "eng_Latn-cmn_Hans"],
    "en-de": ["eng-deu", "en-deu", "eng_Latn-de_Latn"],
}
NAMING = [name for name, small in SMALL.items() if "en-de" in f"{small.path} {small.text}"]
NAMING.remove("table of systems")  # its file's name, too, says ende


@pytest.mark.every(19)
@pytest.mark.parametrize("name", NAMING)
@pytest.mark.parametrize(("pair", "spelling"), [(pair, one) for pair, names in SPELLINGS.items() for one in names])
def test_every_spelling_is_the_pair(name: str, pair: str, spelling: str, tmp_path: Path) -> None:
    small = SMALL[name]
    loaded = {"en-de": unchanged(name)[0]} if pair == "en-de" else {}
    for one in {pair, spelling} - loaded.keys():
        beside = {
            path.replace("en-de", one): text.replace("en-de", one).encode() for path, text in small.beside.items()
        }
        files = {**beside, small.path.replace("en-de", one): small.text.replace("en-de", one).encode()}
        for path, data in files.items():
            (tmp_path / one / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / one / path).write_bytes(data)
        loaded[one], faults, _ = outcome(tmp_path / one, small.given)
        if faults and one == spelling:  # a file name that nobody knows
            assert loaded[one] == frozenset()
            return
        assert not faults
    assert loaded[spelling] == loaded[pair]
    assert any(pair in row for row in loaded[pair])


@pytest.mark.parametrize("said", ["eng-deu", "en-deu", "ende"])
def test_so_is_what_the_user_says(said: str, tmp_path: Path) -> None:
    small = SMALL["direct assessment"]
    written(tmp_path / "in", small)
    report = load([tmp_path / "in"], tmp_path / "w.duckdb", given=Given(lp=said))
    assert [(evalset.lp, evalset.status) for evalset in report.evalsets] == [("en-de", "loaded")]
