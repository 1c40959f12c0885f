"""Every library of the benches returns the same numbers as fastevals."""

from functools import cache

import numpy as np
import pytest

from benches import drop_in, estimates, many
from benches.bias_variance import BIAS_VARIANCE
from benches.classes import CLASSES
from benches.data import LABELS, SCORES, Data, can_make
from benches.drop_in import DROP_IN
from benches.engines import ENGINES
from benches.estimates import ESTIMATES
from benches.figures import FIGURES
from benches.labels import LABEL_CASES
from benches.many import MANY
from benches.peers import COMPARISONS, YARDSTICKS, assert_agree
from benches.processes import PROCESSES
from benches.queries import QUERIES
from benches.resampling import RESAMPLING
from benches.scale import SCALE
from benches.significance import SIGNIFICANCE
from benches.splits import SPLITS

CASES = (
    COMPARISONS
    | RESAMPLING
    | SIGNIFICANCE
    | SPLITS
    | ESTIMATES
    | BIAS_VARIANCE
    | DROP_IN
    | MANY
    | CLASSES
    | LABEL_CASES
    | QUERIES
)
PEERS = [(case, library) for case, libraries in CASES.items() for library in libraries if library != "fastevals"]

DATA = [Data(300, "scores of 1 decimal"), Data(1000, "whole scores"), Data(2000)]


@pytest.fixture
def few(monkeypatch):
    """Repeat calls only a few times, with few models and folds; the code is the same."""
    monkeypatch.setattr(drop_in, "CALLS", 2)
    monkeypatch.setattr(estimates, "HOLD_OUTS", 500)
    monkeypatch.setattr(many, "N_MODELS", 10)
    monkeypatch.setattr(many, "N_FOLDS", 50)


@pytest.mark.slow  # benches assert the same on their own data before they time
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("case", "library"), PEERS)
@pytest.mark.parametrize("data", DATA, ids=str)
def test_peers_agree_with_fastevals(case, library, data):
    assert_agree(CASES[case]["fastevals"](data)(), CASES[case][library](data)(), library)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("case", [*DROP_IN, *LABEL_CASES])
@pytest.mark.parametrize("kind", [kind for kind in LABELS if can_make(kind)])
def test_labels_of_any_kind_give_the_same_numbers(case, kind):
    assert_agree(CASES[case]["fastevals"](Data(1000, kind))(), of_numbers(case), "numbers")


@cache
def of_numbers(case):
    return CASES[case]["fastevals"](Data(1000))()


@pytest.mark.parametrize("kind", SCORES)
def test_scores_of_any_kind_give_what_scikit_learn_does(kind):
    data, entries = Data(1000, kind), COMPARISONS["roc_auc"]
    assert_agree(entries["fastevals"](data)(), entries["scikit-learn"](data)(), "scikit-learn")


@pytest.mark.parametrize(("ours", "theirs"), [(0.5, 0.5 + 1e-9), ((0.5, 1.0), (0.5, 0.9)), (np.ones(2), np.ones(3))])
def test_a_difference_is_noticed(ours, theirs):
    with pytest.raises(AssertionError, match="fastevals and a peer differ"):
        assert_agree(ours, theirs, "a peer")


def test_every_figure_is_of_a_case():
    assert {figure.case for figure in FIGURES.values()} == {*CASES, *PROCESSES, *SCALE, *ENGINES} - {
        "grouped_average_precision"
    }
    measured = [figure for figure in FIGURES.values() if str(figure.peer).startswith("np.")]
    assert all(figure.peer in YARDSTICKS | (CASES | SCALE)[figure.case] for figure in measured)


def test_data_are_reproducible_and_of_both_classes():
    first, second = Data(1000), Data(1000)
    assert all(np.array_equal(first[column], second[column]) for column in "yswkp")
    assert 50 < first.y.sum() < 150
    assert set(first.k) == set(range(10))
