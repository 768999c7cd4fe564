"""Names beside points: none hides another, and all that have room are written."""

from itertools import combinations

import pytest

from metaeval.charts.labels import SIDES, labelled, placed

SIZE = (400, 300)


def points(*places: tuple[str, float, float]) -> list[dict[str, object]]:
    return [{"name": name, "x": x, "y": y} for name, x, y in places]


def boxes(found: list[dict[str, object]]) -> list[tuple[float, float, float, float]]:
    """Where names are written, in pixels, for points between 0 and 1."""
    drawn = []
    for one in found:
        if one["label"]:
            dx, dy, share = SIDES[str(one["label"])]
            long = 5.6 * len(str(one["name"]))
            left, middle = float(one["x"]) * 400 + dx - share * long, 300 - float(one["y"]) * 300 + dy  # type: ignore[arg-type]
            drawn.append((left, middle - 5.5, left + long, middle + 5.5))
    return drawn


def test_names_do_not_hide_each_other_and_the_first_has_its_place() -> None:
    crowd = [(f"metric {n}", 0.5 + n / 500, 0.5 + (n % 3) / 300) for n in range(12)]
    found = placed(points(("low", 0, 0), ("high", 1, 1), *crowd), "x", "y", "name", SIZE)
    assert found[0]["label"] == found[1]["label"] == "right"
    assert "" in {one["label"] for one in found}
    for one, other in combinations(boxes(found), 2):
        assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]


def test_points_apart_all_have_names_and_equal_values_have_a_place() -> None:
    assert all(
        one["label"] for one in placed(points(("a", 0, 0), ("b", 1, 1), ("c", 0.5, 0.2)), "x", "y", "name", SIZE)
    )
    assert [one["label"] for one in placed(points(("a", 1, 1)), "x", "y", "name", SIZE)] == ["right"]
    assert placed([], "x", "y", "name", SIZE) == []


@pytest.mark.slow
def test_one_s_own_point_is_named_and_on_top_however_many_hide_it() -> None:
    crowd = points(*((f"a long name of metric {n}", n % 5 / 50, n // 5 / 50) for n in range(30)), ("far", 1, 1))
    for place in range(len(crowd)):
        own = [{**one, "is": "own" if at == place else "metric"} for at, one in enumerate(crowd)]
        _, rows = labelled("d", own, "x", "y", "name", ("x", "y"), SIZE)
        assert rows[-1]["name"] == crowd[place]["name"]
        assert rows[-1]["label"]
