"""The warehouse: loads scores completely and checked, and serves them to questions."""

from typing import TYPE_CHECKING, Any

from warehouse.errors import Fault, LimitError, QuestionError, SchemaError, SourceError, WarehouseError

if TYPE_CHECKING:
    from warehouse.database.connection import Warehouse
    from warehouse.database.opening import default_path
    from warehouse.loading.entry import load
    from warehouse.loading.evalsets import LoadReport
    from warehouse.loading.unloading import RemovedEvalset, unload
    from warehouse.readers.claims import LoadHints

__all__ = [
    "Fault",
    "LimitError",
    "LoadHints",
    "LoadReport",
    "QuestionError",
    "RemovedEvalset",
    "SchemaError",
    "SourceError",
    "Warehouse",
    "WarehouseError",
    "default_path",
    "load",
    "unload",
]

_HOMES = {
    "LoadHints": "warehouse.readers.claims",
    "LoadReport": "warehouse.loading.evalsets",
    "RemovedEvalset": "warehouse.loading.unloading",
    "Warehouse": "warehouse.database.connection",
    "default_path": "warehouse.database.opening",
    "load": "warehouse.loading.entry",
    "unload": "warehouse.loading.unloading",
}


def __getattr__(name: str) -> Any:
    """Code that opens the database or loads files is imported on first use, because the import is slow."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'warehouse' has no attribute {name!r}")
