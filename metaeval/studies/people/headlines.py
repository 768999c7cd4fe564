"""Answer sentences about annotators."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from metaeval.results.sentences import UNTESTED, between, either, highest, interval, named, number, opening
from warehouse.wording import are, counted, ends, every

_OF_VARIANCE = frozenset({"variance", "precision"})
RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff's limits of alpha for reliable and for tentative conclusions (Content Analysis, 2004, page 241)."""
_CHANCE = 0.05  # of annotators without drift have an interval that says the opposite


def of_annotators(frame: pl.DataFrame, view: str | None, scores: Sequence[Mapping[str, Any]] = ()) -> str:
    """frame: of the requested view, or of the view shown instead. scores: the row of view sets for each human score."""
    if frame.is_empty():
        return "There are no judgements of annotators on file."
    if view == "agreement":
        return _of_same_answers(frame.filter(unit="systems", between="annotators"))
    if view == "judges":
        return _of_preferring(frame)
    if view == "replace":
        return _of_replacement(frame)
    if view in _OF_VARIANCE:
        return _of_variance(frame, view)
    if view == "pace" or "seconds" in frame.columns:
        slow = frame.drop_nulls("seconds").sort("seconds")
        if slow.is_empty():
            return "No annotator has judgements with times."
        first, last = slow.row(0, named=True), slow.row(-1, named=True)
        if slow.height == 1:
            return opening(f"The median judgement of {first['annotator']} takes {first['seconds']:.0f} seconds.")
        return opening(
            f"The median judgement takes from {first['seconds']:.0f} ({first['annotator']}) to {last['seconds']:.0f} "
            f"seconds ({last['annotator']}) over {counted(slow.height, 'annotator')}."
        )
    if "annotator_a" in frame.columns:
        return _of_pairs(frame)
    if len(scores) > 1:
        return _of_several_scores(scores)
    (row,) = scores
    said = _agreement(row)
    if "annotator" not in frame.columns:
        return opening(said)
    more = ((_leniency(frame), _drift(frame)), (_leniency(frame),), (_leniency(frame, with_names=False),), ())
    return either(*(" ".join(filter(None, (said, *one))) for one in more))


def _of_same_answers(frame: pl.DataFrame) -> str:
    """How often two annotators give the same answer. frame: one row per human score."""
    known = frame.drop_nulls("kappa").sort("p_agree")
    if known.is_empty():
        where = " ".join(frame.row(0)[:2]) if frame.height == 1 else counted(frame.height, "human score")
        return opening(f"No two annotators judged the same item ({where}).")
    low, high = known.row(0, named=True), known.row(-1, named=True)
    if known.height == 1:
        return opening(
            f"Annotators give the same answer to {low['p_agree']:.0%} of the pairs of {low['testset']} {low['lp']} "
            f"that two judged (kappa {number(low['kappa'])}, {counted(low['n_comparable'], 'pair')} of judgements)."
        )
    least, most = (f"{row['p_agree']:.0%} ({row['testset']} {row['lp']})" for row in (low, high))
    kappas = between(known["kappa"].to_list())
    n_others = frame.height - known.height
    return opening(
        f"Annotators give the same answer to {least} to {most} of the pairs that two judged "
        f"(kappa {kappas}, {known.height} human scores).",
        f"{counted(n_others, 'other human score has', 'other human scores have')} no such pairs." if n_others else "",
    )


def _of_pairs(frame: pl.DataFrame) -> str:
    pairs = frame.drop_nulls("tau_b").sort("tau_b")
    if pairs.is_empty():
        return opening(f"No agreement is defined for {counted(frame.height, 'pair')} of annotators.")
    row = pairs.row(0, named=True)
    least = (
        f"{row['annotator_a']} and {row['annotator_b']} agree least (tau_b {number(row['tau_b'])} on "
        f"{counted(row['n_shared'], 'output')})"
    )
    if pairs.height == 1:
        return opening(f"{least.replace(' agree least', ' agree')}.")
    middle = pairs.select(pl.median("tau_b")).item()
    shared = between(pairs["n_shared"].to_list(), 0)
    return opening(
        f"Half of {pairs.height} pairs of annotators agree with a "
        f"tau_b above {number(middle)} ({shared} shared outputs each).",
        f"{least}.",
    )


def _is_sure(row: Mapping[str, Any]) -> bool:
    """Whether the interval of alpha contains no limit."""
    low, high = row["alpha_low"], row["alpha_high"]
    return low is not None and not any(low <= limit <= high for limit in (TENTATIVE, RELIABLE))


def _verdict(row: Mapping[str, Any]) -> tuple[str, str]:
    """Whether annotators agree enough, and the limits of alpha that say so."""
    alpha, probably = row["alpha"], "" if _is_sure(row) else "probably "
    if alpha >= RELIABLE:
        return f"{probably}agree well enough", "reaches the limit of .8 (reliable)"
    if alpha >= TENTATIVE:
        return f"{probably}agree just enough", "reaches only the limit of .667 (tentative)"
    return f"{probably}agree too little", "is below the limit of .667 (tentative)"


def _agreement(row: Mapping[str, Any]) -> str:
    """Whether the annotators of one human score agree enough; or why this cannot be measured."""
    where = f"{row['testset']} {row['lp']} {row['human']}"
    if row["alpha"] is None:
        return f"How well annotators of {where} agree cannot be measured: {_unknown_agreement(row)}."
    verdict, limits = _verdict(row)
    return (
        f"Annotators of {where} {verdict}: Krippendorff's alpha {number(row['alpha'])}"
        f"{interval(row, 'alpha_low', 'alpha_high')} on {row['n_shared']} "
        f"of {counted(row['n_outputs'], 'output')} {limits}."
    )


def _of_several_scores(scores: Sequence[Mapping[str, Any]]) -> str:
    """Whether annotators agree enough, over several human scores."""
    known = [row for row in scores if row["alpha"] is not None]
    if not known:
        said = f"How well annotators agree can be measured for none of {len(scores)} human scores: "
        reasons = {_unknown_agreement(row) for row in scores}
        why = reasons.pop() if len(reasons) == 1 else "annotators are unknown, or no two judged the same output"
        halves = [row["system_r"] for row in scores if row["system_r"] is not None]
        more = f"System scores of random halves correlate at {between(halves)}." if halves else ""
        return opening(f"{said}{why}.", more)
    n = len(scores) - len(known)
    others = f"The other{'' if n == 1 else f' {n}'} cannot be measured." if n else ""
    if len(known) == 1:
        return opening(_agreement(known[0]), others)
    n_open = sum(not _is_sure(row) for row in known)
    probably = "probably " if n_open == len(known) else ""
    what = f"{every(len(known), 'human score')} with shared outputs"
    if n_open and not probably:
        what += f" (for {n_open} only probably)"
    shares = sorted(row["n_shared"] / row["n_outputs"] for row in known)
    shared = ends(*(f"{share:.0%}" if share >= 0.005 else "<1%" for share in (shares[0], shares[-1])))
    alphas = f"Krippendorff's alpha is {between([row['alpha'] for row in known])} on {shared} of outputs"
    places = [(row["alpha"] >= RELIABLE) + (row["alpha"] >= TENTATIVE) for row in known]
    if min(places) == 2:
        said = f"Annotators {probably}agree well enough for {what}: {alphas}, the limit is .8 (reliable)."
        return opening(said, others)
    if max(places) == 0:
        said = f"Annotators {probably}agree too little for {what}: {alphas}, below the limit of .667 (tentative)."
        return opening(said, others)
    counts = []
    for place in (0, 1, 2):
        sure = [_is_sure(row) for row, one in zip(known, places, strict=True) if one == place]
        n_open = sure.count(False)
        counts.append(f"{len(sure) or 'none'}{f' ({n_open} probably)' if n_open else ''}")
    low, fair, good = counts
    return opening(
        f"By Krippendorff's alpha, of {len(known)} human scores with shared outputs, annotators agree "
        f"reliably (.8) for {good}, tentatively (.667) for {fair}, too little for {low}.",
        others,
    )


def _leniency(frame: pl.DataFrame, *, with_names: bool = True) -> str:
    known = frame.drop_nulls("leniency").sort("leniency")
    if known.height < 2:
        return ""
    (hard, low), (mild, high) = (known.select("annotator", "leniency").row(place) for place in (0, -1))
    if not with_names:
        return f"Leniency ranges from {low:+.3g} to {high:+.3g}."
    return f"Leniency ranges from {low:+.3g} ({hard}) to {high:+.3g} ({mild})."


def _drift(frame: pl.DataFrame) -> str:
    clear = frame.filter((pl.col("drift_low") > 0) | (pl.col("drift_high") < 0))["annotator"].to_list()
    n_tested = frame["drift_low"].count()
    if not n_tested:
        return "Whether any drifts over time is unknown."
    if not clear:
        return "None drifts over time (95% intervals)."
    if len(clear) <= _CHANCE * n_tested:
        return f"{len(clear)} of {n_tested} drift over time, no more than by chance."
    return f"{named(clear, 2)} {'drift' if len(clear) > 1 else 'drifts'} over time (95% intervals)."


def _unknown_agreement(row: Mapping[str, Any]) -> str:
    """Why the agreement of annotators cannot be computed."""
    if not row["n_annotators"]:
        return "annotators are unknown"
    if row["n_annotators"] == 1:
        return "there is one annotator"
    return "no two judged the same output" if not row["n_shared"] else "all shared outputs have the same score"


def _of_preferring(frame: pl.DataFrame) -> str:
    """Who answers with the most ties; and for a metric, who agrees best with human preferences."""
    agreeing = frame.drop_nulls("agrees").sort("agrees", descending=True, maintain_order=True)
    tying = frame.sort("ties", descending=True, maintain_order=True).row(0, named=True)
    ties = f"{counted(frame.height, 'scorer')} gave preferences; {tying['scorer']} ties in {tying['ties']:.0%} of them"
    n = tying["n_same_output"]
    alike = f"{counted(n, 'pair')} of identical outputs {are(n)} not counted." if n else ""
    if agreeing.is_empty():
        return opening(f"{ties}.", alike)
    best = highest(agreeing, "agrees")
    who, agree = named(best["scorer"]), "agrees" if best.height == 1 else "agree"
    with_whom = named(dict.fromkeys(best["human"]), last="or")
    agrees = f"{who} {agree} best with {with_whom} ({best['agrees'][0]:.0%}; {UNTESTED})."
    return opening(agrees, f"{ties}.", alike)


_CALLED = {
    "system": "is between systems",
    "segment": "is between segments",
    "system:segment": "is the interaction of systems and segments",
    "segment:rater": "is between annotators of a segment",
    "residual": "is the residual",
}


def _of_replacement(frame: pl.DataFrame) -> str:
    """Whether metrics may replace annotators, or which annotators one metric may replace."""
    if "is_beaten" in frame.columns:
        tested = frame.drop_nulls("p")
        names = tested.filter("is_beaten")["annotator"].to_list()
        if not names:
            return opening(f"The metric beats none of {counted(tested.height, 'annotator')}.")
        return opening(f"The metric beats {len(names)} of {counted(tested.height, 'annotator')}: {named(names)}.")
    metrics = frame.filter(kind="metric")
    passed = metrics.filter(pl.col("winning_rate") >= 0.5)
    is_agreement = "agreement" in frame.columns
    measured = "agreement" if is_agreement else "rmse"
    people = frame.filter(kind="annotator").select(pl.mean(measured)).item()
    if passed.is_empty():
        return opening(
            f"No metric may replace an annotator: none of {counted(metrics.height, 'metric')} beats half of them."
        )
    best = passed.row(0, named=True)
    beating = f"{passed.height} of {counted(metrics.height, 'metric')} {'beats' if passed.height == 1 else 'beat'}"
    if not is_agreement:
        return opening(
            f"{beating} at least half of the annotators. {best['name']} is off "
            f"by {number(best['rmse'], 2)} from annotators, who are off by {number(people, 2)} from each other (RMSE)."
        )
    return opening(
        f"{beating} at least half of the annotators. {best['name']} agrees with "
        f"annotators on {best['agreement']:.1%} of pairs of outputs; they agree with each other on {people:.1%}."
    )


def _of_variance(frame: pl.DataFrame, view: str) -> str:
    """The variance between systems and the largest other sources, or what more segments or more annotators gain."""
    if view == "variance":
        shares = frame.sort(pl.col("component") == "system", "share", descending=True).head(3)
        parts = [f"{share:.0%} {_CALLED[name]}" for name, share in shares.select("component", "share").rows()]
        return opening(f"Of the variance of single judgements, {named(parts)}.")
    more, three = (frame.filter(n_segments=n, n_raters=k)["error"][0] for n, k in ((300, 1), (100, 3)))
    return opening(
        f"With 300 judgements of each system, 300 segments judged once give a difference with standard error "
        f"{number(more)}, 100 segments judged three times {number(three)}."
    )


def of_differences(frame: pl.DataFrame) -> str:
    """Which of two systems is better by assisted human scores, or how many pairs differ."""
    row = frame.row(0, named=True)
    saved = frame.select(pl.median("saved")).item()
    helped = "" if saved is None else f" The metric saves {saved:.0%} of the judgements."
    if frame.height == 1:
        ends = interval(row, "low", "high")
        gap = f"{number(row['assisted'])}{ends}"
        if row["is_significant"]:
            return opening(f"{row['first']} is better than {row['second']} by {gap}.{helped}")
        return opening(f"{row['first']} and {row['second']} do not differ significantly: {gap}.{helped}")
    n = int(frame["is_significant"].sum())
    if helped:
        helped = helped.replace("judgements.", "judgements of a pair (median).")
    differ = "differs" if n == 1 else "differ"
    return opening(f"{n} of {frame.height} pairs of systems {differ} significantly (p <= .05).{helped}")


def of_judges(frame: pl.DataFrame, view: str) -> str:
    """The answer of `judges` in a sentence or two."""
    if view == "agreement":
        return _of_agreement(frame)
    if view == "runs":
        row = frame.row(0, named=True)
        return opening(
            f"{row['metric']} has {number(row['value'])} as the mean of {row['n_runs']} runs, single runs "
            f"{number(row['run_mean'])} ± {number(row['run_sd'])}.",
            f"The next metric, {row['next']}, is {number(row['distance'])} away." if row["next"] is not None else "",
        )
    if view == "drift":
        row = frame.row(0, named=True)
        is_sure = row["p"] is not None and row["p"] <= 0.05
        said = "differ significantly" if is_sure else "do not differ significantly on average"
        return opening(
            f"{row['version_a']} and {row['version_b']} {said}: change {number(row['change'])}, "
            f"{row['changed']:.0%} of verdicts changed."
        )
    if view == "shares":
        rows = frame.drop_nulls("corrected").sort("corrected", descending=True, maintain_order=True)
        if rows.is_empty():
            return "No judge tells good outputs from bad ones better than chance."
        row = rows.row(0, named=True)
        return opening(
            f"{row['corrected']:.0%} [{row['low']:.0%}, {row['high']:.0%}] of the outputs of {row['system']} are good "
            f"by {row['metric']}, corrected for its errors ({row['judged']:.0%} as judged)."
        )
    tested = frame.drop_nulls("p")
    biased = tested.filter(pl.col("p") <= 0.05)
    n = counted(tested.height, "bias", "biases")
    lead = f"{biased.height} of {n} {are(biased.height)} significant (new items, p ≤ 0.05, uncorrected)"
    if biased.is_empty():
        return opening(f"{lead}.")
    worst = biased.sort(pl.col("effect").abs(), descending=True, maintain_order=True).row(0, named=True)
    favours = ("shorter" if worst["effect"] < 0 else "longer") + " outputs"
    if worst["bias"] != "length":
        favours = "other families" if worst["effect"] < 0 else "its own family"
    return opening(f"{lead}.", f"The largest: {worst['metric']} favours {favours} ({worst['effect']:+.3f} SD).")


def _of_agreement(frame: pl.DataFrame) -> str:
    judges = frame.filter(kind="judge")
    row = judges.row(0, named=True)
    name = row["scorer"]
    if row["verdict"] is None:
        first = highest(judges, "r" if row["accuracy"] is None else "accuracy")["scorer"].to_list() or [name]
        agree = "agrees" if len(first) == 1 else "agree"
        said = f"{row['accuracy']:.0%} of verdicts" if row["accuracy"] is not None else f"r {number(row['r'] or 0.0)}"
        of = f" of {judges.height} judges" if judges.height > 1 else ""
        lead = f"{named(first)} {agree} best{of} with human scores ({said}, {counted(row['n_outputs'], 'output')})"
        return opening(f"{lead}; {UNTESTED}: single annotators are unknown or too few.")
    words = {
        "better": "Yes: {} agrees with annotators better than they agree with each other",
        "as good": "Yes: {} is as good as a second annotator",
        "worse": "No: {} agrees with annotators less than they agree with each other",
        "undecided": "Undecided: too few outputs tell whether {} is as good as a second annotator",
    }[row["verdict"]]
    lead = f"{words.format(name)} (lead {row['lead']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]; accuracy "
    return opening(f"{lead}{row['accuracy']:.3f}, kappa {number(row['kappa'] or 0.0)}).")
