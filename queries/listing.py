"""Contents of the warehouse: test sets, metrics, human scores, systems, files, results; and the data dictionary."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from queries.evalsets import BY_PREFERENCES, evalset_id, unknown_testset
from warehouse import Warehouse
from warehouse.errors import known_name, unknown
from warehouse.facts.licences import release_of

if TYPE_CHECKING:
    import polars as pl

CATALOGUE_SECONDS = 60.0
"""Time for a question about what is in the warehouse."""

_NARROW = """
WHERE ($testset IS NULL OR testset = $testset) AND ($lp IS NULL OR lp = $lp)
"""
_HOWS = ", ".join(f"('{how}')" for how in BY_PREFERENCES)
_MADE_OF_PREFERENCES = f"""
SELECT h.* REPLACE (
  h.human || ':' || w.how AS human,
  coalesce(e.standard_human_sys = h.human || ':' || w.how, false) AS is_standard,
  'sys' AS levels,
  0 AS n_scores,
  NULL AS n_missing
)
FROM humans AS h
JOIN evalsets AS e ON e.testset = h.testset AND e.lp = h.lp
CROSS JOIN (VALUES {_HOWS}) AS w (how)
WHERE (h.testset, h.lp, h.human) IN (SELECT (p.testset, p.lp, p.scorer) FROM preferences AS p WHERE p.kind = 'human')
"""
_LISTINGS = {
    "testsets": """
        SELECT * FROM testsets WHERE ($testset IS NULL OR testset = $testset) AND $lp IS NULL ORDER BY year, testset
    """,
    "lps": f"SELECT * FROM evalsets {_NARROW} ORDER BY year, testset, lp",
    "metrics": f"SELECT * FROM metrics {_NARROW} ORDER BY year, testset, lp, metric",
    "humans": f"""
        SELECT * FROM (SELECT * FROM humans UNION ALL {_MADE_OF_PREFERENCES}) {_NARROW}
        ORDER BY year, testset, lp, human
    """,
    "systems": f"SELECT * FROM systems {_NARROW} ORDER BY testset, lp, system",
    "sources": f"""
        SELECT testset, lp, origin, reader, n_rows, n_missing, loaded_at, status, fault, sha256, path
        FROM sources {_NARROW}
        ORDER BY testset, lp, origin
    """,
    "results": f"""
        SELECT kind, testset, lp, signature, seconds, stored_at
        FROM results {_NARROW}
        ORDER BY stored_at, kind, testset, lp
    """,
    "issues": f"SELECT * FROM known_issues {_NARROW} ORDER BY testset, lp, scorer, system",
}
_LAST = 2  # columns of files that are wide: checksum and path
LISTINGS: Mapping[str, str] = MappingProxyType(_LISTINGS)


def official_human(level: Literal["seg", "sys"]) -> "pl.Expr":
    """The official human score of a level, for listed language pairs, marked if it is not loaded."""
    import polars as pl

    name = pl.col(f"standard_human_{level}")
    return (
        pl.when(f"is_standard_human_{level}_loaded")
        .then(name)
        .otherwise(name + " (not loaded)")
        .alias(name.meta.output_name())
    )


def listing(warehouse: Warehouse, what: str, testset: str | None = None, lp: str | None = None) -> "pl.DataFrame":
    """One of the listings, for everything or for one test set and language pair.

    Raises QuestionError: unknown listing, test set or language pair. LimitError: no answer in CATALOGUE_SECONDS.
    """
    what = known_name("listing", what, LISTINGS)
    with warehouse.within(CATALOGUE_SECONDS):
        if testset is not None:
            if lp is not None:
                evalset_id(warehouse, testset, lp)
            else:
                known = [name for (name,) in warehouse.rows("SELECT name FROM testset")]
                if testset not in known:
                    raise unknown_testset(testset, known)
        found = warehouse.frame(LISTINGS[what], {"testset": testset, "lp": lp})
    return _with_licences(found) if what == "sources" else found


def _with_licences(sources: "pl.DataFrame") -> "pl.DataFrame":
    """Files with their release and its licence, before the checksums."""
    import polars as pl

    releases = [release_of(*place) for place in sources.select("testset", "origin").iter_rows()]
    columns = [pl.Series(name, [getattr(one, name) for one in releases], pl.String) for name in ("release", "licence")]
    first, rest = sources.columns[:-_LAST], sources.columns[-_LAST:]
    return sources.with_columns(columns).select(*first, *(one.name for one in columns), *rest)


_OWN = "SELECT DISTINCT sc.name FROM entry AS n JOIN scorer AS sc ON sc.scorer_id = n.scorer_id WHERE n.is_own"


def own_metrics(warehouse: Warehouse) -> frozenset[str]:
    """The names of the user's own metrics."""
    return frozenset(name for (name,) in warehouse.rows(_OWN))


NameKind = Literal["testset", "lp", "metric", "human", "system", "domain", "document", "phenomenon", "reference"]
_OF_SCORERS = "SELECT DISTINCT sc.name FROM vector AS x JOIN scorer AS sc ON sc.scorer_id = x.scorer_id AND sc.kind ="
_NAMES: dict[NameKind, str] = {
    "testset": "SELECT DISTINCT t.name FROM evalset AS x",
    "lp": "SELECT DISTINCT e.lp FROM evalset AS x",
    "metric": f"{_OF_SCORERS} 'metric'",
    "human": f"{_OF_SCORERS} 'human'",
    "system": "SELECT DISTINCT x.name FROM system AS x",
    "domain": "SELECT DISTINCT x.domain FROM segment AS x",
    "document": "SELECT DISTINCT x.document FROM segment AS x",
    "phenomenon": "SELECT DISTINCT x.phenomenon FROM segment AS x",
    "reference": "SELECT DISTINCT sc.reference FROM vector AS x JOIN scorer AS sc ON sc.scorer_id = x.scorer_id",
}
_WITH_PREFERENCES = f"""
{_OF_SCORERS} 'human' AND x.vector_id IN (SELECT vector_a FROM preference)
"""
_OF_EVALSETS = """
JOIN evalset AS e ON e.evalset_id = x.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (len($testsets::VARCHAR[]) = 0 OR list_contains($testsets::VARCHAR[], t.name))
  AND (len($lps::VARCHAR[]) = 0 OR list_contains($lps::VARCHAR[], e.lp))
ORDER BY ALL NULLS LAST
"""


def names(warehouse: Warehouse, kind: NameKind, testsets: Sequence[str] = (), lps: Sequence[str] = ()) -> list[str]:
    """Sorted names of one kind, for all or some test sets and language pairs; for completion, so without a frame."""
    asked = {"testsets": list(testsets), "lps": list(lps)}
    with warehouse.within(CATALOGUE_SECONDS):
        found = [name for (name,) in warehouse.rows(_NAMES[kind] + _OF_EVALSETS, asked) if name is not None]
        if kind == "human":
            ranked = [name for (name,) in warehouse.rows(_WITH_PREFERENCES + _OF_EVALSETS, asked)]
            found = sorted([*found, *(f"{name}:{how}" for name in ranked for how in BY_PREFERENCES)])
        return found


def dictionary(warehouse: Warehouse, name: str | None = None) -> "pl.DataFrame":
    """Columns kind (view, macro, table), name, column (null for the thing itself), type, meaning.

    Views come first, then macros, then tables; columns in their own order.
    name: only one view, macro or table.
    Raises QuestionError: there is none of that name. LimitError: no answer in CATALOGUE_SECONDS.
    """
    from queries.catalog import ask

    with warehouse.within(CATALOGUE_SECONDS):
        found = ask(warehouse, "dictionary", thing=name)
        if name is not None and found.is_empty():
            known = ask(warehouse, "dictionary", thing=None)["name"].unique().sort()
    if name is not None and found.is_empty():
        raise unknown("view, macro or table", name, [full.partition("(")[0] for full in known])
    return found
