"""People as scorers: annotators, and how well they agree."""

from metaeval.people import annotators as persons
from metaeval.people.annotator_tables import View
from metaeval.people.halves import Halves
from metaeval.people.judgements import Settings, Unit
from metaeval.questions.arguments import question
from metaeval.table import Table
from warehouse import Warehouse


@question
def annotators(
    warehouse: Warehouse,
    testset: str = "all",
    lp: str = "all",
    *,
    human: str | None = None,
    view: View | None = None,
    halves: Halves | None = None,
    unit: Unit = "segment",
    draws: int = 1000,
    seed: int = 0,
) -> Table:
    """How much annotators judged and how, whether they drift, how well they agree, how reliable their scores are.

    view: "sets", a row for each human score with Krippendorff's alpha and split-half reliability; "annotators", a row
    for each; "pairs", a row for two with outputs in common. None: annotators where one human score has judgements on
    file, else sets. halves: of "annotators" (the default where at least 4 are known) or of "judgements". unit: what is
    resampled for alpha's interval. draws: number of resamples.
    """
    return persons.annotators(warehouse, testset, lp, human, view, Settings(halves, unit, draws, seed))
