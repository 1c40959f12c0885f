"""One model's metrics compared between groups, against shares counted row by row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

import fastevals
from fastevals import group_differences, metric
from fastevals._options import UndefinedMetricWarning
from tests.reference import group_differences as twins
from tests.reference import group_shares as reference

RNG = np.random.default_rng(3)
N = 800
Y = RNG.random(N) < 0.4
GROUPS = RNG.choice(["a", "b", "c", "d"], N, p=[0.5, 0.3, 0.15, 0.05])
SCORES = np.round(RNG.random(N) * 0.6 + 0.4 * Y - 0.1 * (GROUPS == "b"), 2)
PREDICTED = SCORES >= 0.5
KEPT = {
    "recall": Y, "false_positive_rate": ~Y, "prediction_rate": np.ones(N, dtype=bool), "precision": PREDICTED,
    "accuracy": np.ones(N, dtype=bool),
}  # fmt: skip
SUCCESSES = {
    "recall": PREDICTED, "false_positive_rate": PREDICTED, "prediction_rate": PREDICTED, "precision": Y,
    "accuracy": Y == PREDICTED,
}  # fmt: skip


def share_of(name: str, rows: Any) -> reference.Share:
    """Return the successes and trials of a metric among some rows."""
    kept = rows & KEPT[name]
    return int(np.sum(SUCCESSES[name][kept])), int(np.sum(kept))


def entry(found: Any, group: Any) -> dict[str, Any]:
    """Return a group's row."""
    frame = found.to_frame("pandas")
    return dict(frame[frame["group"] == group].iloc[0])


@pytest.mark.parametrize("against", [None, "b", "rest"])
@pytest.mark.parametrize("name", list(KEPT))
def test_differences_and_ratios_equal_the_twin(name: str, against: str | None) -> None:
    found = group_differences(Y, PREDICTED, GROUPS, name, reference=against)[name]
    assert found.reference == (against or "a")
    others = [each for each in "abcd" if each != found.reference]
    assert sorted(found.groups) == others
    z = -reference.stats.norm.ppf((1 - 0.95 ** (1 / len(others))) / 2)
    for group in others:
        own = share_of(name, group == GROUPS)
        other = share_of(name, group != GROUPS if against == "rest" else found.reference == GROUPS)
        row, p = entry(found, group), reference.pvalue(own, other)
        assert (row["value"], row["n_trials"]) == (pytest.approx(own[0] / own[1]), own[1])
        assert (row["low"], row["high"]) == pytest.approx(reference.difference(own, other, z))
        assert (row["ratio_low"], row["ratio_high"]) == pytest.approx(reference.ratio(own, other, z))
        assert row["difference"] == pytest.approx(own[0] / own[1] - other[0] / other[1])
        assert row["ratio"] == pytest.approx(own[0] / own[1] / (other[0] / other[1]))
        assert row["pvalue"] == pytest.approx(p)
        assert row["adjusted_pvalue"] == pytest.approx(1 - (1 - p) ** len(others))
        assert (row["adjusted_pvalue"] < 0.05) == (row["is_lower"] or row["is_higher"])
        assert (row["adjusted_pvalue"] < 0.05) == (not row["low"] <= 0 <= row["high"])
        assert (row["adjusted_pvalue"] < 0.05) == (not row["ratio_low"] <= 1 <= row["ratio_high"])


def test_ranges_are_projections_of_all_pairs() -> None:
    found = group_differences(Y, PREDICTED, GROUPS, ["recall", "precision"], confidence_level=0.9)
    for name, each in found.items():
        shares = {group: share_of(name, group == GROUPS) for group in "abcd"}
        values = {group: x / n for group, (x, n) in shares.items()}
        low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
        spread = each.range
        assert (spread.lowest, spread.highest) == (low, high)
        assert spread.difference == pytest.approx(values[high] - values[low])
        assert spread.ratio == pytest.approx(values[low] / values[high])
        twin = list(shares.values())
        assert spread.difference_interval == pytest.approx(reference.largest_difference(twin, 0.9), abs=1e-9)
        assert spread.ratio_interval == pytest.approx(reference.smallest_ratio(twin, 0.9))


def test_equalized_odds_and_demographic_parity() -> None:
    found = group_differences(Y, PREDICTED, GROUPS, "accuracy")
    ends: list[Any] = []
    for name in ("recall", "false_positive_rate"):
        shares = [share_of(name, group == GROUPS) for group in "abcd"]
        values = [x / n for x, n in shares]
        each = [reference.largest_difference(shares, 0.95**0.5), reference.smallest_ratio(shares, 0.95**0.5)]
        ends.append((max(values) - min(values), min(values) / max(values), *each))
    odds = found.equalized_odds
    assert odds is not None
    assert odds.difference == pytest.approx(max(each[0] for each in ends))
    assert odds.ratio == pytest.approx(min(each[1] for each in ends))
    assert odds.difference_interval == pytest.approx(np.max([each[2] for each in ends], axis=0), abs=1e-9)
    assert odds.ratio_interval == pytest.approx(np.min([each[3] for each in ends], axis=0))
    parity = group_differences(Y, PREDICTED, GROUPS, "selection_rate")
    expected = parity["selection_rate"].range.to_dict()
    assert found.demographic_parity is not None
    assert found.demographic_parity.to_dict() == expected
    assert found.conclusion.startswith("Equalised odds: difference 0.")


def test_scores_at_a_threshold_are_labels() -> None:
    labels = group_differences(Y, PREDICTED, GROUPS, "recall")
    scores = group_differences(Y, SCORES, GROUPS, [metric("recall", threshold=0.5), "roc_auc"])
    assert np.array_equal(scores["recall(threshold=0.5)"].differences, labels["recall"].differences)
    assert scores.equalized_odds is not None
    assert labels.equalized_odds is not None
    assert scores.equalized_odds.to_dict() == labels.equalized_odds.to_dict()
    two = group_differences(Y, SCORES, GROUPS, [metric("recall", threshold=each) for each in (0.4, 0.5)])
    assert (two.equalized_odds, two.demographic_parity) == (None, None)


def test_aucs_have_delongs_variance_in_large_groups() -> None:
    rng = np.random.default_rng(1)
    y, groups = rng.random(40_000) < 0.5, rng.random(40_000) < 0.5
    scores = y + rng.normal(size=y.size) - 0.3 * (groups & y)
    found = group_differences(y, scores, groups, "roc_auc", reference=False)["roc_auc"]
    parts = [fastevals.delong(y[groups == k], scores[groups == k]) for k in (True, False)]
    assert found.values[0] == pytest.approx(parts[0].aucs[0])
    margin = 1.96 * np.hypot(*(each.standard_error for each in parts))
    assert found.difference_intervals[0] == pytest.approx(found.differences[0] + margin * np.array([-1, 1]), abs=2e-4)
    rest = group_differences(y, scores, groups, "roc_auc", reference="rest")["roc_auc"]
    assert found.differences[0] in rest.differences
    one = group_differences([0, 1] * 20, [0, 1] * 10 + [0, 1, 1, 0] * 5, [0] * 20 + [1] * 20, "roc_auc")["roc_auc"]
    low, high = one.difference_intervals[0]
    assert -1 < low < one.differences[0] < high < 0  # no variance in the first group


def test_other_metrics_have_as_many_trials_as_their_variance_needs() -> None:
    measures = {"f1": metrics.f1_score, "matthews": metrics.matthews_corrcoef}
    found = group_differences(Y, PREDICTED, GROUPS, list(measures), confidence_level=0.9)
    for name, measure in measures.items():
        least, limits = {"f1": 0, "matthews": -1}[name], {}
        for group in "ab":
            mine = group == GROUPS
            y, predicted = Y[mine], PREDICTED[mine]
            alike = 2 * y + predicted  # rows whose omission changes the same count
            without = np.zeros(y.size)
            for cell in np.unique(alike):
                rows = np.delete(np.arange(y.size), np.flatnonzero(alike == cell)[0])
                without[alike == cell] = measure(y[rows], predicted[rows])
            influences = (np.mean(without) - without) * (y.size - 1) / y.size
            n = min(np.bincount(y))
            error = twins.t_test(1.0, [influences.tolist()], n)[0]
            share, variance = (measure(y, predicted) - least) / (1 - least), (error / (1 - least)) ** 2
            trials = (n + 5) / (n * variance / (share * (1 - share)) + 5 / n)
            z = stats.t.isf((1 - 0.9 ** (1 / 3)) / 2, n - 1)
            limits[group] = share, *reference.wilson((share * trials, trials), z)
        (p, low, high), (q, low_2, high_2) = limits["b"], limits["a"]
        row = entry(found[name], "b")
        assert row["difference"] == pytest.approx((p - q) * (1 - least))
        assert row["low"] == pytest.approx((p - q - np.hypot(p - low, high_2 - q)) * (1 - least))
        assert row["high"] == pytest.approx((p - q + np.hypot(high - p, q - low_2)) * (1 - least))
    assert np.isnan(found["matthews"].ratios).all()
    assert "ratio" not in found["matthews"].conclusion
    assert "ratio" in found["f1"].conclusion


def test_weights_and_clusters() -> None:
    plain, names = group_differences(Y, PREDICTED, GROUPS), ("recall", "false_positive_rate")
    weights = np.where(np.arange(N) % 4 == 0, 0.0, 3.0)
    kept = weights > 0
    weighted = group_differences(Y, PREDICTED, GROUPS, sample_weight=weights)
    alone = group_differences(Y[kept], PREDICTED[kept], GROUPS[kept])
    for name in names:
        row, own = entry(weighted[name], "b"), entry(alone[name], "b")
        assert (row["n_trials"], row["value"]) == (own["n_trials"], pytest.approx(own["value"]))
        assert row["high"] - row["low"] == pytest.approx(own["high"] - own["low"], rel=0.1)
    weights = 1.0 + 2 * (np.arange(N) % 2)
    recall = group_differences(Y, PREDICTED, GROUPS, "recall", sample_weight=weights)["recall"]
    mine = (GROUPS == "b") & Y
    row, own = entry(recall, "b"), entry(plain["recall"], "b")
    assert row["value"] == pytest.approx(np.average(PREDICTED[mine], weights=weights[mine]))
    assert 1 < (row["high"] - row["low"]) / (own["high"] - own["low"]) < 1.3
    rows = np.repeat(np.arange(N), 5)
    clustered = group_differences(Y[rows], PREDICTED[rows], GROUPS[rows], [*names, "f1"], clusters=rows)
    for name in names:
        row, own = entry(clustered[name], "b"), entry(plain[name], "b")
        assert row["difference"] == pytest.approx(own["difference"])
        assert row["high"] - row["low"] == pytest.approx(own["high"] - own["low"], rel=0.1)
    few = group_differences(Y, PREDICTED, GROUPS, "f1", clusters=np.arange(N) % 7)["f1"]
    assert (few.cautions == "only 7 clusters: merge small groups").all()
    aucs = group_differences(Y[rows], SCORES[rows], GROUPS[rows], "roc_auc", clusters=rows)["roc_auc"]
    row, own = entry(aucs, "b"), entry(group_differences(Y, SCORES, GROUPS, "roc_auc")["roc_auc"], "b")
    assert row["high"] - row["low"] == pytest.approx(own["high"] - own["low"], rel=0.1)


def test_rare_events_have_a_caution() -> None:
    rng = np.random.default_rng(4)
    predicted, groups = rng.random(1020) < 0.05, np.repeat([0, 1], [1000, 20])
    found = group_differences(np.ones(1020, int), predicted, groups, "prediction_rate")["prediction_rate"]
    assert re.fullmatch(r"the rarer outcome is expected in only [01].\d+ rows: merge small groups", found.cautions[0])


def test_the_worst_groups_come_first_and_are_named() -> None:
    found = group_differences(Y, PREDICTED, GROUPS)
    recall, rate = found["recall"], found["false_positive_rate"]
    assert (recall.groups[0], recall.is_lower.tolist()) == ("b", [True, False, False])
    assert recall.conclusion.startswith("The recall of b is significantly lower than the recall of a: difference -0.")
    assert rate.groups[-1] == "b"  # a low rate is good
    assert "The recall is highest in " in recall.conclusion
    equal = group_differences(Y, Y, GROUPS, "recall")["recall"]
    assert equal.conclusion.startswith("No significant difference in recall between a and 3 groups (smallest adjusted")
    assert (equal.ratios == 1).all()


def test_groups_without_rows_of_a_class_are_undefined() -> None:
    y, predicted, groups = [1, 1, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0], list("aaabbb")
    with pytest.warns(UndefinedMetricWarning, match="1 of 1 group have none"):
        found = group_differences(y, predicted, groups, "recall")
    assert np.isnan(found["recall"].differences).all()
    assert found["recall"].cautions[0] == "no positive rows: the metric is undefined"
    assert np.isnan(found["recall"].range.difference)
    assert "fewer than two groups" in found["recall"].conclusion
    rate = group_differences(y, predicted, groups, "fpr", reference="a")["fpr"]
    assert rate.ratios[0] == np.inf
    assert rate.ratio_intervals[0, 1] == np.inf
    assert rate.cautions[0] == "the reference value is 0, so the ratio is infinite or undefined"
    assert group_differences(y, predicted, groups, "fpr")["fpr"].cautions[0] == rate.cautions[0]
    with pytest.warns(UndefinedMetricWarning):
        one = group_differences([1, 0], [1, 0], [0, 1])
    assert one.conclusion.startswith(
        "Equalised odds: defined in fewer than two groups. Demographic parity: difference 1"
    )
    few = group_differences(y, predicted, groups, "prediction_rate")["prediction_rate"]
    assert few.cautions[0] == "only 3 rows: merge small groups"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"groups": ["a"] * N}, "groups must have two groups or more to compare, got 1"),
        ({"metrics": "positive_likelihood_ratio"}, "with a lowest and a highest value, .*; got positive_likelihood"),
        ({"metrics": "log_loss"}, "metrics must be functions of confusion matrices .*; got log_loss"),
        ({"metrics": "roc_auc", "y_score": SCORES, "sample_weight": np.ones(N)}, "roc_auc does not take sample_weight"),
        ({"metrics": ["roc_auc", "recall"]}, "threshold"),
        ({"reference": "e"}, "reference must be a group or 'rest': the groups are a, b, c, ...; got 'e'"),
        ({"groups": np.where(GROUPS == "a", "rest", GROUPS), "reference": "rest"}, "reference 'rest' is also the name"),
        ({"groups": GROUPS[1:]}, "groups has 799 rows, but y_true has 800"),
        ({"y_true": np.arange(N) % 3, "y_score": np.arange(N) % 3}, "recall needs labels of two classes, got 3"),
        ({"y_true": np.where(Y, "yes", "no"), "y_score": np.where(Y, "yes", "no")}, "recall needs a positive class"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"y_true": 1.0 * Y, "y_score": np.where(Y, np.nan, 1.0)}, "y_score must be finite, but has .* NaN"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], match: str) -> None:
    given = {"y_true": Y, "y_score": PREDICTED, "groups": GROUPS, **change}
    with pytest.raises(ValueError, match=match):
        group_differences(**given)


def test_accuracy_takes_any_number_of_classes_and_groups_several_columns() -> None:
    y, predicted = np.arange(N) % 3, (np.arange(N) + (np.arange(N) % 5 == 0)) % 3
    columns = {"first": GROUPS, "second": Y}
    found = group_differences(y, predicted, columns, "accuracy", reference=("d", True))["accuracy"]
    assert (len(found), found.reference, found.by) == (7, ("d", True), ("first", "second"))
    of_one = (GROUPS == "a") & ~Y
    frame = found.to_frame("pandas").set_index(["first", "second"])
    assert frame.loc[("a", False), "value"] == pytest.approx(np.mean(y[of_one] == predicted[of_one]))


def test_pairs_of_many_groups_equal_the_twin() -> None:
    rng = np.random.default_rng(2)
    for _ in range(4):
        groups = np.repeat(np.arange(12), rng.integers(1, 40, 12))
        predicted = rng.random(groups.size) < rng.random(12)[groups]
        found = group_differences(groups > 5, predicted, groups, "prediction_rate")["prediction_rate"]
        shares = [(int(predicted[groups == k].sum()), int(np.sum(groups == k))) for k in range(12)]
        assert found.range.difference_interval == pytest.approx(reference.largest_difference(shares, 0.95))
        assert found.range.ratio_interval == pytest.approx(reference.smallest_ratio(shares, 0.95), abs=1e-9)
        assert f"highest in {found.range.highest} (" in found.conclusion  # not np.int64(...)


@pytest.mark.slow
def test_intervals_cover() -> None:
    rng = np.random.default_rng(0)
    for sizes in ([20] * 5, [200] * 10, [20, 50, 200, 1000]):
        groups, rates = np.repeat(np.arange(len(sizes)), sizes), np.linspace(0.2, 0.4, len(sizes))
        covered = np.zeros(2)
        for _ in range(600):
            predicted = rng.random(groups.size) < rates[groups]
            each = group_differences(np.ones(groups.size, dtype=int), predicted, groups, "prediction_rate")[
                "prediction_rate"
            ]
            true = rates[each.groups] - rates[each.reference]
            low, high = each.difference_intervals.T
            least, most = each.range.difference_interval
            covered += np.all((low <= true) & (true <= high)), least <= rates[-1] - rates[0] <= most
        assert (covered / 600 > 0.93).all()
