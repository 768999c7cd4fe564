"""The program as a process of its own: Ctrl-C is heard whatever is imported, and until all is done."""

import subprocess
import sys

import pytest

LISTENING = """
import ctypes, os, signal, sys, time
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
    for _ in range(500):  # another thread may get it first
        time.sleep(0.02)
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


LATE = """
import atexit, os, signal, time
import cli.main, cli.start

def answer():
    {answer}

def late():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10):
        time.sleep(0.02)

atexit.register(late)
cli.main.exit_code = answer
signal.signal(signal.SIGINT, signal.default_int_handler)
cli.start._TIDYING = 0.0
cli.start.run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal as a terminal does")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("return 1", (1, "", "")),
        ("return 130", (130, "", "")),
        ("raise KeyboardInterrupt", (130, "", "interrupted\n")),
    ],
)
def test_ctrl_c_at_the_end_changes_nothing(answer: str, expected: tuple[int, str, str]) -> None:
    code = LATE.format(answer=answer)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == expected
