"""The Bradley-Terry model: bbtcomp's printed figures, sums over grids, and input of every kind."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals as fe
from fastevals import ConvergenceWarning, Results
from fastevals.infer.bayes.bradley_terry import count_wins
from tests.reference import bayes as reference

PUBLISHED = json.loads((Path(__file__).parents[2] / "data" / "bbtcomp.json").read_text())
ACCURACY = Results(
    np.array(PUBLISHED["accuracy"]), learner=PUBLISHED["learners"], dataset=PUBLISHED["datasets"], metric="accuracy"
)
FEW: dict[str, Any] = {"n_draws": 2000, "rng": 0}


def test_figures_are_those_that_bbtcomp_prints() -> None:
    found = fe.bayes_bradley_terry(ACCURACY, n_draws=40_000, rng=0)
    for a, b, mean, above_half, in_rope in PUBLISHED["pairs"]:
        pair = found.between(a, b)
        # printed to two decimals, from 4,000 draws
        assert pair.effect == pytest.approx(mean, abs=0.01)
        assert (pair.differences() > 0.5).mean() == pytest.approx(above_half, abs=0.03)
        assert pair.equivalent == pytest.approx(in_rope, abs=0.03)
        assert sum(pair) == pytest.approx(1)


def test_the_posterior_equals_a_sum_over_a_grid() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal([0.0, 0.4, 1.0], 1.0, (13, 3))
    found = fe.bayes_bradley_terry(values, higher_is_better=True, n_draws=80_000, rng=0)
    expected = reference.bradley_terry_posterior(found.wins, 0.05)
    assert found.win_probability == pytest.approx(expected["win_probability"], abs=0.004)
    assert found.better == pytest.approx(expected["better"], abs=0.008)  # the grid's error


@pytest.mark.parametrize("local_rope", [0.0, 0.4])
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_wins_and_ties_are_counted_data_set_by_data_set(local_rope: float, higher_is_better: bool) -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, (9, 4, 5)).round(1)
    values[0, 1], values[1, 2, 3:] = values[0, 0], np.nan
    given = Results(values, higher_is_better=higher_is_better, missing="keep")
    wins, ties = count_wins(given, local_rope, higher_is_better)
    expected = reference.count_wins(values, local_rope, higher_is_better)
    assert np.array_equal(wins, expected[0])
    assert np.array_equal(ties, expected[1])
    assert wins.trace() == ties.trace() == 0


def test_matrices_agree_and_directions_mirror() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal([0.0, 0.5, 1.0, 1.0], 1.0, (20, 4))
    found = fe.bayes_bradley_terry(values, higher_is_better=True, **FEW)
    assert found.win_probability + found.win_probability.T == pytest.approx(np.ones((4, 4)))
    off = ~np.eye(4, dtype=bool)
    assert (found.better + found.better.T + found.equivalent)[off] == pytest.approx(1)
    assert found.strength.sum() == pytest.approx(0)
    assert (found.low < found.strength).all()
    assert (found.strength < found.high).all()
    assert (found.wins + found.wins.T + found.ties)[off].tolist() == [20] * 12
    lower = fe.bayes_bradley_terry(-values, higher_is_better=False, **FEW)
    assert np.array_equal(lower.strengths(), found.strengths())
    none = fe.bayes_bradley_terry(values, higher_is_better=True, rope=0, **FEW)
    assert (none.equivalent[off] == 0).all()
    assert none.between(0, 1).equivalent == 0
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.strengths(), found.strengths())
    assert "strengths" not in found.to_dict()
    json.dumps(found.to_dict())


def test_missing_results_leave_pairs_out() -> None:
    values = np.random.default_rng(5).normal([0.0, 0.0, 3.0], 1.0, (10, 3))
    values[:9, 0] = np.nan
    found = fe.bayes_bradley_terry(Results(values, higher_is_better=True, missing="keep"), **FEW)
    assert (found.wins + found.ties + found.wins.T)[0].tolist() == [0, 1, 1]
    assert found.better[2, 1] > found.better[2, 0]
    assert "missing" in found.notes[0]
    assert "missing" in found.to_text()


def test_ties_are_spread_or_ignored() -> None:
    values = np.array([[1, 1], [1, 1], [1, 1], [2, 1]])
    spread = fe.bayes_bradley_terry(values, higher_is_better=True, **FEW)
    ignored = fe.bayes_bradley_terry(values, higher_is_better=True, ties="ignore", **FEW)
    assert spread.ties[0, 1] == 3
    assert 0.5 < spread.win_probability[0, 1] < ignored.win_probability[0, 1]


def test_differences_beyond_the_largest_float_have_their_sign() -> None:
    values = np.stack([np.full((5, 3), 1e308) * [1, 0.9, 0.8], np.full((5, 3), -1e308)], axis=1)
    found = fe.bayes_bradley_terry(Results(values, metric="accuracy"), **FEW)
    assert found.wins.tolist() == [[0, 5], [0, 0]]
    assert "1 data set," in repr(fe.bayes_bradley_terry(Results(values[:1], metric="accuracy"), **FEW))


def test_the_text_has_strengths_pairs_and_a_conclusion() -> None:
    found = fe.bayes_bradley_terry(ACCURACY, **FEW)
    text = str(found)
    assert "lgbm, dt        18-0-2" in text
    assert "lgbm and rf each win on at least 45 % of data sets with probability" in found.conclusion
    assert "lgbm wins on more than 55 %" in found.conclusion
    frame = found.to_frame("pandas")
    assert frame["first"].iloc[0] == "lgbm"
    assert len(frame) == 10
    pair = str(found.between("dt", "lgbm"))
    assert "lgbm beats dt on more than 55 % of data sets with probability above 0.999" in pair.replace("\n", " ")
    assert "dt wins" in pair


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="higher_is_better must be given"):
        fe.bayes_bradley_terry([[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"rope must be in \[0, 0.5\)"):
        fe.bayes_bradley_terry(ACCURACY, rope=0.5)
    with pytest.raises(ValueError, match="local_rope must be in"):
        fe.bayes_bradley_terry(ACCURACY, local_rope=-1)
    with pytest.raises(ValueError, match="ties must be one of"):
        fe.bayes_bradley_terry(ACCURACY, ties="half")
    with pytest.raises(ValueError, match="results must have at least 2 learners"):
        fe.bayes_bradley_terry(Results({"dataset": ["x", "y"], "svm": [1.0, 2.0]}, metric="accuracy"))
    with pytest.raises(ValueError, match="two different learners"):
        fe.bayes_bradley_terry(ACCURACY, **FEW).between("rf", "rf")
    with pytest.raises(ValueError, match="b must be one of"):
        fe.bayes_bradley_terry(ACCURACY, **FEW).between("rf", "xgb")
    with pytest.warns(ConvergenceWarning):
        fe.bayes_bradley_terry(ACCURACY, n_draws=400, rng=0)
