"""Preferences: scores of systems, agreement of judges and tau, by hand, against plain loops, and as printed."""

import csv
import itertools
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from metaeval import kernels
from metaeval.kernels.agreement.preferences import (
    JudgeAgreement,
    best_preference_thresholds,
    better_than_others,
    bradley_terry,
    expected_wins,
    judge_agreement,
    judge_consistency,
    preference_counts,
    preference_counts_by,
    preference_pair_counts,
)
from tests.helpers import beside_data
from tests.metaeval.kernels.rankings import pairs_of, wmt15

PREFERENCES = st.lists(
    st.tuples(
        st.integers(1, 3),  # segment
        st.sampled_from(list(itertools.permutations(range(4), 2))),
        st.sampled_from((-1, 0, 1)),
        st.integers(1, 2),  # judge
    ),
    min_size=1,
    max_size=40,
)


def test_wins_and_shares_of_three_systems_by_hand() -> None:
    # 0 beats 1 twice and loses once; 0 ties with 2; 2 beats 1.
    wins, ties = preference_counts([0, 1, 0, 0, 2], [1, 0, 1, 2, 1], [1, -1, -1, 0, 1])
    assert wins.tolist() == [[0, 2, 0], [1, 0, 0], [0, 1, 0]]
    assert ties.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    # 0 and 2 only tied, so each is compared with 1 alone; 1 won 1/3 against 0 and 0/1 against 2.
    assert expected_wins(wins).tolist() == pytest.approx([2 / 3, 1 / 6, 1])
    assert better_than_others(wins).tolist() == pytest.approx([2 / 3, 1 / 4, 1])
    assert better_than_others(wins, ties).tolist() == pytest.approx([3 / 4, 1 / 4, 1])


def test_a_system_that_nobody_compared_has_no_score() -> None:
    wins, ties = preference_counts([0], [1], [1], n_systems=3)
    assert math.isnan(expected_wins(wins)[2])
    assert math.isnan(better_than_others(wins, ties)[2])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0], [1], [2]), "an answer must be"),
        (([0], [0], [1]), "compared with itself"),
        (([0, 1], [1], [1]), "one length"),
        (([], [], []), "no preferences"),
    ],
)
def test_what_is_no_preference_is_refused(columns: tuple[list[int], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        preference_counts(*columns)


def test_bradley_terry_of_two_systems_is_the_log_odds_with_its_error() -> None:
    strength, error, nu = bradley_terry([[0, 30], [10, 0]], np.zeros((2, 2)))
    assert strength.tolist() == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert error.tolist() == pytest.approx([math.sqrt(1 / 30 + 1 / 10) / 2] * 2)  # half of the log odds' error
    assert nu == 0


def test_equally_many_wins_and_ties_of_two_equal_systems_give_a_tie_parameter_of_two() -> None:
    # Equal strengths: P(tie) = nu / (2 + nu), which is 1/2 for nu = 2.
    strength, _, nu = bradley_terry([[0, 5], [5, 0]], [[0, 10], [10, 0]])
    assert strength.tolist() == pytest.approx([0, 0], abs=1e-9)
    assert nu == pytest.approx(2)


def test_bradley_terry_is_the_maximum_that_a_general_optimiser_finds_and_errors_are_of_its_curvature() -> None:
    rng = np.random.default_rng(1)
    wins = rng.integers(1, 30, (4, 4)) * (1 - np.eye(4, dtype=int))
    half = np.triu(rng.integers(0, 15, (4, 4)), 1)
    ties = half + half.T

    def loss(parameters: np.ndarray) -> float:
        strength, nu = np.append(parameters[:3], -parameters[:3].sum()), math.exp(parameters[3])
        total = 0.0
        for i, j in itertools.combinations(range(4), 2):
            a, b = math.exp(strength[i]), math.exp(strength[j])
            mass = a + b + nu * math.sqrt(a * b)
            total -= wins[i, j] * math.log(a / mass) + wins[j, i] * math.log(b / mass)
            total -= ties[i, j] * math.log(nu * math.sqrt(a * b) / mass)
        return total

    found = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7})
    strength, error, nu = bradley_terry(wins, ties)
    assert strength[:3].tolist() == pytest.approx(found.x[:3].tolist(), abs=1e-5)
    assert nu == pytest.approx(math.exp(found.x[3]), rel=1e-4)
    step = 1e-4
    hessian = np.array(
        [
            [
                sum(
                    sign_i * sign_j * loss(found.x + step * (sign_i * np.eye(4)[i] + sign_j * np.eye(4)[j]))
                    for sign_i in (1, -1)
                    for sign_j in (1, -1)
                )
                / (4 * step**2)
                for j in range(4)
            ]
            for i in range(4)
        ]
    )
    assert error[:3].tolist() == pytest.approx(np.sqrt(np.diag(np.linalg.inv(hessian))[:3]).tolist(), rel=1e-3)


def test_strengths_without_a_maximum_are_refused() -> None:
    with pytest.raises(ValueError, match="never lost"):
        bradley_terry([[0, 3], [0, 0]], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="all comparisons are ties"):
        bradley_terry(np.zeros((2, 2)), [[0, 3], [3, 0]])
    for n_won, n_tied in product(range(1, 6), range(1, 6)):  # the more ties ν allows for, the further apart they can be
        with pytest.raises(ValueError, match="too few comparisons are decided"):
            bradley_terry([[0, n_won], [0, 0]], [[0, n_tied], [n_tied, 0]])
        strength, error, _ = bradley_terry([[0, n_won], [1, 0]], [[0, n_tied], [n_tied, 0]])
        assert np.isfinite([*strength, *error]).all()


@given(PREFERENCES)
def test_which_system_stands_first_changes_no_score(rows: list[tuple[int, tuple[int, int], int, int]]) -> None:
    a, b, answer = (np.array(column) for column in zip(*((*pair, sign) for _, pair, sign, _ in rows), strict=True))
    wins, ties = preference_counts(a, b, answer, 4)
    swapped_wins, swapped_ties = preference_counts(b, a, -answer, 4)
    assert np.array_equal(wins, swapped_wins)
    assert np.array_equal(ties, swapped_ties)
    shares = expected_wins(wins)
    assert ((shares >= 0) & (shares <= 1) | np.isnan(shares)).all()


@given(PREFERENCES)
def test_opposite_answers_mirror_shares_and_strengths(rows: list[tuple[int, tuple[int, int], int, int]]) -> None:
    segment, pairs, answer, _ = (np.array(column) for column in zip(*rows, strict=True))
    wins, ties = preference_counts(*pairs.T, answer, 4)
    opposite, same_ties = preference_counts(*pairs.T, -answer, 4)
    np.testing.assert_allclose(expected_wins(opposite), 1 - expected_wins(wins))
    np.testing.assert_allclose(better_than_others(opposite), 1 - better_than_others(wins))
    try:
        strength, error, nu = bradley_terry(wins, ties)
    except ValueError:
        with pytest.raises(ValueError, match=r"never|ties|decided"):
            bradley_terry(opposite, same_ties)
    else:
        mirrored = bradley_terry(opposite, same_ties)
        np.testing.assert_allclose(mirrored[0], -strength, atol=1e-6)
        np.testing.assert_allclose(mirrored[1], error, rtol=1e-4)
        assert mirrored[2] == pytest.approx(nu, rel=1e-4)
    by_segment = preference_counts_by(segment, *pairs.T, answer, 4)
    assert [counts.sum(axis=0).tolist() for counts in by_segment] == [wins.tolist(), ties.tolist()]


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from((-1, 0, 1))), min_size=1, max_size=20), st.integers(0, 2))
def test_swapped_outputs_leave_tau_and_accuracy_and_opposite_answers_mirror_tau(
    rows: list[tuple[int, int]], epsilon: int
) -> None:
    gap, answer = (np.array(column) for column in zip(*rows, strict=True))
    segment = np.zeros(len(gap), dtype=np.int64)
    as_shown = preference_pair_counts([gap], answer, segment, epsilon)
    swapped = preference_pair_counts([-gap], -answer, segment, epsilon)
    opposite = preference_pair_counts([gap], -answer, segment, epsilon)
    for statistic in (kernels.tau_10, kernels.tau_13, kernels.tau_14, kernels.acc23):
        np.testing.assert_array_equal(statistic(as_shown), statistic(swapped))
    for statistic in (kernels.tau_13, kernels.tau_14):
        np.testing.assert_array_equal(statistic(opposite), -statistic(as_shown))
    assert best_preference_thresholds([gap], answer) == best_preference_thresholds([-gap], -answer)


@given(PREFERENCES)
def test_agreement_equals_a_plain_count_of_pairs_of_judgements(
    rows: list[tuple[int, tuple[int, int], int, int]],
) -> None:
    agree = comparable = own_agree = own_comparable = 0
    for one, other in itertools.combinations(rows, 2):
        if one[:2] == other[:2]:
            comparable += 1
            agree += one[2] == other[2]
            if one[3] == other[3]:
                own_comparable += 1
                own_agree += one[2] == other[2]
    seen = [(row[3], row[0], row[1]) for row in rows]
    repeated = {item[:2] for item in seen if seen.count(item) > 1}
    kept = [row for row in rows if (row[3], row[0]) in repeated]
    segment, pairs, answer, judge = zip(*rows, strict=True)
    a, b = zip(*pairs, strict=True)
    ties = answer.count(0)
    assert judge_agreement(segment, a, b, answer) == JudgeAgreement(agree, comparable, ties, len(rows))
    assert judge_consistency(judge, segment, a, b, answer) == JudgeAgreement(
        own_agree, own_comparable, sum(row[2] == 0 for row in kept), len(kept)
    )


def test_kappa_by_hand() -> None:
    # Half of all judgements are ties: chance is 1/4 + 1/8; three of four pairs of judgements agree.
    agreement = JudgeAgreement(agree=3, comparable=4, ties=5, total=10)
    assert agreement.p_chance == pytest.approx(0.375)
    assert agreement.kappa == pytest.approx((0.75 - 0.375) / 0.625)
    assert math.isnan(JudgeAgreement(0, 0, 0, 0).kappa)


def test_better_than_others_as_printed_for_wmt12() -> None:
    path = beside_data("more", "rankings", "wmt12", "wmt12.RNK_results.csv")
    printed = _table(beside_data("expected", "rankings", "wmt12_cs-en.tsv"))
    a, b, answer, names = [], [], [], {}
    for row in _table(path, ","):
        if (row["srclang"], row["trglang"]) != ("Czech", "English"):
            continue
        ranked = [(row[f"system{n}Id"], int(row[f"system{n}rank"])) for n in range(1, 6)]
        for (one, rank), (other, other_rank) in itertools.combinations(ranked, 2):
            if rank > 0 and other_rank > 0:
                a.append(names.setdefault(one, len(names)))
                b.append(names.setdefault(other, len(names)))
                answer.append(np.sign(other_rank - rank))
    shares = better_than_others(preference_counts(a, b, answer)[0])
    found = {name: f"{shares[number]:.2f}" for name, number in names.items() if not name.startswith("_")}
    assert {row["system"]: row["better_than_others"] for row in printed}.items() <= found.items()


@pytest.mark.slow
def test_agreement_of_judges_as_printed_for_wmt15() -> None:
    printed = _table(beside_data("expected", "rankings", "wmt15_agreement.tsv"))
    assert len(printed) == 24
    for row in printed:
        rankings = wmt15()[row["lp"]]
        segment, judge, a, b, answer = zip(*pairs_of(rankings, by_output=row["unit"] == "outputs"), strict=True)
        if row["kind"] == "inter":
            found = judge_agreement(segment, a, b, answer)
        else:
            found = judge_consistency(judge, segment, a, b, answer)
        assert found == tuple(int(row[name]) for name in ("agree", "comparable", "ties", "total")), row
        numbers = (found.p_agree, found.p_chance, found.kappa)
        assert [f"{number:.3f}" for number in numbers] == [row[name] for name in ("p_agree", "p_chance", "kappa")]


def _table(path: Path, delimiter: str = "\t") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))
