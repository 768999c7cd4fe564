"""Names of before, which are answered with those of today."""

COMMANDS = {
    "hard-pairs": "deltas --hard",
    "ties": "thresholds --ties",
    "protocols": "protocol --matrix",
    "unload": "remove",
}
FLAGS = {
    "--primary": "--status primary",
    "--all-metrics": "--status all",
    "--reference-based": "--kind reference-based",
    "--reference-free": "--kind reference-free",
}


def said_today(error: Exception) -> str:
    """What the command or flag is called today that the command line's library does not know; "" where nothing is."""
    name = getattr(error, "option_name", None)
    if name in FLAGS:
        return f"; today: {FLAGS[name]}"
    found = next((old for old in COMMANDS if f"No such command {old!r}" in str(error)), None)
    return "" if found is None else f"; today: {COMMANDS[found]}"
