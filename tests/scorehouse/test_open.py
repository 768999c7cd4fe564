"""`import scorehouse`: a warehouse that answers questions."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import metaeval
import scorehouse
from metaeval.questions import QUESTIONS
from warehouse import LimitError, QuestionError, Warehouse


def test_a_question_is_a_method_of_an_open_warehouse(simulated_database: Path) -> None:
    with scorehouse.open(simulated_database) as opened:
        found = opened.rank("sim24", "cs-uk", measures="pa")
        assert found.frame.equals(metaeval.rank(opened, "sim24", "cs-uk", measures="pa").frame)
        assert found.frame.equals(scorehouse.rank(opened, "sim24", "cs-uk", measures="pa").frame)
        assert {*QUESTIONS} <= {*dir(opened)} & {*dir(scorehouse)}
        with pytest.raises(AttributeError, match="no attribute 'rnk'"):
            opened.rnk("sim24")
    with pytest.raises(QuestionError, match="the warehouse is closed"):
        opened.rank("sim24", "cs-uk", measures="pa")


def test_an_answer_shows_what_was_asked_and_metric_value_and_rank(simulated_warehouse: Warehouse) -> None:
    found = repr(scorehouse.rank(simulated_warehouse, "sim24", "cs-uk", measures="pa"))
    sentence, asked, *_ = found.splitlines()
    end = " ranks first of 15 metrics by pa of submitted scores (1.000); differences were not tested."
    assert sentence.endswith(end)
    assert asked.startswith("rank sim24 cs-uk, measures=pa, ")
    assert re.search(r"lp +┆ measure ┆ metric +┆ value +┆ rank", found)
    assert "simBLEU-refA" in found


def test_a_method_explains_itself_as_the_question_does(simulated_database: Path) -> None:
    assert scorehouse.__version__.count(".") == 2
    with scorehouse.open(simulated_database) as opened:
        assert opened.rank.__doc__ == metaeval.rank.__doc__
        assert list(inspect.signature(opened.rank).parameters)[:2] == ["testset", "lp"]


def test_two_metrics_are_arguments_as_on_the_command_line(simulated_warehouse: Warehouse) -> None:
    asked = {"measure": "pearson(by=item)", "resamples": 20}
    two = scorehouse.compare(simulated_warehouse, "sim24", "cs-uk", "simbleu", "Oriole", **asked)
    assert two.frame.equals(
        scorehouse.compare(simulated_warehouse, "sim24", "cs-uk", ["simBLEU", "Oriole"], **asked).frame
    )
    assert two.frame["better"][0] == "Oriole-refA"
    matrix = scorehouse.compare(simulated_warehouse, "sim24", "cs-uk", "all", "pearson(by=item)", resamples=20)
    assert len(matrix.frame["metric"]) > 2


def test_scores_are_an_array_with_the_names_of_its_systems(simulated_database: Path) -> None:
    with scorehouse.open(simulated_database) as opened:
        for scorer, view in (("simchrF-refA", "scores WHERE metric"), ("mqm", "human_scores WHERE human")):
            systems, values = opened.scores("sim24", "en-de", scorer)
            expected = opened.rows(
                f"SELECT system, segment, value FROM {view} = '{scorer}' AND testset = 'sim24' AND lp = 'en-de'"
            )
            assert values.shape == (len(systems), 369)
            assert {
                (system, segment + 1, value)
                for system, row in zip(systems, values.tolist(), strict=True)
                for segment, value in enumerate(row)
                if value == value
            } == {row for row in expected if row[2] is not None}
        standard = opened.scores("sim24", "en-de", "simchrF-refA")[1]
        for asked in (("sim24", "en-de", "simchrF"), ("SIM24", "English-German", "simchrf")):
            assert np.array_equal(opened.scores(*asked)[1], standard, equal_nan=True)
        with pytest.raises(QuestionError, match="unknown scorer 'simchr'"):
            opened.scores("sim24", "en-de", "simchr")


def test_sql_gives_a_frame_with_limits_where_they_are_asked_for(simulated_database: Path) -> None:
    with scorehouse.open(simulated_database) as opened:
        query = "SELECT count(*) AS n FROM testsets"
        assert opened.sql(query).equals(opened.sql(query, limits=True))
        with pytest.raises((QuestionError, LimitError)):
            opened.sql("COPY testsets TO 'x.csv'", limits=True)


def test_kernels_work_on_arrays() -> None:
    found = scorehouse.kernels.pairwise_accuracy([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])
    assert (found.n_agree.tolist(), found.n_pairs.tolist()) == ([2], [3])


@pytest.mark.slow
def test_an_answer_draws_itself(simulated_database: Path) -> None:
    pytest.importorskip("altair", reason="the report extra is not installed")
    with scorehouse.open(simulated_database) as opened:
        found = opened.rank("sim24", "cs-uk", measures="pa", charted=True, resamples=5)
        assert "sim24 cs-uk" in str(found.chart().to_dict())
        with pytest.raises(QuestionError, match="audit draws no chart"):
            opened.audit("sim24", "cs-uk").chart()
