"""Commands and methods on forged files: see `tests.cli.opening`, and what becomes of each file in `test_strangers`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.opening import DOORS, tried
from tests.warehouse.database.forged import CASES

ROOT = Path(__file__).parents[2]
_N = len(CASES) * len(DOORS)
_OUTSIDE = re.compile(r"secret\.txt|stolen|AF_INET|duckdb_extension|/dev/zero")
_TRACE = ("strace", "-f", "-qq", "-e", "trace=open,openat,creat,connect", "-o")


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_no_command_or_method_runs_what_a_forged_file_defines(number: int, tmp_path: Path) -> None:
    found = list(tried(tmp_path, 7 * number, _N // (6 + 24 * number)))
    assert found
    assert [(name, fault) for name, fault in found if fault] == []


@pytest.mark.long("an hour")
@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_the_kernel_sees_no_file_and_no_connection_outside(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.cli.opening", str(tmp_path), "0", "1"]
    seen = tmp_path.with_name("seen")
    ran = subprocess.run([*_TRACE, str(seen), *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "'wrong'" not in ran.stdout
    ours = f'{tmp_path}/secret.txt", O_WRONLY'  # as the canary is written
    assert [line for line in seen.open() if _OUTSIDE.search(line) and ours not in line] == []
