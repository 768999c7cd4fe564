"""WMT19's tables of system scores."""

from pathlib import Path

from tests.helpers import real_data, together
from tests.warehouse.readers.reading import claimed, content, head, read, rows, told
from warehouse.readers.claims import LoadHints
from warehouse.readers.system_tables import SystemTableReader
from warehouse.wording import option

READER = SystemTableReader()
PATH = Path("wmt19-sys-scores/DA-newstest2019-ende-sys-nohy-scores.csv")
TEXT = (
    "LP SYSTEM HUMAN BLEU LP YiSi-2\n"
    "en-de UCAM.6731 0.213 0.1807 2.25 0.77\n"
    "en-de online-X.0 -0.5 NA 2 0.7\n"
)  # fmt: skip


def test_each_column_is_a_scorer_even_where_a_metric_is_called_lp() -> None:
    records = read(READER, PATH, TEXT)
    assert rows(records, "line", "kind", "scorer", "reference", "system", "value") == [
        (2, "human", "wmt-z", None, "UCAM.6731", 0.213),
        (3, "human", "wmt-z", None, "online-X.0", -0.5),
        (2, "metric", "BLEU", "ref", "UCAM.6731", 0.1807),
        (3, "metric", "BLEU", "ref", "online-X.0", None),
        (2, "metric", "LP", None, "UCAM.6731", 2.25),
        (3, "metric", "LP", None, "online-X.0", 2.0),
        (2, "metric", "YiSi-2", None, "UCAM.6731", 0.77),
        (3, "metric", "YiSi-2", None, "online-X.0", 0.7),
    ]
    assert set(rows(records, "testset", "lp", "level")) == {("wmt19", "en-de", "sys")}


def test_the_claim_follows_the_name_or_else_the_header_and_the_first_row() -> None:
    claim = claimed(READER, PATH, TEXT)
    assert (claim.origin, claim.evalsets) == ("wmt19/en-de/sys-nohy-scores", (("wmt19", "en-de"),))
    renamed = claimed(READER, Path("table.csv"), TEXT, LoadHints(testset="mine"))
    assert renamed.evalsets == (("mine", "en-de"),)
    assert READER.claim(Path("table.csv"), head(TEXT.encode()), LoadHints()) == (
        f"a table of system scores of an unknown test set; name it with {option('testset')}"
    )
    assert READER.claim(Path("table.csv"), ("SYS SID RAW.SCR Z.SCR N ",), LoadHints()) is None


@together(
    ("spoiled", "line", "found"),
    [
        (TEXT.replace("LP SYSTEM", "SYSTEM LP"), 1, "the header 'SYSTEM LP HUMAN BLEU LP YiSi-2'"),
        (TEXT.replace("YiSi-2", "BLEU"), 1, "metric 'BLEU' twice"),
        (TEXT.replace("BLEU ", "BLEU  "), 1, "two blanks"),
        (TEXT.replace(" 0.77", ""), 2, "5 columns"),
        (TEXT.replace("0.77", "inf"), 2, "YiSi-2 'inf'"),
        (TEXT.replace("0.213", "good"), 2, "HUMAN 'good'"),
        (TEXT.replace("en-de online", "de-en online"), 3, "language pair 'de-en'"),
    ],
)
def test_what_does_not_fit_is_reported_with_line_and_column(spoiled: str, line: int, found: str) -> None:
    assert told(read(READER, PATH, spoiled)) == [(line, found)]


def test_the_real_tables_come_through_cell_by_cell() -> None:
    n_systems = 0
    for path in sorted(real_data("wmt19-sys-scores").glob("*.csv")):
        data = content(path)
        lines = [line.split() for line in data.decode().splitlines()]
        records = read(READER, path, data)
        assert not records.faults, path.name
        found = {(row[0], row[1]): row[2] for row in records.scores.select("system", "scorer", "value").iter_rows()}
        assert len(found) == sum(len(line) - 2 for line in lines[1:])
        for line in lines[1:]:
            assert found[line[1], "wmt-z"] == float(line[2])
            assert [found[line[1], name] for name in lines[0][3:]] == [float(cell) for cell in line[3:]]
        n_systems += len(lines) - 1
    assert n_systems == 225
