"""When the new version of a system fails: what each scorer says, and what all of them say together."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from metaeval.results.answer import Result
from metaeval.studies.significance.gate import gate, verdict, verdicts
from warehouse import QuestionError

P = {"worse": (0.01, -1.0), "worst": (0.0, -1.0), "maybe": (0.04, -1.0), "open": (0.3, -1.0), "better": (0.01, 1.0)}


def compared(scorer: str | None, systems: tuple[str, ...]) -> Result:
    """The new system against the old one as a scorer says, whose name is a key of P."""
    assert systems == ("[*]old", "new")
    p, difference = P[str(scorer)]
    names = ("new", "*old") if difference > 0 else ("*old", "new")
    standings = SimpleNamespace(
        names=names,
        values=np.array([1.0, 1.0 - abs(difference)]),
        corrected=np.array([[np.nan, p], [np.nan, np.nan]]),
        least=np.array([[np.nan, p or 0.002], [np.nan, np.nan]]),
    )
    facts = {"scorer": scorer, "standings": standings, "unit": "segment"}
    return Result(pl.DataFrame(), [("systems_by", str(scorer))], ("1 pair", f"by {scorer}"), facts)


@pytest.mark.parametrize(
    ("scorers", "trusted", "correction", "deciding"),
    [
        (["worse"], [], "none", ["worse"]),
        (["open"], [], "none", []),
        (["better"], [], "none", []),
        (["worse", "open"], [], "none", []),
        (["worse", "worst"], [], "none", ["worse", "worst"]),
        (["worse", "open"], ["maybe"], "none", ["maybe"]),
        (["worse", "open"], ["better"], "none", []),
        ([], ["open", "worse"], "none", ["worse"]),
        (["open"], ["maybe"], "holm", []),  # 2 * 0.04
        (["worse"], ["maybe"], "holm", ["worse", "maybe"]),  # 2 * 0.01, then 0.04
    ],
)
def test_all_scorers_together_or_a_trusted_one_alone_fail_a_version(
    scorers: list[str | None], trusted: list[str], correction: str, deciding: list[str]
) -> None:
    found = gate(compared, scorers, trusted, "*old", "new", 0.05, correction)  # type: ignore[arg-type]
    assert found.facts["deciding"] == deciding
    assert found.frame["scorer"].to_list() == [*scorers, *trusted]
    said = verdict(found)
    assert (" is significantly worse than *old" in said and " passes" not in said) == bool(deciding)
    assert len(found.signature.splitlines()) == len(scorers) + len(trusted)


def test_sentences_name_the_scorers_and_a_p_of_zero_has_its_bound() -> None:
    one = gate(compared, ["worst"], [], "*old", "new", 0.05)
    assert verdict(one) == (
        "new fails: it is significantly worse than *old by worst (0.000 against 1.000, p < 0.002, new segments)."
    )
    for name in ("open", "better"):
        assert verdict(gate(compared, [name], [], "*old", "new", 0.05)).startswith("new passes: it is ")
    both = gate(compared, ["worst"], ["open"], "*old", "new", 0.05, "holm")
    assert verdicts(both)["worst"] == (
        "new is significantly worse than *old by worst (0.000 against 1.000, p < 0.004, new segments)."
    )
    assert verdict(both) == "new fails: it is significantly worse than *old by worst (new segments)."
    assert both.notes == ("worst: by worst", "open: by open")
    with pytest.raises(QuestionError, match="named twice"):
        gate(compared, ["open"], ["open"], "*old", "new", 0.05)
