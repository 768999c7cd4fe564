"""Tables of scores that only a user can have: `load` asks for `add`, lest they pass for metrics of the task."""

from warehouse.errors import Fault
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import TestsetFacts
from warehouse.readers.contents import Content
from warehouse.wording import option


def own_looking(content: Content, declared: TestsetFacts | None) -> list[Fault]:
    """A fault for each metric of a table that neither the test set's lists nor the registry know.

    declared: None, or without lists of metrics: then there is nothing that such a metric could pass for.
    """
    if declared is None or declared.primary is None or content.records is None:
        return []
    if not content.claim.is_table or content.claim.is_own:
        return []
    scores = content.records.scores
    assert scores is not None
    listed = declared.primary | declared.baseline
    listed |= {name for evalset in declared.lps.values() for name in evalset.extra_primary}
    first = scores.filter(kind="metric").group_by("scorer", maintain_order=True).first()
    return [
        Fault(
            str(content.claim.path),
            line,
            f"metric {name!r}, which {declared.name} did not have",
            "metrics of the shared task",
            f"a metric of your own: scorehouse add {content.claim.path.name} {option('metric', name)}",
        )
        for name, line in first.select("scorer", "line").iter_rows()
        if name not in listed and not describe(name).is_known
    ]
