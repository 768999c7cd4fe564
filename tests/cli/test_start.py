"""The program as a process of its own: Ctrl-C is heard whatever is imported."""

import subprocess
import sys

import pytest

LISTENING = """
import ctypes, os, signal, sys
import cli.start

def handler():
    state = ctypes.create_string_buffer(256)
    ctypes.CDLL(None).sigaction(signal.SIGINT, None, state)
    return state.raw[:8]

def in_the_midst():
    first = handler()
    import polars
    assert handler() == first, "Polars kept Ctrl-C"
    assert polars.DataFrame({"n": [1, 2]}).lazy().sum().collect().item() == 3
    os.kill(os.getpid(), signal.SIGINT)
    return 0

import cli.main
cli.main.exit_code = in_the_midst
signal.signal(signal.SIGINT, signal.default_int_handler)
cli.start.run()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the handler of a signal")
def test_polars_does_not_keep_ctrl_c_for_itself() -> None:
    ran = subprocess.run([sys.executable, "-c", LISTENING], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "interrupted\n")
