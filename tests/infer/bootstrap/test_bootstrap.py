"""`bootstrap` against plainly resampled rows, exact distributions and SciPy; bad input."""

from __future__ import annotations

import itertools
import math
import pickle
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from fastevals import (
    BootstrapResult,
    ConfusionMatrix,
    Estimate,
    MetricSpec,
    Ranking,
    UndefinedMetricWarning,
    bootstrap,
    metric,
    num_threads,
    regression_metrics,
)
from fastevals._random import seed_key
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample
from fastevals.measure.metric_specs import parse_metrics

ALARM = 1e-4  # p-value below which a test of distribution fails


def data(n: int = 300, seed: int = 0, digits: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < 0.3 * n).astype(int)[rng.permutation(n)]
    return y, np.round(rng.normal(size=n) + y, digits)


def distribution(subject, metrics, **options) -> np.ndarray:
    options = {"n_resamples": 500, "rng": 3, "method": "percentile", "keep_distribution": True} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        result = bootstrap(subject, metrics, **options)
    return np.stack([each.bootstrap_distribution for each in result.values()], axis=1)


# What is drawn ----------------------------------------------------------------------------------------------------


def drawn_rows(subject, name: str, n_resamples: int, **options) -> list[np.ndarray]:
    """Return how often each replicate of a sample of units draws each row, in order of the units' rows."""
    sample = make_sample(subject, parse_metrics(name), SamplingDesign(**options))
    space = sample.workspace()
    key = seed_key("rng", 3)
    return [times.copy() for times in sample.draws(key, range(n_resamples), space)]


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "equal_error_rate", "brier_score"])
def test_rows_with_weights_are_drawn_with_them(name, stratified):
    y, s = data(40)
    s = (s - s.min()) / np.ptp(s)
    weights = np.random.default_rng(1).integers(1, 4, y.size) * 0.5
    subject, options = (y, s), {"sample_weight": weights, "stratified": stratified}
    found = distribution(subject, name, n_resamples=50, **options)[:, 0]
    # Rows are numbered by class and descending score.
    order = np.lexsort((np.arange(y.size), -s, 1 - y))
    for value, times in zip(found, drawn_rows(subject, name, 50, **options), strict=True):
        rows = np.repeat(order, times[: y.size])
        assert rows.size == y.size
        assert not stratified or y[rows].sum() == y.sum()
        ranking = Ranking(y[rows], s[rows], sample_weight=weights[rows])
        expected = np.nan
        if ranking.n_positives and ranking.n_negatives:
            expected = float(getattr(ranking, name)())
        assert value == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_are_drawn_whole(weighted):
    y, s = data(60)
    groups = np.random.default_rng(2).integers(0, 15, 60)
    names = np.array([f"patient {chr(97 + group)}" for group in groups])
    weights = np.random.default_rng(1).random(60) if weighted else None
    options = {"groups": names, "sample_weight": weights}
    found = distribution((y, s), "roc_auc", n_resamples=60, **options)[:, 0]
    numbers = np.unique(groups, return_inverse=True)[1]
    for value, times in zip(found, drawn_rows((y, s), "roc_auc", 60, **options), strict=True):
        assert times.sum() == numbers.max() + 1
        rows = np.repeat(np.arange(60), times[numbers])
        weight = None if weights is None else weights[rows]
        assert value == pytest.approx(Ranking(y[rows], s[rows], sample_weight=weight).roc_auc(), rel=1e-12)


def test_groups_of_one_row_are_rows():
    y, s = data(400)
    plain = distribution((y, s), "roc_auc", n_resamples=2000)[:, 0]
    grouped = distribution((y, s), "roc_auc", n_resamples=2000, groups=np.arange(400))[:, 0]
    assert stats.ks_2samp(plain, grouped).pvalue > ALARM


def test_groups_make_for_wider_intervals_where_rows_of_one_are_alike():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.random(60) < 0.4, 20)
    s = np.repeat(rng.normal(size=60), 20) + rng.normal(size=1200) * 0.1 + y
    rows, groups = (
        bootstrap((y, s), "roc_auc", groups=each, rng=1, n_resamples=2000)["roc_auc"].standard_error
        for each in (None, np.repeat(np.arange(60), 20))
    )
    assert groups == pytest.approx(math.sqrt(20) * rows, rel=0.35)


def test_groups_of_one_class_each_may_be_stratified():
    y = np.repeat([0, 0, 0, 1, 1], 6)
    s = np.random.default_rng(0).normal(size=30) + y
    groups = np.repeat(np.arange(5), 6)
    for times in drawn_rows((y, s), "roc_auc", 40, groups=groups, stratified=True):
        assert (times[:2].sum(), times[2:5].sum()) == (2, 3)  # positive groups first
    with pytest.raises(ValueError, match="groups must each be of one class to be drawn with stratified=True, but 0"):
        bootstrap((y, s), "roc_auc", groups=np.arange(30) % 6, stratified=True)


@pytest.mark.cases(1)
@pytest.mark.parametrize("stratified", [False, True])
def test_all_draws_of_few_rows(stratified):
    y, s = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.4, 0.2, 0.4, 0.4])
    exact: Counter[Fraction | None] = Counter()
    groups = [np.flatnonzero(y == 0), np.flatnonzero(y == 1)] if stratified else [np.arange(5)]
    choices = [list(itertools.product(group, repeat=group.size)) for group in groups]
    total = math.prod(map(len, choices))
    for parts in itertools.product(*choices):
        rows = np.concatenate([np.array(part) for part in parts])
        positives, negatives = s[rows][y[rows] == 1], s[rows][y[rows] == 0]
        pairs = positives.size * negatives.size
        twice = (positives[:, None] > negatives).sum() * 2 + (positives[:, None] == negatives).sum()
        exact[Fraction(int(twice), 2 * pairs) if pairs else None] += 1
    n = 5_000
    for options in ({}, {"sample_weight": np.full(5, 2.0)}):
        values = distribution((y, s), "roc_auc", n_resamples=n, stratified=stratified, **options)[:, 0]
        found = Counter(None if math.isnan(v) else Fraction(v).limit_denominator(200) for v in values)
        assert set(found) <= set(exact)
        expected = [n * exact[value] / total for value in exact]
        assert stats.chisquare([found[value] for value in exact], expected).pvalue > ALARM


@pytest.mark.parametrize("stratified", [False, True])
def test_labels_with_weights_or_groups(stratified):
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    weights = rng.integers(1, 5, 50) / 2
    names = ["accuracy", metric("f_score", average="macro")]
    options = {"sample_weight": weights, "stratified": stratified}
    found = distribution((true, predicted), names, n_resamples=40, **options)
    order = np.lexsort((np.arange(50), predicted, true)) if stratified else np.arange(50)
    if stratified:
        order = np.argsort(true, kind="stable")
    for values, times in zip(found, drawn_rows((true, predicted), "accuracy", 40, **options), strict=True):
        rows = np.repeat(order, times[:50])
        matrix = ConfusionMatrix.from_predictions(
            true[rows], predicted[rows], sample_weight=weights[rows], labels=[0, 1, 2]
        )
        np.testing.assert_allclose(values, [matrix.accuracy(), matrix.f_score(average="macro")], rtol=1e-12)


@pytest.mark.parametrize("groups", [None, np.arange(60) // 4])
def test_regression(groups):
    rng = np.random.default_rng(0)
    y_true = rng.normal(size=60)
    y_pred = y_true + rng.normal(size=60) * 0.3
    weights = rng.random(60) + 0.1
    names = ["mean_squared_error", "median_absolute_error", "r2", metric("pinball_loss", quantile=0.9)]
    options = {"sample_weight": weights, "groups": groups}
    found = distribution((y_true, y_pred), names, n_resamples=40, **options)
    for values, times in zip(found, drawn_rows((y_true, y_pred), "r2", 40, **options), strict=True):
        rows = np.repeat(np.arange(60), times[:60] if groups is None else times[groups])
        errors = regression_metrics(y_true[rows], y_pred[rows], sample_weight=weights[rows], quantile=0.9)
        expected = [
            getattr(errors, name) for name in ("mean_squared_error", "median_absolute_error", "r2", "pinball_loss")
        ]
        np.testing.assert_allclose(values, expected, rtol=1e-11)


def test_a_stack_is_resampled_within_each_member():
    stack = ConfusionMatrix([[[50, 10], [5, 35]], [[100, 40], [20, 40]]])
    result = bootstrap(stack, "accuracy", rng=0, keep_distribution=True)["accuracy"]
    assert result.value.shape == result.standard_error.shape == result.n_undefined.shape == (2,)
    theory = np.sqrt(np.array([0.85 * 0.15 / 100, 0.7 * 0.3 / 200]))
    np.testing.assert_allclose(result.standard_error, theory, rtol=0.05)
    assert abs(np.corrcoef(result.bootstrap_distribution.T)[0, 1]) < 0.05
    for member in range(2):
        alone = bootstrap(ConfusionMatrix(stack.counts[member]), "accuracy", rng=0)["accuracy"].confidence_interval
        np.testing.assert_allclose([end[member] for end in result.confidence_interval], alone, atol=0.03)
    for name, pooled in (("macro", stack.macro()), ("pool", stack.pool())):
        value = bootstrap(pooled, "accuracy", rng=0)["accuracy"]
        assert value.value == pytest.approx({"macro": 0.775, "pool": 0.75}[name])
        assert value.confidence_interval.low < value.value < value.confidence_interval.high


@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted"])
def test_any_method_of_a_matrix(average):
    matrix = ConfusionMatrix([[40, 5, 3], [4, 30, 2], [1, 1, 14]])
    result = bootstrap(
        matrix, [metric("precision", average=average), "matthews", metric("cost", cost_matrix=1 - np.eye(3))]
    )
    np.testing.assert_allclose(result[metric("precision", average=average)].value, matrix.precision(average=average))
    assert result["matthews"].confidence_interval.low < matrix.matthews() < result["matthews"].confidence_interval.high


# Intervals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method", ["BCa", *(pytest.param(name, marks=pytest.mark.slow) for name in ("percentile", "basic"))]
)
def test_scipy_agrees(method):
    y, s = data(60)

    def auc(y, s, axis=-1):
        ranks = stats.rankdata(s, axis=axis)
        positives = y.sum(axis=axis)
        return ((ranks * y).sum(axis=axis) - positives * (positives + 1) / 2) / (
            positives * (y.shape[axis] - positives)
        )

    ours = bootstrap(Ranking(y, s), "roc_auc", n_resamples=20_000, method=method, rng=0)["roc_auc"]
    theirs = stats.bootstrap((y, s), auc, paired=True, n_resamples=20_000, method=method, rng=np.random.default_rng(0))
    np.testing.assert_allclose(ours.confidence_interval, theirs.confidence_interval, atol=0.004)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.03)


def test_an_estimate_says_how_sure_it_is():
    y, s = data()
    result = bootstrap(Ranking(y, s), ["roc_auc", "ks_statistic"], rng=0, n_resamples=999, keep_distribution=True)
    assert isinstance(result, BootstrapResult)
    assert list(result) == ["roc_auc", "ks_statistic"]
    assert len(result) == 2
    estimate = result["roc_auc"]
    assert isinstance(estimate, Estimate)
    assert estimate.value == Ranking(y, s).roc_auc()
    assert estimate.standard_error == estimate.bootstrap_distribution.std(ddof=1)
    assert estimate.bias == pytest.approx(estimate.bootstrap_distribution.mean() - estimate.value)
    assert result["ks_statistic"].bias > estimate.bias  # noise increases a largest distance
    assert (result.n_resamples, result.method, result.confidence_level, result.alternative) == (
        999, "BCa", 0.95, "two-sided",
    )  # fmt: skip
    assert "roc_auc" in repr(result)
    assert result.to_dict()["metrics"]["roc_auc"]["value"] == estimate.value
    copy = pickle.loads(pickle.dumps(result))
    assert copy["roc_auc"].confidence_interval == estimate.confidence_interval
    with pytest.raises(ValueError, match="read-only"):
        copy["roc_auc"].bootstrap_distribution[0] = 0
    with pytest.raises(KeyError, match="the metrics are roc_auc, ks_statistic"):
        result["gini"]
    assert "gini" not in result
    assert result.get("gini") is None


def test_alternatives():
    y, s = data()
    ends = {
        side: bootstrap(Ranking(y, s), "roc_auc", rng=0, alternative=side, confidence_level=level)["roc_auc"]
        for side, level in (("two-sided", 0.9), ("less", 0.95), ("greater", 0.95))
    }
    low, high = ends["two-sided"].confidence_interval
    assert ends["less"].confidence_interval == (0, high)
    assert ends["greater"].confidence_interval == (low, 1)


@pytest.mark.slow
def test_replicates_do_not_depend_on_their_number_or_on_threads():
    y, s = data()
    groups = np.arange(300) // 3
    for subject, names, options in (
        (Ranking(y, s), ["roc_auc", "average_precision"], {}),
        (Ranking(y, s), metric("f1", threshold=0.5), {"stratified": True}),
        ((y, s), "roc_auc", {"groups": groups}),
        ((y, s), "roc_auc", {"sample_weight": np.linspace(1, 2, 300), "stratified": True}),
        ((y, s > 0.5), ["precision"], {}),
        ((y, s > 0.5), ["precision"], {"groups": groups}),
        ((y, s), ["r2"], {}),
        (Ranking(np.repeat(y, 1000), np.repeat(np.round(s), 1000)), "ks_statistic", {}),
    ):
        whole = distribution(subject, names, n_resamples=600, **options)
        np.testing.assert_array_equal(distribution(subject, names, n_resamples=7, **options), whole[:7])
        with num_threads(1):
            np.testing.assert_array_equal(distribution(subject, names, n_resamples=600, **options), whole)
        assert not np.array_equal(distribution(subject, names, n_resamples=600, rng=4, **options), whole)


def test_seeds():
    y, s = data(50)
    found = [
        distribution((y, s), "roc_auc", n_resamples=5, rng=rng).tolist()
        for rng in (1, [1], np.random.SeedSequence(1), np.int64(1), np.random.default_rng(1), np.random.PCG64(1))
    ]
    assert found[0] == found[1] == found[2] == found[3]
    assert found[4] == found[5] != found[0]
    rng = np.random.default_rng(1)
    assert distribution((y, s), "roc_auc", rng=rng).tolist() != distribution((y, s), "roc_auc", rng=rng).tolist()
    assert distribution((y, s), "roc_auc", rng=None).tolist() != distribution((y, s), "roc_auc", rng=None).tolist()


def test_functions_of_counts_and_of_matrices():
    y, s = data()
    ranking = Ranking(y, s)
    result = bootstrap(ranking, {"share": lambda counts: counts.n_pos / 300, "auc": "roc_auc"}, n_resamples=500)
    assert result["share"].value == pytest.approx(0.3)
    assert result["share"].standard_error == pytest.approx(math.sqrt(0.3 * 0.7 / 300), rel=0.1)
    assert result["auc"].value == ranking.roc_auc()
    found = bootstrap(
        ranking.confusion_at(0.5), {"lift": lambda m: m.precision() / (m.counts[..., 1, :].sum(-1) / 300)}
    )
    assert found["lift"].value > 1
    for wrong in (lambda counts: None, lambda counts: [1.0, 2.0], lambda counts: "high"):
        with pytest.raises(ValueError, match="metrics: a function must return one real number"):
            bootstrap(ranking, wrong)
    with pytest.raises(ValueError, match="along its first axis"):
        bootstrap(ranking.confusion_at(0.5), lambda matrix: 0.5, n_resamples=9)


# What has no usual interval ---------------------------------------------------------------------------------------


def test_a_perfect_ranking_has_an_interval_without_width():
    for method in ("BCa", "percentile", "basic", "normal"):
        options = {"stratified": True, "method": method, "n_resamples": 99}
        with pytest.warns(UndefinedMetricWarning, match="all its replicates are equal"):
            result = bootstrap(Ranking([0, 0, 0, 1, 1, 1], range(6)), "roc_auc", **options)
        assert result["roc_auc"].confidence_interval == (1, 1)
        with pytest.warns(UndefinedMetricWarning, match="all its replicates are equal"):
            result = bootstrap(Ranking([1, 1, 1, 0, 0, 0], range(6)), "roc_auc", **options)
        assert result["roc_auc"].confidence_interval == (0, 0)
        with pytest.warns(UndefinedMetricWarning, match="all its replicates are equal"):
            result = bootstrap(Ranking([1, 0, 1, 0, 0, 0], np.ones(6)), "roc_auc", **options)
        assert result["roc_auc"].confidence_interval == (0.5, 0.5)


def test_undefined_replicates_are_counted_and_left_out():
    y, s = np.array([1, 0, 0, 0, 0, 0]), np.array([3, 1, 2, 4, 5, 6])
    with pytest.warns(UndefinedMetricWarning, match=r"roc_auc is undefined in \d+ of 4000 bootstrap replicates"):
        estimate = bootstrap((y, s), "roc_auc", n_resamples=4000, rng=0, keep_distribution=True)["roc_auc"]
    assert estimate.n_undefined / 4000 == pytest.approx((5 / 6) ** 6 + (1 / 6) ** 6, abs=0.04)
    assert np.isnan(estimate.bootstrap_distribution).sum() == estimate.n_undefined
    assert estimate.standard_error == pytest.approx(np.nanstd(estimate.bootstrap_distribution, ddof=1))
    assert 0 <= estimate.confidence_interval.low < estimate.confidence_interval.high <= 1


def test_one_class():
    with pytest.warns(UndefinedMetricWarning):
        estimate = bootstrap(([1, 1, 1], [1, 2, 3]), "roc_auc", n_resamples=50)["roc_auc"]
    assert math.isnan(estimate.value)
    assert all(map(math.isnan, estimate.confidence_interval))
    assert math.isnan(estimate.standard_error)
    assert estimate.n_undefined == 50


def test_a_single_replicate():
    y, s = data(50)
    for method in ("BCa", "percentile", "basic", "normal"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            estimate = bootstrap((y, s), "roc_auc", n_resamples=1, rng=0, method=method)["roc_auc"]
        assert math.isnan(estimate.standard_error)


# Bad input --------------------------------------------------------------------------------------------------------

Y, S = data(30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be an integer from 1 to 1000000000, got 0"),
        ({"n_resamples": 1.5}, "n_resamples must be an integer, got 1.5"),
        ({"confidence_level": 1}, r"confidence_level must be in \(0, 1\), got 1"),
        ({"confidence_level": 0.0}, r"confidence_level must be in \(0, 1\), got 0.0"),
        ({"method": "bca"}, "method must be one of 'BCa', 'percentile', 'basic', 'normal'; got 'bca'"),
        ({"alternative": "both"}, "alternative must be one of 'two-sided', 'less', 'greater'; got 'both'"),
        ({"groups": np.arange(29)}, "groups has 29 rows, but y_true has 30"),
        ({"groups": np.zeros(30)}, "groups must have at least two groups to resample, got one: 0.0"),
        ({"groups": np.full(30, np.nan)}, "groups must not be NaN"),
        ({"sample_weight": -np.ones(30)}, "sample_weight must not be negative"),
        ({"sample_weight": np.ones(3)}, "sample_weight has 3 rows, but y_true has 30"),
        ({"rng": "seed"}, "rng must be None, an integer at least 0 or several"),
        ({"rng": -1}, "rng must be None"),
        ({"rng": 1.0}, "rng must be None"),
        ({"pos_label": 7}, "pos_label must be a label of y_true"),
        ({"metrics": "roc"}, "metrics must be one of [0-9]+ names; got 'roc' .did you mean 'roc_auc'"),
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": 3}, "metrics must be names of metrics, got 3"),
        ({"metrics": [3]}, "metrics must hold names"),
        ({"metrics": ["roc_auc", "roc_auc"]}, "metrics must all differ, got 'roc_auc' twice"),
        ({"metrics": ["roc_auc", "precision"]}, "precision of scores needs one threshold"),
        ({"metrics": MetricSpec("precision", {"best": "roc_auc"})}, "best must be one of 'accuracy', .*got 'roc_auc'"),
        ({"metrics": MetricSpec("precision", {"best": "f1", "cost_fn": 2})}, "has no option cost_fn="),
        ({"metrics": metric("precision", threshold=0.5, recall=0.5)}, "needs one threshold.*got 2"),
        ({"metrics": metric("precision", recall=2)}, r"recall must be in \[0, 1\], got 2"),
        ({"metrics": metric("precision", threshold="high")}, "threshold must hold numbers"),
        ({"metrics": metric("precision", threshold=math.nan)}, "threshold must not be NaN"),
        (
            {"metrics": MetricSpec("roc_auc", {"threshold": 0.5})},
            "has no option threshold=; it takes average, max_fpr",
        ),
        ({"metrics": metric("roc_auc", max_fpr=0)}, r"max_fpr must be in \(0, 1\], got 0"),
        ({"metrics": MetricSpec("f1", {"beta": 2, "threshold": 0.5})}, "has no option beta="),
        ({"metrics": metric("f_score", beta=0, threshold=0.5)}, r"beta must be in \(0, inf\), got 0"),
        ({"metrics": metric("expected_cost", threshold=0.5, cost_fp=-1)}, "cost_fp must be in"),
        ({"metrics": MetricSpec("ks_statistic", {"sign": 1})}, "it takes average"),
        ({"metrics": ["r2", "roc_auc"]}, "metrics must be one of 'mean_squared_error'"),
        ({"metrics": MetricSpec("r2", {"quantile": 0.5})}, "has no option quantile="),
        ({"metrics": lambda counts: 0.5}, "a function requires a Ranking or a ConfusionMatrix"),
        ({"metrics": "r2", "stratified": True}, "stratified and pos_label apply only to classes"),
        ({"metrics": "accuracy", "pos_label": 7}, "pos_label must be a label of the data"),
        ({"metrics": "r2", "pos_label": 1}, "stratified and pos_label apply only to classes"),
        ({"stratified": "no"}, "stratified must be True or False, got 'no'"),
    ],
)
def test_bad_options(options, message):
    given = {"metrics": "roc_auc", "n_resamples": 9} | options
    with pytest.raises(ValueError, match=message):
        bootstrap((Y, S if given["metrics"] != "accuracy" else Y), **given)


@pytest.mark.parametrize(
    ("subject", "metrics", "options", "message"),
    [
        (Y, "roc_auc", {}, "subject must be a Ranking, ThresholdCounts, a ConfusionMatrix or a pair"),
        ((Y, S, S), "roc_auc", {}, "subject must be"),
        (None, "roc_auc", {}, "subject must be .* got None"),
        ((Y, S[:-1]), "roc_auc", {}, "y_score has 29 rows, but y_true has 30"),
        ((Y, np.full(30, np.nan)), "roc_auc", {}, "y_score must be finite"),
        ((Y, np.full(30, np.inf)), "roc_auc", {"groups": np.arange(30) % 7}, "y_score must be finite"),
        ((Y, np.full(30, np.inf)), "r2", {}, "y_pred must be finite"),
        (Ranking(Y, S), "accuracy", {}, "accuracy of scores needs one threshold"),
        (Ranking(Y, S), "roc_auc", {"groups": np.arange(30)}, "groups requires rows: pass the pair"),
        (Ranking(Y, S), "roc_auc", {"sample_weight": np.ones(30)}, "sample_weight requires rows"),
        (Ranking(Y, S, sample_weight=np.ones(30)), "roc_auc", {}, "subject must count rows, but has weights"),
        (ConfusionMatrix([[5, 1], [2, 3]]), "precision", {"groups": [1, 2]}, "groups requires rows"),
        (ConfusionMatrix([[5.5, 1], [2, 3]]), "precision", {}, "subject must count rows, but has weights"),
        (ConfusionMatrix([[5, 1], [2, 3]]), "cost", {}, "cost needs cost_matrix= in metric"),
        (ConfusionMatrix([[5, 1], [2, 3]]), "roc_auc", {}, "metrics must be one of 'accuracy'"),
        (ConfusionMatrix([[5, 1], [2, 3]]), metric("precision", threshold=0.5), {}, "has no option threshold="),
        (ConfusionMatrix([[5, 1], [2, 3]]), metric("precision", average="mean"), {}, "average must be one of"),
        (ConfusionMatrix(np.zeros((2, 2), int)), "precision", {}, "subject has no rows to draw from"),
        (ConfusionMatrix(np.eye(3, dtype=int)), "precision", {}, "average='binary' needs 2 classes, got 3"),
    ],
)
def test_bad_subjects(subject, metrics, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap(subject, metrics, n_resamples=9, **options)


@pytest.mark.parametrize("scale", [1e160, 1e-170, 2.0**70])
def test_weights_of_any_scale(scale):
    metrics = ["roc_auc", "equal_error_rate", "ks_statistic", "cost_area"]
    expected = distribution((Y, S), metrics, sample_weight=np.ones(30))
    np.testing.assert_allclose(distribution((Y, S), metrics, sample_weight=np.full(30, scale)), expected, rtol=1e-9)


@pytest.mark.parametrize("method", ["BCa", "percentile", "normal"])
def test_a_loss_that_is_infinite(method):
    with pytest.warns(UndefinedMetricWarning, match="interval of log_loss is undefined .*infinite in some replicates"):
        found = bootstrap(([1, 0, 1, 0], [0.0, 0.5, 0.6, 0.2]), "log_loss", n_resamples=99, rng=0, method=method)
    assert found["log_loss"].value == math.inf
    assert all(map(math.isnan, found["log_loss"].confidence_interval))


@pytest.mark.parametrize("options", [{}, {"sample_weight": [1, 0]}])
def test_a_single_row(options):
    n = 2 if options else 1
    for subject, name in (((np.ones(n), 2 * np.ones(n)), "mean_squared_error"), ((np.ones(n), np.ones(n)), "accuracy")):
        with pytest.warns(UndefinedMetricWarning, match="all its replicates are equal"):
            assert bootstrap(subject, name, n_resamples=9, rng=0, **options)[name].value == 1


def test_only_negatives():
    scores = [0.1, 0.2, 0.3]
    found = bootstrap(([0, 0, 0], scores), [metric("specificity", threshold=0.25), "brier_score"], rng=0)
    assert found["brier_score"].confidence_interval.high > found["brier_score"].value
    assert found["specificity(threshold=0.25)"].value == 2 / 3


def test_nearly_certain():
    y, s = data()
    for method in ("BCa", "percentile", "basic", "normal"):
        ends = bootstrap((y, s), "roc_auc", confidence_level=1 - 1e-16, n_resamples=999, method=method, rng=0)[
            "roc_auc"
        ]
        assert ends.confidence_interval.low < ends.value < ends.confidence_interval.high


def test_names_of_any_kind():
    found = bootstrap(Ranking(Y, S), {1: "roc_auc", "b": "gini"}, n_resamples=99, rng=0)
    assert list(found) == ["1", "b"]
    assert found[1] is found["1"]


def test_whole_counts_may_be_floats():
    result = bootstrap(ConfusionMatrix([[5.0, 1.0], [2.0, 3.0]]), "accuracy", rng=0)
    assert result["accuracy"].value == 8 / 11


def test_rows_of_weight_zero_are_left_out():
    weights = np.where(np.arange(30) % 3, 1.5, 0.0)
    kept = weights > 0
    for options in ({}, {"groups": np.arange(30) // 2}):
        groups = {"groups": options["groups"][kept]} if options else {}
        np.testing.assert_array_equal(
            distribution((Y, S), "roc_auc", sample_weight=weights, **options),
            distribution((Y[kept], S[kept]), "roc_auc", sample_weight=weights[kept], **groups),
        )
