"""`autorank`: its JSON, and what it cannot rank."""

from pathlib import Path

import pytest

from metaeval import autorank
from tests.cli.running import Scorehouse
from tests.helpers import tiny_layout, tiny_warehouse
from warehouse import QuestionError


def test_json_has_the_scores_of_each_metric(scorehouse: Scorehouse) -> None:
    rows = scorehouse("autorank", "sim24", "en-de", "--metrics", "Kestrel*", "--format", "json").json
    assert set(rows[0]) == {"testset", "lp", "system", "autorank", "z", "scores"}
    assert rows[0]["autorank"] == 1
    assert all(name.startswith("Kestrel") for name in rows[0]["scores"])
    assert [row["z"] for row in rows] == sorted((row["z"] for row in rows), reverse=True)


@pytest.mark.slow
def test_an_evaluation_set_without_metric_scores_says_so(tmp_path: Path) -> None:
    layout = tiny_layout(tmp_path / "layout", metrics={})
    why = r"^no metric scores of tiny24 en-de are loaded$"
    with tiny_warehouse(tmp_path, layout) as warehouse, pytest.raises(QuestionError, match=why):
        autorank(warehouse, "tiny24", "en-de")
