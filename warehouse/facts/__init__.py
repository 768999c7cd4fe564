"""The organisers' published facts that are not in score files, packaged as TOML."""

import tomllib
from importlib.resources import files
from typing import Any


def packaged(name: str) -> dict[str, Any]:
    """The content of a file in this package."""
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))
