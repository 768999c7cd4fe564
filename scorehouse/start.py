"""Where the program starts: other packages that have the names of ours are found before they are imported."""

import sys

from scorehouse.neighbours import taken


def run() -> None:
    """Run the program, or say in one line which other package stands in its way."""
    if (why := taken()) is not None:
        sys.stderr.write(f"error: {why}\n")
        sys.exit(4)
    from cli.start import run as start

    start()
