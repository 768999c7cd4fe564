"""Which human scores a bridge compares."""

import pytest

from metaeval.measures import parse_measure
from metaeval.people.ceilings import second_humans


@pytest.mark.parametrize("base", ["wmt", "da", "mqm", "da-sqm", "esa", "esaai", "appraise", "wmt-appraise", "HUMAN"])
def test_scores_of_the_same_judgements_are_one_protocol_by_the_scale_that_fits_the_measure(base: str) -> None:
    there = dict.fromkeys((f"{base}-raw", f"{base}-z", "psqm"), (True, True, 0))
    for measure, suffix in (("pa", "-z"), ("pearson", "-z"), ("acc_eq", "-raw"), ("kendall(by=item)", "-raw")):
        assert second_humans(there, "psqm", parse_measure(measure)) == [base + suffix]
        assert second_humans(there, f"{base}-z", parse_measure(measure)) == ["psqm"]
