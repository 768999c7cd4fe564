"""The human score and the reference of an evaluation set: those that a slice names, else the official ones."""

from collections.abc import Collection
from typing import Literal

from queries.evalsets import choice_of_humans, stored_human
from warehouse import QuestionError
from warehouse.errors import IT, unknown
from warehouse.wording import option

HumanUse = Literal["required", "optional", "none"]
_NO_OFFICIAL_HUMAN = f"{IT} has no official human score"


def human_score(
    humans: Collection[str], named: str | None, official: str | None, use: HumanUse, where: str
) -> tuple[str | None, tuple[str, ...]]:
    """The human score, and a note where it is not the official one that was asked for by naming none.

    humans: those loaded. use: where it is "optional" and there is none to take, or "none", the answer is None.
    Raises QuestionError: unknown, or required and not found.
    """
    if use == "none":
        return None, (f"without human scores: none of {where} has segment scores",)
    if named is not None:
        if stored_human(named) in humans:
            return named, ()
        if not humans:
            raise QuestionError(f"no human score of {IT} is loaded", where=where)
        raise unknown("human score", named, humans, where=where)
    if official in humans:
        return official, ()
    absent = f"the official human score {official!r} of {IT} is not loaded" if official else _NO_OFFICIAL_HUMAN
    if len(humans) == 1:
        (only,) = humans
        return only, (QuestionError(f"{absent}; using {only}, the only one available", where=where).text,)
    error = QuestionError(absent, where=where, way_out=choice_of_humans(humans))
    if use == "required":
        raise error
    return None, (f"without human scores: {error.text}",)


def reference(
    where: str, named: str | None, official: str | None, used: Collection[str], translations: Collection[str]
) -> tuple[str | None, tuple[str, ...]]:
    """The reference that metrics must have used, and a note where none is official.

    used: by metrics of the evaluation set. translations: those of people that it has.
    Raises QuestionError: the evaluation set has no such reference.
    """
    here = sorted(set(used))
    if named is not None:
        if named not in {*here, official, *translations}:
            raise unknown("reference", named, here or translations, where=where)
        return named, ()
    if official is not None or not here:
        return official, ()
    if len(here) == 1:
        return here[0], (f"{where} has no official reference; using {here[0]}, the only one available",)
    absent = f"{where} has no official reference, so reference-based metrics are excluded"
    return None, (f"{absent}; name one with {option('reference')}; available: {', '.join(here)}",)
