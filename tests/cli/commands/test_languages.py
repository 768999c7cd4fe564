"""The same quality in other languages: `noise --languages`."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import metaeval
from tests.cli.running import Scorehouse, refused
from tests.helpers import beside_data
from warehouse import LoadHints, QuestionError, Warehouse, load
from warehouse.own.sacrebleu import compute

_REFERENCE = "eins zwei drei vier fünf"


def written(folder: Path, lp: str, n_errors: int, **more: object) -> Path:
    path = folder / f"{lp}-merge-{n_errors}.parquet"
    words = _REFERENCE.split()
    output = " ".join(["<v>falsch</v>"] * n_errors + words[n_errors:])
    row = {
        "language": lp[3:],
        "number": str(n_errors),
        "src": "one two",
        "ref": _REFERENCE,
        "merged_mt": output,
        **more,
    }
    pl.DataFrame([row, row]).write_parquet(path)
    return path


def test_outputs_with_the_same_number_of_errors_are_compared(scorehouse: Scorehouse, tmp_path: Path) -> None:
    for lp in ("en-de", "en-ja"):
        for n_errors in (1, 2):
            written(tmp_path, lp, n_errors)
    database = ("--db", tmp_path / "xq.duckdb")
    assert scorehouse(*database, "load", tmp_path).code == 0
    assert scorehouse(*database, "compute", "chrf++", "xq-meval", "all").code == 0
    rows: list[Mapping[str, object]] = scorehouse(
        *database, "noise", "xq-meval", "--languages", "--format", "json"
    ).json
    assert [(row["metric"], row["lp"], row["bias"], row["wrong"], row["n_outputs"]) for row in rows] == [
        ("sacreBLEU-chrF++", "en-de", 0.0, 0.0, 4),
        ("sacreBLEU-chrF++", "en-ja", 0.0, 0.0, 4),
    ]
    refused(scorehouse(*database, "noise", "xq-meval", "sacreBLEU-chrF++", "--languages"), 2, "--languages")


def test_a_file_of_another_language_than_its_name_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "en-de", 1, language="fr")
    (first, *_) = load([tmp_path], tmp_path / "x.duckdb").faults
    assert "language 'fr', number '1', expected a number of errors, in the file's language" in str(first)


def test_scores_of_systems_do_too(tmp_path: Path) -> None:
    rows = [
        f"{lp},errors-{k},{-k},{90 - 10 * k - shift}\n" for lp, shift in (("en-de", 0), ("en-lo", 5)) for k in (1, 2, 3)
    ]
    (tmp_path / "x.csv").write_text("lp,system,human,M\n" + "".join(rows))
    given = LoadHints(testset="mine", human="quality")
    assert load([tmp_path], tmp_path / "x.duckdb", given=given).is_clean
    with Warehouse.open(tmp_path / "x.duckdb") as warehouse:
        frame = metaeval.noise(warehouse, "mine", languages=True).frame
        with pytest.raises(QuestionError, match="no metric of mine has scores of two language pairs"):
            metaeval.noise(warehouse, "mine", "en-de", languages=True)
    assert frame.select("lp", "bias", "-1").rows() == [("en-de", 0.25, 80.0), ("en-lo", -0.25, 75.0)]


@pytest.mark.slow
def test_means_of_chrf_are_near_those_printed(tmp_path: Path) -> None:
    """Printed for ten samples of 102 items; here all outputs."""
    folder = beside_data("more", "xq-meval", "merged_result")
    database = tmp_path / "xq.duckdb"
    assert load([*folder.glob("en-de-*"), *folder.glob("en-es-*")], database).is_clean
    for lp in ("en-de", "en-es"):
        compute(database, "xq-meval", lp, ["chrf++"])
    with Warehouse.open(database) as warehouse:
        row = metaeval.noise(warehouse, "xq-meval", languages=True).frame.filter(lp="en-de").row(0, named=True)
    assert [row[f"-{k}"] for k in range(1, 6)] == pytest.approx([90.93, 83.13, 76.58, 71.38, 66.47], abs=0.31)
