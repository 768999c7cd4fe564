"""Evaluation sets by their names: one, or several from names joined by commas or "all"."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from queries.catalog import questions
from queries.slices import BY_ANNOTATOR
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.facts.languages import is_language_name, is_typed_pair, language_named, pairs_called
from warehouse.facts.testsets import facts, known_testsets
from warehouse.wording import NO_LP, first_names, option

"""Behind the name of a human score: standardised by annotator."""


BY_PREFERENCES = {
    "ew": "expected wins",
    "bto": "better than others",
    "boe": "better than or equal to others",
    "trueskill": "TrueSkill",
    "bt": "Bradley-Terry with ties",
}
"""Behind a colon after the name of a human score: how system scores are made of its preferences."""


def stored_human(name: str) -> str:
    """The name under which a human score is stored, without a suffix for its transformation.

    >>> stored_human("esa:z"), stored_human("esa"), stored_human("rr:ew")
    ('esa', 'esa', 'rr')
    """
    stored, _, _ = name.rpartition(":")
    return stored if name.endswith(BY_ANNOTATOR) or preference_score(name) is not None else name


def preference_score(human: str | None) -> str | None:
    """How system scores are computed from preferences, one of `BY_PREFERENCES`; None if they are not.

    >>> preference_score("rr:ew"), preference_score("rr"), preference_score("esa:z")
    ('ew', None, None)
    """
    stored, _, how = (human or "").rpartition(":")
    return how if stored and how in BY_PREFERENCES else None


def evalset_id(warehouse: Warehouse, testset: str, lp: str) -> int:
    """Identifier of an evaluation set.

    Raises QuestionError: unknown test set or language pair; the error lists the nearest names.
    """
    lp = pairs_called(lp)
    known = warehouse.once(evalset_id, lambda: _identifiers(warehouse))
    if (number := known.get(testset, {}).get(lp)) is not None:
        return number
    found, testsets = known.get(testset, {}), known.keys()
    _check_one(testset, testsets)
    if not found:
        raise unknown_testset(testset, testsets)
    _check_one(lp, found)
    raise unknown_lp(lp, found, testset)


def _identifiers(warehouse: Warehouse) -> dict[str, dict[str, int]]:
    """Test set -> language pair -> identifier."""
    found: dict[str, dict[str, int]] = {}
    for testset, lp, number, *_ in _rows(warehouse):
        found.setdefault(testset, {})[lp] = number
    return found


def _check_one(name: str, there: Collection[str]) -> None:
    """Raises QuestionError: all, or several names."""
    if name not in there and (name == "all" or "," in name):
        raise QuestionError(f"{name!r}: name only one here; loaded: {', '.join(sorted(there))}")


def official_human_of_systems(warehouse: Warehouse, testset: str, lp: str) -> str | None:
    """The human score by which the organisers ranked the systems of an evaluation set, if it is loaded."""
    ((name,),) = warehouse.rows(
        """
        SELECT CASE WHEN is_standard_human_sys_loaded THEN standard_human_sys END
        FROM evalsets
        WHERE testset = $testset AND lp = $lp
        """,
        {"testset": testset, "lp": lp},
    )
    return None if name is None else str(name)


def has_standard_reference(warehouse: Warehouse, testset: str, lp: str) -> bool:
    """Whether an evaluation set has a reference declared by the organisers.

    Raises QuestionError: unknown test set or language pair.
    """
    ((found,),) = warehouse.rows(
        "SELECT standard_reference IS NOT NULL FROM evalset WHERE evalset_id = $number",
        {"number": evalset_id(warehouse, testset, lp)},
    )
    return bool(found)


def stored_places(warehouse: Warehouse) -> dict[str, set[str]]:
    """The names of the test sets and language pairs of a warehouse."""
    rows = warehouse.rows("SELECT t.name, e.lp FROM evalset AS e JOIN testset AS t ON t.testset_id = e.testset_id")
    return {"testset": {testset for testset, _ in rows}, "lp": {lp for _, lp in rows}}


def stored_names(warehouse: Warehouse, testsets: Sequence[str] = (), lps: Sequence[str] = ()) -> dict[str, set[str]]:
    """The names of systems, human scores, metrics, and scorers (metrics or systems), of some evaluation sets.

    testsets, lps: names; none for all.
    """
    rows = warehouse.rows(questions()["stored_names"].text, {"testsets": list(testsets), "lps": list(lps)})
    found = {kind: {name for of, name in rows if of == kind} for kind in ("system", "human", "metric")}
    return {**found, "scorer": found["metric"] | found["system"]}


def stored_name(typed: str, known: Collection[str]) -> str:
    """Names joined by commas, spelled as in the warehouse, whatever their case; unknown names are unchanged.

    >>> stored_name("WMT23,mySet, ALL,x", {"wmt23", "MySet", "MYSET"})
    'wmt23,mySet,all,x'
    """
    by_case: dict[str, list[str]] = {"all": ["all"]}
    for name in known:
        by_case.setdefault(name.casefold(), []).append(name)
    parts = [part.strip() for part in typed.split(",")]
    found = [[part] if part in known else by_case.get(part.casefold(), []) for part in parts]
    return ",".join(names[0] if len(names) == 1 else part for part, names in zip(parts, found, strict=True))


def stored_score(typed: str, known: Collection[str]) -> str:
    """A system or human score, spelled as in the warehouse: an exact name, else the only one in another case.

    >>> stored_score("gpt-4", {"GPT-4", "NLLB"}), stored_score("nllb", {"NLLB", "Nllb"}), stored_score("ESA:z", {"esa"})
    ('GPT-4', 'nllb', 'esa:z')
    """
    name = stored_human(typed)
    return stored_exactly(name, known) + typed[len(name) :]


def stored_exactly(typed: str, known: Collection[str]) -> str:
    """The name itself, or the only known one in another case."""
    alike = [] if typed in known else [one for one in known if one.casefold() == typed.casefold()]
    return alike[0] if len(alike) == 1 else typed


def stored_testset(typed: str, known: Collection[str]) -> str:
    """Test sets joined by commas, spelled as in the warehouse; given in any case or by year.

    >>> stored_testset("2023,21", {"wmt23", "wmt21.news", "wmt21.flores"})
    'wmt23,21'
    """
    parts = stored_name(typed, known).split(",")
    return ",".join(f"wmt{part[-2:]}" if f"wmt{part[-2:]}" in known and is_year(part) else part for part in parts)


def is_year(text: str) -> bool:
    """Whether a word is a year, in two digits or four.

    >>> is_year("2023"), is_year("23"), is_year("wmt23")
    (True, True, False)
    """
    return text.isdecimal() and len(text) in (2, 4)


def unknown_testset(testset: str, loaded: Collection[str]) -> QuestionError:
    """The error for a test set that is not in the warehouse: not loaded, or unknown."""
    if is_typed_pair(testset):
        newest = max(loaded, key=lambda one: (facts(one).year or 0, one), default="wmt23")
        example = f"{newest} {testset}"
        return QuestionError(f"{testset!r} is a language pair; the test set comes before it, such as {example}")
    if is_year(testset) and (of_year := sorted(name for name in loaded if name.startswith(f"wmt{testset[-2:]}."))):
        return QuestionError(f"several test sets of {testset} are loaded; name one: {', '.join(of_year)}")
    if is_language_name(testset):
        return QuestionError(f"{testset!r} is a language; name a language pair, such as en-{language_named(testset)}")
    if testset not in known_testsets():
        return unknown("test set", testset, loaded)
    return QuestionError(
        f"test set {testset!r} is not loaded; loaded: {', '.join(sorted(loaded)) or 'none'}; "
        f"`scorehouse load PATH` or `scorehouse download {testset}` loads it"
    )


def unknown_lp(lp: str, loaded: Collection[str], testset: str) -> QuestionError:
    """The error for a language pair that is not in a test set: not loaded, or unknown."""
    if is_language_name(lp):
        code = language_named(lp)
        near = [one for one in sorted(loaded) if code in re.split(r"[-_]", one)]
        available = f"did you mean {' or '.join(near)}?" if near else f"{testset} has {', '.join(sorted(loaded))}"
        return QuestionError(f"{lp!r} is a language, not a language pair; {available}")
    if lp not in facts(testset).lps:
        return unknown("language pair", lp, loaded, where=testset)
    return QuestionError(
        f"language pair {lp!r} of {testset} is not loaded; loaded: {', '.join(sorted(loaded))}; "
        f"`scorehouse load PATH` or `scorehouse download {testset}` loads it"
    )


def named_evalsets(known: Iterable[tuple[str, str]], testsets: str, lps: str) -> list[tuple[str, str]]:
    """The named ones among known test sets with their language pairs; names joined by commas, or "all".

    Raises QuestionError: unknown test set, or a language pair that none of the test sets has.
    >>> named_evalsets([("a", "en-de"), ("a", "de-en"), ("b", "en-de")], "b,a", "all")
    [('b', 'en-de'), ('a', 'de-en'), ('a', 'en-de')]
    """
    known = dict.fromkeys(known)
    loaded = dict.fromkeys(testset for testset, _ in known)
    names = loaded if testsets == "all" else dict.fromkeys(testsets.split(","))
    for testset in names:
        if testset not in loaded:
            raise unknown_testset(testset, loaded)
    there = {lp for testset, lp in known if testset in names}
    wanted = sorted(there) if lps == "all" else dict.fromkeys(pairs_called(lps).split(","))
    for lp in wanted:
        if lp not in there:
            if len(names) == 1:
                raise unknown_lp(lp, there, *names)
            raise QuestionError(f"language pair {lp!r} is in none of {', '.join(names) or 'the test sets'}")
    return [one for one in product(names, wanted) if one in known]


def all_named(warehouse: Warehouse, testsets: str, lps: str) -> set[tuple[str, str]]:
    """The named evaluation sets of a warehouse, with or without human scores; see `named_evalsets`."""
    return {*named_evalsets(warehouse.rows("SELECT testset, lp FROM evalsets ORDER BY ALL"), testsets, lps)}


@dataclass(frozen=True)
class Evalsets:
    """Evaluation sets by (test set, language pair).

    chosen: those requested. without_human: those that "all" would include if they had the requested human score.
    """

    chosen: tuple[tuple[str, str], ...]
    without_human: tuple[tuple[str, str], ...] = ()


def expand(
    warehouse: Warehouse, testsets: str, lps: str, human: str | None = None, *, needs_human: bool = True
) -> Evalsets:
    """Evaluation sets from names joined by commas.

    testsets: "all" for every test set except challenge sets. lps: "all" for every language pair with the requested
        human score; the others are in `without_human`. human: the requested human score; None for the official one of
        systems or segments, or the only one.
    needs_human: whether to refuse named test sets without any human score, rather than choose all their pairs.
    Raises QuestionError: unknown test set, a language pair that none of the test sets has, or nothing left.
    """
    there = _evalsets_with_humans(warehouse)
    challenging = challenge_sets(warehouse, "all")
    asked = [testset for testset in there if testsets != "all" or testset not in challenging]
    named = named_evalsets([(testset, lp) for testset in asked for lp in there[testset]], testsets, lps)
    if lps != "all":
        return Evalsets(tuple(named))
    is_named = testsets != "all"
    chosen = tuple(one for one in named if (is_named and one[1] == NO_LP) or _has_human(there[one[0]][one[1]], human))
    if not chosen:
        if human is not None:
            raise QuestionError(f"no language pair of {testsets} has human score {human!r}")
        humans = {name for testset, lp in named for name, _ in there[testset][lp]}
        names = dict.fromkeys(testset for testset, _ in named)
        if not humans and is_named and not needs_human:
            return Evalsets(tuple(named))
        if not humans and names.keys() & set(challenging):
            raise without_grades(warehouse, *names)
        reason = f"no language pair of {testsets} has an official human score that is loaded"
        raise QuestionError(reason, way_out=choice_of_humans(humans))
    return Evalsets(chosen, tuple(one for one in named if one not in chosen))


def years_of_testsets(warehouse: Warehouse) -> dict[str, int | None]:
    """Test set -> year of its campaign; None if unknown."""
    return dict(warehouse.rows("SELECT name, year FROM testset"))


def language_pairs(warehouse: Warehouse, testset: str, lps: str) -> list[str]:
    """Language pairs of one test set from names joined by commas, or "all", with or without human scores.

    Raises QuestionError: unknown test set or language pair.
    """
    there = _evalsets_with_humans(warehouse)
    if testset not in there:
        evalset_id(warehouse, testset, lps)  # says which there are, or that several are too many
    if lps == "all":
        return sorted(there[testset])
    return [lp for _, lp in expand(warehouse, testset, lps).chosen]


Humans = list[tuple[str, bool]]  # name, and whether it is an official one


def _evalsets_with_humans(warehouse: Warehouse) -> dict[str, dict[str, Humans]]:
    """Test set -> language pair -> its human scores; test sets by year and name."""
    found: dict[str, dict[str, Humans]] = {}
    for testset, lp, _, human, is_standard, _ in _rows(warehouse):
        humans = found.setdefault(testset, {}).setdefault(lp, [])
        if human is not None:
            humans.append((human, is_standard))
    return found


def _rows(warehouse: Warehouse) -> list[tuple[str, str, int, str | None, bool, bool]]:
    question = questions()["evalsets_with_humans"]
    return warehouse.once(question, lambda: warehouse.rows(question.text))


_TOGETHER = 2**18  # scores and segments of evaluation sets that are read at once


def together(warehouse: Warehouse, number: int) -> tuple[int, ...]:
    """The evaluation sets to read at once with this one: none for the first, for others small neighbours.

    A query takes as long for a hundred small evaluation sets as for one of them.
    """
    if warehouse.once(together, lambda: number) == number:
        return (number,)
    return warehouse.once(_groups, lambda: _groups(warehouse))[number]


def _groups(warehouse: Warehouse) -> dict[int, tuple[int, ...]]:
    """Evaluation set -> those read at once with it, in the order in which questions go through all of them."""
    sizes = dict(
        warehouse.rows(
            """
            SELECT e.evalset_id, (coalesce(e.n_segments, 0) + coalesce(sum(v.n_values), 0))::BIGINT
            FROM evalset AS e
            LEFT JOIN vector AS v ON v.evalset_id = e.evalset_id
            GROUP BY e.evalset_id, e.n_segments
            """
        )
    )
    groups: list[list[int]] = []
    n_rows = _TOGETHER
    at_hand = warehouse.at_hand
    for number in dict.fromkeys(row[2] for row in _rows(warehouse) if at_hand is None or row[:2] in at_hand):
        n_rows += sizes[number]
        if n_rows > _TOGETHER:
            groups.append([])
            n_rows = sizes[number]
        groups[-1].append(number)
    return {number: tuple(group) for group in groups for number in group}


def challenge_sets(warehouse: Warehouse, testsets: str) -> list[str]:
    """The challenge sets among test sets, joined by commas or "all", whose outputs have an expected order."""
    found = list(dict.fromkeys(testset for testset, *_, is_challenge in _rows(warehouse) if is_challenge))
    return found if testsets == "all" else [one for one in found if one in testsets.split(",")]


def without_grades(warehouse: Warehouse, *testsets: str) -> QuestionError:
    """The error for challenge sets without grades, by which nothing can be ranked."""
    others = dict.fromkeys(testset for testset, _, is_challenge in with_both(warehouse) if is_challenge)
    return QuestionError(
        f"{', '.join(testsets)}: a challenge set without grades, so no output is known to be better",
        way_out=f"`scorehouse means {testsets[0]}` has the metrics' scores",
        hint=f"with grades and metrics: {', '.join(others)}" if others else (),
    )


def pairs_with_both(warehouse: Warehouse, testset: str) -> str:
    """A hint on the language pairs of a test set that have metric and human scores; nothing if there are none."""
    lps = [lp for name, lp, _ in with_both(warehouse) if name == testset and lp != NO_LP]
    return f"{testset} has metric and human scores of {first_names(lps, 5)}" if lps else ""


def with_both(warehouse: Warehouse) -> list[tuple[str, str, bool]]:
    """Evaluation sets with metric and human scores: test set, language pair, and whether it is a challenge set."""
    question = questions()["evalsets_with_both"]
    return warehouse.once(question, lambda: warehouse.rows(question.text))


def without_challenge_sets(warehouse: Warehouse, testsets: str) -> list[str]:
    """A note on challenge sets that a question about human scores excludes from all test sets, if any.

    Raises QuestionError: a challenge set is named.
    """
    found = challenge_sets(warehouse, testsets)
    if found and testsets != "all":
        way_out = f"`scorehouse rank {found[0]}` with {option('measures', 'accuracy')} ranks metrics by them"
        raise QuestionError(f"{found[0]} is a challenge set, whose grades are not human scores", way_out=way_out)
    return [f"challenge sets, excluded: {', '.join(found)}"] if found else []


def _has_human(humans: Humans, wanted: str | None) -> bool:
    if wanted is not None:
        return any(name == stored_human(wanted) for name, _ in humans)
    return len(humans) == 1 or any(is_standard for _, is_standard in humans)


def all_humans(warehouse: Warehouse, testsets: str, lps: str) -> list[str]:
    """All human scores of some evaluation sets, by name. Raises QuestionError: unknown names, or there are none."""
    there = _evalsets_with_humans(warehouse)
    found = {human for testset, lp in all_named(warehouse, testsets, lps) for human, _ in there[testset][lp]}
    if not found:
        raise QuestionError(f"no human score of {testsets} is loaded")
    return sorted(found)


def choice_of_humans(humans: Collection[str]) -> str:
    """The way out where the official human score is not there and none was named."""
    if not humans:
        return "no human score is loaded"
    return f"name one with {option('human')}; available: {', '.join(sorted(humans))}"


HumanUse = Literal["required", "optional", "none"]
_NO_OFFICIAL_HUMAN = f"{IT} has no official human score"


def human_score(
    humans: Collection[str], named: str | None, official: str | None, use: HumanUse, where: str, hint: str = ""
) -> tuple[str | None, tuple[str, ...]]:
    """The human score, and a note if it is not the official one although none was named.

    humans: those loaded. use: with "none", or with "optional" if there is no usable human score, the answer is None.
    hint: on what has human scores.
    Raises QuestionError: unknown, or required and not found.
    """
    if use == "none":
        return None, (f"no human scores are used: none of {where} has segment scores",)
    if named is not None:
        if not humans:
            raise QuestionError(f"no human score of {IT} is loaded", where=where, hint=hint)
        stored = stored_score(named, humans)
        if stored_human(stored) in humans:
            return stored, ()
        raise unknown("human score", named, humans, where=where)
    if official is not None and stored_human(official) in humans:
        return official, ()
    absent = f"the official human score {official!r} of {IT} is not loaded" if official else _NO_OFFICIAL_HUMAN
    if len(humans) == 1:
        (only,) = humans
        return only, (QuestionError(f"{absent}; using {only}, the only one available", where=where).text,)
    error = QuestionError(absent, where=where, way_out=choice_of_humans(humans), hint=hint)
    if use == "required":
        raise error
    return None, (f"no human scores are used: {error.text}",)


def reference(
    where: str, named: str | None, official: str | None, used: Collection[str], translations: Collection[str]
) -> tuple[str | None, tuple[str, ...]]:
    """The reference that metrics must have used, and a note if none is official.

    used: by metrics of the evaluation set. translations: its human translations.
    Raises QuestionError: the evaluation set has no such reference.
    """
    here = sorted(set(used))
    if named is not None:
        loaded = {*here, *translations, *([] if official is None else [official])}
        alike = [named] if named in loaded else [one for one in loaded if one.casefold() == named.casefold()]
        if len(alike) != 1:
            raise unknown("reference", named, here or translations, where=where)
        return alike[0], ()
    if official is not None or not here:
        return official, ()
    if len(here) == 1:
        return here[0], (f"{where} has no official reference; using {here[0]}, the only one available",)
    absent = f"{where} has no official reference, so reference-based metrics are excluded"
    return None, (f"{absent}; name one with {option('reference')}; available: {', '.join(here)}",)
