"""Agreement of preferences: between annotators, of annotators with themselves, and between metrics and annotators."""

from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.agreement.preferences import JudgeAgreement, judge_agreement, judge_consistency
from metaeval.kernels.arrays.checks import Ints
from metaeval.results.answer import Result, or_none
from metaeval.results.signature import stamped
from queries.catalog import ask
from queries.evalsets import all_named, stored_human
from queries.preferences import NOBODY, Preferences, fetch_preferences
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown

_MOST_IN_BITS = 62  # systems that a mask has room for


def _scorers(warehouse: Warehouse, testsets: str, lps: str, human: str | None) -> pl.DataFrame:
    """The scorers with preferences on some evaluation sets; human: the only human score to include."""
    chosen = all_named(warehouse, testsets, lps)
    found = ask(warehouse, "preference_scorers")
    of_chosen = pl.DataFrame(sorted(chosen), schema={"testset": pl.String, "lp": pl.String}, orient="row")
    found = found.join(of_chosen, on=["testset", "lp"], how="semi", maintain_order="left")
    where = " ".join(one for one in (testsets, lps) if one != "all") or "the warehouse"
    if found.is_empty():
        raise QuestionError(
            f"no preferences of {where} are loaded; `scorehouse load PATH` reads rankings and tables of pairs"
        )
    if human is not None:
        humans = found.filter(kind="human")["scorer"].to_list()
        if stored_human(human) not in humans:
            raise unknown("human score with preferences", human, set(humans), where=where)
        found = found.filter((pl.col("kind") != "human") | (pl.col("scorer") == stored_human(human)))
    return found


def agreement(warehouse: Warehouse, testsets: str = "all", lps: str = "all", human: str | None = None) -> Result:
    """How often annotators give the same answer to the same item: a segment and two systems in the order shown.

    Two rows per human score with preferences, and two more if systems with identical outputs were shown as one.
    Columns: testset, lp, human, unit (systems, or distinct outputs), between (annotators; or the same annotator, over
    the segments in which an annotator judged an item twice), p_agree, p_chance, kappa, n_agree, n_comparable (pairs of
    judgements), n_ties, n_judgements.
    Raises QuestionError: no preferences, or none of this human score.
    """
    rows: list[dict[str, Any]] = []
    for one in _scorers(warehouse, testsets, lps, human).filter(kind="human").iter_rows(named=True):
        found = fetch_preferences(warehouse, one["evalset_id"], one["scorer_id"])
        units = {"systems": (found, found.first, found.second)}
        if found.is_same_output.any():
            units["outputs"] = by_outputs(found)
        for unit, (judged, first, second) in units.items():
            items = (judged.segment, first, second, judged.answer)
            known = judged.rater != NOBODY
            of_one = tuple(values[known] for values in (judged.rater, *items))
            counts = {"annotators": judge_agreement(*items)}
            if known.any():
                counts["the same annotator"] = judge_consistency(*of_one)
            rows += [
                {"testset": one["testset"], "lp": one["lp"], "human": one["scorer"], "unit": unit, "between": who}
                | _cells(of)
                for who, of in counts.items()
            ]
    if not rows:
        raise QuestionError(f"no human preferences of {testsets} {lps} are loaded")
    counted = ("n_agree", "n_comparable", "n_ties", "n_judgements")
    schema: dict[str, Any] = dict.fromkeys(("testset", "lp", "human", "unit", "between"), pl.String)
    schema |= dict.fromkeys(("p_agree", "p_chance", "kappa"), pl.Float64) | dict.fromkeys(counted, pl.Int64)
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    notes = (
        "kappa: (p_agree - p_chance) / (1 - p_chance); by chance ties at their share, either system equally often",
        "an item is a segment and two systems in the order shown; systems shown as one output are one in outputs",
    )
    return Result(frame, stamped(("agreement", human or "all"), ("testset", testsets), ("lp", lps)), notes)


def _cells(found: JudgeAgreement) -> dict[str, float | int | None]:
    return {
        **{name: or_none(getattr(found, name)) for name in ("p_agree", "p_chance", "kappa")},
        "n_agree": found.agree,
        "n_comparable": found.comparable,
        "n_ties": found.ties,
        "n_judgements": found.total,
    }


def by_outputs(found: Preferences) -> tuple[Preferences, Ints, Ints]:
    """One preference for each pair of distinct outputs of a ranking, and the numbers of the first and second outputs.

    Systems shown as one output count as one system; its number encodes which they are.
    """
    n = len(found.systems)
    cells, place = np.unique(
        np.concatenate([found.ranking * n + found.first, found.ranking * n + found.second]), return_inverse=True
    )
    first, second = place[: len(found)], place[len(found) :]
    system = cells % n
    least = system.copy()  # the first system of each output, which stands for it
    same = found.is_same_output
    for one, other in ((first, second), (second, first)):
        np.minimum.at(least, one[same], system[other[same]])
    members = np.int64(1) << system if n <= _MOST_IN_BITS else least
    if n <= _MOST_IN_BITS:
        for one, other in ((first, second), (second, first)):
            np.bitwise_or.at(members, one[same], np.int64(1) << system[other[same]])
    stands = least == system
    kept = ~same & stands[first] & stands[second]
    return found.only(kept), members[first[kept]], members[second[kept]]


def judges(warehouse: Warehouse, testsets: str = "all", lps: str = "all", human: str | None = None) -> Result:
    """How scorers that state preferences use them, and how well metrics among them agree with annotators.

    One row per scorer: testset, lp, scorer, kind, n_preferences (between different outputs), n_same_output (of
    identical outputs, which nothing else here counts), n_raters (null if unknown), ties (share), first (share of
    decided pairs in which the output shown first is preferred), n_swapped (pairs of judgements of one annotator, or of
    one metric, of the same outputs in both orders), consistent (share of these with the same answer), n_repeated
    (pairs of outputs judged several times), decided (share of these on which all answers are the same); for metrics
    also human, n_common (pairs of one metric and one human judgement of the same two outputs), agrees (share with the
    same answer, including ties), agrees_decided (share with the same answer if neither is a tie).
    Raises QuestionError: no preferences, or none of this human score.
    """
    rows: list[dict[str, Any]] = []
    of_people: dict[int, list[tuple[str, Preferences]]] = {}
    for one in _scorers(warehouse, testsets, lps, human).iter_rows(named=True):
        found = fetch_preferences(warehouse, one["evalset_id"], one["scorer_id"])
        row = {"testset": one["testset"], "lp": one["lp"], "scorer": one["scorer"], "kind": one["kind"], **_uses(found)}
        if one["kind"] == "human":
            of_people.setdefault(one["evalset_id"], []).append((one["scorer"], found))
        for name, people in of_people.get(one["evalset_id"], []) if one["kind"] == "metric" else []:
            row |= {"human": name, **_with_people(found, people)}
            rows.append({**row})
        if one["kind"] == "human" or not of_people.get(one["evalset_id"]):
            rows.append(row)
    schema: dict[str, Any] = dict.fromkeys(("testset", "lp", "scorer", "kind"), pl.String)
    schema |= dict.fromkeys(("n_preferences", "n_same_output", "n_raters"), pl.Int64)
    schema |= {"ties": pl.Float64, "first": pl.Float64}
    schema |= {"n_swapped": pl.Int64, "consistent": pl.Float64, "n_repeated": pl.Int64, "decided": pl.Float64}
    schema |= {"human": pl.String, "n_common": pl.Int64, "agrees": pl.Float64, "agrees_decided": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    notes = (
        "first: share of decided pairs in which the output shown first is preferred; .5 without a position bias",
        "consistent: the same answer by one judge with the two outputs in the other order",
    )
    return Result(frame, stamped(("judges", human or "all"), ("testset", testsets), ("lp", lps)), notes)


def _ordered(found: Preferences) -> pl.DataFrame:
    """segment, a, b (names in alphabetical order), rater, is_swapped, answer (1 if a is better)."""
    names = np.array(found.systems, dtype=object)
    first, second = names[found.first], names[found.second]
    swapped = first > second
    columns = {
        "segment": found.segment,
        "a": np.where(swapped, second, first).astype(str),
        "b": np.where(swapped, first, second).astype(str),
        "rater": found.rater,
        "is_swapped": swapped.astype(np.bool_),
        "answer": np.where(swapped, -found.answer, found.answer),
        "is_same_output": found.is_same_output,
    }
    return pl.DataFrame(columns).filter(~pl.col("is_same_output"))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _uses(found: Preferences) -> dict[str, float | int | None]:
    rows = _ordered(found)
    shown = found.answer[~found.is_same_output]
    n_decided = int((shown != 0).sum())
    item = ["segment", "a", "b"]
    per = rows.group_by(*item, "rater", "is_swapped").agg(*_answers())
    both = per.filter(~pl.col("is_swapped")).join(per.filter("is_swapped"), on=[*item, "rater"], maintain_order="left")
    n_swapped = both.select((pl.col("n") * pl.col("n_right")).sum()).item()
    n_same = both.select(pl.sum_horizontal(pl.col(f"n{way}") * pl.col(f"n{way}_right") for way in _WAYS).sum()).item()
    several = rows.group_by(item).agg(pl.len(), pl.col("answer").n_unique().alias("ways")).filter(pl.col("len") > 1)
    return {
        "n_preferences": len(shown),
        "n_same_output": len(found) - len(shown),
        "n_raters": len(found.raters) or None,
        "ties": _share(int((shown == 0).sum()), len(shown)),
        "first": _share(int((shown > 0).sum()), n_decided),
        "n_swapped": int(n_swapped),
        "consistent": _share(int(n_same), int(n_swapped)),
        "n_repeated": several.height,
        "decided": _share(several.filter(ways=1).height, several.height),
    }


_WAYS = ("_a", "_tie", "_b")


def _answers() -> list[pl.Expr]:
    """n, n_a, n_tie, n_b: numbers of all judgements, and of judgements with each answer."""
    answer = pl.col("answer")
    return [
        pl.len().alias("n"),
        *((answer == way).sum().alias(f"n{name}") for name, way in zip(_WAYS, (1, 0, -1), strict=True)),
    ]


def _with_people(metric: Preferences, people: Preferences) -> dict[str, float | int | None]:
    item = ["segment", "a", "b"]
    of_metric, of_people = (_ordered(one).group_by(item).agg(*_answers()) for one in (metric, people))
    both = of_metric.join(of_people, on=item, maintain_order="left")
    cell = {
        f"{x}{y}": both.select((pl.col(f"n{x}") * pl.col(f"n{y}_right")).sum()).item() for x in _WAYS for y in _WAYS
    }
    n_same = sum(int(cell[f"{way}{way}"]) for way in _WAYS)
    right, wrong = (int(cell[one]) + int(cell[other]) for one, other in (("_a_a", "_b_b"), ("_a_b", "_b_a")))
    n = sum(int(count) for count in cell.values())
    return {"n_common": n, "agrees": _share(n_same, n), "agrees_decided": _share(right, right + wrong)}
