"""Spellings of system names in the files of one evaluation set, and the system that each belongs to.

The rules, in their order; what none of them joins stays a system of its own:
1. the very name or spelling that the warehouse has;
2. a declared alias (human outputs join by this one only);
3. the same letters and digits, whatever stands between them and in whatever case;
4. the same after a number at the end (`.1533`) is dropped, where the name stays unique without it.
Rules 3 and 4 join nothing where one file has two of the names: there they tell systems apart.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from warehouse.names import is_human_name

ALIAS = "declared alias"
LETTERS = "same letters and digits"
NUMBER = "number at the end dropped"
BEFORE = "as before"
_NUMBER = re.compile(r"\.\d+$")


@dataclass(frozen=True)
class Joined:
    """The system that a spelling belongs to, and the rule that says so; None for its own name."""

    system: str
    rule: str | None = None


def letters(name: str) -> str:
    """What is left of a name without its case and without all but letters and digits.

    >>> letters("Huawei-TSC.1533") == letters("Huawei_TSC.1533")
    True
    """
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def without_number(name: str) -> str:
    """A name without the number at its end.

    >>> without_number("MSRA.MASS.6996")
    'MSRA.MASS'
    """
    return _NUMBER.sub("", name) or name


def join_spellings(
    sources: Iterable[Collection[str]],
    known: Mapping[str, str],
    aliases: Mapping[str, str],
    *,
    fixed: Collection[str] = (),
    quiet: Collection[str] = (),
) -> dict[str, Joined]:
    """The system of each spelling.

    sources: the names that each file has. known: spelling -> system, of the warehouse; systems stand for themselves.
    aliases: spelling -> system, declared. fixed: systems that keep their names; quiet: spellings that give no system
    its name. Of the spellings of one system its name is the same in whatever order files come: see `preferred`.
    Systems of the warehouse are among the answers where their names change.

    >>> join_spellings([{"A_B.1", "C.1", "C.2"}, {"A-B", "C"}], {}, {})["A_B.1"]
    Joined(system='A-B', rule='number at the end dropped')
    """
    files = [set(names) for names in sources]
    uses = Counter(name for names in files for name in names)
    joined: dict[str, Joined] = {}
    for name in uses:
        if name in known:
            joined[name] = Joined(known[name], None if known[name] == name else BEFORE)
        elif name in aliases:
            joined[name] = Joined(known.get(aliases[name], aliases[name]), ALIAS)
    groups: dict[str, set[str]] = defaultdict(set)
    for name in {*uses, *known}:
        if not is_human_name(name) and joined.get(name, Joined(name)).rule != ALIAS:
            groups[letters(without_number(name))].add(name)
    for group in groups.values():
        for names in [group] if _is_one(group, files, known, fixed) else _by_letters(group, files, known, fixed):
            systems = {known[name] for name in names if name in known}
            named = ((names & uses.keys()) - set(quiet)) | systems or names
            keeps = systems - names or systems & set(fixed) or named & set(fixed)
            system = min(keeps, default=preferred(named))
            for name in names & (uses.keys() | systems):
                rule = LETTERS if letters(name) == letters(system) else NUMBER
                if name != system and known.get(name) == system:
                    rule = BEFORE
                joined[name] = Joined(system, None if name == system else rule)
    for name, item in joined.items():
        if item.rule == ALIAS and aliases[name] in joined:
            joined[name] = Joined(joined[aliases[name]].system, ALIAS)
        elif joined.get(item.system, item).system != item.system:  # its system, of other letters, changes its name
            joined[name] = Joined(joined[item.system].system, item.rule)
    there = uses.keys() | {name for name in known.values() if joined.get(name, Joined(name)).system != name}
    return {name: joined.get(name, Joined(name)) for name in sorted(there)}


def told_apart(
    sources: Iterable[Collection[str]], known: Mapping[str, str], aliases: Mapping[str, str], fixed: Collection[str]
) -> dict[str, set[str]]:
    """Systems of the warehouse whose spellings would be several systems if all files came together.

    sources, known, aliases, fixed: as for `join_spellings`. Each system with the names in the sources that say so.

    >>> told_apart([{"A", "A.1"}], {"A": "A", "A.1": "A"}, {}, ()) == {"A": {"A", "A.1"}}
    True
    """
    files = [set(names) for names in sources]
    apart = join_spellings([*files, *({name} for name in known)], {}, aliases, fixed=fixed)
    torn: dict[str, set[str]] = {}
    for name, system in known.items():
        base = letters(without_number(system))
        if is_human_name(name) or letters(without_number(name)) != base or apart[name].system == apart[system].system:
            continue
        alike = [{other for other in names if letters(without_number(other)) == base} for names in files]
        torn[system] = {other for names in alike for other in names if other not in known or len(names) > 1}
    return {system: names for system, names in torn.items() if names}


def preferred(names: Collection[str]) -> str:
    """The spelling that names a system: without a number, in small letters, with underscores rather than dashes.

    >>> preferred({"Online-A.5", "ONLINE-A", "Online-A"})
    'Online-A'
    """
    return max(names, key=lambda name: (without_number(name) == name, name))


def _is_one(names: set[str], files: Iterable[set[str]], known: Mapping[str, str], fixed: Collection[str]) -> bool:
    """Whether names can be spellings of one system: they have one number at most, and nobody has two of them."""
    numbered = {letters(name) for name in names if without_number(name) != name}
    systems = {known[name] for name in names if name in known}
    are_fixed = (names | systems) & set(fixed)
    fewer = max(len(numbered), len(systems), len(are_fixed)) <= 1
    return fewer and all(len(names & there) <= 1 for there in files)


def _by_letters(
    names: set[str], files: list[set[str]], known: Mapping[str, str], fixed: Collection[str]
) -> list[set[str]]:
    """The names that have all letters and digits in common; each alone where they cannot be one system."""
    groups: dict[str, set[str]] = defaultdict(set)
    for name in names:
        groups[letters(name)].add(name)
    return [
        part for group in groups.values() for part in ([group] if _is_one(group, files, known, fixed) else _each(group))
    ]


def _each(names: Iterable[str]) -> list[set[str]]:
    return [{name} for name in names]


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """The names that look most like one, at most three."""
    folded = {letters(without_number(candidate)): candidate for candidate in sorted(candidates)}
    return [folded[near] for near in get_close_matches(letters(without_number(name)), folded, n=3, cutoff=0.5)]
