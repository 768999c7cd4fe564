"""Decisions on the real WMT23 against values that others computed; skipped where they are not there."""

import csv

import pytest

import metaeval
from tests.helpers import beside_data
from warehouse import Warehouse

REFERENCES = {"en-de": "refA", "he-en": "refB"}
QUERY = """
SELECT h.system, h.segment, h.value, m.value
FROM human_scores AS h JOIN scores AS m USING (testset, lp, system, segment)
WHERE (h.testset, h.lp, h.human, m.metric) = ('wmt23', $lp, 'mqm', $metric) AND h.value IS NOT NULL
  AND m.value IS NOT NULL AND h.system NOT IN ('synthetic_ref', $reference)
"""


@pytest.mark.slow
@pytest.mark.parametrize("lp", list(REFERENCES))
def test_rankings_have_the_values_that_others_computed(wmt23_warehouse: Warehouse, lp: str) -> None:
    with beside_data("expected", "decisions", "wmt23.tsv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["lp"] == lp]
    measures = ["f_beta(beta2=0.5, good=-1)", "f_beta(beta2=0.5, good=-4)", "rrp"]
    frame = metaeval.rank(wmt23_warehouse, "wmt23", lp, measures).frame
    found = {(row["measure"], row["metric"]): row for row in frame.rows(named=True)}
    for row in rows:
        for least in (-1, -4):
            one = found[f"f_beta(beta2=0.5, good={least})", row["metric"]]
            values = [one[name] for name in ("value", "threshold", "precision", "recall", "prevalence")]
            expected = [float(row[f"{name}@{least}"]) for name in ("F", "tau", "P", "R", "prevalence")]
            assert values == pytest.approx(expected, abs=1e-9), row["metric"]
        one = found["rrp", row["metric"]]
        expected = [float(row["rrp"]), float(row["mqm_of_selected"])]
        assert [one["value"], one["human_of_selected"]] == pytest.approx(expected, abs=1e-9), row["metric"]
