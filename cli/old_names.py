"""Names of before, which are answered with those of today."""

from collections.abc import Sequence

COMMANDS = {
    "hard-pairs": "deltas --hard",
    "ties": "thresholds --ties",
    "protocols": "protocol --matrix",
    "unload": "remove",
    "migrate": "any command brings the warehouse up to date",
}
FLAGS = {
    "--primary": "--status primary",
    "--all-metrics": "--status all",
    "--reference-based": "--kind reference-based",
    "--reference-free": "--kind reference-free",
}


def said_today(flag: str | None, words: Sequence[str]) -> str:
    """What a flag, or a command among the words, that there is no more is called today; "" where nothing is."""
    if flag in FLAGS:
        return f"; today: {FLAGS[flag]}"
    found = next((word for word in words if word in COMMANDS), None)
    return "" if flag is not None or found is None else f"; today: {COMMANDS[found]}"
