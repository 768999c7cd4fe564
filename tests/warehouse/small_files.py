"""A small sound file of each format, of one shape: three systems, two documents of three segments, every value
another.

Whatever the format, the systems are Aspen, Birch and Cédar, the metric is Fathom (others beside it where system
scores alone would be few, and Dwarf and Elder), the raters are rachel and robert, the documents doc-one and doc-two.
Each is of a language pair of its own, so that one load takes them all.
"""

import functools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.sharing import empty_bytes
from tests.warehouse.readers.samples import MQM_HEADER, RANKING_HEADER, mqm_row
from warehouse import Warehouse, load
from warehouse.facts import packaged

SYSTEMS = ("Aspen", "Birch", "Cédar")
_PAIRS = (("Aspen", "Birch"), ("Aspen", "Cédar"), ("Birch", "Cédar"))
METRICS = ("Fathom", "Furlong", "Furnace", "Fiddle", "Fennel")
PLACES = [(document, index) for document in ("doc-one", "doc-two") for index in (1, 2, 3)]
SEGMENTS = range(1, len(PLACES) + 1)
_CELLS = [(at, system, segment) for at, system in enumerate(SYSTEMS) for segment in SEGMENTS]
_DETAILS = "".join(f"{n}\tnewstest2020\ten-de\t{d}\t{i}\n" for n, (d, i) in zip(SEGMENTS, PLACES, strict=True))
_DOCUMENTS = "".join(f"news\t{document}\n" for document, _ in PLACES)


@dataclass(frozen=True)
class Small:
    """One format's file. rows: its lines below the header. beside: files that it needs, by path.

    segment_of: the segment of the test set that a row is of; None where rows are of no segment.
    target: the language that it is translated into, in two and in three letters. footer: what follows the rows.
    is_into_english: its language pair is the other way round. assessed: finds a direct assessment, behind what stands
    before it.
    """

    path: str
    rows: Sequence[str]
    header: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)
    segment_of: Callable[[int], int] | None = None
    target: tuple[str, str] = ("de", "deu")
    footer: str = ""
    is_into_english: bool = False
    assessed: str | None = None

    @property
    def lp(self) -> str:
        return f"{self.target[0]}-en" if self.is_into_english else f"en-{self.target[0]}"

    def but(self, text: str) -> dict[str, bytes]:
        """The files that there are with another text in it."""
        return {path: content.encode() for path, content in {**self.beside, self.path: text}.items()}

    def of(self, rows: Iterable[str]) -> bytes:
        """The file with other rows."""
        return (self.header + "".join(rows) + self.footer).encode()

    @property
    def text(self) -> str:
        return self.of(self.rows).decode()


def _of_segments(row: Callable[[str, int, str], str]) -> list[str]:
    """A row for each system and segment. row: made of system, segment and value."""
    return [row(system, segment, f"{40 + 7 * at + segment}") for at, system, segment in _CELLS]


def _of_systems(row: Callable[[str, str, str], str]) -> list[str]:
    """A row for each metric and system. row: made of metric, system and value."""
    return [
        row(metric, system, f"0.{3 + at}{number}")
        for number, metric in enumerate(METRICS)
        for at, system in enumerate((*SYSTEMS, "Dwarf", "Elder"))
    ]


def _by_segment(row: int) -> int:
    return row % len(PLACES) + 1


def _place(segment: int) -> tuple[str, int]:
    return PLACES[segment - 1]


def _esa(system: str, segment: int, value: str) -> str:
    rater = "rachel" if segment % 2 else "robert"
    return f"{rater},{system},{segment},TGT,eng,deu,{value},{_place(segment)[0]},False,[],1.0,{segment}.0\n"


def _appraise_11(system: str, segment: int, value: str) -> str:
    document, index = _place(segment)
    rater = "rachel" if segment % 2 else "robert"
    return f"{rater},{system},{index},TGT,eng,deu,{value},{document},False,1.0,{segment}.0\n"


def _mqm(system: str, segment: int, value: str) -> str:
    del value
    rater, severity = ("rachel", "Minor") if segment % 2 else ("robert", "Major")
    row = mqm_row(system=system, segment=str(segment), rater=rater, severity=severity, source=f"source {segment}")
    return row.replace("talk.1", _place(segment)[0])


def _mqm_2023(system: str, segment: int, value: str) -> str:
    document, index = _place(segment)
    rater, severity = ("rachel", "Minor") if len(value) * segment % 2 else ("robert", "Major")
    cells = (system, document, index, segment, rater, f"source {segment}", "target", "Style/Awkward", severity, "{}")
    return "\t".join(map(str, cells)) + "\n"


def _documents_of_2025(row: Callable[[str, int], str]) -> list[str]:
    return [
        row(document, at) for at, document in enumerate(("doc-one", "doc-two", "doc-three", "doc-four", "doc-five"))
    ]


def _automatic_2025(document: str, at: int) -> str:
    scores = {
        metric: [n + 10 * at + k / 10 for k in (1, 2, 3)] for n, metric in enumerate(("Fathom", "Furlong"), start=1)
    }
    content = {"language_pair": "en-de", "domain": "news", "document_id": document, "metric_scores": scores}
    return json.dumps(content) + "\n"


def _human_2025(segment: int) -> str:
    document, index = _place(segment)
    rater = "rachel" if segment % 2 else "robert"
    scores = {
        system: {"human1": 40 + 7 * at + segment, "annotator1": rater, "errors1": []}
        for at, system in enumerate(SYSTEMS)
    }
    return json.dumps({"doc_id": f"en-de_#_news_#_{document}_#_{index - 1}", "scores": scores}) + "\n"


def _pearmut(user: str, segment: int) -> str:
    document, index = _place(segment)
    scores = {
        system: {"score": 40 + 7 * at + segment, "error_spans": [], "textfield": None}
        for at, system in enumerate(SYSTEMS)
    }
    item = {"item_id": f"news_###_{document}_###_{index - 1}", "src": f"source {segment}"}
    entry = {"annotation": [scores], "item": [item], "user_id": user, "item_i": segment}
    return json.dumps(entry, ensure_ascii=False) + "\n"


_ANSWERS = [_pearmut("rachel" if segment % 2 else "robert", segment) for segment in SEGMENTS]


def _demetr(item: int) -> str:
    texts = {"src_sent": f"Satz {item}", "eng_sent": f"sentence {item}", "mt_sent": f"phrase {item}"}
    row = {"id": item, **texts, "pert_sent": f"frase {item}", "lang_tag": "german", "pert_name": "case"}
    return ("," if item else "") + json.dumps({**row, "pert_check": True}) + "\n"


_IN_CSV, _IN_JSON = r"(eng,[a-z]+,)\d+", r'("score": |"human1": )\d+'
_LAB = "lab,en-de,Fathom"
_TREE = "mt-metrics-eval-v2/wmt20"
_GERMAN: Mapping[str, Small] = {
    "submission of 2020": Small(
        "wmt20-metrics/Fathom.seg.score",
        _of_segments(
            lambda system, segment, value: (
                "\t".join(
                    ("Fathom", "en-de", "newstest2020", "newstest2020", system, *map(str, _place(segment)), value)
                )
                + "\n"
            )
        ),
        beside={"wmt20-metrics/input/details/en-de.txt": _DETAILS},
        segment_of=_by_segment,
    ),
    "submission of 2021": Small(
        "Fathom.seg.score",
        _of_segments(
            lambda system, segment, value: (
                f"Fathom\ten-de\tgeneraltest2022\tnews\t{_place(segment)[0]}\trefA\t{system}\t{segment}\t{value}\n"
            )
        ),
        segment_of=_by_segment,
    ),
    "submission of 2015": Small(
        "Fathom.seg.score",
        _of_segments(lambda system, segment, value: f"Fathom\ten-de\tnewstest2015\t{system}\t{segment}\t{value}\n"),
        segment_of=_by_segment,
    ),
    "submission of systems": Small(
        "wmt20-metrics/All.sys.score",
        _of_systems(lambda metric, system, value: f"{metric}\ten-de\tnewstest2020\tnewstest2020\t{system}\t{value}\n"),
    ),
    "submission of 2025, by document": Small(
        "wmt25/primary/Fathom.seg.tsv",
        _of_segments(
            lambda system, segment, value: (
                f"{_place(segment)[0]}\t{_place(segment)[1]}\ten\tde\tofficial\t{system}\tnews\tFathom\t{value}\n"
            )
        ),
        "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\tmethod\toverall\n",
        segment_of=_by_segment,
    ),
    "submission of 2025, by test set": Small(
        "wmt25/primary/Fathom.seg.tsv",
        _of_segments(
            lambda system, segment, value: (
                f"{_place(segment)[0]}\t{segment}\ten\tde\tofficial\t{system}\tnews\tFathom\t{value}\n"
            )
        ),
        "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\tmethod\toverall\n",
        segment_of=_by_segment,
    ),
    "direct assessment": Small(
        "wmt20-metrics/ad-seg-scores-en-de.csv",
        _of_segments(lambda system, segment, value: f"{system} {segment} {value} 0.{value} 2\n"),
        "SYS SID RAW.SCR Z.SCR N\n",
        assessed=r"^(\S+ \S+ )\d+",
        segment_of=_by_segment,
    ),
    "direct assessment by document": Small(
        "wmt20-metrics/ad-seg-scores-en-de.csv",
        _of_segments(
            lambda system, segment, value: (
                f"{system} {_place(segment)[0]}_{_place(segment)[1] - 1} {value} 0.{value} 2\n"
            )
        ),
        "SYS SID RAW.SCR Z.SCR N\n",
        assessed=r"^(\S+ \S+ )\d+",
        segment_of=_by_segment,
    ),
    "five columns": Small(
        "mt-systems-scored-by-metrics",
        _of_systems(lambda metric, system, value: f"{metric}\ten-de\tnewstest2012\t{system}\t{value}\n"),
        "METRIC\tLP\tTESTSET\tSYSTEM\tSCORE\n",
    ),
    "automatic scores": Small(
        "wmt22-news-systems/scores/automatic-scores.tsv",
        _of_systems(lambda metric, system, value: f"en-de\t{system}\t1\tTRUE\t{metric}-A\t{value}\n"),
        "pair\tsystem\tid\tis_constrained\tmetric\tscore\n",
    ),
    "list of systems": Small(
        "scores/en-de/COMET_newstest2021_ref-A.tsv",
        [f"{system}\t0.{at}\n" for at, system in enumerate(SYSTEMS, start=5)],
        "sys\tscore\n",
    ),
    "table of systems": Small(
        "DA-newstest2019-ende-sys-nohy-scores.csv",
        [f"en-de {system} 0.{at}1 0.{at}2 0.{at}3\n" for at, system in enumerate(SYSTEMS, start=3)],
        "LP SYSTEM HUMAN Fathom Furlong\n",
    ),
    "MQM averages": Small(
        "mqm_newstest2020_ende.avg_seg_scores.tsv",
        _of_segments(lambda system, segment, value: f"{system} -{value} {segment}\n"),
        "system mqm_avg_score seg_id\n",
        segment_of=_by_segment,
    ),
    "MQM annotations": Small("mqm_newstest2020_ende.tsv", _of_segments(_mqm), MQM_HEADER, segment_of=_by_segment),
    "MQM annotations since 2023": Small(
        "mqm_generalMT2023_ende.tsv",
        _of_segments(_mqm_2023),
        "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata\n",
        segment_of=_by_segment,
    ),
    "ESA": Small("wmt23/humeval/esa_wave1.csv", _of_segments(_esa), segment_of=_by_segment, assessed=_IN_CSV),
    "DA+SQM": Small("wmt23/humeval/Appraise.csv", _of_segments(_appraise_11), segment_of=_by_segment, assessed=_IN_CSV),
    "DA+SQM of segments": Small(
        "wmt23/humeval/Appraise.csv",
        _of_segments(lambda system, segment, value: f"rachel,{system},{segment},TGT,eng,deu,{value},1.0,{segment}.0\n"),
        assessed=_IN_CSV,
        segment_of=_by_segment,
    ),
    "WMT25 automatic": Small(
        "wmt25-general-mt/data/automatic_scores/Aspen.jsonl",
        _documents_of_2025(_automatic_2025),
        beside={"wmt25-general-mt/data/automatic_scores/Birch.jsonl": "".join(_documents_of_2025(_automatic_2025))},
    ),
    "WMT25 human": Small(
        "wmt25-general-mt/data/wmt25-genmt-humeval.jsonl",
        [_human_2025(segment) for segment in SEGMENTS],
        assessed=_IN_JSON,
        segment_of=_by_segment,
    ),
    "rankings": Small(
        "wmt12/rankings.csv",
        [f"eng,deu,{segment},rachel,{a},1,{b},{segment}\n" for a, b in _PAIRS for segment in SEGMENTS],
        RANKING_HEADER,
        segment_of=_by_segment,
    ),
    "preferences": Small(
        "preferences.csv",
        [f"lab,en-de,arena,{segment},{a},{b},{segment - 2}\n" for a, b in _PAIRS for segment in SEGMENTS],
        "testset,lp,human,segment,system_a,system_b,score\n",
        segment_of=_by_segment,
    ),
    "long table": Small(
        "mine.csv",
        _of_segments(lambda system, segment, value: f"{_LAB},{system},{_place(segment)[0]},{segment},{value}\n"),
        "testset,lp,metric,system,document,segment,score\n",
        segment_of=_by_segment,
    ),
    "long table of tabs": Small(
        "mine.tsv",
        _of_segments(lambda system, segment, value: f"lab\ten-de\tFathom\t{system}\t{segment}\t{value}\n"),
        "testset\tlp\tmetric\tsystem\tsegment\tscore\n",
        segment_of=_by_segment,
    ),
    "JSON lines": Small(
        "mine.jsonl",
        _of_segments(
            lambda system, segment, value: (
                f'{{"testset": "lab", "lp": "en-de", "metric": "Fathom", "system": "{system}", '
                f'"segment": {segment}, "score": {value}}}\n'
            )
        ),
        segment_of=_by_segment,
    ),
    "wide table": Small(
        "wide.csv",
        _of_segments(lambda system, segment, value: f"lab,en-de,{system},{segment},0.{value},0.{value}5\n"),
        "testset,lp,system,segment,Fathom,Furlong\n",
        segment_of=_by_segment,
    ),
    "Pearmut": Small(
        "wmt26/annotations.json",
        [","[:at] + row for at, row in enumerate(_ANSWERS)],
        '{"en-de": [',
        footer="]}\n",
        assessed=_IN_JSON,
    ),
    "Pearmut's log": Small("wmt26/eng---deu.jsonl", _ANSWERS, assessed=_IN_JSON),
    "challenge table": Small(
        "set.csv",
        [
            f"item-{item},negation,{hypothesis},{grade},en-de,0.{item}{grade}\n"
            for item in SEGMENTS
            for grade, hypothesis in enumerate(("worse", "better"))
        ],
        "item,phenomenon,hypothesis,grade,lp,Fathom\n",
    ),
    "ACES": Small(
        "aces.tsv",
        [f"source {n}\tgood {n}\tbad {n}\treference {n}\taddition\ten-de\t0.9{n}\t0.1{n}\n" for n in SEGMENTS],
        "source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair\tFathom-good\tFathom-bad\n",
    ),
    "segment details": Small("wmt20-metrics/input/details/en-de.txt", _DETAILS.splitlines(keepends=True)),
    "layout's metric": Small(
        f"{_TREE}/metric-scores/en-de/Fathom-refA.seg.score",
        _of_segments(lambda system, segment, value: f"{system}\t{value}\n"),
        beside={f"{_TREE}/documents/en-de.docs": _DOCUMENTS},
    ),
    "layout's human score": Small(
        f"{_TREE}/human-scores/en-de.mqm.seg.score",
        _of_segments(lambda system, segment, value: f"{system}\t{value}\n"),
        beside={f"{_TREE}/documents/en-de.docs": _DOCUMENTS},
    ),
    "layout's ratings": Small(
        f"{_TREE}/human-scores/en-de.mqm.seg.rating",
        _of_segments(
            lambda system, segment, value: (
                f'{system}\t{{"errors": [{{"start": 0, "end": {len(value)}, "category": "Style", "severity": "minor", '
                f'"score": 1.0, "is_source_error": false}}]}}\trachel\n'
            )
        ),
        beside={f"{_TREE}/documents/en-de.docs": _DOCUMENTS},
    ),
    "layout's documents": Small(
        f"{_TREE}/documents/en-de.docs",
        _DOCUMENTS.splitlines(keepends=True),
        beside={
            f"{_TREE}/metric-scores/en-de/Fathom-refA.seg.score": "".join(
                _of_segments(lambda system, segment, value: f"{system}\t{value}\n")
            )
        },
    ),
}

_TARGETS = [
    (two, facts["three"].split()[0])
    for two, facts in packaged("languages.toml").items()
    if "three" in facts and two not in ("en", "zh")
] + [("xa", "xaa"), ("xb", "xbb"), ("xc", "xcc"), ("xd", "xdd"), ("xe", "xee"), ("xf", "xff")]


def _into(small: Small, target: tuple[str, str]) -> Small:
    """The same of another language pair."""
    two, three = target
    words = {"en-de": f"en-{two}", "ende": f"en{two}", "eng,deu": f"eng,{three}", "en\tde": f"en\t{two}"}
    words["eng---deu"] = f"eng---{three}"

    def translated(text: str) -> str:
        return functools.reduce(lambda done, word: done.replace(word, words[word]), words, text)

    beside = {translated(path): translated(text) for path, text in small.beside.items()}
    rows = [translated(row) for row in small.rows]
    return replace(
        small, path=translated(small.path), rows=rows, header=translated(small.header), beside=beside, target=target
    )


SMALL: Mapping[str, Small] = {
    name: _into(small, target) for (name, small), target in zip(_GERMAN.items(), _TARGETS[: len(_GERMAN)], strict=True)
} | {
    "DEMETR": Small(
        "minor_id1_case.json", [*map(_demetr, SEGMENTS)], "[" + _demetr(0), footer="]\n", is_into_english=True
    )
}

_OF_JUDGEMENT = (
    "JOIN vector AS v USING (vector_id) JOIN evalset AS e USING (evalset_id)"
    " JOIN scorer AS c USING (scorer_id) JOIN system AS s USING (system_id)"
    " LEFT JOIN segment AS g ON g.evalset_id = v.evalset_id AND g.segment = j.segment"
)
_ASKED = (
    "SELECT e.lp, c.kind, c.name, s.name, v.level, v.is_negated, g.position, g.document, g.index_in_document, x.value"
    " FROM score AS x JOIN vector AS v USING (vector_id) JOIN evalset AS e USING (evalset_id)"
    " JOIN scorer AS c USING (scorer_id) JOIN system AS s USING (system_id)"
    " JOIN segment AS g ON g.evalset_id = v.evalset_id AND g.segment = x.segment WHERE x.value IS NOT NULL",
    "SELECT lp, testset, kind, scorer, system, level, unit, value FROM aggregate_scores",
    "SELECT e.lp, c.name, s.name, g.position, g.document, g.index_in_document, j.rater, j.value, j.status"
    f" FROM judgement AS j {_OF_JUDGEMENT}",
    "SELECT e.lp, c.name, s.name, g.position, g.document, g.index_in_document, j.rater, category, severity, weight,"
    f" span_start, span_end FROM span JOIN judgement AS j USING (judgement_id) {_OF_JUDGEMENT}",
    "SELECT lp, system_a, system_b, scorer, segment, rater, answer, is_same_output FROM preferences",
    "SELECT lp, testset FROM evalsets",
)


@dataclass
class Outcome:
    """What a load has put into a warehouse of one language pair; faults; what was noted, skipped files among it."""

    rows: frozenset[tuple[object, ...]]
    faults: list[str]
    notes: list[str]


def outcomes(folder: Path, files: Mapping[str, Mapping[str, bytes]]) -> dict[str, Outcome]:
    """Each format's after one load of all. files: by name and path."""
    for number, of_name in enumerate(files.values()):
        for path, content in of_name.items():
            place = folder / "in" / str(number) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    (folder / "w.duckdb").write_bytes(empty_bytes())  # to make one takes longer than all else
    report = load([folder / "in"], folder / "w.duckdb")
    rows = list(stored(folder / "w.duckdb"))
    told = [*report.notes, *(f"{path}: {reason}" for path, reason in report.skipped)]
    return {
        name: Outcome(
            frozenset(row for row in rows if row[0] == SMALL[name].lp),
            [str(fault) for fault in report.faults if f"/in/{number}/" in fault.path],
            [note.replace(str(folder), "") for note in told if f"/in/{number}/" in note],
        )
        for number, name in enumerate(files)
    }


@functools.cache
def unchanged() -> dict[str, Outcome]:
    """What a load of the files as they are brings."""
    with TemporaryDirectory() as folder:
        found = outcomes(Path(folder), {name: small.but(small.text) for name, small in SMALL.items()})
    assert not [name for name, one in found.items() if one.faults or not one.rows]
    return found


def stored(database: Path) -> Iterable[tuple[object, ...]]:
    """Every score, judgement and error of a warehouse, each with its number among its like."""
    with Warehouse.open(database) as warehouse:
        rows = [row for query in _ASKED for row in warehouse.rows(query)]
    seen: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        seen[row] += 1
        yield (*row, seen[row])
