"""The warehouse: scores come in whole and checked, and go out to questions."""

from warehouse.database.connection import Warehouse, default_path, migrate
from warehouse.errors import Fault, LimitError, QuestionError, SchemaError, SourceError, WarehouseError
from warehouse.loading.entry import load
from warehouse.loading.report import LoadReport
from warehouse.loading.unloading import Unloaded, unload
from warehouse.readers.claims import Given

__all__ = [
    "Fault",
    "Given",
    "LimitError",
    "LoadReport",
    "QuestionError",
    "SchemaError",
    "SourceError",
    "Unloaded",
    "Warehouse",
    "WarehouseError",
    "default_path",
    "load",
    "migrate",
    "unload",
]
