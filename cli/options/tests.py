"""Options of how metrics are tested against each other."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.exit_codes import UsageError
from cli.options.choices import choice
from cli.options.compute import Alpha, Draws
from cli.options.numbers import whole_number
from metaeval.limits import LEAST, MOST

if TYPE_CHECKING:
    from metaeval.significance.options import TestOptions

TESTS = (
    "perm-inputs",
    "perm-systems",
    "perm-both",
    "pairs",
    "williams",
    "bootstrap",
    "bootstrap-normal",
    "jackknife-segments",
    "jackknife-systems",
    "jackknife-both",
)
UNITS = ("segment", "document")
POPULATIONS = ("segments", "systems", "both")
ALTERNATIVES = ("greater", "two-sided")
CORRECTIONS = ("none", "holm", "bh")
DASK_PATIENCE = 10  # seconds


@dataclass(frozen=True)
class TestFlags:
    """How metrics are tested against each other."""

    __test__ = False  # the name begins with "Test", but it is no test

    test: Annotated[
        str | None,
        choice(TESTS, "--test", help="Significance test.", show_default="one that holds its level"),
    ] = None
    population: Annotated[
        str | None,
        choice(
            POPULATIONS,
            "--population",
            help="What the result generalises to: new segments of these systems, new systems, or both.",
            show_default="segments",
        ),
    ] = None
    alternative: Annotated[
        str | None,
        choice(
            ALTERNATIVES,
            "--alternative",
            help="Alternative hypothesis.",
            show_default="two-sided; in protocols greater",
        ),
    ] = None
    draws: Draws = 1000
    alpha: Alpha = 0.05
    correction: Annotated[str, choice(CORRECTIONS, "--correction", help="Correction for multiple comparisons.")] = (
        "none"
    )
    plus_one: Annotated[bool, typer.Option("--plus-one", help="(b+1)/(n+1) p-values, which are never 0.")] = False
    mid_p: Annotated[
        bool | None,
        typer.Option(
            "--mid-p/--no-mid-p",
            help="Resamples that tie with the data count half.",
            show_default="half where a measure takes few values, as pa, and no test is named",
        ),
    ] = None
    early_stop: Annotated[
        bool, typer.Option("--early-stop", help="Early stopping: clear pairs take fewer resamples.")
    ] = False
    unit: Annotated[
        str,
        choice(
            UNITS,
            "--unit",
            help="What is swapped, resampled or left out: segments, or whole documents.",
        ),
    ] = "segment"
    legacy_df: Annotated[bool, typer.Option("--legacy-df", help="Williams: n-2 degrees of freedom, as in 2014.")] = (
        False
    )
    absolute: Annotated[bool, typer.Option("--absolute", help="Williams: absolute correlations.")] = False
    threads: Annotated[
        int | None,
        whole_number(
            "--threads", least=LEAST["n_threads"], most=MOST["n_threads"], help="Threads.", show_default="all cores"
        ),
    ] = None
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Compute on a Dask cluster (needs the dask extra).")
    ] = None

    def options(self) -> "TestOptions":
        """`metaeval.significance.options.TestOptions`.

        Raises QuestionError: a number out of range.
        """
        from metaeval.significance.options import TestOptions

        testing = TestOptions(
            test=self.test,  # type: ignore[arg-type]
            population=self.population,  # type: ignore[arg-type]
            alternative=self.alternative,  # type: ignore[arg-type]
            draws=self.draws,
            alpha=self.alpha,
            correction=self.correction,  # type: ignore[arg-type]
            plus_one=self.plus_one,
            mid_p=self.mid_p,
            early_stop=self.early_stop,
            whole_documents=self.unit == "document",
            legacy_df=self.legacy_df,
            absolute=self.absolute,
            n_threads=self.threads,
        )
        testing.check()
        return testing

    @contextmanager
    def cluster(self, testing: "TestOptions") -> "Iterator[TestOptions]":
        """The options with the executor of the Dask cluster, where one is named; in the end the connection is closed.

        Raises UsageError: see `dask_client`.
        """
        if self.dask is None:
            yield testing
            return
        with dask_client(self.dask) as client:
            yield replace(testing, executor=client.get_executor())


def dask_client(address: str) -> Any:
    """The connection to a Dask cluster.

    Raises UsageError: the extra is not installed, or nobody answers at the address.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError('--dask needs the dask extra: python3 -m pip install "scorehouse[dask]"') from error
    try:
        return Client(address, timeout=DASK_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(f"--dask {address}: no cluster answers there: {error}") from error
