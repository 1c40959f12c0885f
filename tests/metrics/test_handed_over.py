"""Names in `sklearn.metrics` that fastevals does not implement."""

from __future__ import annotations

import pickle
import subprocess
import sys
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from fastevals import metrics
from fastevals.metrics import _scikit_learn
from fastevals.metrics.switching import differing

Y = np.array([0, 1, 1, 0, 1, 0, 1, 0])
SCORES = np.array([0.1, 0.9, 0.4, 0.35, 0.8, 0.5, 0.6, 0.85])
X = SCORES[:, None]
MODEL = LogisticRegression().fit(X, Y)
PLAIN = [name for name in _scikit_learn.AS_THEY_ARE if name in sklearn.metrics.__all__]


def test_there_is_all_that_scikit_learn_has() -> None:
    for name in sklearn.metrics.__all__:
        assert getattr(metrics, name) is not None
    assert {*metrics.__all__, *_scikit_learn.HANDED_OVER, "install", "uninstall", "in_place"} == {*dir(metrics)}
    assert not {*metrics.__all__} & {*_scikit_learn.HANDED_OVER}
    with pytest.raises(AttributeError, match="neither"):
        _ = metrics.f1_scor
    with pytest.raises(ImportError):
        from fastevals.metrics import f1_scor  # noqa: F401


@pytest.mark.parametrize("name", PLAIN)
def test_the_rest_is_theirs(name: str) -> None:
    assert getattr(metrics, name) is getattr(sklearn.metrics, name)


def test_all_scorers_run_on_ours_and_pickle() -> None:
    kept = {*dict(differing())}  # in older versions of scikit-learn
    assert metrics.get_scorer_names() == sklearn.metrics.get_scorer_names()
    for name in metrics.get_scorer_names():
        scorer, theirs = metrics.get_scorer(name), sklearn.metrics.get_scorer(name)
        assert isinstance(scorer, type(theirs))
        assert repr(scorer) == repr(theirs)
        function = scorer._score_func
        if function.__name__ in {*metrics.__all__} - kept:
            assert function is getattr(metrics, function.__name__)
            assert theirs._score_func is getattr(sklearn.metrics, function.__name__)
        again = pickle.loads(pickle.dumps(scorer))
        assert again._score_func is function
    for name in ("roc_auc", "f1", "positive_likelihood_ratio", "neg_log_loss", "precision_macro"):
        assert metrics.get_scorer(name)(MODEL, X, Y) == pytest.approx(sklearn.metrics.get_scorer(name)(MODEL, X, Y))


@pytest.fixture
def ours_give(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make fastevals' functions return given values, where handed-over code looks them up."""

    def give(module: str, **values: Any) -> None:
        for name, value in values.items():
            monkeypatch.setitem(_scikit_learn._on_ours(module), name, lambda *_, _value=value, **__: _value)

    return give


def test_likelihood_ratios_are_ours(ours_give: Any) -> None:
    ours_give(_scikit_learn.SCORERS, class_likelihood_ratios=(5.0, 7.0))
    assert metrics.get_scorer("positive_likelihood_ratio")(MODEL, X, Y) == 5
    assert metrics.get_scorer("neg_negative_likelihood_ratio")(MODEL, X, Y) == -7


def test_scoring_is_checked_as_theirs() -> None:
    several = metrics.check_scoring(MODEL, scoring=["f1", "roc_auc"])
    assert several._scorers["f1"]._score_func is metrics.f1_score
    assert several(MODEL, X, Y).keys() == {"f1", "roc_auc"}
    assert metrics.check_scoring(MODEL).__class__ is sklearn.metrics.check_scoring(MODEL).__class__
    made = metrics.make_scorer(metrics.fbeta_score, beta=2)
    assert repr(made) == "make_scorer(fbeta_score, response_method='predict', beta=2)"
    assert made(MODEL, X, Y) == sklearn.metrics.fbeta_score(Y, MODEL.predict(X), beta=2)
    for module in (metrics, sklearn.metrics):
        with pytest.raises(ValueError, match="'nothing' is not a valid scoring value"):
            module.get_scorer("nothing")
        with pytest.raises(ValueError, match="The 'scoring' parameter of check_scoring must be"):
            module.check_scoring(MODEL, scoring=5)
        with pytest.raises(ValueError, match="The 'scoring' parameter of get_scorer must be"):
            module.get_scorer(5)


@pytest.mark.parametrize("in_place", [False, True])
def test_scorers_of_averages_need_no_positive_label(in_place: bool) -> None:
    text = np.where(Y == 1, "yes", "no")
    model = LogisticRegression().fit(X, text)
    right = float((model.predict(X) == text).mean())
    with metrics.in_place() if in_place else nullcontext():
        module = sklearn.metrics if in_place else metrics
        for name in ("f1_score", "precision_score", "recall_score", "fbeta_score"):
            options = {"beta": 2} if name == "fbeta_score" else {}
            scorer = module.make_scorer(getattr(module, name), average="micro", **options)
            assert scorer(model, X, text) == pytest.approx(right)
        assert cross_val_score(model, X, text, scoring=scorer, cv=2, error_score="raise").shape == (2,)
        macro = module.make_scorer(metrics.f1_score, average="macro", greater_is_better=False)
        assert macro(model, X, text) == -metrics.f1_score(text, model.predict(X), average="macro")
        with pytest.raises(ValueError, match="pos_label=1 is not a valid label"):
            module.make_scorer(metrics.f1_score)(model, X, text)
        named = module.make_scorer(metrics.f1_score, average="binary", pos_label="no")
        assert named(model, X, text) == metrics.f1_score(text, model.predict(X), pos_label="no")


AVERAGED = ("f1_score", "fbeta_score", "precision_score", "recall_score", "jaccard_score")


@pytest.mark.cases(2)
@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_door_to_averages_of_text_labels_gives_numbers(average: str, n_classes: int) -> None:
    rows = np.linspace(-3, 3, 60)[:, None]
    text = np.array(["no", "yes", "maybe"])[np.arange(60) * n_classes // 60]
    model = LogisticRegression().fit(rows, text)
    settings = {name: {"average": average} | ({"beta": 2} if name == "fbeta_score" else {}) for name in AVERAGED}
    with metrics.in_place():
        in_place = {
            name: sklearn.metrics.make_scorer(getattr(sklearn.metrics, name), **options)
            for name, options in settings.items()
        }
    for name, options in settings.items():
        ours = getattr(metrics, name)
        expected = ours(text, model.predict(rows), **options)
        scorers = [
            metrics.make_scorer(ours, **options),
            metrics.make_scorer(getattr(sklearn.metrics, name), **options),
            sklearn.metrics.make_scorer(ours, pos_label=None, **options),  # scikit-learn's own looks for the label 1
            in_place[name],
        ]
        if name != "fbeta_score":
            scorers.append(metrics.get_scorer(f"{name.removesuffix('_score')}_{average}"))
        for scorer in scorers:
            assert scorer(model, rows, text) == pytest.approx(expected, rel=1e-15), (name, scorer)
    found = cross_val_score(model, rows, text, scoring=scorers[0], cv=2, error_score="raise")
    assert np.isfinite(found).all()


DISPLAYS = {
    "RocCurveDisplay": (
        SCORES,
        {"roc_curve": (np.array([0, 0.5, 1]), np.array([0, 0.75, 1]), np.array([2, 1, 0])), "auc": 0.125},
        "roc_auc",
        0.125,
    ),
    "DetCurveDisplay": (
        SCORES,
        {"det_curve": (np.array([0.25, 0.5]), np.array([0.5, 0.25]), np.array([0, 1]))},
        "fpr",
        [0.25, 0.5],
    ),
    "PrecisionRecallDisplay": (SCORES, {"average_precision_score": 0.375}, "average_precision", 0.375),
    "ConfusionMatrixDisplay": (Y, {"confusion_matrix": np.eye(2)}, "confusion_matrix", np.eye(2)),
}


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_run_on_ours(name: str, ours_give: Any) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    predicted, given, attribute, expected = DISPLAYS[name]
    ours, theirs = getattr(metrics, name), getattr(sklearn.metrics, name)
    assert issubclass(ours, theirs)
    assert ours.__doc__ == theirs.__doc__
    drawn, other = ours.from_predictions(Y, predicted), theirs.from_predictions(Y, predicted)
    assert isinstance(drawn, theirs)
    assert np.allclose(getattr(drawn, attribute), getattr(other, attribute))
    ours_give(theirs.__module__, **given)
    assert np.array_equal(getattr(ours.from_predictions(Y, predicted), attribute), expected)
    assert np.array_equal(getattr(ours.from_estimator(MODEL, X, Y), attribute), expected)
    assert not np.array_equal(getattr(theirs.from_predictions(Y, predicted), attribute), expected)
    assert pickle.loads(pickle.dumps(ours)) is ours
    plt.close("all")


def test_the_display_of_errors_is_theirs() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    drawn = metrics.PredictionErrorDisplay.from_predictions(SCORES, SCORES[::-1])
    assert isinstance(drawn, sklearn.metrics.PredictionErrorDisplay)
    plt.close("all")


@pytest.mark.slow
def test_scikit_learn_is_loaded_when_it_is_asked_for_and_scorers_made_in_place_are_ours_for_good() -> None:
    code = """
import sys
from fastevals.metrics import *
import fastevals.metrics as metrics
metrics.f1_score([0, 1], [0, 1]), dir(metrics), hasattr(metrics, "_private")
assert "sklearn" not in sys.modules
metrics.silhouette_score
assert "sklearn" in sys.modules
with metrics.in_place():
    scorer = metrics.get_scorer("f1")
assert scorer._score_func is metrics.f1_score
assert metrics.get_scorer("f1")._score_func is metrics.f1_score
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_without_scikit_learn() -> None:
    code = """
import sys
sys.modules["sklearn"] = None
from fastevals.metrics import *
import fastevals.metrics as metrics
assert metrics.f1_score([0, 1], [0, 1]) == 1
assert "make_scorer" not in dir(metrics)
assert not hasattr(metrics, "f1_scor")
for name in ("make_scorer", "RocCurveDisplay", "silhouette_score", "pairwise"):
    try:
        exec(f"from fastevals.metrics import {name}")
    except ImportError as error:
        assert str(error) == f"fastevals.metrics.{name} needs scikit-learn, which is missing: pip install scikit-learn"
    else:
        raise AssertionError(name)
for call in (metrics.install, metrics.in_place().__enter__):
    try:
        call()
    except ImportError as error:
        assert "pip install scikit-learn" in str(error)
    else:
        raise AssertionError(call)
metrics.uninstall()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_a_scorer_of_ours_scores_in_a_search() -> None:
    from sklearn.model_selection import cross_val_score

    scores = cross_val_score(DummyClassifier(), X, Y, cv=2, scoring=metrics.get_scorer("roc_auc"), n_jobs=2)
    assert scores.tolist() == [0.5, 0.5]
