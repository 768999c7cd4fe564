"""`decide`: its views, and what goes with which."""

from typing import Any
from unittest.mock import Mock

import pytest

from cli.options.output import Output
from cli.views.decide import show
from metaeval import decide
from metaeval.questions.decide import Decide
from tests.cli.running import Scorehouse
from warehouse import QuestionError, Warehouse

ASKED = ("decide", "sim24", "en-de", "simBLEU", "--good", "-1")


def test_views_are_tables_with_their_columns(scorehouse: Scorehouse) -> None:
    columns = {
        "curve": {"threshold", "share", "precision", "recall", "mcc"},
        "threshold": {"rule", "threshold", "share", "precision", "recall"},
        "cost": {"threshold", "share", "cost", "is_best"},
        "reliability": {"probability", "observed", "low", "high", "n"},
        "transfer": {"source", "target", "threshold", "mcc", "own_mcc", "loss"},
    }
    for view, names in columns.items():
        rows = scorehouse(*ASKED, "--view", view, "--format", "json").json
        assert names <= set(rows[0]), view


def test_carried_thresholds_are_named_and_so_is_what_is_no_other_data(scorehouse: Scorehouse) -> None:
    notes = scorehouse(*ASKED, "--view", "transfer").notes
    assert "threshold: the one with the highest MCC on the source; own_threshold: on the target" in notes
    assert "domains of sim24 en-de are part of it: between it and them no outputs are new" in notes
    (without,) = [note for note in notes if note.startswith("not compared: ")]
    assert without.endswith("(without simBLEU, without human scores by mqm, or all outputs are good or none is)")


def test_a_terminal_has_the_best_threshold_of_each_evaluation_set_above_the_rows(
    simulated_warehouse: Warehouse,
) -> None:
    output = Mock(Output)
    for lp, places in (("en-de", [""]), ("en-de,cs-uk", ["sim24 cs-uk: ", "sim24 en-de: "])):
        show(decide(simulated_warehouse, "sim24", lp, "simBLEU", good=-1, view="cost"), output)
        lead = output.show_answer.call_args.kwargs["lead"]
        assert sorted(line.partition("cheapest")[0] for line in lead) == places


def test_a_good_output_is_a_number_or_its_text(simulated_warehouse: Warehouse) -> None:
    one, other = (decide(simulated_warehouse, *ASKED[1:4], good=good, view="cost") for good in (-1, "-1"))
    assert one.signature == other.signature
    with pytest.raises(QuestionError, match="good True: expected a text or a number"):
        decide(simulated_warehouse, *ASKED[1:4], good=True)


def test_a_wanted_precision_alone_asks_for_its_threshold() -> None:
    asked: dict[str, Any] = {"testset": "sim24", "lp": "en-de", "metric": "M"}
    assert [Decide(**asked, precision=wanted).shown for wanted in (0.95, None)] == ["threshold", "curve"]
    with pytest.raises(QuestionError, match="precision needs view='threshold'"):
        Decide(**asked, view="curve", precision=0.95)
