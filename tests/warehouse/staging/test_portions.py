"""A large table is laid out in portions: the stage holds the same, and the same faults and notes are reported."""

import pytest

from tests.helpers import sampled
from tests.warehouse.memory import File, Memory, found, scores
from warehouse.database import stage as batches
from warehouse.staging import portions

JUDGED = {"scorer": "esa", "rater": "r", "n": 1, "status": "valid"}
CELLS = [(system, segment, segment / 8) for system in ("A", "B", "C") for segment in (1, 2, 3, 4)]
PEOPLE = [
    {"kind": "human", "scorer": "esa", "level": "seg", "system": "A", "segment": 4, "value": 80.0},
    {"kind": "human", "scorer": "da", "level": "sys", "system": "C", "value": 70.0},
]
JUDGEMENTS = [
    {**JUDGED, "judgement": n, "system": system, "segment": segment, "value": 10.0 * n}
    for n, (system, segment) in enumerate([("B", 1), ("A", 1), ("A", 1), ("B", 2)], start=1)
]
CASES = {
    "metrics and references": [
        File("a", [*scores(CELLS), *scores(CELLS, reference="refA"), *scores(CELLS[:5], "M-refA", reference="x")]),
        File("b", [*scores(CELLS, "N"), *PEOPLE[1:]], claim={"is_negated": True}),
    ],
    "rows that stand twice": [File("a", [*scores(CELLS), *scores(CELLS[3:7]), *scores(CELLS, "N"), *scores(CELLS)])],
    "rows that differ": [File("a", [*scores(CELLS), *scores((s, n, 9.0) for s, n, _ in CELLS * 3)]), File("b", PEOPLE)],
    "judgements that make scores": [
        File("a", scores(CELLS)),
        File("b", judgements=JUDGEMENTS[:3], from_judgements=True, claim={"group": "g"}),
        File("c", judgements=JUDGEMENTS[3:], from_judgements=True, claim={"group": "g"}),
    ],
    "scores with judgements behind them": [File("a", [*scores(CELLS), *PEOPLE], judgements=JUDGEMENTS)],
    "segments by document": [
        File(
            "a", [*scores(((s, None, v) for s, _, v in CELLS[:2]), document="d", index=2), *scores(CELLS, document="d")]
        ),
        File("b", scores(CELLS, "N", document="e", domain="news"), segments=[{"segment": n} for n in (1, 2, 3)]),
    ],
    "blocks with lines too few": [
        File("a", scores(CELLS[:-2]), claim={"is_positional": True}, segments=[{"segment": n} for n in (1, 2, 3, 4)])
    ],
    "one's own with unknown systems": [
        File("before", scores(CELLS[:8])),
        File("b", [*scores(CELLS, "N"), *scores([("D", 7, 1.0)] * 30, "N")], claim={"is_strict": True, "is_own": True}),
    ],
}
_STAGED = """
    SELECT v.kind, v.scorer, v.reference, v.system, v.level, v.is_negated, v.n_values, v.n_missing, v.file_no, {}
    FROM temp.staged_{} AS s JOIN temp.staged_vector AS v ON v.vector_no = s.vector_no
    ORDER BY ALL
"""


@pytest.mark.every(3)
@pytest.mark.parametrize("name", sampled(2, "each case: 3 seconds", CASES))
def test_portions_and_the_whole_are_laid_out_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files, laid_out = CASES[name], []
    for n_rows in (100_000, 2):
        monkeypatch.setattr(portions, "_ROWS", n_rows)
        monkeypatch.setattr(batches, "_MOST_GATHERED", n_rows)
        memory = Memory()
        before = [file for file in files if file.origin == "before"]
        if before:
            memory.write(*before)
        stage, _ = memory.staged(*(file for file in files if file not in before))
        rows = [
            stage.batch.rows(_STAGED.format(values, table))
            for table, values in (
                ("score", "s.segment, s.value"),
                ("aggregate", "s.unit, s.value"),
                ("judgement", "s.segment, s.value"),
            )
        ]
        tables = ["SELECT * FROM temp.staged_segment ORDER BY ALL", "SELECT * FROM temp.staged_system ORDER BY ALL"]
        laid_out.append((rows, [stage.batch.rows(table) for table in tables], found(stage), sorted(stage.notes)))
    assert laid_out[0] == laid_out[1]
    assert any(laid_out[0][0])
