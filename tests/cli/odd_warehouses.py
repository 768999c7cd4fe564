"""Small warehouses that are odd but legal: too little of something, too much, or under names that mean something."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from tests.helpers import NAN, metric_tables, mqm_table, tiny_layout
from tests.sharing import written
from warehouse import load
from warehouse.export.mtme import RatingTable, ScoreTable

FIVE = ("Ash", "Beech", "Cherry", "Dogwood", "Elm")
TEN = (*(("news", "n1"),) * 4, *(("news", "n2"),) * 3, *(("speech", "s1"),) * 3)
HOSTILE = (
    "a'); DROP TABLE internal.score; --",
    "\"quoted\" 'twice'",
    "<script>alert(1)</script>",
    "=1+1",
    "🙂 emoji café",
    "x" * 200,
    "$param {brace} %s \\n",
    "-m",
)
"""Names of systems that mean something to SQL, HTML, spreadsheets, shells, formats or the command line."""

Floats = NDArray[np.float64]


def _table(systems: Sequence[str], seg: Floats, sys: Floats | None = None) -> ScoreTable:
    """Segment scores with their means."""
    return ScoreTable(systems=systems, seg=seg, sys=np.nanmean(seg, axis=1) if sys is None else sys)


def _human(n_systems: int, n_segments: int, seed: int = 1) -> Floats:
    """Scores in steps of 1, so that some are equal; system means differ."""
    drawn = np.random.default_rng(seed).integers(-10, 1, (n_systems, n_segments)).astype(float)
    return drawn - np.arange(n_systems)[:, np.newaxis]


def _metrics(human: Floats, systems: Sequence[str], noises: Sequence[float] = (0.5, 2, 6)) -> dict[str, ScoreTable]:
    """A metric for each noise on top of a human score, named by it."""
    rng = np.random.default_rng(2)
    return {f"Noise{noise:g}-src": _table(systems, human + rng.normal(0, noise, human.shape)) for noise in noises}


def _plain(
    folder: Path,
    human: Floats | None = None,
    *,
    systems: Sequence[str] = FIVE,
    humans: Mapping[str, ScoreTable] | None = None,
    metrics: Mapping[str, ScoreTable] | None = None,
    documents: Sequence[tuple[str, str]] = TEN,
    **more: object,
) -> None:
    """An evaluation set of five systems and ten segments, where nothing else is said."""
    drawn = _human(len(systems), len(documents)) if human is None else human
    tiny_layout(
        folder,
        documents=documents,
        systems=systems,
        humans={"mqm": _table(systems, drawn)} if humans is None else humans,
        metrics=_metrics(_human(len(systems), len(documents)), systems) if metrics is None else metrics,
        **more,  # type: ignore[arg-type]
    )


def _one_system(folder: Path) -> None:
    _plain(folder, systems=FIVE[:1])


def _two_systems(folder: Path) -> None:
    _plain(folder, systems=FIVE[:2])


def _one_segment(folder: Path) -> None:
    _plain(folder, documents=TEN[:1])


def _two_segments(folder: Path) -> None:
    _plain(folder, documents=TEN[:2])


def _one_score(folder: Path) -> None:
    _plain(folder, systems=FIVE[:1], documents=TEN[:1])


def _equal_humans(folder: Path) -> None:
    _plain(folder, np.full((5, 10), -1.0))


def _equal_systems(folder: Path) -> None:
    """Each segment's human scores differ between systems, but their means do not."""
    _plain(folder, np.array([np.roll(np.arange(10.0), 2 * by) for by in range(5)]))


def _half_judged(folder: Path) -> None:
    human = _human(5, 10)
    human[:, 5:] = NAN
    human[4] = NAN
    _plain(folder, humans={"mqm": ScoreTable(systems=FIVE, seg=human, sys=np.array([*human[:4, :5].mean(1), NAN]))})


def _one_judged_each(folder: Path) -> None:
    """No two systems are judged on the same segment."""
    human = np.full((5, 10), NAN)
    np.fill_diagonal(human, -np.arange(5.0))
    _plain(folder, human)


def _many_systems(folder: Path) -> None:
    _plain(folder, systems=[f"System{number:03}" for number in range(120)], documents=TEN[:3])


def _hostile(folder: Path) -> None:
    scores = _human(len(HOSTILE), 10)
    metrics = {
        "a'b\"c<i>-src": _table(HOSTILE, scores + 1),
        "=2*3-src": _table(HOSTILE, scores**2),
        "🙂-refA": _table(HOSTILE, scores**3),
        f"{'M' * 190}-src": _table(HOSTILE, scores - scores.mean(0)),
    }
    documents = [("news", f"'\"<b>{document}</b>=🙂") for _, document in TEN]
    _plain(folder, scores, systems=HOSTILE, metrics=metrics, documents=documents, texts=False)


def _documents_alone(folder: Path) -> None:
    scores = _human(5, 3)
    humans = {"mqm": ScoreTable(systems=FIVE, doc=scores)}
    metrics = {"Fine-src": ScoreTable(systems=FIVE, doc=scores + 1), "Rough-src": ScoreTable(systems=FIVE, doc=-scores)}
    _plain(folder, humans=humans, metrics=metrics)


def _four_protocols(folder: Path) -> None:
    humans = {name: _table(FIVE, _human(5, 10, seed)) for seed, name in enumerate(("mqm", "esa", "da-sqm", "psqm"))}
    _plain(folder, humans=humans)


def _constant_metrics(folder: Path) -> None:
    metrics = {f"Flat{value}-src": _table(FIVE, np.full((5, 10), float(value))) for value in (0, 1)}
    _plain(folder, metrics=metrics)


def _metrics_of_some(folder: Path) -> None:
    """Metrics that scored some systems, or some segments."""
    full = _metrics(_human(5, 10), FIVE)
    holes = full["Noise2-src"].seg
    assert holes is not None
    holed = holes.copy()
    holed[1:3, 4:] = NAN
    metrics = {
        "Whole-src": full["Noise0.5-src"],
        "Holed-src": ScoreTable(systems=FIVE, seg=holed, sys=np.array([1.0, 2, NAN, NAN, 3])),
        "Some-src": _table(FIVE[:2], holes[:2]),
        "Missing-src": ScoreTable(systems=FIVE, seg=np.full((5, 10), NAN)),
    }
    _plain(folder, metrics=metrics)


def _systems_alone(folder: Path) -> None:
    by_system = np.arange(5.0)
    metrics = {"Up-src": by_system, "Down-src": -by_system, "Between-src": np.array([0.0, 2, 1, 4, 3])}
    _plain(
        folder,
        humans={"mqm": ScoreTable(systems=FIVE, sys=by_system)},
        metrics={name: ScoreTable(systems=FIVE, sys=values) for name, values in metrics.items()},
    )


def _people_of_systems(folder: Path) -> None:
    """Human scores of systems, metrics with those of segments."""
    _plain(folder, humans={"mqm": ScoreTable(systems=FIVE, sys=np.arange(5.0))})


def _metrics_of_systems(folder: Path) -> None:
    """The other way round."""
    _plain(folder, metrics={"Up-src": ScoreTable(systems=FIVE, sys=np.arange(5.0))})


def _no_metric(folder: Path) -> None:
    _plain(folder, metrics={})


def _one_metric(folder: Path) -> None:
    _plain(folder, metrics=_metrics(_human(5, 10), FIVE, [1]))


def _unjudged(folder: Path) -> None:
    _plain(folder, humans={})


def _nothing_but_texts(folder: Path) -> None:
    _plain(folder, humans={}, metrics={})


def _nothing_in_common(folder: Path) -> None:
    """Two language pairs with other systems and other metrics each."""
    others = [f"Other{name}" for name in FIVE]
    _plain(folder)
    _plain(folder, lp="cs-uk", systems=others, metrics=_metrics(_human(5, 10), others, [1, 3]), facts=False)


def _judged_elsewhere(folder: Path) -> None:
    """Systems that are judged have no metric's scores, and the other way round."""
    scores = _human(5, 10)
    humans = {"mqm": _table(FIVE[:2], scores[:2])}
    metrics = {"Fine-src": _table(FIVE[2:], scores[2:]), "Rough-src": _table(FIVE[2:], -scores[2:])}
    _plain(folder, humans=humans, metrics=metrics)


def _several_markers(folder: Path) -> None:
    """Three human scores with marked errors, two on other segments, and one without; no metric predicts errors."""
    minor = {"start": 0, "end": 3, "category": "style", "severity": "Minor", "score": 1.0, "is_source_error": False}
    marked = [[minor], [], [{**minor, "severity": "Major", "score": 5.0}]]
    ratings = {
        human: RatingTable({name: [marked[at % 3] if at in judged else None for at in range(10)] for name in FIVE})
        for human, judged in (("mqm-1", range(6)), ("mqm-2", range(3, 10)), ("esa", range(6, 10)))
    }
    _plain(folder, ratings=ratings)


def _huge(folder: Path) -> None:
    """Scores of very different size."""
    scores = _human(5, 10)
    metrics = {"Huge-src": _table(FIVE, scores * 1e45), "Minute-src": _table(FIVE, scores * 1e-45)}
    _plain(folder, scores * 1e30, metrics=metrics)


def _undeclared(folder: Path) -> None:
    """Two human scores of which none is official, and a reference that nobody names the standard."""
    tiny_layout(folder, humans={"a": mqm_table(), "b": mqm_table()}, metrics=metric_tables(), facts=False)


def _years(folder: Path) -> None:
    """Two years with the same systems and metrics."""
    for testset in ("tiny23", "tiny24"):
        _plain(folder, testset=testset)


ODD: Mapping[str, Callable[[Path], None]] = {
    function.__name__.removeprefix("_"): function
    for function in (
        *(_one_system, _two_systems, _one_segment, _two_segments, _one_score, _equal_humans, _equal_systems),
        *(_half_judged, _one_judged_each, _many_systems, _hostile, _documents_alone, _four_protocols),
        *(_constant_metrics, _metrics_of_some, _systems_alone, _people_of_systems, _metrics_of_systems, _no_metric),
        *(_one_metric, _unjudged, _nothing_but_texts),
        *(_nothing_in_common, _judged_elsewhere, _several_markers, _huge, _undeclared, _years),
    )
}


@functools.cache
def _odd_bytes(name: str) -> bytes:
    """The file of an odd warehouse, loaded from the organisers' layout once in a process."""
    with TemporaryDirectory() as folder:
        layout, database = Path(folder, name), Path(folder, f"{name}.duckdb")
        ODD[name](layout)
        report = load([layout], database)
        assert not report.faults, report.faults
        return database.read_bytes()


def odd_warehouse(name: str, folder: Path) -> Path:
    """The file of an odd warehouse in a folder."""
    return written(folder / f"{name}.duckdb", _odd_bytes(name))
