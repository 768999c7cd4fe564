"""sacreBLEU's metrics, computed on system outputs of the warehouse and stored as a user's own metric."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warehouse.database.connection import Warehouse
from warehouse.errors import QuestionError, known_name, unknown, unknown_evalset
from warehouse.own.computed import ComputedMetric, store
from warehouse.progress import Progress
from warehouse.wording import counted, first_line, option

METRICS = ("bleu", "chrf", "chrf++", "ter")
_NAMES = {
    "bleu": "sacreBLEU-BLEU",
    "chrf": "sacreBLEU-chrF",
    "chrf++": "sacreBLEU-chrF++",
    "ter": "sacreBLEU-TER",
}
_ERROR_MEASURES = frozenset({"ter"})
_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}  # sacreBLEU's own choice by target language


@dataclass(frozen=True)
class _Texts:
    """Texts of an evaluation set; segments: their numbers; outputs: of systems with an output for every segment."""

    evalset_id: int
    target_language: str
    segments: Sequence[int]
    references: Mapping[str, Sequence[str]]
    outputs: Mapping[str, Sequence[str]]
    excluded: Mapping[str, str]


def compute(
    database: Path,
    testset: str,
    lp: str,
    metrics: Sequence[str] = ("bleu", "chrf", "ter"),
    *,
    references: Sequence[str] = (),
    tokenize: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> "list[MetricOnTexts]":
    """Score every system output against references, by segment and system, and store all in one transaction.

    metrics: some of METRICS. references: names; by default the standard one, or the only one. tokenize: sacreBLEU's
        tokenizer for BLEU; by default the one it chooses for the target language. dry_run: store nothing.
    The scores are stored as a user's own metric, not submitted to any shared task; the source's path is sacreBLEU's
    signature. Equal texts change nothing; changed texts replace the earlier scores. TER is negated.
    Raises QuestionError: sacreBLEU is not installed, unknown names, no texts, or a metric of that name from a file.
    SchemaError: see `Warehouse.open` and `writing`.
    """
    metrics = [known_name("metric to compute", name, METRICS) for name in metrics]
    with Warehouse.open(database) as warehouse:
        texts = _texts(warehouse, testset, lp)
        chosen = _choose_references(warehouse, texts, references, f"{testset} {lp}")
        held = _stored_sources(warehouse, texts.evalset_id)
    tasks = [MetricOnTexts(name, chosen, texts, tokenize) for name in dict.fromkeys(metrics)]
    for task in tasks:
        reader, _ = held.get(task.scorer, ("", ""))
        if reader and not reader.startswith("sacrebleu/"):
            raise QuestionError(
                f"{testset} {lp} has a metric {task.scorer!r} from a file already; it is left unchanged"
            )
    fresh = [task for task in tasks if dry_run or held.get(task.scorer) != (task.reader, task.sha256)]
    for number, task in enumerate(fresh):
        task.score(_progress_of_part(progress, number, len(fresh)))
    if fresh and not dry_run:
        store(database, (testset, lp), fresh)
    for task in tasks:
        task.status = "not stored" if dry_run else "replaced" if task.scorer in held else "stored"
        if task not in fresh:
            task.status, task.system_scores = "unchanged", _stored(database, testset, lp, task)
    return tasks


def corpus(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    metric: str,
    *,
    references: Sequence[str] = (),
    tokenize: str | None = None,
) -> "MetricOnTexts":
    """The texts of an evaluation set with the metric that scores them; arguments and errors as for `compute`."""
    metric = known_name("metric to compute", metric, METRICS)
    texts = _texts(warehouse, testset, lp)
    return MetricOnTexts(metric, _choose_references(warehouse, texts, references, f"{testset} {lp}"), texts, tokenize)


def _progress_of_part(progress: Progress | None, done: int, n: int) -> Progress:
    def advance(what: str, part: int, total: int) -> None:
        if progress is not None:
            progress(what, done * total + part, n * total)

    return advance


def _texts(warehouse: Warehouse, testset: str, lp: str) -> _Texts:
    """Raises QuestionError: unknown test set or language pair, or no texts."""
    known = warehouse.rows(
        """
        SELECT t.name, e.lp, e.evalset_id, e.target_language
        FROM evalset AS e
        JOIN testset AS t ON t.testset_id = e.testset_id
        """
    )
    evalsets = {(name, pair): (number, target) for name, pair, number, target in known}
    if (error := unknown_evalset(testset, lp, evalsets)) is not None:
        raise error
    evalset_id, target = evalsets[testset, lp]
    key = {"evalset": evalset_id}
    by_number = "SELECT segment FROM segment WHERE evalset_id = $evalset ORDER BY segment"
    segments = [number for (number,) in warehouse.rows(by_number, key)]
    found: dict[tuple[str, str], dict[int, str]] = {}
    for kind, name, segment, text in warehouse.rows(
        """
        SELECT kind, name, segment, text
        FROM segment_text
        WHERE evalset_id = $evalset AND kind IN ('reference', 'output')
        """,
        key,
    ):
        found.setdefault((kind, name), {})[segment] = text
    outputs, excluded = {}, {}
    for (name,) in warehouse.rows("SELECT name FROM system WHERE evalset_id = $evalset ORDER BY name", key):
        lines = found.get(("output", name)) or found.get(("reference", name)) or {}
        if not lines:
            excluded[name] = "no texts"
        elif len(lines) < len(segments):
            excluded[name] = f"texts of {len(lines)} of {counted(len(segments), 'segment')}"
        else:
            outputs[name] = [lines[number] for number in segments]
    references = {
        name: [lines[number] for number in segments]
        for (kind, name), lines in sorted(found.items())
        if kind == "reference" and len(lines) == len(segments)
    }
    if not segments or not outputs or not references:
        missing = "references" if outputs else "system outputs"
        raise QuestionError(f"{testset} {lp} has no texts of {missing}; load the test set's texts first")
    return _Texts(evalset_id, target, segments, references, outputs, excluded)


def _choose_references(warehouse: Warehouse, texts: _Texts, asked: Sequence[str], where: str) -> tuple[str, ...]:
    for name in asked:
        if name not in texts.references:
            raise unknown("reference", name, texts.references, where=where)
    if asked:
        return tuple(dict.fromkeys(asked))
    ((standard,),) = warehouse.rows(
        "SELECT standard_reference FROM evalset WHERE evalset_id = $evalset", {"evalset": texts.evalset_id}
    )
    if standard in texts.references:
        return (str(standard),)
    if len(texts.references) == 1:
        return tuple(texts.references)
    there = ", ".join(texts.references)
    raise QuestionError(
        f"{where} has several references and no standard one; name one with {option('reference')}: {there}"
    )


def _stored_sources(warehouse: Warehouse, evalset_id: int) -> dict[str, tuple[str, str]]:
    """Metrics of the evaluation set with the reader and checksum of their source."""
    rows = warehouse.rows(
        """
        SELECT DISTINCT sc.name, o.reader, o.sha256
        FROM vector AS v
        JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
        JOIN source AS o ON o.source_id = v.source_id
        WHERE v.evalset_id = $evalset
        """,
        {"evalset": evalset_id},
    )
    return {name: (reader, sha256) for name, reader, sha256 in rows}


def _stored(database: Path, testset: str, lp: str, task: "MetricOnTexts") -> dict[str, float]:
    """System scores from the earlier computation."""
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows(
            """
            SELECT system, submitted
            FROM system_scores
            WHERE testset = $testset AND lp = $lp AND kind = 'metric' AND scorer = $scorer
            ORDER BY system
            """,
            {"testset": testset, "lp": lp, "scorer": task.scorer},
        )
    return {system: (-value if task.is_error_measure else value) + 0.0 for system, value in rows}


class MetricOnTexts(ComputedMetric):
    """One metric to compute on the texts of an evaluation set.

    corpus: sacreBLEU's object, which its paired tests take, too; scorer: its full name in this program, such as
    sacreBLEU-BLEU-refA; signature: sacreBLEU's, for the system scores. outputs: by system; excluded: system -> reason.
    status, once scored: stored, replaced, unchanged, or "not stored" on a dry run.
    """

    status: str

    def __init__(self, metric: str, references: tuple[str, ...], texts: _Texts, tokenize: str | None) -> None:
        self.base_name = _NAMES[metric]
        self.reference = ".".join(references)
        self.scorer = f"{self.base_name}-{self.reference}"
        self.is_error_measure = metric in _ERROR_MEASURES
        self.segments = texts.segments
        self.outputs = {name: lines for name, lines in texts.outputs.items() if name not in references}
        self.excluded = {**texts.excluded, **dict.fromkeys(references, "the reference itself")}
        self.references = [texts.references[name] for name in references]
        tokenize = tokenize or _TOKENIZERS.get(texts.target_language.split("_")[0])
        self.corpus, self._sentence, version = _scorers(metric, tokenize)
        self.reader = f"sacrebleu/{version}"
        self.corpus.corpus_score(["x"], [["x"]] * len(references))  # before its first score it has no signature
        self.signature = str(self.corpus.get_signature())
        self.sha256 = self._checksum()
        self.segment_scores: dict[str, list[float]] = {}
        self.system_scores: dict[str, float] = {}

    def _checksum(self) -> str:
        """Checksum of all input: names, texts, and the way of scoring."""
        digest = hashlib.sha256(self.signature.encode())
        for name, lines in [*sorted(self.outputs.items()), *(("", lines) for lines in self.references)]:
            digest.update(b"\0" + name.encode())
            for line in lines:
                digest.update(b"\n" + line.encode())
        return digest.hexdigest()

    def score(self, progress: Progress) -> None:
        """Compute the scores of segments and systems."""
        total = len(self.outputs) * len(self.segments)
        for done, (name, lines) in enumerate(self.outputs.items()):
            scores = []
            for place, line in enumerate(lines):
                progress(f"{self.scorer}: {name}", done * len(lines) + place, total)
                scores.append(self._sentence.sentence_score(line, [texts[place] for texts in self.references]))
            self.segment_scores[name] = [float(score.score) for score in scores]
            self.system_scores[name] = self._system_score(lines, scores)

    def _system_score(self, lines: Sequence[str], scores: Sequence[Any]) -> float:
        """sacreBLEU's corpus score; TER, which takes minutes, is computed from the edits already counted."""
        if not self.is_error_measure:
            return float(self.corpus.corpus_score(lines, self.references).score)
        n_edits = math.fsum(score.num_edits for score in scores)
        length = math.fsum(score.ref_length for score in scores)
        return 100.0 * (n_edits / length if length > 0 else float(n_edits > 0))


def _scorers(metric: str, tokenize: str | None) -> tuple[Any, Any, str]:
    """sacreBLEU's metric for a corpus and for a sentence, and its version.

    Raises QuestionError: it, or a dependency of the tokenizer, is not installed.
    """
    try:
        import sacrebleu
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.metrics.ter import TER
    except ImportError as error:
        raise QuestionError(
            "computing metrics needs sacreBLEU, which is not installed: python3 -m pip install 'scorehouse[metrics]'"
        ) from error
    version = str(sacrebleu.__version__)
    if metric in ("chrf", "chrf++"):
        order = 2 if metric == "chrf++" else 0
        return CHRF(word_order=order), CHRF(word_order=order), version
    if metric == "ter":
        return TER(), TER(), version
    options: dict[str, Any] = {} if tokenize is None else {"tokenize": tokenize}
    try:
        return BLEU(**options), BLEU(effective_order=True, **options), version
    except (ImportError, RuntimeError) as error:
        raise QuestionError(
            f"tokenizer {tokenize!r}: {first_line(error)}; choose another with {option('tokenize')}, such as char"
        ) from error
    except (KeyError, ValueError) as error:
        known = ", ".join(sorted(map(str, BLEU.TOKENIZERS)))
        raise QuestionError(f"unknown tokenizer {tokenize!r}; sacreBLEU has {known}") from error
