"""Notes that the data are partial stand before the table."""

from pathlib import Path

from tests.cli.running import Scorehouse
from tests.helpers import tiny_warehouse

RULES = 'overall = "values"\ntasks = [{ measure = "pa" }, { measure = "acc_eq(by=item)" }]\n'


def test_notes_on_partial_data_come_first_and_once(scorehouse: Scorehouse, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(RULES)
    with tiny_warehouse(tmp_path) as warehouse:
        words = ("protocol", tmp_path / "mine.toml", "--on", "tiny24", "--lp", "en-de", "--all-metrics")
    said = "4 of 5 metrics have scores for both tasks, and only these are ranked"
    for kind in ("table", "csv", "markdown", "json"):
        ran = scorehouse(*words, "--format", kind, "--db", warehouse.path)
        assert (said in ran.out.splitlines()[0]) == (kind in ("table", "markdown")), kind
        assert (f"partial: {said}" == ran.notes[0]) == (kind in ("csv", "json")), kind
        assert sum(said in note for note in ran.notes) == (kind in ("csv", "json")), kind
    quiet = scorehouse(*words, "--quiet", "--db", warehouse.path)
    assert said not in quiet.out
