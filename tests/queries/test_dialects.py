"""The questions are SQL that other engines understand: sqlglot turns them into their dialects, which parse."""

import functools
import re
from typing import Any

import pytest

import migrations
from queries.catalog import questions

sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")

DIALECTS = ("spark", "trino", "bigquery", "postgres", "snowflake")
INEXACT = {
    ("bigquery", "audit_missing"),  # sorts the names that it joins, with missing ones at the other end
    ("bigquery", "audit_misspelt"),
    ("bigquery", "audit_sign"),
    ("bigquery", "evalset_states"),
    ("bigquery", "evalsets"),
    ("bigquery", "humans"),
    ("bigquery", "metrics"),
    ("bigquery", "participants"),
    ("bigquery", "score_spread"),
    ("bigquery", "scored_documents"),
    ("bigquery", "system_scores"),
    ("postgres", "humans"),  # has no any_value that passes over missing values
    ("postgres", "phenomena"),
    ("postgres", "scored_documents"),
    ("trino", "audit_sign"),  # has no structs with names that are made in place
}
"""What becomes a query that is not quite the same, with a warning of sqlglot."""


def _views() -> dict[str, str]:
    found = {}
    for _, _, text in migrations.sql_files():
        for match in re.finditer(
            r"^CREATE (?:OR REPLACE )?VIEW (?:internal\.)?(\w+) AS\n(.*?);\n", text, re.DOTALL | re.MULTILINE
        ):
            found[match[1]] = match[2]
    return found


QUERIES = {**_views(), **{name: question.text for name, question in questions().items()}}


def test_there_are_views_and_questions_to_look_at() -> None:
    assert {
        "scores",
        "system_scores",
        "pair_counts",
        "slice_scores",
        "submitted",
        "coverage",
        "scores_of_scorers",
    } <= set(QUERIES)


@functools.cache
def _parsed(name: str) -> Any:
    """A query as sqlglot reads it, once for all dialects."""
    return sqlglot.parse_one(QUERIES[name], read="duckdb")


def test_queries_have_a_form_in_every_dialect(in_full: bool) -> None:
    """Each query in one dialect, where there is no time for all."""
    for n, name in enumerate(sorted(QUERIES)):
        for dialect in DIALECTS if in_full else (DIALECTS[n % len(DIALECTS)],):
            strict = sqlglot.ErrorLevel.IGNORE if (dialect, name) in INEXACT else sqlglot.ErrorLevel.RAISE
            parsed = sqlglot.parse_one(_parsed(name).sql(dialect, unsupported_level=strict), read=dialect)
            assert parsed.named_selects == _parsed(name).named_selects, (name, dialect)


def test_what_is_listed_as_inexact_is_so() -> None:
    for dialect, name in sorted(INEXACT):
        with pytest.raises(sqlglot.errors.UnsupportedError):
            pytest.fail(f"{name}: {_parsed(name).sql(dialect, unsupported_level=sqlglot.ErrorLevel.RAISE)}")
