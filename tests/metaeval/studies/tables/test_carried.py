"""Metrics that return: of one version under another name, or of one name."""

from types import SimpleNamespace

from metaeval.studies.tables.carried import _returning, _Year


def _year(year: int, *names: str) -> _Year:
    metrics = [SimpleNamespace(base_name=name, reference=None if "Kiwi" in name else "refA") for name in names]
    return _Year(SimpleNamespace(year=year), None, SimpleNamespace(metrics=metrics))  # type: ignore[arg-type]


def test_a_metric_returns_by_its_version_whatever_its_name() -> None:
    earlier = _year(2023, "COMET", "CometKiwi", "chrF", "MyOwn-7b")
    later = _year(2024, "chrF", "COMET-22", "My_own-7B", "COMETKiwi")
    assert _returning(earlier, later) == [(0, 1), (1, 3), (2, 0), (3, 2)]


def test_another_version_of_one_name_returns_only_where_its_own_does_not() -> None:
    assert _returning(_year(2020, "COMET"), _year(2023, "COMET")) == [(0, 0)]
    assert _returning(_year(2022, "COMET-22"), _year(2023, "COMET")) == [(0, 0)]
    assert _returning(_year(2023, "COMET"), _year(2024, "BLEU", "CometKiwi")) == []
