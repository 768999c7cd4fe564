"""A pair of languages is one, however a file or its place spells it."""

from pathlib import Path

import pytest

from tests.helpers import together
from tests.warehouse.small_files import SMALL, outcomes, unchanged
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.recognition import claim

SPELLINGS = ("eng-{1}", "en-{1}", "eng_Latn-{1}")
MADE_UP = ("xa", "xb", "xc", "xd", "xe")  # languages without another code
NAMING = [
    name for name, small in SMALL.items() if small.lp in f"{small.path} {small.text}" and small.target[0] not in MADE_UP
]
NAMING.remove("table of systems")  # its file's name, too, says the pair


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("first", range(len(SPELLINGS)))
def test_every_spelling_is_the_pair(first: int, tmp_path: Path) -> None:
    """One of each format, other ones of others."""
    files = {}
    for number, name in enumerate(NAMING, start=first):
        small = SMALL[name]
        texts = {**small.beside, small.path: small.text}
        spelled = SPELLINGS[number % len(SPELLINGS)].format(*small.target)
        files[name] = {
            path.replace(small.lp, spelled): text.replace(small.lp, spelled).encode() for path, text in texts.items()
        }
    for name, found in outcomes(tmp_path, files).items():
        is_refused = not found.rows and (found.faults or found.notes)  # a file name that nobody knows
        assert is_refused or found.rows == unchanged()[name].rows, name


@together("said", ["eng-deu", "en-deu", "ende"])
def test_so_is_what_the_user_says(said: str, tmp_path: Path) -> None:
    (tmp_path / "ad-seg-scores-en-de.csv").write_text(SMALL["direct assessment"].text)
    found = claim(tmp_path / "ad-seg-scores-en-de.csv", LoadHints(testset="wmt20", lp=said))
    assert isinstance(found, Claim)
    assert found.evalsets == (("wmt20", "en-de"),)
