"""Protocol scores answered from the warehouse where they were computed before, else computed and kept."""

from collections.abc import Sequence
from dataclasses import replace

from metaeval.cache import FROM_STORE, Question, key
from metaeval.options import Options, Run
from metaeval.protocols import Protocol
from metaeval.protocols.entry import enter
from metaeval.protocols.scoring import ProtocolScore, score
from metaeval.protocols.significance import organisers
from metaeval.protocols.stored_tasks import StoredTasks
from metaeval.significance.options import TestOptions
from queries.selection import Slice


def scored(
    run: Run,
    protocol: Protocol,
    testset: str,
    lps: Sequence[str] | None,
    human: str | None,
    reference: str | None,
    all_metrics: bool,
    significance: bool,
    options: Options,
    testing: TestOptions,
    *,
    fresh: bool = False,
) -> tuple[ProtocolScore, list[str]]:
    """Score a test set by a protocol, from the result store where it has the answer; and notes on that.

    Raises QuestionError: as `scoring.score`. SchemaError: the warehouse cannot be read.
    """
    testing.check()
    asked = Slice(testset, "", human=human, reference=reference)
    with run.opened() as warehouse:
        entry = enter(warehouse, protocol, testset, lps=lps, asked=asked, all_metrics=all_metrics, options=options)
        blocks = [one.block for entered in entry.entered for one in entered]
        settings = organisers(testing) if significance else TestOptions()
        rules = [replace(rule, measure=str(rule.measure)) for rule in protocol.rules]  # type: ignore[arg-type]
        described = (protocol.name, protocol.overall, str(rules), str(entry.dropped), *entry.notes, ",".join(entry.lps))
        answer_key = key("protocol", blocks, *described, significance, options, settings)
        question = Question(answer_key, "protocol", testset, ",".join(entry.lps), ProtocolScore)
        if not fresh and (kept := question.stored(warehouse)) is not None:
            return kept, [FROM_STORE]
    store = None if run.database is None else StoredTasks(run.database, testset, fresh)
    return question.computed(
        run.database,
        lambda: score(
            entry, significance=significance, options=options, testing=testing, progress=run.progress, store=store
        ),
    )
