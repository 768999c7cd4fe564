import numpy as np
import pytest

from metaeval.kernels.arrays.checks import human_scores, metric_scores, probabilities, system_scores, thresholds
from metaeval.kernels.arrays.grouping import group_labels, group_scores, judged_groups
from tests.helpers import refused

NAN = np.nan


def test_each_grouping_labels_the_cells_it_names() -> None:
    assert group_labels("none", (2, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert group_labels("item", (2, 3)).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert group_labels("system", (2, 3)).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert group_labels("doc", (2, 3), documents=["b", "a", "b"]).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert group_labels("domain", (1, 3), domains=[7, 7, 9]).tolist() == [[0, 0, 1]]


def test_an_unknown_grouping_is_refused_with_the_known_ones() -> None:
    refused("unknown grouping 'segment'; expected one of none, item, system", group_labels, "segment", (2, 3))


def test_documents_must_be_given_and_fit_the_segments() -> None:
    refused("needs documents", group_labels, "doc", (2, 3))
    with pytest.raises(ValueError, match="domains must have one entry for each of 3 segments, got 2"):
        group_labels("domain", (2, 3), domains=["a", "b"])


def test_groups_with_fewer_than_two_judged_cells_are_left_out() -> None:
    human = np.array([[1.0, NAN, 1.0, NAN], [2.0, 2.0, 2.0, NAN]])
    groups = judged_groups(human, group_labels("item", human.shape))
    assert groups.labels.tolist() == [0, 2]
    assert groups.sizes.tolist() == [2, 2]
    assert groups.members.tolist() == [0, 4, 2, 6]
    assert groups.n_pairs.tolist() == [1, 1]


def test_cells_labelled_minus_one_are_not_used() -> None:
    groups = judged_groups(np.zeros((1, 4)), np.array([[0, -1, 0, -1]]))
    assert groups.members.tolist() == [0, 2]


def test_a_missing_metric_score_on_a_judged_cell_is_named() -> None:
    human = np.array([[1.0, 2.0], [3.0, NAN]])
    metrics = np.zeros((2, 2, 2))
    metrics[1, 0, 1] = NAN
    with pytest.raises(ValueError, match=r"metric 1 has no finite score \(nan\) for system 0, segment 1"):
        group_scores(human, metrics, group_labels("item", human.shape))


def test_a_missing_metric_score_matters_only_where_it_is_used() -> None:
    human = np.array([[1.0, 2.0], [3.0, NAN]])
    metrics = np.array([[[1.0, NAN], [1.0, NAN]]])
    labels = np.array([[0, -1], [0, 0]])
    assert group_scores(human, metrics, labels).groups.sizes.tolist() == [2]


def test_infinite_scores_are_refused() -> None:
    refused("human score of system 0, segment 1 is infinite", human_scores, [[0.0, np.inf]])
    refused("metric 0 has no finite score", metric_scores, [[0.0, np.inf]], np.ones((1, 2), dtype=bool))


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    refused("human must be", human_scores, [1.0])
    refused(r"metrics must be \(n_metrics, 1, 2\), got \(3,\)", metric_scores, np.zeros(3), np.ones((1, 2), dtype=bool))
    refused("labels must be integers", group_scores, [[1.0]], [[[1.0]]], [[0.5]])
    refused("labels must have the shape", group_scores, [[1.0]], [[[1.0]]], [[0, 0]])
    refused("labels must be at least -1", group_scores, [[1.0]], [[[1.0]]], [[-2]])
    refused(r"human must be \(n_systems,\)", system_scores, [[1.0]], [[1.0]])
    refused(r"metrics must be \(n_metrics, 2\)", system_scores, [1.0, 2.0], [[1.0]])


def test_thresholds_below_zero_or_of_another_number_are_refused() -> None:
    assert thresholds(0.5, 2).tolist() == [0.5, 0.5]
    refused("at least 0", thresholds, [0.0, -1.0], 2)
    refused("at least 0", thresholds, NAN, 2)
    refused("one number or", thresholds, [0.0, 0.0, 0.0], 2)


def test_probabilities_must_be_square_and_between_0_and_1_above_the_diagonal() -> None:
    assert probabilities([[NAN, 0.5], [9.0, NAN]], "p").shape == (2, 2)
    refused("outside", probabilities, [[0.0, 1.5], [0.0, 0.0]], "p")
    refused("at least 2 systems", probabilities, [[0.0]], "p")
    refused("p must be", probabilities, [0.0, 1.0], "p")
