"""Where the program starts: other packages that have the names of ours are found before they are imported."""

import sys

from scorehouse.neighbours import shared, taken


def run() -> None:
    """Run the program, or say in one line which other package stands in its way."""
    why = taken()
    if why is None:
        try:
            from cli.start import run as start

            start()
        except (ImportError, AttributeError):
            why = shared()
            if why is None:
                raise
    sys.stderr.write(f"error: {why}\n")
    sys.exit(4)
