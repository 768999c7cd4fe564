"""`decide`: its views, and what goes with which."""

from typing import Any

import pytest

from metaeval.questions.decide import Decide
from tests.cli.running import Scorehouse
from warehouse import QuestionError

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


def test_a_wanted_precision_alone_asks_for_its_threshold() -> None:
    asked: dict[str, Any] = {"testset": "sim24", "lp": "en-de", "metric": "M"}
    assert [Decide(**asked, precision=wanted).shown for wanted in (0.95, None)] == ["threshold", "curve"]
    with pytest.raises(QuestionError, match="precision needs view='threshold'"):
        Decide(**asked, view="curve", precision=0.95)
