"""Which of two classes is positive: the user's choice, or 1 among 0/1, -1/1 and booleans; otherwise unknown."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fastevals import (
    ConfusionMatrix,
    KFold,
    Ranking,
    batch_auc,
    batch_metrics,
    bootstrap,
    compare_predictions,
    delong,
    estimate_error,
    evaluate_splits,
    grouped_auc,
    grouped_metrics,
    metric,
    permutation_test,
    proportion_interval,
)

# 2 of 20 customers that churn are found, and 99 of 100 that stay: the recalls are 0.1 and 0.99.
CHURNED = np.repeat([True, False], [20, 100])
FOUND = np.concatenate((np.arange(20) < 2, np.arange(100) < 1))
NAMES = np.array(["stay", "churn"])
Y, PRED, OTHER = NAMES[CHURNED.astype(int)], NAMES[FOUND.astype(int)], NAMES[np.roll(FOUND, 3).astype(int)]
FOLDS, GROUPS = np.arange(120) % 2, np.zeros(120, dtype=int)
QUICK: dict[str, Any] = {"n_resamples": 99, "rng": 0}
RECALL = {"churn": 0.1, "stay": 0.99}
FREE = [
    "accuracy", "error_rate", "hamming_loss", "balanced_accuracy", "informedness", "markedness", "matthews",
    "cohen_kappa", "diagnostic_odds_ratio",
    *(metric("f1", average=average) for average in ("macro", "micro", "weighted")),
]  # fmt: skip
NEEDY = ["precision", "recall", "specificity", "jaccard", "f1", "false_positive_rate", "false_negative_rate"]
NEEDY += [
    "negative_predictive_value", "positive_likelihood_ratio", "negative_likelihood_ratio", "prevalence",
    "prediction_rate", "fowlkes_mallows",
]  # fmt: skip

Recall = Callable[..., float]


def majority(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return PRED[np.asarray(X_test)]


def quick_splits(y: Any, p: Any, asked: Any, **options: Any) -> Any:
    return evaluate_splits(y, p, FOLDS, asked, **options)


# Each returns the recall of predictions, or the value of another metric of labels.
CALLS: dict[str, Callable[..., Any]] = {
    "bootstrap": lambda asked, **o: bootstrap((Y, PRED), asked, **o, **QUICK)[asked].value,
    "bootstrap with weights": lambda asked, **o: (
        bootstrap((Y, PRED), asked, sample_weight=np.full(120, 2.5), **o, **QUICK)[asked].value
    ),
    "bootstrap of a matrix": lambda asked, **o: (
        bootstrap(ConfusionMatrix.from_predictions(Y, PRED, **o), asked, **QUICK)[asked].value
    ),
    "compare_predictions": lambda asked, **o: (
        compare_predictions(Y, {"a": PRED, "b": OTHER}, metrics=asked, **o, **QUICK)[asked].estimates["a"].value
    ),
    "compare_predictions with weights": lambda asked, **o: (
        compare_predictions(
            Y, {"a": PRED, "b": OTHER}, metrics=asked, sample_weight=np.full(120, 2.0), **o, **QUICK
        )[asked].estimates["a"].value
    ),
    "batch_metrics": lambda asked, **o: batch_metrics(Y, [PRED, OTHER], asked, **o)[asked][0],
    "grouped_metrics": lambda asked, **o: grouped_metrics(Y, PRED, GROUPS, asked, **o)[asked][0],
    "from_groups": lambda asked, **o: (
        bootstrap(ConfusionMatrix.from_groups(Y, PRED, GROUPS, **o)[1], asked, **QUICK)[asked].value[0]
    ),
    "permutation_test": lambda asked, **o: permutation_test(Y, PRED, Y, asked, **o, **QUICK).effect + 1,
    "evaluate_splits": lambda asked, **o: evaluate_splits(Y, PRED, FOLDS, asked, **o)[asked].micro,
    "estimate_error": lambda asked, **o: (
        estimate_error(majority, np.arange(120), Y, KFold(4, rng=0), asked, **o)[asked].micro
    ),
}  # fmt: skip


@pytest.mark.parametrize("positive", NAMES.tolist())
@pytest.mark.parametrize("name", CALLS)
def test_pos_label_says_which_class_is_measured(name: str, positive: str) -> None:
    assert CALLS[name]("recall", pos_label=positive) == pytest.approx(RECALL[positive])


@pytest.mark.parametrize("name", CALLS)
def test_without_it_metrics_that_need_it_are_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="recall needs a positive class, but it is unknown which of 'churn', 'stay'"):
        CALLS[name]("recall")


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("name", CALLS)
def test_accuracy_and_averages_need_none(name: str) -> None:
    asked = "accuracy" if name == "estimate_error" else metric("f1", average="macro")
    assert CALLS[name](asked) == CALLS[name](asked, pos_label="churn") == CALLS[name](asked, pos_label="stay")


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_of_a_matrix_only_metrics_that_need_it_are_an_error() -> None:
    matrix = ConfusionMatrix.from_predictions(Y, PRED)
    assert (matrix.pos_label, matrix.labels.tolist()) == (None, ["churn", "stay"])
    told = {name: ConfusionMatrix.from_predictions(Y, PRED, pos_label=name) for name in NAMES.tolist()}
    for asked in FREE:
        values = {bootstrap(each, asked, **QUICK)[asked].value for each in (matrix, *told.values())}
        assert max(values) - min(values) < 1e-15, asked
    assert matrix.cost([[0, 1], [1, 0]]) == matrix.error_rate()
    assert matrix.recall(average=None).tolist() == [0.1, 0.99]
    for asked in NEEDY:
        with pytest.raises(ValueError, match="needs a positive class"):
            bootstrap(matrix, asked, **QUICK)
    for name in ("precision", "recall", "specificity", "jaccard", "f_score"):
        with pytest.raises(ValueError, match=f"{name} needs a positive class, but it is unknown which of"):
            getattr(matrix, name)()
    with pytest.raises(ValueError, match="f_score needs a positive class"):
        matrix.pool().macro().f_score(macro="of-means", average="binary")
    with pytest.raises(ValueError, match="recall needs a positive class"):  # in a user's function
        bootstrap(matrix, lambda each: each.recall(), **QUICK)


def test_a_matrix_knows_its_positive_class() -> None:
    for positive, other in (("churn", "stay"), ("stay", "churn")):
        by_option = ConfusionMatrix.from_predictions(Y, PRED, pos_label=positive)
        by_labels = ConfusionMatrix.from_predictions(Y, PRED, labels=[other, positive])
        for matrix in (by_option, by_labels, ConfusionMatrix(by_option.counts, by_option.labels)):
            assert matrix.labels.tolist() == [other, positive]
            assert matrix.pos_label == positive
            assert matrix.recall() == RECALL[positive]
            assert matrix.counts.tolist() == by_option.counts.tolist()
        for copy in (pickle.loads(pickle.dumps(by_option)), by_option.pool()):
            assert (copy.pos_label, copy.recall()) == (positive, RECALL[positive])
            assert not copy.labels.flags.writeable
        assert by_option.to_dict()["pos_label"] == positive
        assert f"pos_label={positive!r}" in repr(by_option)
    unknown = pickle.loads(pickle.dumps(ConfusionMatrix.from_predictions(Y, PRED)))
    assert unknown.pos_label is unknown.macro().pos_label is unknown.to_dict()["pos_label"] is None


@pytest.mark.parametrize(
    ("labels", "positive"),
    [([0, 1], 1), ([-1, 1], 1), ([False, True], True), ([0.0, 1.0], 1.0), (np.uint8([0, 1]), 1)],
)
def test_natural_labels_need_no_word(labels: Any, positive: Any) -> None:
    y, predicted = np.asarray(labels)[CHURNED.astype(int)], np.asarray(labels)[FOUND.astype(int)]
    matrix = ConfusionMatrix.from_predictions(y, predicted)
    assert matrix.pos_label == positive
    assert matrix.recall() == 0.1
    assert ConfusionMatrix.from_predictions(y, predicted, pos_label=labels[0]).recall() == 0.99
    assert bootstrap((y, predicted), "recall", **QUICK)["recall"].value == 0.1


@pytest.mark.parametrize("labels", [[0, 2], [1, 2], [-1, 0], ["0", "1"], ["no", "yes"]])
def test_other_labels_have_no_natural_order(labels: list[Any]) -> None:
    matrix = ConfusionMatrix.from_predictions(labels, labels)
    assert (matrix.pos_label, matrix.accuracy()) == (None, 1.0)
    with pytest.raises(ValueError, match="it is: give pos_label, or labels"):
        matrix.precision()


def test_counts_without_names_are_of_0_and_1() -> None:
    assert ConfusionMatrix([[5, 1], [2, 2]]).pos_label == 1
    turned = ConfusionMatrix([[5, 1], [2, 2]], pos_label=0)
    assert turned.counts.tolist() == [[2, 2], [1, 5]]
    assert (turned.labels.tolist(), turned.pos_label) == ([1, 0], 0)
    assert turned.recall() == ConfusionMatrix([[5, 1], [2, 2]]).specificity() == 5 / 6
    assert not turned.counts.flags.writeable
    assert ConfusionMatrix(np.ones((3, 3))).pos_label is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConfusionMatrix([[1, 2], [3, 4]], ["a", "b"], pos_label="a"), "pos_label must be the last of labels"),
        (lambda: ConfusionMatrix([[1, 2], [3, 4]], pos_label="a"), r"must be a label of counts \(0, 1\), got 'a'"),
        (lambda: ConfusionMatrix(np.ones((3, 3)), pos_label=1), "pos_label needs 2 classes, got 3"),
        (lambda: ConfusionMatrix([[1]], pos_label=1), "pos_label needs 2 classes, got 1"),
        (lambda: ConfusionMatrix.from_predictions(Y, PRED, pos_label="quit"), r"\('churn', 'stay'\), got 'quit'"),
        (lambda: ConfusionMatrix.from_predictions([0, 0], [0, 0], pos_label=0.5), "pos_label must hold class labels"),
        (
            lambda: ConfusionMatrix.from_groups(Y, PRED, GROUPS, labels=["churn", "stay"], pos_label="churn"),
            "pos_label must be the last of labels if both are given, got 'churn' and 'churn', 'stay'",
        ),
        (lambda: ConfusionMatrix.from_predictions([0, 1, 2], [0, 1, 2], pos_label=1), "needs two classes, but"),
        (lambda: bootstrap(ConfusionMatrix(np.eye(2)), "recall", pos_label=1), "not a ConfusionMatrix, which has its"),
    ],
)
def test_a_positive_class_that_does_not_fit(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_positive_class_that_no_row_has() -> None:
    matrix = ConfusionMatrix.from_predictions(["no"] * 3, ["no"] * 3, pos_label="yes")
    assert (matrix.labels.tolist(), matrix.specificity()) == (["no", "yes"], 1.0)


@pytest.mark.parametrize(
    ("label", "other"), [("yes", "not yes"), (1, 0), (-1, 0), (0, 1), (2.0, 0.0), (True, False), (np.uint8(7), 0)]
)
def test_a_positive_class_that_all_rows_have(label: Any, other: Any) -> None:
    y = np.repeat(label, 4)
    matrix = ConfusionMatrix.from_predictions(y, y, pos_label=label)
    assert (matrix.labels.tolist(), matrix.pos_label) == ([other, label], label)
    assert (matrix.recall(), matrix.precision(), matrix.f_score()) == (1, 1, 1)
    assert batch_metrics(y, [y], "recall", pos_label=label)["recall"][0] == 1
    assert evaluate_splits(y, y, [0, 0, 1, 1], "recall", pos_label=label)["recall"].value == 1
    with pytest.raises(ValueError, match="needs 2 classes, got 1; give pos_label, or choose one of None"):
        ConfusionMatrix.from_predictions(y, y).recall()


def test_counts_in_a_frame_keep_its_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.crosstab(Y, PRED)
    matrix = ConfusionMatrix(frame)
    assert (matrix.labels.tolist(), matrix.pos_label) == (["churn", "stay"], None)
    with pytest.raises(ValueError, match="recall needs a positive class, but it is unknown which of 'churn', 'stay'"):
        matrix.recall()
    for told in ({"pos_label": "churn"}, {"labels": ["stay", "churn"]}):
        assert ConfusionMatrix(frame, **told).recall() == RECALL["churn"]
    assert ConfusionMatrix(pandas.crosstab(CHURNED, FOUND)).recall() == RECALL["churn"]
    assert ConfusionMatrix(pandas.DataFrame([[5, 1], [2, 2]])).pos_label == 1
    other = frame.set_axis(["pred churn", "pred stay"], axis=1)
    with pytest.raises(ValueError, match="counts must have the same names for rows and columns, or labels must"):
        ConfusionMatrix(other)
    assert ConfusionMatrix(other, ["stays not", "stays"]).recall() == RECALL["stay"]


def test_a_matrix_at_a_threshold_names_its_classes() -> None:
    scores = FOUND.astype(float)
    for y, option, labels in (
        (Y, "churn", ["stay", "churn"]),
        (CHURNED, None, [False, True]),
        (CHURNED.astype(int), 0, [1, 0]),
        (CHURNED * 2 - 1, None, [-1, 1]),
        (np.repeat("churn", 120), "churn", ["not churn", "churn"]),
    ):
        matrix = Ranking(y, scores, pos_label=option).confusion_at(0.5)
        assert (matrix.labels.tolist(), matrix.pos_label) == (labels, labels[1])
    assert pickle.loads(pickle.dumps(Ranking(Y, scores, pos_label="churn"))).confusion_at(0.5).recall() == 0.1


def test_an_interval_of_a_proportion_is_of_the_positive_class() -> None:
    matrix = ConfusionMatrix.from_predictions(Y, PRED)
    assert proportion_interval(matrix, "accuracy").low > 0.7
    assert proportion_interval(matrix, "recall", average=None).high[0] < 0.4
    with pytest.raises(ValueError, match="recall needs a positive class"):
        proportion_interval(matrix, "recall")
    low, high = proportion_interval(ConfusionMatrix.from_predictions(Y, PRED, pos_label="churn"), "recall")
    assert low < 0.1 < high < 0.4


def test_results_name_the_positive_class() -> None:
    models = {"a": PRED, "b": OTHER}
    of_labels = [
        bootstrap((Y, PRED), "recall", pos_label="churn", **QUICK),
        compare_predictions(Y, models, metrics="recall", pos_label="churn", **QUICK),
        batch_metrics(Y, models, "recall", pos_label="churn"),
        grouped_metrics(Y, PRED, GROUPS, "recall", pos_label="churn"),
        permutation_test(Y, PRED, OTHER, "recall", pos_label="churn", **QUICK),
        evaluate_splits(Y, PRED, FOLDS, "recall", pos_label="churn"),
    ]
    for each in of_labels:
        told = json.loads(json.dumps(each.to_dict()))
        assert told["pos_label"] == "churn", type(each)
        assert type(each) is type(of_labels[4]) or "pos_label='churn'" in repr(each).splitlines()[0]
    assert of_labels[0].to_dict()["labels"] == ["stay", "churn"]
    assert bootstrap((Y, PRED), "accuracy", **QUICK).to_dict()["pos_label"] is None
    scored = bootstrap((Y, FOUND), "roc_auc", pos_label="churn", **QUICK)
    assert (scored.pos_label, scored.to_dict()["labels"]) == ("churn", None)
    of_scores = (
        batch_auc(Y, [FOUND, FOUND], pos_label="churn", standard_errors=True),
        batch_auc(Y, [FOUND, FOUND], pos_label="churn"),
        grouped_auc(Y, FOUND, GROUPS, pos_label="churn"),
        delong(Y, [FOUND, CHURNED], pos_label="churn"),
    )
    assert [each.to_dict()["pos_label"] for each in of_scores] == ["churn"] * 4


@pytest.mark.parametrize("weights", [None, np.full(120, 2.0)])
def test_draws_are_of_the_right_cells(weights: Any) -> None:
    found = [
        compare_predictions(Y, {"a": PRED, "b": OTHER}, pos_label=positive, sample_weight=weights, **QUICK)["accuracy"]
        for positive in (None, "stay")
    ]
    assert found[0].differences[0].value == found[1].differences[0].value
    assert found[0].differences[0].standard_error == found[1].differences[0].standard_error
    for asked in ("accuracy", "recall"):
        alone = [
            bootstrap((Y, PRED), asked, pos_label=positive, sample_weight=weights, keep_distribution=True, **QUICK)
            for positive in NAMES.tolist()
        ]
        means = [np.mean(each[asked].bootstrap_distribution) for each in alone]
        expected = [0.8417, 0.8417] if asked == "accuracy" else [0.99, 0.1]  # four standard errors of 99
        assert means == pytest.approx(expected, abs=0.03), asked
