"""The human score and the reference of an evaluation set: those that a slice names, else the official ones."""

from collections.abc import Collection
from typing import Literal

from queries.evalsets import choice_of_humans
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown

HumanUse = Literal["required", "optional", "none"]


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
        if named in humans:
            return named, ()
        if not humans:
            raise QuestionError(f"no human score of {where} is loaded")
        raise unknown("human score", named, humans, where=where)
    if official in humans:
        return official, ()
    absent = f"the official human score {official!r} of {where} is not loaded"
    absent = absent if official else f"{where} has no official human score"
    if len(humans) == 1:
        (only,) = humans
        return only, (f"{absent}; using {only}, the only one available",)
    if use == "required":
        raise QuestionError(f"{absent}; {choice_of_humans(humans)}")
    return None, (f"without human scores: {absent}; {choice_of_humans(humans)}",)


def reference(
    warehouse: Warehouse, where: str, named: str | None, official: str | None, used: Collection[str]
) -> tuple[str | None, tuple[str, ...]]:
    """The reference that metrics must have used, and a note where none is official.

    used: by metrics of the evaluation set.
    Raises QuestionError: no metric of the warehouse used the named one.
    """
    if named is not None:
        rows = warehouse.rows("SELECT DISTINCT reference FROM metrics WHERE reference IS NOT NULL")
        known = {name for (name,) in rows}
        if named not in known:
            raise unknown("reference", named, known, where=where)
        return named, ()
    here = sorted(set(used))
    if official is not None or not here:
        return official, ()
    if len(here) == 1:
        return here[0], (f"{where} has no official reference; using {here[0]}, the only one available",)
    absent = f"{where} has no official reference, so reference-based metrics are excluded"
    return None, (f"{absent}; name one with --reference; available: {', '.join(here)}",)
