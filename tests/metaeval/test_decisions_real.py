"""Decisions on the real WMT23 against values that others computed; skipped where they are not there."""

import csv

import numpy as np
import pytest

import metaeval
from metaeval.kernels.agreement.decisions import best_decision, reranking_precision
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


@pytest.mark.slow
def test_best_thresholds_by_f_and_what_metrics_select(wmt23_warehouse: Warehouse) -> None:
    with beside_data("expected", "decisions", "wmt23.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 64
    for row in rows:
        lp = row["lp"]
        found = wmt23_warehouse.rows(QUERY, {"lp": lp, "metric": row["metric"], "reference": REFERENCES[lp]})
        systems, segments = (sorted({cell[at] for cell in found}) for at in (0, 1))
        assert (len(systems), len(segments)) == (int(row["n_systems"]), int(row["n_segments"]))
        human = np.full((len(systems), len(segments)), np.nan)
        metric = human.copy()
        for system, segment, judged, scored in found:
            place = systems.index(system), segments.index(segment)
            human[place], metric[place] = judged, scored
        for least in (-1, -4):
            best = best_decision(human >= least, metric, "f_beta", 0.5)
            assert best is not None
            values = (best.threshold, best.precision, best.recall, best.f_beta(0.5), best.prevalence)
            expected = [float(row[f"{name}@{least}"]) for name in ("tau", "P", "R", "F", "prevalence")]
            assert values == pytest.approx(expected, abs=1e-9), row["metric"]
        expected = [float(row["rrp"]), float(row["mqm_of_selected"])]
        assert reranking_precision(human, metric) == pytest.approx(expected, abs=1e-9), row["metric"]
