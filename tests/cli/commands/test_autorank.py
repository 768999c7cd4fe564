"""`autorank`: its JSON."""

from tests.cli.running import Scorehouse


def test_json_has_the_scores_of_each_metric(scorehouse: Scorehouse) -> None:
    rows = scorehouse("autorank", "sim24", "en-de", "--metrics", "Kestrel*", "--format", "json").json
    assert set(rows[0]) == {"testset", "lp", "system", "autorank", "z", "scores"}
    assert rows[0]["autorank"] == 1
    assert all(name.startswith("Kestrel") for name in rows[0]["scores"])
    assert [row["z"] for row in rows] == sorted((row["z"] for row in rows), reverse=True)
