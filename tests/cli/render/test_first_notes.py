"""Notes that the data are partial stand before the table."""

from pathlib import Path

from tests.cli.running import Scorehouse
from tests.helpers import tiny_warehouse

RULES = 'overall = "values"\ntasks = [{ measure = "pa" }, { measure = "acc_eq(by=item)" }]\n'


def test_notes_on_partial_data_come_before_the_signature_and_once(scorehouse: Scorehouse, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(RULES)
    with tiny_warehouse(tmp_path) as warehouse:
        words = ("protocol", tmp_path / "mine.toml", "--on", "tiny24", "--lp", "en-de", "--all-metrics")
    for kind in ("table", "csv", "markdown", "json"):
        ran = scorehouse(*words, "--format", kind, "--db", warehouse.path)
        assert ran.notes[0].startswith("partial: "), kind
        assert sum(note.startswith("partial: ") for note in ran.notes) == 1, kind
