"""Outputs on which scorers disagree, in every format."""

import csv
import io
import re
from dataclasses import asdict

import polars as pl

from cli.render.outputs import outputs_page
from queries.annotations import MarkedError
from tests.cli.running import Scorehouse

SEGMENTS = ("segments", "sim24", "en-de", "--metric", "simBLEU", "-n", "3")


def test_a_page_has_scores_source_output_and_errors_of_each_output(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*SEGMENTS)
    rows = scorehouse(*SEGMENTS, "--format", "json").json
    blocks = "\n".join(ran.table).split("\n\n")
    assert len(blocks) == len(rows) == 3
    for number, (block, row) in enumerate(zip(blocks, rows, strict=True), start=1):
        first, scores, source, output, *errors = block.splitlines()
        assert first.startswith(f"{number}. {row['system']}, segment {row['segment']}, document {row['document']}")
        assert f"residual {row['residual']:+.2f}" in scores
        assert source == f"   source: {row['source']}"
        assert output.count("[") >= len({(e["start"], e["end"], e["severity"]) for e in row["errors"]})
        assert bool(errors) == bool(row["errors"])
        for error in row["errors"]:
            assert (
                f"{error['severity']} {error['category']} “{row['output'][error['start'] : error['end']]}”" in errors[0]
            )
    assert any(row["errors"] for row in rows)
    assert ran.notes[0].startswith("segments:mqm,simBLEU-refA|testset:sim24|lp:en-de|human:mqm|")
    assert ran.notes[1].startswith("residual: z of the ranks of mqm minus those of simBLEU-refA, in standard dev")


def test_programs_get_texts_as_they_are_and_errors_as_json(scorehouse: Scorehouse) -> None:
    rows = scorehouse(*SEGMENTS, "--format", "json").json
    cells = list(csv.DictReader(io.StringIO(scorehouse(*SEGMENTS, "--format", "csv").out)))
    assert [cell["output"] for cell in cells] == [row["output"] for row in rows]
    assert all(cell["errors"].startswith("[") for cell in cells)
    assert list(cells[0]) == list(rows[0])


def test_groups_are_a_table_named_for_what_they_are(scorehouse: Scorehouse) -> None:
    header = scorehouse(*SEGMENTS, "--by", "domain").table[0]
    assert header.split("  ")[0] == "domain"
    assert "mean z of simBLEU-refA" in header


def test_three_outputs_with_long_texts_fit_one_screen() -> None:
    error = MarkedError(None, "style", "major", 5.0, 0, 9, False)
    errors = (error, *(MarkedError(None, "accuracy " * n, "minor", 1.0, 0, 9, False) for n in range(1, 20)))
    row = {"scorer_a": "mqm", "scorer_b": "M", "system": "A", "segment": 1, "domain": None, "document": "d"}
    row |= {"value_a": -1.0, "value_b": 0.5, "rank_a": 9, "rank_b": 2, "n_outputs": 9, "residual": -2.0}
    row |= {"source": "word " * 400, "output": "wort " * 400, "errors": [asdict(error) for error in errors]}
    frame = pl.DataFrame([row] * 3)
    lines = outputs_page(frame, 4, 100).splitlines()
    assert len(lines) <= 40 - 6  # notes and signature are on the same screen
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines) <= 100
    assert lines[-1] == "…: --all has the whole texts"
    assert "…" not in outputs_page(frame, 4, 100, every_row=True)
    assert "mqm -1.0000 (rank 9 of 9)   M 0.5000 (rank 2)   residual -2.00" in lines[1]
