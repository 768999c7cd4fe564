"""What the organisers published and no score file tells: packaged as TOML."""

import tomllib
from importlib.resources import files
from typing import Any


def packaged(name: str) -> dict[str, Any]:
    """The content of one of the files beside this module."""
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))
