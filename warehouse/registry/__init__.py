"""Facts about metrics, test sets and languages that no score file tells: packaged data, one TOML file a subject."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import duckdb

from warehouse.names import LanguagePair

KINDS = ("string", "embedding", "trained", "likelihood", "llm", "sentinel", "random", "unknown")
DA_TRAINING_YEARS = range(2017, 2021)  # the direct assessments that most trained metrics have learned from


@dataclass(frozen=True)
class MetricFacts:
    """What is known of a metric, whatever reference it compares with.

    kind: one of KINDS. is_reference_free: None where its name is used with and without a reference, or where it is
        not known: then the score file tells. is_error_measure: counts errors by nature; whether a file's values
        are negated already is the file's matter. training_year: newest WMT year whose human scores it was trained
        on; None where not public, or where it was not trained on any.
    is_known: False for a name that is not listed; then the family was found by rule.
    """

    name: str
    family: str
    version: str | None = None
    kind: str = "unknown"
    is_reference_free: bool | None = None
    is_error_measure: bool = False
    training_year: int | None = None
    is_known: bool = True


@dataclass(frozen=True)
class TestsetDescription:
    """What a test set is: domains as its files name them, unit (what one segment is), protocols (human scores)."""

    __test__ = False  # the name begins with "Test", but it is no test

    name: str
    year: int
    campaign: str
    domains: tuple[str, ...]
    unit: str
    protocols: tuple[str, ...]


@dataclass(frozen=True)
class Language:
    """A language: da_years are those in which WMT collected direct assessments with it on either side."""

    code: str
    name: str
    script: str
    da_years: tuple[int, ...]

    @property
    def in_da_training(self) -> bool:
        """Whether it was judged in the years that most trained metrics have learned from (2017 to 2020)."""
        return any(year in DA_TRAINING_YEARS for year in self.da_years)


@dataclass(frozen=True)
class LanguagePairFacts:
    """A language pair: direction is into-english, from-english or other."""

    source: Language
    target: Language
    direction: str

    @property
    def in_da_training(self) -> bool:
        """Whether both languages were judged in the years that most trained metrics have learned from."""
        return self.source.in_da_training and self.target.in_da_training


@dataclass(frozen=True)
class Issue:
    """A published error or trap in the data; None stands for all."""

    testset: str
    lp: str | None
    scorer: str | None
    system: str | None
    issue: str
    citation: str


@dataclass(frozen=True)
class _Family:
    name: str
    kind: str
    reference_free: bool | None
    error: bool
    rule: re.Pattern[str]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__name__) / name).read_text(encoding="utf-8"))


def _folded(name: str) -> str:
    """A name without what spellings of it differ in: case, dashes, underscores and blanks."""
    return re.sub(r"[-_ ]", "", name).casefold()


@cache
def _families() -> tuple[_Family, ...]:
    return tuple(
        _Family(
            data["name"],
            data["kind"],
            data.get("reference_free"),
            data.get("error", False),
            re.compile(data["rule"]),
        )
        for data in _read("metrics.toml")["family"]
    )


@cache
def _listed() -> Mapping[str, list[tuple[frozenset[int], MetricFacts]]]:
    """Folded name -> (years in which it means this, empty for all others; facts)."""
    found: dict[str, list[tuple[frozenset[int], MetricFacts]]] = {}
    for family in _read("metrics.toml")["family"]:
        for metric in family["metrics"]:
            for name in metric["names"]:
                facts = MetricFacts(
                    name=name,
                    family=family["name"],
                    version=metric.get("version"),
                    kind=metric.get("kind", family["kind"]),
                    is_reference_free=metric.get("reference_free", family.get("reference_free")),
                    is_error_measure=metric.get("error", family.get("error", False)),
                    training_year=metric.get("trained"),
                )
                found.setdefault(_folded(name), []).append((frozenset(metric.get("years", ())), facts))
    return found


def describe(name: str, year: int | None = None) -> MetricFacts:
    """Facts of a metric by its base name (without the reference), as a campaign of that year used the name.

    Case, dashes, underscores and blanks don't matter. Of a name that is not listed the family is that of the first
    rule that fits, else the name's letters before the first digit or mark; `is_known` is False.
    year: the campaign's; where a name meant different things over the years and no year is given, only what all
    of them share is told.
    >>> describe("COMET", 2023).version, describe("COMET", 2020).training_year, describe("COMET").family
    ('22', 2019, 'COMET')
    >>> describe("MyCOMET-QE-7b")
    MetricFacts(name='MyCOMET-QE-7b', family='COMET', version=None, kind='trained', is_reference_free=True, \
is_error_measure=False, training_year=None, is_known=False)
    """
    meanings = _listed().get(_folded(name))
    if meanings is None:
        return _by_rule(name)
    if year is not None:
        chosen = [facts for years, facts in meanings if year in years]
        chosen = chosen or [facts for years, facts in meanings if not years] or [facts for _, facts in meanings]
        return _shared(name, chosen)
    return _shared(name, [facts for _, facts in meanings])


def _shared(name: str, meanings: list[MetricFacts]) -> MetricFacts:
    """What several meanings of a name have in common."""

    def common(field: str) -> Any:
        values = {getattr(facts, field) for facts in meanings}
        return values.pop() if len(values) == 1 else None

    return MetricFacts(
        name=name,
        family=common("family") or meanings[0].family,
        version=common("version"),
        kind=common("kind") or "unknown",
        is_reference_free=common("is_reference_free"),
        is_error_measure=bool(common("is_error_measure")),
        training_year=common("training_year"),
    )


def _by_rule(name: str) -> MetricFacts:
    lowered = name.lower()
    without = re.search(r"(^|[-_.])(qe|src|noref|ref-?free|reference-?free)($|[-_.0-9])", lowered)
    reference_free = True if without else None
    for family in _families():
        if family.rule.search(lowered):
            known = reference_free if reference_free else family.reference_free
            return MetricFacts(
                name, family.name, None, family.kind, known, is_error_measure=family.error, is_known=False
            )
    stem = re.match(r"[^\W\d_]+", name)
    return MetricFacts(name, stem[0] if stem else name, is_reference_free=reference_free, is_known=False)


def known_metrics() -> list[str]:
    """All listed names, as the files have them, sorted."""
    return sorted({facts.name for meanings in _listed().values() for _, facts in meanings})


@cache
def testsets() -> Mapping[str, TestsetDescription]:
    """Descriptions of the shared tasks' test sets by name."""
    return {
        name: TestsetDescription(
            name,
            data["year"],
            data["campaign"],
            tuple(data["domains"]),
            data["unit"],
            tuple(data["protocols"]),
        )
        for name, data in _read("testsets.toml").items()
    }


@cache
def languages() -> Mapping[str, Language]:
    """Languages by two- or three-letter code."""
    return {
        code: Language(code, data["name"], data["script"], tuple(data["da_years"]))
        for code, data in _read("languages.toml").items()
    }


def language(code: str) -> Language | None:
    """A language by its code, which may also name script and country; None where it is not listed.

    >>> language("sr_Latn_RS").script, language("zh_TW").script, language("zh_CN").in_da_training
    ('Latn', 'Hant', True)
    """
    base, *marks = code.split("_")
    found = languages().get(base)
    if found is None:
        return None
    scripts = [mark for mark in marks if re.fullmatch("[A-Z][a-z]{3}", mark)]
    script = scripts[0] if scripts else "Hant" if base == "zh" and "TW" in marks else found.script
    return Language(code, found.name, script, found.da_years)


def language_pair(lp: str) -> LanguagePairFacts | None:
    """Facts of a language pair; None where one of its languages is not listed.

    Raises ValueError: no language pair.
    >>> facts = language_pair("en-is_IS")
    >>> facts.direction, facts.in_da_training, facts.target.name
    ('from-english', False, 'Icelandic')
    """
    parsed = LanguagePair.parse(lp)
    source, target = language(parsed.source), language(parsed.target)
    if source is None or target is None:
        return None
    english = [side.code.split("_")[0] == "en" for side in (source, target)]
    return LanguagePairFacts(
        source, target, "from-english" if english[0] else "into-english" if english[1] else "other"
    )


@cache
def issues() -> tuple[Issue, ...]:
    """Published issues, in the order of the data."""
    return tuple(
        Issue(
            data["testset"],
            data.get("lp"),
            data.get("scorer"),
            data.get("system"),
            data["issue"],
            data["citation"],
        )
        for data in _read("issues.toml")["issue"]
    )


def register(connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int]) -> None:
    """Write into the attached warehouse what is known of evaluation sets' metrics, languages and issues.

    To be called inside the transaction that writes the evaluation sets, once their scorers are there. What an earlier
    call wrote is replaced. `scorer` gets the family, version and direction that hold in all years; `metric_fact`
    has them for the year of the test set.
    """
    evalsets = connection.execute(
        """
        SELECT t.testset_id, t.name, t.year, e.lp
        FROM evalset AS e
        JOIN testset AS t ON t.testset_id = e.testset_id
        WHERE e.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
        ORDER BY e.evalset_id
        """,
        {"evalsets": list(evalset_ids)},
    ).fetchall()
    _register_metrics(connection, evalset_ids, {testset_id: year for testset_id, _, year, _ in evalsets})
    _register_languages(connection, [lp for *_, lp in evalsets])
    _register_issues(connection, {testset for _, testset, _, _ in evalsets})


def _register_metrics(
    connection: duckdb.DuckDBPyConnection, evalset_ids: Sequence[int], years: Mapping[int, int | None]
) -> None:
    scorers = connection.execute(
        """
        SELECT DISTINCT e.testset_id, sc.scorer_id, sc.base_name
        FROM (
          SELECT evalset_id, scorer_id FROM vector
          UNION
          SELECT evalset_id, scorer_id FROM entry
        ) AS n
        JOIN evalset AS e ON e.evalset_id = n.evalset_id
        JOIN scorer AS sc ON sc.scorer_id = n.scorer_id AND sc.kind = 'metric'
        WHERE n.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
        ORDER BY ALL
        """,
        {"evalsets": list(evalset_ids)},
    ).fetchall()
    always = {scorer_id: describe(name) for _, scorer_id, name in scorers}
    connection.execute(
        """
        UPDATE scorer
        SET family = n.family, version = n.version, is_error_measure = n.is_error_measure
        FROM (
          SELECT unnest($scorers::INTEGER[]) AS scorer_id, unnest($families::VARCHAR[]) AS family,
            unnest($versions::VARCHAR[]) AS version, unnest($errors::BOOLEAN[]) AS is_error_measure
        ) AS n
        WHERE scorer.scorer_id = n.scorer_id AND (
          scorer.family IS DISTINCT FROM n.family
          OR scorer.version IS DISTINCT FROM n.version
          OR scorer.is_error_measure <> n.is_error_measure
        )
        """,
        {
            "scorers": list(always),
            "families": [facts.family for facts in always.values()],
            "versions": [facts.version for facts in always.values()],
            "errors": [facts.is_error_measure for facts in always.values()],
        },
    )
    named = sorted({(testset_id, name) for testset_id, _, name in scorers})
    then = [describe(name, years[testset_id]) for testset_id, name in named]
    key: dict[str, object] = {
        "testsets": [testset_id for testset_id, _ in named],
        "names": [name for _, name in named],
    }
    connection.execute(
        """
        DELETE FROM metric_fact
        WHERE testset_id IN (SELECT unnest($here::INTEGER[])) AND (
          (testset_id, base_name) IN (
            SELECT (n.testset_id, n.name)
            FROM (SELECT unnest($testsets::INTEGER[]) AS testset_id, unnest($names::VARCHAR[]) AS name) AS n
          )
          OR (testset_id, base_name) NOT IN (
            SELECT DISTINCT (e.testset_id, sc.base_name)
            FROM vector AS v
            JOIN evalset AS e ON e.evalset_id = v.evalset_id AND e.testset_id IN (SELECT unnest($here::INTEGER[]))
            JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
          )
        )
        """,
        {**key, "here": list(years)},
    )
    connection.execute(
        """
        INSERT INTO metric_fact
        SELECT
          unnest($testsets::INTEGER[]), unnest($names::VARCHAR[]), unnest($families::VARCHAR[]),
          unnest($versions::VARCHAR[]), unnest($kinds::VARCHAR[]), unnest($free::BOOLEAN[]),
          unnest($errors::BOOLEAN[]), unnest($years::SMALLINT[]), unnest($known::BOOLEAN[])
        """,
        {
            **key,
            "families": [facts.family for facts in then],
            "versions": [facts.version for facts in then],
            "kinds": [facts.kind for facts in then],
            "free": [facts.is_reference_free for facts in then],
            "errors": [facts.is_error_measure for facts in then],
            "years": [facts.training_year for facts in then],
            "known": [facts.is_known for facts in then],
        },
    )


def _register_languages(connection: duckdb.DuckDBPyConnection, lps: Iterable[str]) -> None:
    pairs = [pair for lp in lps if (pair := language_pair(lp)) is not None]
    sides = list({side.code: side for pair in pairs for side in (pair.source, pair.target)}.values())
    if not sides:
        return
    connection.execute(
        """
        INSERT INTO language
        SELECT
          unnest($codes::VARCHAR[]), unnest($names::VARCHAR[]), unnest($scripts::VARCHAR[]), unnest($in_da::BOOLEAN[])
        ON CONFLICT DO UPDATE SET
          name = excluded.name, script = excluded.script, in_da_training = excluded.in_da_training
        """,
        {
            "codes": [side.code for side in sides],
            "names": [side.name for side in sides],
            "scripts": [side.script for side in sides],
            "in_da": [side.in_da_training for side in sides],
        },
    )


def _register_issues(connection: duckdb.DuckDBPyConnection, testsets: Collection[str]) -> None:
    chosen = [issue for issue in issues() if issue.testset in testsets]
    if not chosen:
        return
    connection.execute(
        """
        INSERT INTO known_issue
        SELECT n.testset, n.lp, n.scorer, n.system, n.issue, n.citation
        FROM (
          SELECT unnest($testsets::VARCHAR[]) AS testset, unnest($lps::VARCHAR[]) AS lp,
            unnest($scorers::VARCHAR[]) AS scorer, unnest($systems::VARCHAR[]) AS system,
            unnest($issues::VARCHAR[]) AS issue, unnest($citations::VARCHAR[]) AS citation
        ) AS n
        WHERE NOT EXISTS (
          FROM known_issue AS k
          WHERE k.testset = n.testset AND k.issue = n.issue AND k.lp IS NOT DISTINCT FROM n.lp
            AND k.scorer IS NOT DISTINCT FROM n.scorer AND k.system IS NOT DISTINCT FROM n.system
        )
        """,
        {
            "testsets": [issue.testset for issue in chosen],
            "lps": [issue.lp for issue in chosen],
            "scorers": [issue.scorer for issue in chosen],
            "systems": [issue.system for issue in chosen],
            "issues": [issue.issue for issue in chosen],
            "citations": [issue.citation for issue in chosen],
        },
    )
