"""What the start of the program sets before NumPy is imported."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(("given", "expected"), [(None, "20"), ("26", "26")])
def test_idle_threads_of_openblas_wait_shortly_unless_the_user_says_how_long(given: str | None, expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    if given is not None:
        environment["OPENBLAS_THREAD_TIMEOUT"] = given
    code = (
        "import atexit, os, sys; sys.argv = ['scorehouse', '--version']\n"
        "atexit.register(lambda: print(os.environ['OPENBLAS_THREAD_TIMEOUT'], 'numpy' in sys.modules))\n"
        "from scorehouse.start import run; run()"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == f"{expected} False"
