"""Trials: scores of one's own are checked, and can be ranked, without a trace in the warehouse."""

import contextlib
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from warehouse.database.connection import Warehouse
from warehouse.errors import QuestionError
from warehouse.names import MetricVariant
from warehouse.own.scores import remove
from warehouse.temporary import temporary_folder
from warehouse.wording import option

_FILE = re.compile(r"(?P<name>.+?)(\.(seg|sys)\.score|\.[a-z]+)")


@contextlib.contextmanager
def trial(database: Path, kept: Collection[str] | None = None) -> Iterator[Path]:
    """A copy of a warehouse to try something on; it is gone when the block ends, and the warehouse is as it was.

    kept: of the metrics that users added, the names with or without reference of those that the copy has; None: all.
    Raises SchemaError: see `Warehouse.open`.
    """
    with temporary_folder() as folder:
        copy = folder / database.name
        with Warehouse.open(database):  # nobody writes while it is copied
            shutil.copyfile(database, copy)
        if kept is not None:
            with Warehouse.open(copy) as opened:
                own = opened.rows("SELECT DISTINCT metric, base_metric FROM metrics WHERE is_own ORDER BY ALL")
            for names in own:
                if not {*names}.intersection(kept):
                    remove(copy, names[0])
        yield copy


def variant_called(path: Path, lps: Collection[str]) -> MetricVariant:
    """The metric, and what it compared with, that a file of scores is named after; a language pair may stand before.

    >>> variant_called(Path("en-de.MyMetric-refA.seg.score"), ["en-de"])
    MetricVariant(base_name='MyMetric', reference='refA')
    >>> variant_called(Path("My.QE-src.csv"), ["en-de"]).reference is None
    True

    Raises QuestionError: the name does not tell.
    """
    before, _, rest = path.name.partition(".")
    found = _FILE.fullmatch(rest if before in lps else path.name)
    try:
        return MetricVariant.parse(found["name"] if found else "")
    except ValueError:
        raise QuestionError(
            f"{path}: expected a file named after the metric and its reference, such as MyMetric-refA.seg.score or "
            f"MyMetric-src.csv (reference-free); `scorehouse {option('add.dry_run', True)}` takes both as options"
        ) from None
