"""Systems compared by corpus BLEU, chrF or TER with sacreBLEU's own paired tests, on statistics of whole corpora."""

import logging
from typing import Any, Literal

import polars as pl

from metaeval.answer import Table
from metaeval.signature import line, program_version
from warehouse import QuestionError, Warehouse
from warehouse.own.sacrebleu import corpus
from warehouse.progress import Progress

CorpusTest = Literal["bs", "ar"]
SAMPLES: dict[CorpusTest, int] = {"bs": 1000, "ar": 10_000}
"""sacreBLEU's own numbers of resamples and of trials."""


def corpus_tests(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    metric: str = "bleu",
    test: CorpusTest = "bs",
    *,
    systems: tuple[str, ...] = (),
    samples: int | None = None,
    references: tuple[str, ...] = (),
    tokenize: str | None = None,
    progress: Progress | None = None,
) -> Table:
    """p-values of every pair of systems by sacreBLEU's paired bootstrap ("bs") or approximate randomisation ("ar").

    systems: those to compare, as far as they have texts of every segment; empty for all. Each system is the baseline
    of all that score lower;
    columns better, worse, value, other, difference (TER counts errors, as sacreBLEU has it), p. The seed is sacreBLEU's
    (SACREBLEU_SEED, 12345 where it is not set), and its signature stands in the table's.
    Raises QuestionError: see `corpus`; an unknown system, fewer than two, samples below 1.
    """
    found = corpus(warehouse, testset, lp, metric, references=references, tokenize=tokenize)
    n_samples = SAMPLES[test] if samples is None else samples
    if n_samples < 1:
        raise QuestionError(f"{n_samples} samples: at least 1 is needed")
    chosen = [name for name in found.outputs if not systems or name in systems]
    if len(chosen) < 2:
        raise QuestionError(f"{testset} {lp} has no two systems with texts of every segment")
    from sacrebleu.significance import PairedTest

    values = {name: float(found.metric.corpus_score(found.outputs[name], found.references).score) for name in chosen}
    order = sorted(chosen, key=lambda name: (values[name] if found.is_error_measure else -values[name], name))
    rows, signature = [], ""
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)
    for place, better in enumerate(order[:-1]):
        named: Any = [(name, found.outputs[name]) for name in order[place:]]
        lines = [list(one) for one in found.references]
        scores: Any
        signatures, scores = PairedTest(named, {found.name: found.metric}, lines, test, n_samples)()
        (results,) = (of for name, of in scores.items() if name != "System")
        signature = str(next(iter(signatures.values())))
        for worse, result in zip(order[place + 1 :], results[1:], strict=True):
            rows.append((better, worse, values[better], values[worse], result.p_value))
        if progress is not None:
            progress(f"{found.name} tests", place + 1, len(order) - 1)
    names = ("better", "worse", "value", "other", "p")
    schema = dict.fromkeys(names[:2], pl.String()) | dict.fromkeys(names[2:], pl.Float64())
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(difference=pl.col("value") - pl.col("other"))
    parts = [("systems_by", found.name), ("testset", testset), ("lp", lp), ("n_systems", len(order))]
    text = line([*parts, ("sacrebleu", f"[{signature}]"), ("scorehouse", program_version())])
    left = [f"without {name}: {why}" for name, why in found.excluded.items()]
    return Table(frame.select("better", "worse", "value", "other", "difference", "p"), text, tuple(left))
