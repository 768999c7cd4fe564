"""Numbers are read to the last digit, in whatever form they are written."""

import random
from pathlib import Path

from tests.warehouse.building import loaded
from warehouse import Warehouse

PLAUSIBLE = 9.9e99


def _decimal(rng: random.Random) -> str:
    """A decimal number in any of its forms, not too large for a score."""

    def digits(least: int, most: int) -> str:
        return "".join(rng.choices("0123456789", k=rng.randint(least, most)))

    while True:
        number = rng.choice((digits(1, 20), f"{digits(1, 20)}.{digits(0, 25)}", f".{digits(1, 25)}"))
        exponent = rng.choice(("", f"{rng.choice('eE')}{rng.choice(('', '+', '-'))}{digits(1, 3)}"))
        text = f"{rng.choice(('', '+', '-'))}{number}{exponent}"
        if abs(float(text)) <= PLAUSIBLE:
            return text


def test_any_decimal_number_reads_as_the_nearest_double(tmp_path: Path) -> None:
    rng = random.Random(17)
    texts = [_decimal(rng) for _ in range(500)]
    assert len({text.lower().count("e") for text in texts}) == 2
    file = tmp_path / "in" / "t24" / "metric-scores" / "en-de" / "N-src.sys.score"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"S{n}\t{text}\n" for n, text in enumerate(texts)))
    with Warehouse.open(loaded(tmp_path / "in", tmp_path / "a.duckdb")) as warehouse:
        found = dict(warehouse.rows("SELECT system, value FROM aggregate_scores"))
    assert found == {f"S{n}": float(text) + 0.0 for n, text in enumerate(texts)}
