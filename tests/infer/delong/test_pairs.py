"""DeLong's tests of pairs equal the test of each pair by itself."""

import numpy as np
import pytest

from fastevals import adjust_pvalues, delong, delong_test
from fastevals.infer.delong.pairs import pairwise_delong
from fastevals.infer.significance.paired import compared_pairs

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 90)
SHARES = {"a": 1, "b": 0.5, "c": 0}
MODELS = {name: RNG.dirichlet(np.ones(3), 90) + np.eye(3)[Y] * share for name, share in SHARES.items()}
TWO = {name: matrix[:, 0] for name, matrix in MODELS.items()}


@pytest.mark.parametrize("average", ["macro", "hand_till"])
@pytest.mark.parametrize("reference", [None, "b"])
def test_pairs_of_classes(average, reference):
    pairs = compared_pairs(tuple(MODELS), reference)
    of_pairs, tests = pairwise_delong(delong(Y, MODELS, average=average), pairs, confidence_level=0.9)
    assert len(of_pairs) == len(tests) == (3 if reference is None else 2)
    assert of_pairs.alpha == pytest.approx(0.1)
    for (first, second), test in zip(pairs.tolist(), tests, strict=True):
        names = tuple(MODELS)[first], tuple(MODELS)[second]
        alone = delong_test(Y, *(MODELS[name] for name in names), average=average, confidence_level=0.9)
        assert test.statistic == pytest.approx(alone.statistic, rel=1e-9)
        assert test.effect == pytest.approx(alone.effect, rel=1e-9)
        assert test.confidence_interval == pytest.approx(alone.confidence_interval, rel=1e-9)
        assert f"of {names[0]} " in test.conclusion
    unadjusted = [test.pvalue for test in tests]
    np.testing.assert_array_equal(of_pairs.unadjusted_pvalue, unadjusted)
    np.testing.assert_array_equal(of_pairs.pvalue, adjust_pvalues(unadjusted, correction="holm"))


def test_pairs_of_two_classes_and_of_clusters():
    truth, clusters = (Y == 0).astype(int), np.arange(90) // 2
    for groups in (None, clusters):
        pairs = compared_pairs(tuple(TWO), None)
        _, tests = pairwise_delong(delong(truth, TWO, groups=groups), pairs)
        alone = delong_test(truth, TWO["a"], TWO["b"], groups=groups)
        assert (tests[0].pvalue, tests[0].statistic) == (alone.pvalue, alone.statistic)


def test_equal_models_and_a_class_of_one_row():
    pairs = compared_pairs(("a", "b"), None)
    of_pairs, _ = pairwise_delong(delong(Y, {"a": MODELS["a"], "b": MODELS["a"]}, average="macro"), pairs)
    assert (of_pairs.statistic[0], of_pairs.pvalue[0]) == (0, 1)
    rare = np.where(np.arange(90) == 0, 2, Y % 2)
    with pytest.warns(UserWarning, match="class 2 has 1 row"):
        result = delong(rare, {name: MODELS[name] for name in "ab"}, average="hand_till")
    of_pairs, _ = pairwise_delong(result, pairs)
    assert np.isnan(of_pairs.pvalue).all()
    assert not of_pairs.rejected.any()
