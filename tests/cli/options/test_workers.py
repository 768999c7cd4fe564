"""`--workers ADDRESS`: evaluation sets of a folder asked on the workers of a Dask scheduler, with the same answers."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metaeval.questions import QUESTIONS, question_named, workers
from tests.cli.running import Scorehouse, refused
from warehouse import QuestionError

WORDS = (
    "counts all --by system",
    "means all all --status all",
    "compare sim24 all -m pa --resamples 20 --recompute",
    "compare sim24 en-de -m spa(n=20) --resamples 20",
    "thresholds all en-de",
    "systems all --resamples 20",
    "compare sim24 en-de simBLEU",
    "rank all all -m pa -m acc_eq(by=item)",
    "rank all all -m pa --pool mean",
    "rank sim24 all --by domain -m pa",
    "rank sim24 all -m pa --significance --ranges --resamples 30",
    "rank sim24 en-de -m pa --intervals --ceiling --resamples 30",
    "rank all all -m pa --human all",
    "rank sim23 de-en",
    "trend all all --resamples 20",
    "protocol wmt24 --on sim24 --lp en-de --significance --resamples 30",
    "protocol all --matrix",
    "protocol wmt99",
    "deltas all simBLEU --resamples 20",
    "deltas --hard all --min-metrics 1",
    "autorank sim24 all",
    "sample sim24 all --size 5 --method random",
    "sample all --evaluate --selections 2",
    "advise all -m pa",
    "systems sim24 en-de --resamples 20",
    "thresholds sim24 all",
    "correlations sim24 all",
    "scatter sim24 all simBLEU",
    "segments sim24 all simBLEU -n 3",
    "spans sim24 all",
    "annotators sim24 all",
    "cutoff sim24 en-de simBLEU --view transfer --resamples 20",
    "rank sim24 en-de -m mcc(threshold=sim23)",
    "noise sim24 en-de simBLEU --simulations 2",
    "plan sim24 en-de simBLEU Dice-src -m pa --simulations 20 --resamples 20",
    "compare sim24 en-de -m pa --early-stop --resamples 200",
    "judges sim24 en-de --view bias",
    "show sim24 en-de 1",
)
AS_A_WHOLE = (
    "list",
    "audit",
    "diff x.duckdb",
    "protocol all --thresholds",
    "rank sim24 en-de --explain",
    "paper kocmi-2025",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # sockets that the library leaves open
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def _cluster(n_workers: int) -> Any:
    distributed = pytest.importorskip("distributed", reason="the dask extra is not installed")
    more = {"processes": False, "dashboard_address": ":0", "protocol": "tcp"}
    return distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, **more)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with _cluster(2) as cluster:
        yield cluster.scheduler_address


def test_workers_give_the_answers_of_this_machine(
    scorehouse: Scorehouse, exported_evalsets: Path, address: str, in_full: bool
) -> None:
    """The first call of each question, with --all every one."""
    of_each = {words.split()[0]: words for words in reversed(WORDS)}.values()
    for words in WORDS if in_full else of_each:
        asked = (*words.split(), "--from", exported_evalsets, "--format", "json" if words.startswith("show") else "csv")
        here, there = scorehouse(*asked), scorehouse(*asked, "--workers", address)
        assert (there.code, there.out, there.err) == (here.code, here.out, here.err), words


def test_a_worker_with_other_files_or_libraries_is_refused(
    scorehouse: Scorehouse, exported_evalsets: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = workers.versions()
    with pytest.raises(QuestionError, match="w runs another program: numpy"):
        workers._check_same("--workers x", "w", {**own, "numpy": "1.0"})
    monkeypatch.setattr(workers, "versions", lambda: {**own, "its files": str(len(calls.append(0) or calls))})
    calls: list[int] = []
    ran = scorehouse("counts", "all", "--from", exported_evalsets, "--workers", address)
    refused(ran, 2, "runs another program: its files 1, here", "--workers tcp://")


def test_an_error_of_a_worker_is_one_line(
    scorehouse: Scorehouse, exported_evalsets: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(workers, "opening", full)
    ran = scorehouse("counts", "all", "--from", exported_evalsets, "--workers", address)
    refused(ran, 2, "was not answered: OSError", "No space left on device")


def test_a_damaged_partition_is_refused_as_on_this_machine(
    scorehouse: Scorehouse, exported_evalsets: Path, address: str, tmp_path: Path
) -> None:
    broken = Path(shutil.copytree(exported_evalsets, tmp_path / "broken"))
    (broken / "score" / "testset=sim23" / "lp=en-de" / "data.parquet").unlink()
    for more in ((), ("--workers", address)):
        refused(scorehouse("counts", "all", "--from", broken, *more), 3, "missing: score/testset=sim23")


def test_workers_that_do_not_come_are_waited_for_so_long(
    scorehouse: Scorehouse, exported_evalsets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    with _cluster(0) as cluster:
        ran = scorehouse("counts", "all", "--from", exported_evalsets, "--workers", cluster.scheduler_address)
        refused(ran, 2, "no workers for 0.5 s")


def test_an_address_where_no_scheduler_answers_is_refused(
    scorehouse: Scorehouse, exported_evalsets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the dask extra is not installed")
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for where in ("tcp://127.0.0.1:9", "nonsense", f"tcp://127.0.0.1:{silent.getsockname()[1]}"):
            ran = scorehouse("counts", "all", "--from", exported_evalsets, "--workers", where)
            refused(ran, 2, "no scheduler answers there")


def test_what_workers_cannot_do_is_refused(scorehouse: Scorehouse, exported_evalsets: Path) -> None:
    refused(scorehouse("counts", "all", "--workers", "tcp://127.0.0.1:9"), 2, "--workers needs --from")
    for words in AS_A_WHOLE:
        ran = scorehouse(*words.split(), "--from", exported_evalsets, "--workers", "tcp://127.0.0.1:9")
        refused(ran, 2, "is not computed by evaluation set")
    file = ("means", "sim24", "en-de", "--assisted-by", "simBLEU", "--sampled-by", "drawn.csv")
    ran = scorehouse(*file, "--from", exported_evalsets, "--workers", "tcp://127.0.0.1:9")
    refused(ran, 2, "--sampled-by names a file of this machine")


def test_every_question_runs_on_workers_or_says_that_it_does_not() -> None:
    asked = {words.split()[0] for words in (*WORDS, *AS_A_WHOLE)}
    assert QUESTIONS.keys() - asked == set()
    by_evalset = {name for name in QUESTIONS if question_named(name).by_evalset}
    assert by_evalset == {words.split()[0] for words in WORDS}
