"""Detects other packages that shadow those of `scorehouse`, whose names are common."""

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("cli", "metaeval", "migrations", "queries", "warehouse")
WAY_OUT = "install scorehouse into an environment of its own, such as `pipx install scorehouse` makes"


def shadowed_package() -> str | None:
    """A message on a foreign package or module that would be imported instead of one of ours; None if there is none."""
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = find_spec(name)
        places = [] if spec is None else [*(spec.submodule_search_locations or [spec.origin or name])]
        if (home / name) not in [Path(place).resolve() for place in places[:1]]:
            there = f"{places[0]} stands in the place of" if places else "there is no"
            return f"{there} the package {name!r} of scorehouse in {home}; {WAY_OUT}"
    return None
