"""Spellings of systems: each rule on a case of its own, and what no rule may join."""

import random

from hypothesis import assume, given
from hypothesis import strategies as st

from warehouse.staging.naming import (
    ALIAS,
    BEFORE,
    LETTERS,
    NUMBER,
    SystemAlias,
    join_spellings,
    letters,
    nearest,
    without_number,
)


def test_the_mismatches_of_newstest2020_are_joined_by_their_letters() -> None:
    human = {"Huawei-TSC.1533", "Huoshan-Translate.1470", "GTCOM.1529"}
    metric = {"Huawei_TSC.1533", "Huoshan_Translate.1470", "GTCOM.1529"}
    joined = join_spellings([human, metric, metric], {}, {})
    assert joined["Huawei-TSC.1533"] == SystemAlias("Huawei_TSC.1533", LETTERS)
    assert joined["Huoshan-Translate.1470"] == SystemAlias("Huoshan_Translate.1470", LETTERS)
    assert joined["GTCOM.1529"] == SystemAlias("GTCOM.1529")
    assert {item.system for item in joined.values()} == metric


def test_a_number_is_dropped_where_the_name_stays_unique() -> None:
    joined = join_spellings([{"Facebook-AI.7", "Online-A.5"}, {"Facebook_AI", "ONLINE-A"}], {}, {})
    assert {name: item.system for name, item in joined.items()} == {
        "Facebook-AI.7": "Facebook_AI",
        "Facebook_AI": "Facebook_AI",
        "Online-A.5": "ONLINE-A",
        "ONLINE-A": "ONLINE-A",
    }
    assert joined["Facebook-AI.7"].rule == NUMBER


def test_names_that_a_number_tells_apart_stay_apart() -> None:
    for twins in ({"Tilde.1425", "Tilde.1430"}, {"MSRA.MASS.6996", "MSRA.MASS.6942"}, {"A.1", "A"}):
        joined = join_spellings([twins, twins], {}, {})
        assert {item.system for item in joined.values()} == twins
    apart = join_spellings([{"Tilde.1425"}, {"Tilde.1430"}], {}, {})
    assert {item.system for item in apart.values()} == {"Tilde.1425", "Tilde.1430"}
    assert join_spellings([{"Tilde"}, {"Tilde.1425", "Tilde.1430"}], {}, {})["Tilde"] == SystemAlias("Tilde")


def test_names_that_one_file_has_side_by_side_are_never_joined() -> None:
    joined = join_spellings([{"A-B", "A_B"}, {"AB"}], {}, {})
    assert {name: item.system for name, item in joined.items()} == {"A-B": "A-B", "A_B": "A_B", "AB": "AB"}


def test_human_translations_are_joined_by_declared_aliases_alone() -> None:
    files = [{"HUMAN-A"}, {"Human-A.0", "Human-B.0"}, {"HUMAN_A"}]
    assert {name: item.system for name, item in join_spellings(files, {}, {}).items()} == {
        "HUMAN-A": "HUMAN-A",
        "HUMAN_A": "HUMAN_A",
        "Human-A.0": "Human-A.0",
        "Human-B.0": "Human-B.0",
    }
    assert join_spellings(files, {}, {"HUMAN-A": "Human-A.0"})["HUMAN-A"] == SystemAlias("Human-A.0", ALIAS)


def test_what_the_warehouse_joined_before_stays_joined() -> None:
    known = {"Huawei_TSC.1533": "Huawei_TSC.1533", "Huawei-TSC": "Huawei_TSC.1533"}
    names = [{"Huawei-TSC", "Huawei_TSC.1533", "HuaweiTSC.9"}]
    joined = join_spellings(names, known, {}, fixed={"Huawei_TSC.1533"})
    assert joined["Huawei-TSC"] == SystemAlias("Huawei_TSC.1533", BEFORE)
    assert joined["Huawei_TSC.1533"] == SystemAlias("Huawei_TSC.1533")
    assert joined["HuaweiTSC.9"] == SystemAlias("HuaweiTSC.9")
    assert join_spellings([{"huawei tsc.1533"}], known, {}, fixed={"Huawei_TSC.1533"})[
        "huawei tsc.1533"
    ] == SystemAlias("Huawei_TSC.1533", LETTERS)


def test_a_better_name_renames_a_system_of_the_warehouse_unless_the_layout_has_it() -> None:
    known = {"UEdin.9": "UEdin.9", "UF.15": "UF.15"}
    joined = join_spellings([{"UEdin"}], known, {})
    assert joined == {"UEdin": SystemAlias("UEdin"), "UEdin.9": SystemAlias("UEdin", NUMBER)}
    assert join_spellings([{"UEdin"}], known, {}, fixed={"UEdin.9"}) == {"UEdin": SystemAlias("UEdin.9", NUMBER)}
    layout = join_spellings([{"UEDIN.9"}], known, {}, fixed={"UEDIN.9"})
    assert layout == {"UEDIN.9": SystemAlias("UEDIN.9"), "UEdin.9": SystemAlias("UEDIN.9", LETTERS)}
    assert join_spellings([{"UEdin"}], known, {}, quiet={"UEdin"}) == {"UEdin": SystemAlias("UEdin.9", NUMBER)}


def test_an_alias_leads_to_the_name_that_its_system_gets() -> None:
    joined = join_spellings([{"Nine"}, {"UEdin"}], {"UEdin.9": "UEdin.9"}, {"Nine": "UEdin.9"})
    assert joined["Nine"] == SystemAlias("UEdin", ALIAS)


def test_names_of_the_layout_are_never_joined_to_one_another() -> None:
    joined = join_spellings([{"A.1"}, {"A"}], {"A": "A"}, {}, fixed={"A", "A.1"})
    assert {name: item.system for name, item in joined.items()} == {"A.1": "A.1", "A": "A"}


NAMES = st.text("aAbB-_. 17", min_size=1, max_size=6)


@given(st.lists(st.sets(NAMES, max_size=5), max_size=4), st.sets(NAMES, max_size=4))
def test_one_file_never_loses_a_system_and_the_order_of_files_does_not_matter(
    files: list[set[str]], systems: set[str]
) -> None:
    known = {name: name for name in systems}
    joined = join_spellings(files, known, {}, fixed=systems)
    assert set(joined) == set().union(*files)
    for names in files:
        assert len({joined[name].system for name in names}) == len(names)
    assert joined == join_spellings(files[::-1], known, {}, fixed=systems)
    for name, item in joined.items():
        if name in systems:
            assert item == SystemAlias(name)
        assert letters(without_number(item.system)) == letters(without_number(name))


def _loaded(files: list[set[str]]) -> dict[str, str]:
    """The system of each spelling, after the files came one by one."""
    known: dict[str, str] = {}
    for names in files:
        joined = join_spellings([names], known, {})
        known = {name: joined[system].system if system in joined else system for name, system in known.items()}
        known |= {name: item.system for name, item in joined.items()}
        known |= {system: system for system in known.values()}
    return known


@given(st.lists(st.sets(NAMES, max_size=4), max_size=4), st.randoms(use_true_random=False))
def test_files_that_come_one_by_one_give_the_names_of_files_that_come_together(
    files: list[set[str]], order: random.Random
) -> None:
    for names in files:  # a file that tells two spellings apart can only do so for files that come with it or later
        assume(len({letters(without_number(name)) for name in names}) == len(names))
    numbered = {letters(name) for names in files for name in names if without_number(name) != name}
    assume(
        len({letters(without_number(name)) for names in files for name in names if letters(name) in numbered})
        == len(numbered)
    )
    together = {name: item.system for name, item in join_spellings(files, {}, {}).items()}
    shuffled = order.sample(files, len(files))
    assert _loaded(shuffled) == together


def test_nearest_names_are_those_that_look_alike() -> None:
    assert nearest("Huawei_TCS", ["Huawei-TSC.1533", "Online-A.5"]) == ["Huawei-TSC.1533"]
    assert nearest("Zebra", ["Online-A.5"]) == []


def test_a_new_name_is_the_name_of_all_spellings() -> None:
    """`Foo.1` is told apart from `Foo.2`, and is as before a spelling of what is `foo` now."""
    known = {"Foo": "Foo", "Foo.1": "Foo"}
    joined = join_spellings([{"Foo.1"}, {"Foo.2"}, {"foo"}], known, {})
    assert {name: item.system for name, item in joined.items()} == {
        "Foo": "foo",
        "Foo.1": "foo",
        "Foo.2": "Foo.2",
        "foo": "foo",
    }
