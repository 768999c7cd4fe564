"""Temporary folders: removed where their process is gone, left alone where it runs or where they are another's."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.temporary import remove_left_folders, temporary_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from warehouse.temporary import temporary_folder
with temporary_folder(sys.argv[1], Path(sys.argv[2])) as folder:
    (folder / "spilled").write_bytes(bytes(1000))
    os.kill(os.getpid(), signal.SIGKILL)
"""
posix = pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")


@posix
@pytest.mark.parametrize("name", ["scorehouse", ".unpacking"])
def test_what_a_killed_process_left_is_removed_by_the_next_run(name: str, tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", KILLED, name, tmp_path], check=False)
    assert ran.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert (left / "spilled").stat().st_size == 1000
    with temporary_folder(name, tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []


def test_folders_in_use_stay(tmp_path: Path) -> None:
    with temporary_folder(within=tmp_path) as one, temporary_folder(within=tmp_path) as other:
        remove_left_folders(tmp_path)
        assert one.is_dir()
        assert other.is_dir()


def test_a_folder_of_long_ago_goes_whoever_has_its_number(tmp_path: Path) -> None:
    left = tmp_path / f"scorehouse-{os.getpid()}-abcdefgh"
    left.mkdir()
    os.utime(left, (0, 0))
    remove_left_folders(tmp_path)
    assert not left.exists()


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    """Names that we don't give, links and files."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    base = tmp_path / "base"
    for name in ("scorehouse-notes", "scorehouse-1-short", "other-1-abcdefgh"):
        (base / name).mkdir(parents=True)
    (base / "scorehouse-1-linkedto").symlink_to(elsewhere)
    (base / "scorehouse-1-filefile").touch()
    for path in (*base.iterdir(), elsewhere):
        with contextlib.suppress(NotImplementedError):
            os.utime(path, (0, 0), follow_symlinks=False)
    before = sorted(base.rglob("*"))
    remove_left_folders(base)
    assert sorted(base.rglob("*")) == before
    assert elsewhere.exists()


def test_folders_that_cannot_be_listed_are_no_error(tmp_path: Path) -> None:
    remove_left_folders(tmp_path / "missing")
