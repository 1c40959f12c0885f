"""Posteriors of two learners: figures of baycomp, sums over grids, and input of every kind."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals as fe
from fastevals import BayesComparison, ConvergenceWarning, DependentSplitsWarning, Results, UndefinedMetricWarning
from tests.reference import bayes as reference

FIGURES = json.loads((Path(__file__).parents[2] / "data" / "bayes.json").read_text())
FOLDS = {case["name"]: case for case in FIGURES["hierarchical"]}
NEW, OLD = [0.84, 0.88, 0.83, 0.86, 0.85], [0.82, 0.85, 0.83, 0.83, 0.82]
PAIR = {"new": NEW, "old": OLD}
FEW: dict[str, Any] = {"n_draws": 2000, "rng": 0}


def results_of(case: dict[str, Any], **options: Any) -> Results:
    folds = np.stack([case["a"], case["b"]], axis=1)
    options = {"metric": "accuracy", "learner": ["a", "b"], "n_train": case["n_folds"] - 1, "n_test": 1} | options
    return Results(folds, **options)


def id_of(case: dict[str, Any]) -> str:
    return f"{case.get('of', case.get('name'))}, rope {case['rope']}"


# Peers ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", FIGURES["correlated t"], ids=id_of)
def test_correlated_t_equals_baycomp(case: dict[str, Any]) -> None:
    folds = FOLDS[case["of"]]
    found = fe.bayes_correlated_t(results_of(folds), rope=case["rope"], dataset=0)
    expected = case["probabilities"]
    expected = expected if len(expected) == 3 else [expected[0], 0.0, expected[1]]
    assert list(found) == pytest.approx(expected, abs=1e-12)
    assert found.posterior == pytest.approx((case["df"], case["mean"], case["scale"]), rel=1e-9)


@pytest.mark.cases(2)
@pytest.mark.parametrize("case", FIGURES["signed-rank"], ids=id_of)
def test_signed_rank_equals_baycomp(case: dict[str, Any]) -> None:
    # baycomp and we have 200,000 draws each: 5 standard errors of the difference; false alarms: 1 in 10^6
    found = fe.bayes_signed_rank(results_of(FOLDS[case["of"]]), rope=case["rope"], n_draws=200_000, rng=0)
    expected = case["probabilities"]
    expected = np.array(expected if len(expected) == 3 else [expected[0], 0.0, expected[1]])
    error = np.sqrt(2 * np.maximum(expected * (1 - expected), 1e-5) / 200_000)
    assert (np.abs(np.array(list(found)) - expected) < 5 * error).all()


@pytest.mark.cases(1)
@pytest.mark.parametrize("case", FIGURES["hierarchical"], ids=id_of)
def test_hierarchical_model_equals_baycomp_with_stan(case: dict[str, Any]) -> None:
    found = fe.bayes_hierarchical(results_of(case), rope=case["rope"], n_draws=100_000, rng=0)
    # Stan's 100,000 draws count as a few thousand where the spread is near 0
    assert list(found) == pytest.approx(case["probabilities"], abs=0.012)
    assert found.shares().mean(axis=0) == pytest.approx(np.array(case["shares"]), abs=0.008)
    quantiles = np.array(case["quantiles"]["mean"])
    assert np.quantile(found.differences(), case["levels"]) == pytest.approx(
        quantiles, abs=0.03 * (quantiles[-1] - quantiles[0])
    )


# Slow twins -----------------------------------------------------------------------------------------------------------
@pytest.mark.cases(5)
@pytest.mark.parametrize("rope", [0.0, 0.01, 0.02])
@pytest.mark.parametrize("prior", ["rope", "a", "b"])
def test_mean_shares_of_the_signed_rank_test_follow_from_moments(rope: float, prior: Any) -> None:
    values = np.array([0.02, 0.01, 0.04, -0.01, 0.0, 0.02, -0.03])
    found = fe.bayes_signed_rank(
        {"a": 0.5 + values, "b": np.full(7, 0.5)}, rope=rope, higher_is_better=True, prior_strength=0.7,
        prior_place=prior, n_draws=100_000, rng=1,
    )  # fmt: skip
    expected = reference.signed_rank_shares(values, rope, 0.7, {"rope": 0.0, "a": 1e9, "b": -1e9}[prior])
    # the standard deviation of a share is below 0.3: 5 standard errors
    assert found.shares().mean(axis=0) == pytest.approx(expected, abs=5 * 0.3 / np.sqrt(100_000))
    assert found.effect == pytest.approx(values.mean(), abs=5 * 0.03 / np.sqrt(100_000))


@pytest.mark.cases(1)
@pytest.mark.parametrize(("n_datasets", "n_folds"), [(2, 10), (4, 10), (6, 5)])
def test_the_hierarchical_model_equals_a_sum_over_a_grid(n_datasets: int, n_folds: int) -> None:
    rng = np.random.default_rng(5)
    differences = rng.normal(0.01, 0.01, (n_datasets, 1)) + rng.normal(0, 0.02, (n_datasets, n_folds))
    levels = [0.025, 0.25, 0.5, 0.75, 0.975]
    expected = reference.hierarchical_posterior(list(differences), 1 / n_folds, 0.01, levels)
    folds = np.stack([0.5 + differences, np.full(differences.shape, 0.5)], axis=1)
    results = Results(folds, metric="accuracy", n_train=n_folds - 1, n_test=1)
    found = fe.bayes_hierarchical(results, rope=0.01, n_draws=100_000, rng=1)
    assert list(found) == pytest.approx(expected["probabilities"], abs=0.008)  # the grid's error
    assert found.shares().mean(axis=0) == pytest.approx(expected["shares"], abs=0.01)
    width = expected["quantiles"][-1] - expected["quantiles"][0]
    assert np.quantile(found.differences(), levels) == pytest.approx(expected["quantiles"], abs=0.02 * width)


# Identities -----------------------------------------------------------------------------------------------------------
def test_the_correlated_t_test_has_the_interval_of_the_corrected_resampled_t_test() -> None:
    found = fe.bayes_correlated_t(PAIR, rope=0.01, n_train=4, n_test=1, higher_is_better=True)
    other = fe.corrected_resampled_t_test(NEW, OLD, n_train=4, n_test=1)
    assert found.effect == other.effect
    assert found.credible_interval == pytest.approx(other.confidence_interval)
    none = fe.bayes_correlated_t(PAIR, rope=0, n_train=4, n_test=1, higher_is_better=True)
    assert none.b_better == pytest.approx(other.pvalue / 2)
    assert none.equivalent == 0


CALLS = {
    "correlated t": lambda table, **o: fe.bayes_correlated_t(table, rope=0.01, n_train=4, n_test=1, **o),
    "signed-rank": lambda table, **o: fe.bayes_signed_rank(table, rope=0.01, **FEW, **o),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_swapping_learners_or_direction_swaps_probabilities(call: Any) -> None:
    found, swapped = call(PAIR, higher_is_better=True), call(PAIR, a="old", b="new", higher_is_better=True)
    lower, negated = (
        call(PAIR, higher_is_better=False),
        call({k: -np.array(v) for k, v in PAIR.items()}, higher_is_better=False),
    )
    assert list(found) == pytest.approx(list(swapped)[::-1], abs=0.05)
    assert list(found) == pytest.approx(list(lower)[::-1], abs=0.05)
    assert list(found) == pytest.approx(list(negated), abs=0.05)
    assert found.effect == pytest.approx(lower.effect)  # always the first minus the second
    assert sum(found) == pytest.approx(1)


def test_draws_depend_on_the_seed_alone() -> None:
    case = FOLDS["alike data sets"]
    results = results_of(case)
    for call in (fe.bayes_signed_rank, fe.bayes_hierarchical):
        first = call(results, rope=0.01, **FEW)
        with fe.num_threads(1):
            second = call(results, rope=0.01, **FEW)
            assert np.array_equal(first.shares(), second.shares())
        assert not np.array_equal(first.shares(), call(results, rope=0.01, n_draws=2000, rng=1).shares())
        assert len(first.shares()) == len(first.differences()) == first.n_draws == 2000


def test_units_do_not_matter() -> None:
    case = FOLDS["different data sets"]
    for factor in (100.0, 1e-200, 1e200):
        scaled = case | {name: (factor * np.array(case[name])) for name in ("a", "b")}
        given: Any = {"metric": None, "higher_is_better": True}
        for call in (fe.bayes_signed_rank, fe.bayes_hierarchical):
            found, other = (
                call(results_of(case), rope=0.01, **FEW),
                call(results_of(scaled, **given), rope=factor * 0.01, **FEW),
            )
            assert list(found) == pytest.approx(list(other), abs=1e-3)
            assert other.effect == pytest.approx(factor * found.effect)


def test_ties_at_the_end_of_the_rope_count_half() -> None:
    # 0.81 - 0.8 is above 0.01 as floats
    found = fe.bayes_signed_rank({"a": [0.81] * 5, "b": [0.8] * 5}, rope=0.01, higher_is_better=True, **FEW)
    assert found.shares()[:, 0].max() <= 0.5


def test_estimates_know_splits_metric_and_direction() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 1))
    y = (x[:, 0] + rng.normal(size=60) > 0).astype(int)

    def constant(x: Any, y: Any, x_new: Any) -> Any:
        return np.full(len(x_new), int(y.mean() > 0.5))

    def sign(x: Any, y: Any, x_new: Any) -> Any:
        return (x_new[:, 0] > 0).astype(int)

    folds = fe.KFold(5, rng=0)
    estimates = {each.__name__: fe.estimate_error(each, x, y, folds, "error_rate") for each in (sign, constant)}
    found = fe.bayes_correlated_t(estimates, rope=0.01)
    assert (found.a, found.b, found.metric, found.greater_is_better) == ("sign", "constant", "error_rate", False)
    assert found.effect < 0 < found.a_better - 0.9
    with pytest.warns(DependentSplitsWarning, match="bayes_correlated_t"):
        fe.bayes_signed_rank(estimates, rope=0.01, **FEW)
    with pytest.raises(ValueError, match="leave both out"):
        fe.bayes_correlated_t(estimates, rope=0.01, n_train=4, n_test=1)


def test_folds_without_variance() -> None:
    same = {"a": [0.8, 0.7, 0.9], "b": [0.75, 0.65, 0.85]}
    for rope, expected in ((0.01, (1, 0, 0)), (0.1, (0, 1, 0)), (0.0, (1, 0, 0))):
        with pytest.warns(UndefinedMetricWarning, match="variance is 0"):
            found = fe.bayes_correlated_t(same, rope=rope, n_train=2, n_test=1, higher_is_better=True)
        assert tuple(found) == expected
    case = FOLDS["alike data sets"]
    constant = case | {"a": [[0.8] * 10, *case["a"][1:]], "b": [[0.8] * 10, *case["b"][1:]]}
    found = fe.bayes_hierarchical(results_of(constant), rope=0.01, **FEW)
    assert "1 of 8 data sets" in found.notes[0]
    assert "1 of 8 data sets" in str(found)
    assert "1 of 8 data sets" in found.to_text()
    with pytest.raises(ValueError, match="rope must be above 0"):
        fe.bayes_hierarchical(results_of(constant), rope=0, **FEW)
    equal = case | {"a": case["b"]}
    assert fe.bayes_hierarchical(results_of(equal), rope=0.01, **FEW).equivalent > 0.95


def test_data_sets_may_have_different_numbers_of_folds() -> None:
    rng = np.random.default_rng(0)
    folds = rng.normal(0.8, 0.02, (5, 2, 10))
    folds[0, :, 4:] = np.nan
    found = fe.bayes_hierarchical(Results(folds, metric="accuracy", n_train=9, n_test=1), rope=0.01, **FEW)
    assert 0 < found.equivalent < 1
    folds[1, 0, 3] = np.nan
    kept = Results(folds, metric="accuracy", n_train=9, n_test=1, missing="keep")
    assert "missing" in fe.bayes_hierarchical(kept, rope=0.01, **FEW).notes[0]


def test_a_few_draws_are_called_rough() -> None:
    with pytest.warns(ConvergenceWarning, match="n_draws"):
        fe.bayes_hierarchical(results_of(FOLDS["an outlier"]), rope=0.01, n_draws=400, rng=0)


def test_the_conclusion_names_learners_rope_and_probabilities() -> None:
    found = fe.bayes_correlated_t(PAIR, rope=0.01, n_train=4, n_test=1, higher_is_better=True)
    assert found.conclusion == (
        "new is better than old by more than 0.01 with probability 0.879; the two are equivalent (differ by at most "
        "0.01) with probability 0.110, and old is better with probability 0.011 (Bayesian correlated t-test)."
    )
    none = fe.bayes_correlated_t(PAIR, rope=0, n_train=4, n_test=1, higher_is_better=True)
    assert none.conclusion == (
        "new is better than old with probability 0.967; old is better with probability 0.033 "
        "(Bayesian correlated t-test)."
    )
    sure = fe.bayes_correlated_t(PAIR, rope=10.0, n_train=4, n_test=1, higher_is_better=True)
    assert "with probability above 0.999" in sure.conclusion


def test_results_copy_and_leave_draws_out_of_json() -> None:
    found = fe.bayes_signed_rank(PAIR, rope=0.01, higher_is_better=True, **FEW)
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, BayesComparison)
    assert np.array_equal(again.shares(), found.shares())
    told = found.to_dict()
    assert told["a_better"] == found.a_better
    assert not {"shares", "_shares"} & {*told}
    json.dumps(told)


def test_extreme_numbers_are_read() -> None:
    huge = {"a": [1e300, -1e300, 3], "b": [-1e300, 1e300, 0]}
    found = fe.bayes_signed_rank(huge, rope=0.01, higher_is_better=True, **FEW)
    assert sum(found) == pytest.approx(1)
    strong = fe.bayes_signed_rank(PAIR, rope=0.01, higher_is_better=True, prior_strength=1e300, **FEW)
    assert strong.equivalent == 1
    assert np.isfinite(strong.effect)
    # few rows to train on: folds are correlated by almost 1
    folds = np.random.default_rng(0).random((3, 2, 5))
    found = fe.bayes_hierarchical(folds, rope=0.01, n_train=1, n_test=10**9, higher_is_better=True, n_draws=4000, rng=0)
    assert found.a_better + found.b_better > 0.9


def test_equal_results_favour_no_learner() -> None:
    same = {"a": PAIR["new"], "b": PAIR["new"]}
    found = fe.bayes_signed_rank(same, rope=0, higher_is_better=True, **FEW)
    assert (found.a_better, found.b_better) == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_constant_difference_at_the_end_of_the_rope_is_equivalent(sign: int) -> None:
    constant = {"a": [0.81] * 5, "b": [0.80] * 5}  # their float difference is above 0.01
    options: dict[str, Any] = {"n_train": 4, "n_test": 1, "higher_is_better": True}
    pair = ("a", "b") if sign > 0 else ("b", "a")
    with pytest.warns(UndefinedMetricWarning, match="all the same"):
        assert tuple(fe.bayes_correlated_t(constant, *pair, rope=0.01, **options)) == (0, 1, 0)
    with pytest.warns(UndefinedMetricWarning, match="all the same"):
        found = fe.bayes_correlated_t(constant, *pair, rope=0.0099, **options)
    assert (found.a_better, found.b_better) == ((1, 0) if sign > 0 else (0, 1))


# Bad input ------------------------------------------------------------------------------------------------------------
BAD = {
    "no direction": ({}, "higher_is_better must be given"),
    "negative rope": ({"rope": -0.1}, r"rope must be in \[0, inf\)"),
    "infinite rope": ({"rope": np.inf}, "rope must be in"),
    "no rope": ({"rope": "0.01"}, "rope must be a number"),
    "same learner": ({"a": "new", "b": "new"}, "two different learners"),
    "one learner": ({"a": "new"}, "a and b must name two of the 2 learners"),
    "unknown learner": ({"a": "new", "b": "mid"}, "b must be one of"),
    "level": ({"confidence_level": 95}, "confidence_level must be in"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD)
def test_bad_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    call = {"correlated t": fe.bayes_correlated_t, "signed-rank": fe.bayes_signed_rank}[name]
    sizes = {"n_train": 4, "n_test": 1} if name == "correlated t" else {}
    direction = {} if not options else {"higher_is_better": True}
    with pytest.raises(ValueError, match=message):
        call(PAIR, **{"rope": 0.01, **direction, **sizes, **options})


def test_a_missing_fold_is_refused_with_its_learner() -> None:
    folds = np.array([[[0.8, np.nan, 0.9], [0.7, 0.8, 0.9]]])
    results = Results(folds, learner=["new", "old"], metric="accuracy", n_train=2, n_test=1, missing="keep")
    with pytest.raises(ValueError, match="results of 'new' must be defined in all splits, but is NaN in 1 of 3"):
        fe.bayes_correlated_t(results, rope=0.01)


def test_other_bad_input_is_refused() -> None:
    several = results_of(FOLDS["alike data sets"])
    three = {**PAIR, "third": NEW}
    with pytest.raises(ValueError, match="dataset must name one of the 8 data sets"):
        fe.bayes_correlated_t(several, rope=0.01)
    with pytest.raises(ValueError, match="dataset applies only to Results"):
        fe.bayes_correlated_t(PAIR, rope=0.01, dataset="iris")
    with pytest.raises(ValueError, match="n_train and n_test must be given"):
        fe.bayes_correlated_t(PAIR, rope=0.01, higher_is_better=True)
    with pytest.raises(ValueError, match="must name two of the 3 learners"):
        fe.bayes_signed_rank(three, rope=0.01, higher_is_better=True)
    with pytest.raises(ValueError, match="prior_strength must be in"):
        fe.bayes_signed_rank(PAIR, rope=0.01, higher_is_better=True, prior_strength=0)
    with pytest.raises(ValueError, match="n_draws must be"):
        fe.bayes_signed_rank(PAIR, rope=0.01, higher_is_better=True, n_draws=0)
    with pytest.raises(ValueError, match="n_draws must be"):
        fe.bayes_hierarchical(several, rope=0.01, n_draws=100)
    with pytest.raises(ValueError, match="at least 2 data sets"):
        fe.bayes_hierarchical(Results(np.ones((1, 2, 5)), metric="accuracy", n_train=4, n_test=1), rope=0.01)
    with pytest.raises(ValueError, match="at least 2 folds"):
        fe.bayes_hierarchical(Results(np.ones((3, 2)), metric="accuracy", n_train=4, n_test=1), rope=0.01)
    with pytest.raises(ValueError, match="n_train and n_test must be given"):
        fe.bayes_hierarchical(Results(np.ones((3, 2, 5)), metric="accuracy"), rope=0.01)
    with pytest.raises(ValueError, match="leave both out"):
        fe.bayes_hierarchical(several, rope=0.01, n_train=9, n_test=1)
    with pytest.raises(ValueError, match="must be True or left out for accuracy"):
        fe.bayes_hierarchical(several, rope=0.01, higher_is_better=False)
