"""Models compared within groups, against each group alone."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import fastevals
from fastevals import compare_groups, metric
from fastevals._execution import num_threads
from tests.reference import group_differences as reference

N = 600
RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, N)
GROUPS = RNG.choice(["a", "b", "c", "d"], N, p=[0.5, 0.3, 0.15, 0.05])
NOISE = RNG.normal(size=(2, N))
OLD, NEW = (np.round(1 / (1 + np.exp(-2 * Y + 1 + each)), 2) for each in (NOISE[0], 0.9 * NOISE[0] + 0.43 * NOISE[1]))
NEW = np.where(GROUPS == "b", RNG.random(N), NEW)
MODELS = {"old": OLD, "new": NEW}
AT_HALF = {"recall": "recall", "fpr": "false_positive_rate", "precision": "precision", "f1": "f1"}
AT_HALF = {name: metric(each, threshold=0.5) for name, each in AT_HALF.items()}


def row_of(found: Any, group: Any) -> dict[str, Any]:
    """Return a group's row as a dict."""
    frame = found.to_frame("pandas")
    return dict(frame[frame["group"] == group].iloc[0])


@pytest.mark.parametrize("group", ["a", "b", "c", "d"])
def test_aucs_equal_the_twin(group: str) -> None:
    row = row_of(compare_groups(Y, MODELS, GROUPS)["roc_auc"], group)
    mine = group == GROUPS
    parts = [reference.auc_influences(Y[mine].tolist(), each[mine].tolist()) for each in (NEW, OLD)]
    (new, own), (old, other) = parts
    strata = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(own, other, strict=True)]
    error, _, p = reference.t_test(new - old, strata)
    assert (row["value"], row["reference_value"]) == (pytest.approx(new), pytest.approx(old))
    assert row["standard_error"] == pytest.approx(error)
    assert row["pvalue"] == pytest.approx(p)
    assert row["adjusted_pvalue"] == pytest.approx(reference.adjusted(p, 4))
    delong = fastevals.delong(Y[mine], [NEW[mine], OLD[mine]])
    assert row["standard_error"] ** 2 == pytest.approx(float(delong.moments.variance([1, -1])))


def test_shares_are_tested_exactly() -> None:
    found = compare_groups(Y, MODELS, GROUPS, AT_HALF)
    for name, label in (("recall", 1), ("fpr", 0)):
        for group in "abcd":
            mine = (group == GROUPS) & (label == Y)
            difference, p = reference.paired_shares(NEW[mine] >= 0.5, OLD[mine] >= 0.5)
            row = row_of(found[name], group)
            assert row["difference"] == pytest.approx(difference)
            assert row["pvalue"] == pytest.approx(p)
            assert row["low"] <= difference <= row["high"]


def test_losses_are_tested_by_t() -> None:
    found = compare_groups(Y, MODELS, GROUPS, "brier_score")["brier_score"]
    for group in "abcd":
        mine = group == GROUPS
        difference = (NEW[mine] - Y[mine]) ** 2 - (OLD[mine] - Y[mine]) ** 2
        row = row_of(found, group)
        assert row["difference"] == pytest.approx(difference.mean())
        assert row["standard_error"] == pytest.approx(stats.sem(difference))
        centred = ((difference - difference.mean()) / difference.size).tolist()
        assert row["pvalue"] == pytest.approx(reference.t_test(difference.mean(), [centred])[2])
    targets = fastevals.compare_groups(OLD, [OLD + 0.1, NEW], GROUPS, ["mse", metric("pinball_loss", quantile=0.2)])
    assert row_of(targets["mse"], "a")["reference_value"] == pytest.approx(0.01)
    assert row_of(targets["pinball_loss(quantile=0.2)"], "a")["reference_value"] == pytest.approx(0.02)


def test_metrics_of_counts_have_jackknife_errors() -> None:
    found = compare_groups(Y, MODELS, GROUPS, AT_HALF)
    mine = GROUPS == "c"
    y, (new, old) = Y[mine], [each[mine] >= 0.5 for each in (NEW, OLD)]
    of = {"precision": metrics.precision_score, "f1": metrics.f1_score}
    for name, measure in of.items():
        alike = 4 * y + 2 * new + old  # rows whose omission changes the same counts
        without = np.zeros(y.size)
        for cell in np.unique(alike):
            rows = np.delete(np.arange(y.size), np.flatnonzero(alike == cell)[0])
            without[alike == cell] = measure(y[rows], new[rows]) - measure(y[rows], old[rows])
        influences = (without.mean() - without) * (y.size - 1) / y.size
        classes = np.bincount(y) if name == "f1" else [y.size]
        error, df, _ = reference.t_test(1.0, [influences.tolist()], min(classes))
        row = row_of(found[name], "c")
        assert row["standard_error"] == pytest.approx(error)
        assert row["pvalue"] == pytest.approx(2 * stats.t.sf(abs(row["difference"]) / error, df))


def test_one_row_of_a_class_has_no_test() -> None:
    y, old = np.repeat([0, 1], [20, 1]), np.zeros(21)
    with pytest.warns(fastevals.UndefinedMetricWarning):
        found = compare_groups(y, [old, y + (np.arange(21) > 18)], [0] * 21, metric("cohen_kappa", threshold=1))
    assert math.isnan(next(iter(found.values())).pvalues[0])


def test_the_worst_groups_come_first() -> None:
    found = compare_groups(Y, MODELS, GROUPS)["roc_auc"]
    assert found.groups[0] == "b"
    assert found.is_worse.tolist() == [True, False, False, False]
    assert not found.is_better.any()
    assert found.conclusion.startswith("In 1 of 4 groups, new is significantly worse than old by roc_auc: b (-0.")
    assert "The difference varies significantly over 4 groups (" in found.conclusion
    losses = compare_groups(Y, MODELS, GROUPS, "log_loss")["log_loss"]
    assert (losses.groups[0], losses.differences[0] > 0, losses.is_worse[0]) == ("b", True, True)
    swapped = compare_groups(Y, MODELS, GROUPS, reference="new")["roc_auc"]
    assert (swapped.groups[-1], swapped.is_better.tolist()) == ("b", [False, False, False, True])
    assert "old is significantly better in 1 group." in swapped.conclusion


def test_intervals_are_simultaneous() -> None:
    several = compare_groups(Y, MODELS, GROUPS, confidence_level=0.9)["roc_auc"]
    alone = compare_groups(Y[GROUPS == "a"], [OLD[GROUPS == "a"], NEW[GROUPS == "a"]], [0] * np.sum(GROUPS == "a"),
                           confidence_level=0.9 ** (1 / 4))["roc_auc"]  # fmt: skip
    assert row_of(several, "a")["low"] == pytest.approx(alone.confidence_intervals[0, 0])
    three = compare_groups(Y, {**MODELS, "third": OLD[::-1]}, GROUPS)["roc_auc"]
    assert len(three) == 8
    assert three.adjusted_pvalues[-1] == pytest.approx(reference.adjusted(three.pvalues[-1], 8))
    assert set(three.heterogeneity) == {"new", "third"}


def test_cochrans_q_is_the_sum_of_squared_scores() -> None:
    found = compare_groups(Y, MODELS, GROUPS, "brier_score")["brier_score"]
    effects, errors, df = [], [], []
    for group in "abcd":
        mine = group == GROUPS
        difference = (NEW[mine] - Y[mine]) ** 2 - (OLD[mine] - Y[mine]) ** 2
        error, freedom, _ = reference.t_test(0.1, [((difference - difference.mean()) / difference.size).tolist()])
        if mine.sum() > 10:
            effects, errors, df = [*effects, difference.mean()], [*errors, error], [*df, freedom]
    center = np.average(effects, weights=np.power(errors, -2.0))
    scores = stats.norm.isf(stats.t.sf(np.abs(effects - center) / errors, df))
    test = found.heterogeneity["new"]
    assert (test.statistic, test.df) == (pytest.approx(np.sum(scores**2)), len(df) - 1)
    assert test.effect == pytest.approx(1 - test.df / test.statistic)


def test_clusters_are_summed() -> None:
    clusters = np.arange(N) // 3
    row = row_of(compare_groups(Y, MODELS, GROUPS, clusters=clusters)["roc_auc"], "a")
    mine = GROUPS == "a"
    parts = [reference.auc_influences(Y[mine].tolist(), each[mine].tolist())[1] for each in (NEW, OLD)]
    strata = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(*parts, strict=True)]
    names = [clusters[mine & (label == Y)].tolist() for label in (1, 0)]
    error, _, p = reference.t_test(row["difference"], reference.clustered(strata, names))
    assert (row["standard_error"], row["pvalue"]) == (pytest.approx(error), pytest.approx(p))
    alone = compare_groups(Y, MODELS, GROUPS, [AT_HALF["f1"], "log_loss"])
    for name, each in compare_groups(Y, MODELS, GROUPS, [AT_HALF["f1"], "log_loss"], clusters=range(N)).items():
        assert each.standard_errors == pytest.approx(alone[name].standard_errors)


def test_weights_are_of_rows() -> None:
    metrics = [AT_HALF["precision"], "brier_score"]
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
    kept = weights > 0
    weighted = compare_groups(Y, MODELS, GROUPS, metrics, sample_weight=1e300 * weights)
    alone = compare_groups(Y[kept], {"old": OLD[kept], "new": NEW[kept]}, GROUPS[kept], metrics)
    for name in weighted:
        assert weighted[name].standard_errors == pytest.approx(alone[name].standard_errors)
        assert weighted[name].n_samples.tolist() == alone[name].n_samples.tolist()
    row = row_of(compare_groups(Y, MODELS, GROUPS, metrics[1], sample_weight=1 + Y)["brier_score"], "a")
    mine = GROUPS == "a"
    difference, w = (NEW[mine] - Y[mine]) ** 2 - (OLD[mine] - Y[mine]) ** 2, 1.0 + Y[mine]
    mean = np.average(difference, weights=w)
    assert row["difference"] == pytest.approx(mean)
    assert row["standard_error"] == pytest.approx(
        reference.t_test(mean, [(w * (difference - mean) / w.sum()).tolist()])[0]
    )


def test_predicted_labels_of_any_number_of_classes() -> None:
    y = np.array(list("xyz"))[RNG.integers(0, 3, 90)]
    a, b = (np.where(RNG.random(90) < share, y, "x") for share in (0.9, 0.5))
    found = compare_groups(y, {"a": a, "b": b}, [1] * 90, ["accuracy", metric("f1", average="macro")])
    difference, p = reference.paired_shares(b == y, a == y)
    assert found["accuracy"].differences[0] == pytest.approx(difference)
    assert found["accuracy"].pvalues[0] == pytest.approx(p)
    macro = found["f1(average='macro')"]
    matrix = fastevals.ConfusionMatrix.from_predictions
    without = [
        np.subtract(*(matrix(*np.delete([y, each], k, axis=1)).f_score(average="macro") for each in (b, a)))
        for k in range(90)
    ]
    jackknife = math.sqrt(89 * np.var(without))
    assert macro.standard_errors[0] == pytest.approx(jackknife, rel=0.02)


def test_groups_that_say_nothing() -> None:
    y = [0, 0, 0, 1, 0, 1, 0, 1, 0, 1]
    models = {"old": [1, 2, 3, 4, 2, 1, 3, 4, 1, 2], "new": [1, 2, 3, 4, 1, 2, 3, 4, 1, 2]}
    with pytest.warns(fastevals.UndefinedMetricWarning, match="2 of 3 groups have no test; see `cautions`"):
        found = compare_groups(y, models, list("aaabbbcccc"))["roc_auc"]
    cautions = dict(zip(found.groups.tolist(), found.cautions.tolist(), strict=True))
    assert cautions["a"] == "the metric is undefined on these rows"
    assert cautions["b"].startswith("no standard error")
    assert cautions["c"].startswith("the models are alike on these rows")
    assert found.pvalues[found.groups == "c"].tolist() == [1.0]
    assert math.isnan(found.heterogeneity["new"].pvalue)
    assert "new significantly worse than old by roc_auc; the strongest evidence is in c (0," in found.conclusion


def test_keys_and_rows_in_any_order() -> None:
    shuffled = RNG.permutation(N)
    found = compare_groups(Y, MODELS, GROUPS)["roc_auc"]
    again = compare_groups(Y[shuffled], {name: each[shuffled] for name, each in MODELS.items()}, GROUPS[shuffled])
    assert found.differences == pytest.approx(again["roc_auc"].differences)
    days = np.array(["2026-01-01", "2026-01-09"], dtype="M8[D]")[(GROUPS == "b").astype(int)]
    assert compare_groups(Y, MODELS, days)["roc_auc"].groups[0] == days.max()
    halves = np.arange(N) % 2
    crossed = compare_groups(Y, MODELS, {"region": GROUPS, "half": halves})["roc_auc"]
    assert crossed.conclusion.startswith("In 2 of 8 groups, new is significantly worse than old by roc_auc: (b, ")
    assert "The difference varies significantly over 6 of 8 groups (" in crossed.conclusion
    assert list(crossed.to_frame("pandas").columns[:2]) == ["region", "half"]
    with num_threads(1):
        one = compare_groups(Y, MODELS, GROUPS)["roc_auc"]
    assert one.confidence_intervals.tobytes() == found.confidence_intervals.tobytes()
    ranks = {name: (each * 100).round().astype(int) for name, each in MODELS.items()}
    exact = {name: each / 100 for name, each in ranks.items()}
    whole = compare_groups(Y, ranks, GROUPS)["roc_auc"]
    assert whole.differences.tolist() == compare_groups(Y, exact, GROUPS)["roc_auc"].differences.tolist()


def test_errors_name_the_argument() -> None:
    for message, changed in {
        "predictions must have two models or more to compare, got 1": {"predictions": {"one": OLD}},
        "reference must be one of 'old', 'new'; got 'best'": {"reference": "best"},
        "metrics must be AUCs, losses of probabilities, or metrics at a fixed threshold, got average_precision": {
            "metrics": "average_precision"
        },
        r"got recall\(best='f1'\)": {"metrics": metric("recall", best="f1")},
        "roc_auc does not take sample_weight": {"sample_weight": np.ones(N)},
        "groups has 2 rows, but y_true has 600": {"groups": [1, 2]},
        "clusters has 3 rows, but y_true has 600": {"clusters": [1, 2, 3]},
        "probabilit": {"metrics": "brier_score", "predictions": {"a": OLD + 1, "b": NEW + 1}},
        "confidence_level": {"confidence_level": 1.0},
    }.items():
        given = {"predictions": MODELS, "groups": GROUPS, **changed}
        with pytest.raises(ValueError, match=message):
            compare_groups(Y, **given)


@pytest.mark.slow
@pytest.mark.parametrize(("n_groups", "n_rows"), [(20, 200), (1000, 60)])
def test_equal_models_are_seldom_called_different(n_groups: int, n_rows: int) -> None:
    rng, n_sets = np.random.default_rng(3), 1_500_000 // (n_groups * n_rows)
    metrics = ["roc_auc", "log_loss", *AT_HALF.values()]
    false_alarms = dict.fromkeys(map(str, metrics), 0)
    for _ in range(n_sets):
        n = n_groups * n_rows
        y, common = rng.random(n) < 0.3, rng.normal(size=n)
        models = [1 / (1 + np.exp(-(y - 0.5 + common + rng.normal(size=n)))) for _ in range(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
            found = compare_groups(y, models, np.arange(n) % n_groups, metrics)
        for name, each in found.items():
            false_alarms[name] += bool((each.is_worse | each.is_better).any())
    most = 0.05 * n_sets + 3 * math.sqrt(0.05 * 0.95 * n_sets)
    assert max(false_alarms.values()) <= most, false_alarms


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_infinite_losses_have_no_test() -> None:
    y, groups = np.arange(40) % 2, np.arange(40) // 20
    q = np.where(y == 1, 0.6, 0.3)
    p = np.where(np.arange(40) == 1, 0.0, q + 0.01 * (np.arange(40) % 5))
    with pytest.warns(fastevals.UndefinedMetricWarning, match="1 of 2 groups have no test"):
        found = fastevals.compare_groups(y, {"q": q, "p": p}, groups, "log_loss")["log_loss"]
    assert found.groups.tolist() == [1, 0]
    assert found.values[1] == np.inf
    assert np.isnan(found.pvalues[1])
    huge = np.where(groups == 0, 1e200, 1.0)
    with pytest.warns(fastevals.UndefinedMetricWarning, match="2 of 2 groups have no test"):
        none = fastevals.compare_groups(1e200 * y, {"q": huge, "p": -huge}, groups, "mean_squared_error")
    assert none["mean_squared_error"].conclusion == "In no group can p be tested against q by mean_squared_error."
