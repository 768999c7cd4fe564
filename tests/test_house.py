"""What the table of figures counts, on small pieces of code."""

import ast

from benchmarks.house import converters, declaration_lines, participles

CODE = ast.parse('''
@dataclass(frozen=True)
class Given:
    """Two fields."""

    name: str
    value: float

    def as_row(self) -> dict[str, Any]:
        return {}

    def is_large(self) -> bool:
        return True

    def __getstate__(self) -> dict[str, object]:
        return {}


def frame(given: Sequence[Given]) -> pl.DataFrame:
    return pl.DataFrame()


def other(name: str) -> pl.DataFrame:
    return pl.DataFrame()


def of_the_class(given: type[Given]) -> dict[str, Any]:
    return {}


def of_another_library(given: typer.Given) -> dict[str, Any]:
    return {}


class Seed:
    pass
''')


def test_a_declaration_ends_before_the_first_method() -> None:
    given = next(one for one in CODE.body if isinstance(one, ast.ClassDef))
    assert declaration_lines(given) == 7


def test_methods_of_dataclasses_and_functions_that_take_them_are_converters() -> None:
    assert {one.name for one in converters([CODE])} == {"as_row", "frame"}


def test_a_class_is_named_by_a_bare_participle_but_a_noun_that_ends_alike_is_none() -> None:
    assert participles([CODE]) == ["Given"]
