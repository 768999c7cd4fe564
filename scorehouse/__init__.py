"""Every score of the WMT metrics shared tasks in one file, and the statistics that say which metric to trust.

>>> import scorehouse
>>> sorted({"rank", "compare", "trend"} & set(dir(scorehouse)))
['compare', 'rank', 'trend']

`open` returns a warehouse whose methods are the questions; each is also a function here that takes a warehouse.
"""

from typing import TYPE_CHECKING, Any

from scorehouse.neighbours import shadowed_package

if TYPE_CHECKING:
    from scorehouse.api import Warehouse as Warehouse
    from scorehouse.api import open as open


def _api() -> Any:
    """The Python API, imported on first use, because the program starts without it.

    Raises ImportError: other packages shadow those that it needs.
    """
    from importlib import import_module

    if (why := shadowed_package()) is not None:
        raise ImportError(why)
    return import_module("scorehouse.api")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("scorehouse")
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'scorehouse' has no attribute {name!r}")
    return getattr(_api(), name)


def __dir__() -> list[str]:
    return sorted(_api().__all__)
