"""Rankings by class: values, averages and pairs against pair counts and scikit-learn; curves; odd input."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

import fastevals
from fastevals import ClassRankings, Ranking, UndefinedMetricWarning, num_threads
from fastevals.many.class_curves import MACROS
from fastevals.measure.class_pairs import aucs_by_class, doubled_against_rest, doubled_pairs
from fastevals.measure.curves.registry import CURVES
from fastevals.scale import ClassScoresSummary
from tests.reference import classes as reference_classes
from tests.reference import ranking as reference
from tests.reference.curves import TWINS, best_at, mean
from tests.strategies import BOUNDED, EXTREME, FLOAT_WEIGHTS, ORDINARY

LETTERS = ["a", "a", "b", "c"]
SCORES = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
INDICATOR = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]


class Classes(NamedTuple):
    """An input for rankings by class."""

    y_true: NDArray[np.int64]
    y_score: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    n_classes: int

    @property
    def made(self) -> ClassRankings:
        return ClassRankings(
            self.y_true, self.y_score, sample_weight=self.weights,
            labels=range(self.n_classes) if self.y_true.ndim == 1 else None,
        )  # fmt: skip

    @property
    def rows(self) -> list[reference_classes.Row]:
        return reference_classes.rows_of(self.y_true, self.y_score, range(self.n_classes), self.weights)


@st.composite
def classes(draw: st.DrawFn, *, multilabel: bool | None = None) -> Classes:
    """Draw one or many labels per row, tied and extreme scores, and perhaps weights."""
    n, k = draw(st.integers(1, 12)), draw(st.integers(2, 4))
    several = draw(st.booleans()) if multilabel is None else multilabel
    cell = st.integers(0, 1) if several else st.integers(0, k - 1)
    labels = draw(st.lists(cell, min_size=n * k if several else n, max_size=n * k if several else n))
    pool = draw(st.sampled_from([ORDINARY, EXTREME, ORDINARY[:2], tuple(np.linspace(-1, 1, 50).tolist())]))
    scores = draw(st.lists(st.sampled_from(pool), min_size=n * k, max_size=n * k))
    weights = draw(st.none() | st.lists(st.sampled_from(FLOAT_WEIGHTS), min_size=n, max_size=n).filter(any))
    shape = (n, k) if several else (n,)
    return Classes(
        np.array(labels).reshape(shape), np.array(scores).reshape(n, k),
        None if weights is None else np.array(weights), k,
    )  # fmt: skip


def quietly(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return call()


def same(value: float, expected: Any, *, exact: bool) -> bool:
    """Compare with a fraction, or None if undefined; weighted sums and averages are rounded."""
    if expected is None or math.isnan(value):
        return expected is None and math.isnan(value)
    return value == float(expected) if exact else value == pytest.approx(float(expected), rel=1e-13, abs=1e-15)


def many(n: int = 3000, k: int = 5, seed: int = 0, *, digits: int = 2) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y_true = rng.choice(k, n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), y_true] += 1
    scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return y_true, np.round(scores, digits)


# Against pair counts ----------------------------------------------------------------------------------------------


@BOUNDED
@given(classes())
def test_values_of_each_class(case: Classes) -> None:
    for name in ("roc_auc", "average_precision"):
        values = quietly(lambda name=name: getattr(case.made, name)(average=None))
        twin = getattr(reference, name)
        for k, value in enumerate(values):
            expected = twin(*reference_classes.against_rest(case.rows, k))
            assert same(value, expected, exact=name == "roc_auc" and case.weights is None)


@BOUNDED
@given(classes())
def test_averages(case: Classes) -> None:
    rows = case.rows
    shares = [reference_classes.support(rows, k) for k in range(case.n_classes)]
    assert case.made.support == pytest.approx([float(share) for share in shares])
    for name in ("roc_auc", "average_precision"):
        twin = getattr(reference, name)
        values = [twin(*reference_classes.against_rest(rows, k)) for k in range(case.n_classes)]
        expected = {
            "macro": reference_classes.mean(values),
            "weighted": reference_classes.mean(values, shares),
            "micro": twin(*reference_classes.all_as_one(rows)),
        }
        for average, value in expected.items():
            found = quietly(lambda name=name, average=average: getattr(case.made, name)(average=average))
            assert type(found) is float
            assert same(found, value, exact=False), (name, average)


@BOUNDED
@given(classes(multilabel=False))
def test_pairs_of_classes(case: Classes) -> None:
    found = quietly(lambda: case.made.roc_auc(multi_class="ovo", average=None))
    for j in range(case.n_classes):
        for k in range(case.n_classes):
            assert same(found[j, k], reference_classes.pair_auc(case.rows, j, k), exact=True)
    assert same(quietly(case.made.hand_till), reference_classes.one_vs_one(case.rows), exact=False)
    weighted = quietly(lambda: case.made.roc_auc(multi_class="ovo", average="weighted"))
    assert same(weighted, reference_classes.one_vs_one(case.rows, weighted=True), exact=False)


@BOUNDED
@given(classes())
def test_rankings_are_those_of_each_column(case: Classes) -> None:
    made = case.made
    assert made.n_positives.tolist() == [ranking.n_positives for ranking in made.rankings]
    for k, ranking in enumerate(made.rankings):
        flags = case.y_true[:, k] if made.is_multilabel else case.y_true == k
        alone = Ranking(flags, case.y_score[:, k], sample_weight=case.weights, pos_label=1)
        assert (ranking.n_positives, ranking.n_negatives) == (alone.n_positives, alone.n_negatives)
        assert ranking.counts.thresholds.tolist() == alone.counts.thresholds.tolist()
        assert ranking.counts.tps == pytest.approx(alone.counts.tps)


# Against scikit-learn ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_multiclass_as_in_scikit_learn(average: str, weighted: bool) -> None:
    y_true, scores = many()
    scores = scores / scores.sum(axis=1, keepdims=True)
    weights = np.random.default_rng(1).random(y_true.size) if weighted else None
    made = ClassRankings(y_true, scores, sample_weight=weights)
    ours = made.roc_auc(average=average), made.average_precision(average=average)
    theirs = (
        roc_auc_score(y_true, scores, average=average, multi_class="ovr", sample_weight=weights),
        average_precision_score(y_true, scores, average=average, sample_weight=weights),
    )
    assert ours == pytest.approx(theirs, rel=1e-12)
    if not weighted and average != "micro":
        theirs = roc_auc_score(y_true, scores, average=average, multi_class="ovo")
        assert made.roc_auc(average=average, multi_class="ovo") == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
def test_multilabel_as_in_scikit_learn(average: str | None, weighted: bool) -> None:
    rng = np.random.default_rng(2)
    y_true = (rng.random((2000, 4)) < [0.5, 0.1, 0.9, 0.02]).astype(int)
    scores = np.round(rng.normal(size=y_true.shape) + y_true, 1)
    weights = rng.random(2000) if weighted else None
    made = ClassRankings(y_true, scores, sample_weight=weights)
    options = {"average": average, "sample_weight": weights}
    assert made.roc_auc(average=average) == pytest.approx(roc_auc_score(y_true, scores, **options), rel=1e-12)
    theirs = average_precision_score(y_true, scores, **options)
    assert made.average_precision(average=average) == pytest.approx(theirs, rel=1e-12)
    partial = roc_auc_score(y_true, scores, max_fpr=0.3, **options)
    assert made.roc_auc(average=average, max_fpr=0.3) == pytest.approx(partial, rel=1e-12)


def test_iris_as_in_scikit_learns_guide() -> None:
    iris = load_iris()
    scores = LogisticRegression(C=0.01, max_iter=500).fit(iris.data, iris.target).predict_proba(iris.data)
    made = ClassRankings(iris.target_names[iris.target], scores)
    assert made.labels.tolist() == ["setosa", "versicolor", "virginica"]
    for multi_class in ("ovr", "ovo"):
        theirs = roc_auc_score(iris.target, scores, multi_class=multi_class)
        assert made.roc_auc(multi_class=multi_class) == pytest.approx(theirs, rel=1e-12)


# Identities -------------------------------------------------------------------------------------------------------


def test_every_way_of_counting_agrees() -> None:
    y_true, scores = many(150_000, 3)  # more rows outside the rarest class than a chunk holds
    made = ClassRankings(y_true, scores)
    values = made.roc_auc(average=None)
    assert values.tolist() == [ranking.roc_auc() for ranking in made.rankings]
    assert values.tolist() == [Ranking(y_true == k, scores[:, k]).roc_auc() for k in range(3)]
    by_pair = made.roc_auc(multi_class="ovo", average=None)
    sizes = made.support
    for k in range(3):
        others = [j for j in range(3) if j != k]
        assert values[k] == pytest.approx(np.average(by_pair[k, others], weights=sizes[others]), rel=1e-12)
    unit = ClassRankings(y_true, scores, sample_weight=np.ones(y_true.size))
    assert unit.roc_auc(average=None).tolist() == values.tolist()
    assert np.array_equal(unit.roc_auc(multi_class="ovo", average=None), by_pair, equal_nan=True)
    assert unit.hand_till() == made.hand_till() == made.roc_auc(multi_class="ovo")


def test_threads_make_no_difference() -> None:
    y_true, scores = many(70_000, 3)
    weights = np.random.default_rng(0).random(y_true.size)
    found = []
    for n in (1, 3):
        with num_threads(n):
            made = ClassRankings(y_true, scores, sample_weight=weights)
            found.append((made.roc_auc(), made.hand_till(), ClassRankings(y_true, scores).hand_till()))
    assert found[0] == found[1]


def test_the_units_of_the_weights_of_classes_cancel_out_of_pairs() -> None:
    y_true, scores = many(300, 3)
    weights = np.random.default_rng(0).random(300)
    pairs = ClassRankings(y_true, scores, sample_weight=weights).roc_auc(multi_class="ovo", average=None)
    for powers in ([600, 0, -600], [-1000, 900, -900]):
        scaled = np.ldexp(weights, np.array(powers)[y_true])
        found = ClassRankings(y_true, scores, sample_weight=scaled).roc_auc(multi_class="ovo", average=None)
        assert np.array_equal(found, pairs, equal_nan=True)


def test_integer_weights_are_repeated_rows() -> None:
    y_true, scores = many(300, 3)
    weights = np.random.default_rng(0).integers(0, 4, 300)
    made = ClassRankings(y_true, scores, sample_weight=weights)
    rows = np.repeat(np.arange(300), weights)
    repeated = ClassRankings(y_true[rows], scores[rows])
    assert made.n_samples == np.count_nonzero(weights)
    assert made.support.tolist() == repeated.support.tolist()
    for options in ({}, {"average": "weighted"}, {"average": "micro"}, {"multi_class": "ovo"}, {"average": None}):
        assert made.roc_auc(**options) == pytest.approx(repeated.roc_auc(**options), rel=1e-14)


def test_the_order_of_rows_and_of_classes_makes_no_difference() -> None:
    y_true, scores = many(500, 4)
    rows, columns = (np.random.default_rng(0).permutation(n) for n in (500, 4))
    made = ClassRankings(y_true, scores)
    shuffled = ClassRankings(y_true[rows], scores[rows])
    assert shuffled.roc_auc(average=None).tolist() == made.roc_auc(average=None).tolist()
    renamed = ClassRankings(y_true, scores[:, columns], labels=columns)
    assert renamed.labels.tolist() == columns.tolist()
    assert renamed.roc_auc(average=None).tolist() == made.roc_auc(average=None)[columns].tolist()
    assert renamed.hand_till() == pytest.approx(made.hand_till(), rel=1e-15)


@pytest.mark.parametrize("weights", [None, [0.1, 0.3, 0.7, 1.1, 0.2, 0.9]])
def test_a_perfect_ranking_is_exactly_one(weights: list[float] | None) -> None:
    made = ClassRankings([0, 0, 1, 1, 2, 2], np.eye(3)[[0, 0, 1, 1, 2, 2]], sample_weight=weights)
    for average in ("macro", "micro", "weighted"):
        assert made.roc_auc(average=average) == made.average_precision(average=average) == 1.0
    assert made.hand_till() == made.roc_auc(multi_class="ovo", average="weighted") == 1.0


def test_two_classes() -> None:
    y_true, scores = many(400, 2)
    made = ClassRankings(y_true, np.stack([1 - scores[:, 1], scores[:, 1]], axis=1))
    auc = Ranking(y_true, scores[:, 1]).roc_auc()
    assert made.roc_auc(average=None)[1] == auc
    assert made.hand_till() == pytest.approx(auc, rel=1e-12)


def test_many_classes_take_two_bytes() -> None:
    rng = np.random.default_rng(0)
    y_true = np.repeat(np.arange(300), 2) * 1000  # too wide a range for a table too
    scores = rng.random((600, 300))
    made = ClassRankings(y_true, scores)
    for k in (0, 255, 256, 299):
        assert made.roc_auc(average=None)[k] == Ranking(y_true == k * 1000, scores[:, k]).roc_auc()


def test_too_many_rows_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.measure.class_pairs.CLASS_ROWS", 2)
    with pytest.raises(ValueError, match=r"y_true must have fewer than 2 rows of a class, counting weights, got 2"):
        ClassRankings(LETTERS, SCORES).hand_till()


def test_products_past_64_bits_are_exact() -> None:
    sizes = np.array([2**30 + 1, 2**30 - 1, 2**31 + 1])
    doubled = np.outer(sizes, sizes) * np.array([[0, 2, 1], [1, 0, 2], [1, 1, 0]])
    for k, auc in enumerate(aucs_by_class(doubled, sizes)):
        n = int(sizes[k])
        assert auc == sum(map(int, doubled[k])) / (2 * n * (int(sizes.sum()) - n))


def test_areas_are_the_same_whether_pairs_are_counted_before() -> None:
    first, second = ClassRankings(LETTERS, SCORES), ClassRankings(LETTERS, SCORES)
    second.hand_till()
    assert first.roc_auc(average=None).tolist() == second.roc_auc(average=None).tolist()


# Curves -----------------------------------------------------------------------------------------------------------


RATES = [name for name, entry in CURVES.items() if entry.macro]


@pytest.mark.parametrize("method", [f"{name}_curve" for name in (*RATES, "calibration")])
def test_curves_of_each_class(method: str) -> None:
    made = ClassRankings(LETTERS, SCORES)
    curves = getattr(made, method)()
    assert list(curves) == ["a", "b", "c"]
    for ranking, curve in zip(made.rankings, curves.values(), strict=True):
        for ours, theirs in zip(curve, getattr(ranking, method)(), strict=True):
            assert ours.tolist() == pytest.approx(theirs.tolist(), nan_ok=True)
    if method == "roc_curve":
        assert len(made.roc_curve(drop_intermediate=False)["a"]) >= len(made.roc_curve()["a"])


def test_every_rate_curve_is_a_curve_of_classes() -> None:
    """A curve of the registry with `macro` has a method here; the others have none but the calibration curve."""
    methods = {name for name, entry in CURVES.items() if hasattr(ClassRankings, entry.method)}
    assert methods == {*RATES, "calibration"}
    assert {CURVES[name].macro for name in RATES} == {*MACROS}


@BOUNDED
@given(classes())
def test_micro_curves_are_of_all_cells(case: Classes) -> None:
    labels, scores, weights = reference_classes.all_as_one(case.rows)
    one = Ranking(labels, scores, sample_weight=list(map(float, weights)), pos_label=1)
    for method in (CURVES[name].method for name in RATES):
        ours, theirs = (quietly(make) for make in (
            lambda method=method: getattr(case.made, method)(average="micro"), getattr(one, method),
        ))  # fmt: skip
        for a, b in zip(ours, theirs, strict=True):
            assert a == pytest.approx(b, rel=1e-12, nan_ok=True)


def test_the_micro_calibration_curve_has_all_columns_in_its_bins() -> None:
    made = ClassRankings(LETTERS, SCORES)
    curve = made.calibration_curve(2, average="micro")
    assert curve.counts.tolist() == [10, 2]  # 0.5 is in the lower bin
    assert curve.mean_predicted == pytest.approx([2.7 / 10, 1.3 / 2])
    assert curve.expected_calibration_error == made.calibration_error(average="micro", n_bins=2)
    with pytest.raises(ValueError, match="average must be one of None, 'micro'; got 'macro'"):
        made.calibration_curve(average="macro")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="y_score must have rows that add up to 1"):
        ClassRankings(LETTERS, np.array(SCORES) / 2).calibration_curve()


@pytest.mark.parametrize("labels", [LETTERS, INDICATOR])
def test_the_macro_curve_has_the_mean_tpr_at_each_fpr(labels: Any) -> None:
    made = ClassRankings(labels, SCORES)
    curve = made.roc_curve(average="macro")
    assert curve.area == pytest.approx(made.roc_auc(), rel=1e-15)
    each = [one.at(fpr=0.3) for one in made.roc_curve().values()]
    assert curve.at(fpr=0.3) == pytest.approx(np.mean(each), rel=1e-15)


@BOUNDED
@given(classes())
def test_macro_curves_are_means_of_the_classes_curves(case: Classes) -> None:
    """At each place of any class, unless weights round it to a side of a jump.

    In between, too, except for precision, whose curve of counts is not a mean there.
    """
    made, each = case.made, [reference_classes.against_rest(case.rows, k) for k in range(case.n_classes)]
    for name in RATES:
        entry, twin = CURVES[name], TWINS[name]
        if any(not any(flags) or (all(flags) and "negatives" in entry.undefined_without) for flags, _, _ in each):
            with pytest.raises(ValueError, match="average='macro' needs rows of each class"):
                getattr(made, entry.method)(average="macro")
            continue
        curve, lines = getattr(made, entry.method)(average="macro"), [twin.straight(*one) for one in each]
        at = sorted({x for line in lines for x, _ in line if x > 0})
        places = [*at] if case.weights is None else []
        if entry.macro != "recall":
            places += [(a + b) / 2 for a, b in pairwise(at)]
        axis = 0 if entry.macro == "recall" else 1  # of the averaged rate
        means = [mean([twin.unpacked((x, best_at(line, x)))[axis] for line in lines]) for x in places]
        ours = curve.at(**{twin.place: [float(x) for x in places]})
        assert ours == pytest.approx(list(map(float, means)), rel=1e-9, abs=1e-9)
        assert np.isnan(curve.thresholds[1:]).all()


def test_macro_areas_are_means_of_areas() -> None:
    made = ClassRankings(*many())
    for name, exact in (("roc", 1e-14), ("det", 1e-14), ("gain", 1e-14), ("precision_recall", 1e-3)):
        areas = [curve.area for curve in getattr(made, f"{name}_curve")().values()]
        assert getattr(made, f"{name}_curve")(average="macro").area == pytest.approx(np.mean(areas), rel=exact)


def test_a_macro_curve_needs_only_the_rows_that_its_kind_needs() -> None:
    made = ClassRankings(np.ones((4, 3)), SCORES)
    assert made.precision_recall_curve(average="macro").area == 1.0
    assert made.gain_curve(average="macro").at(share=0.25) == 0.25
    for method in ("roc_curve", "det_curve"):
        with pytest.raises(ValueError, match="needs rows of each class and outside it, but class 0 has no rows outsid"):
            getattr(made, method)(average="macro")
    lacking = ClassRankings(["a", "a", "b", "b"], SCORES, labels=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"needs rows of each class, but class 'c' has no rows$"):
        lacking.lift_curve(average="macro")
    with pytest.warns(UndefinedMetricWarning, match="gain_curve is undefined .*: 1 of 3 classes lack rows of the cl"):
        assert math.isnan(lacking.gain_curve()["c"].area)


# Undefined --------------------------------------------------------------------------------------------------------


def test_a_class_without_rows() -> None:
    made = ClassRankings(["a", "a", "b", "b"], SCORES, labels=["a", "b", "c"])
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined .*: 1 of 3 classes lack rows") as caught:
        values = made.roc_auc(average=None)
    assert len(caught) == 1
    assert np.isnan(values).tolist() == [False, False, True]
    assert made.roc_auc(average="weighted") == np.mean(values[:2])
    for call in (made.roc_auc, made.average_precision):
        with pytest.warns(UndefinedMetricWarning, match="1 of 3 classes"):
            assert math.isnan(call())
    with pytest.warns(UndefinedMetricWarning, match="2 of 3 pairs of classes") as caught:
        assert math.isnan(made.hand_till())
    assert len(caught) == 1
    with pytest.warns(UndefinedMetricWarning, match="2 of 3 pairs of classes"):
        assert np.isnan(made.roc_auc(multi_class="ovo", average=None)).sum() == 3 + 4
    with pytest.warns(UndefinedMetricWarning, match="roc_curve is undefined .*: 1 of 3 classes") as caught:
        assert math.isnan(made.roc_curve()["c"].area)
    assert len(caught) == 1
    with pytest.raises(ValueError, match=r"average='macro' needs rows of each class.*, but class 'c' has no rows$"):
        made.roc_curve(average="macro")
    assert 0 < made.roc_auc(average="micro") < 1


def test_a_class_of_all_rows() -> None:
    made = ClassRankings(["a"] * 4, SCORES, labels=["a", "b", "c"])
    for average in ("macro", "weighted"):
        with pytest.warns(UndefinedMetricWarning, match="3 of 3 classes"):
            assert math.isnan(made.roc_auc(average=average))
    assert made.average_precision(average="weighted") == 1.0
    multilabel = ClassRankings(np.ones((4, 3)), SCORES)
    with pytest.raises(ValueError, match="class 0 has no rows outside it"):
        multilabel.roc_curve(average="macro")
    with pytest.warns(UndefinedMetricWarning, match="y_true has no negatives"):
        multilabel.roc_auc(average="micro")


def test_labels_of_rows_of_weight_zero_name_columns() -> None:
    made = ClassRankings(LETTERS, SCORES, sample_weight=[1, 1, 1, 0])
    assert made.labels.tolist() == ["a", "b", "c"]
    assert made.n_positives.tolist() == [2, 1, 0]
    assert made.n_samples == 3


# The object -------------------------------------------------------------------------------------------------------


def test_later_changes_change_nothing() -> None:
    for labels in (np.array([0, 0, 1, 2]), np.array(INDICATOR)):
        scores, weights = np.array(SCORES), np.ones(4)
        made = ClassRankings(labels, scores, sample_weight=weights)
        expected = ClassRankings(labels, scores, sample_weight=weights).roc_auc()
        scores[:], weights[:], labels[:] = 0, 5, 1
        assert made.roc_auc() == expected


@pytest.mark.parametrize("labels", [LETTERS, INDICATOR])
def test_copies(labels: Any) -> None:
    made = ClassRankings(labels, SCORES, sample_weight=[1, 2, 1, 1])
    for other in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
        assert other.roc_auc(average=None).tolist() == made.roc_auc(average=None).tolist()
        assert not other.labels.flags.writeable
        assert repr(other) == repr(made)


def test_reprs() -> None:
    assert repr(ClassRankings(LETTERS, SCORES)) == "ClassRankings(3 classes, n_samples=4)"
    assert str(ClassRankings(LETTERS, SCORES)).splitlines()[1:] == [
        "  'a': n_positives=2", "  'b': n_positives=1", "  'c': n_positives=1"
    ]  # fmt: skip
    weighted = ClassRankings(INDICATOR, SCORES, sample_weight=[1, 0, 1, 1])
    assert repr(weighted) == "ClassRankings(3 classes, n_samples=3, multilabel, weighted)"
    assert weighted.rankings is weighted.rankings
    with pytest.raises(ValueError, match="read-only"):
        weighted.labels[0] = 5


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u8", "f2", "g"])
@pytest.mark.parametrize("kind", ["continuous", "tied", "constant", "signed zeros", "one outlier"])
def test_placements_from_a_table_are_those_of_pairs(dtype, kind):
    rng = np.random.default_rng(3)
    n, k = 3000, 40
    y = rng.integers(0, k - 1, n)  # the last class has no rows
    y[:2] = 3, 5
    scores = rng.normal(size=(n, k)) + 100
    if kind == "tied":
        scores = np.round(scores)
    elif kind == "constant":
        scores[:] = 7
    elif kind == "signed zeros":
        scores = np.where(scores > 100.5, 0.0, np.where(scores < 99.5, -0.0, scores * (dtype[0] == "f")))
    elif kind == "one outlier":
        scores[y == 3, 3] = 5
        scores[0, 3] = 10_000
    classes = ClassRankings(y, scores.astype(dtype), labels=range(k))
    found = doubled_against_rest(classes._scores)
    np.testing.assert_array_equal(found, doubled_pairs(classes._scores).sum(axis=1))
    np.testing.assert_array_equal(doubled_against_rest(classes._scores), found)  # from pairs, once they are counted


def test_values_of_pairs_are_means_of_the_matrix_in_every_door() -> None:
    y_true, scores = np.arange(40) % 4, np.random.default_rng(0).dirichlet(np.ones(4), 40)
    classes, of_pairs = ClassRankings(y_true, scores), fastevals.metric("roc_auc", multi_class="ovo", average=None)
    matrix = classes.roc_auc(multi_class="ovo", average=None)
    expected = [(matrix[j, k] + matrix[k, j]) / 2 for j in range(4) for k in range(j + 1, 4)]
    np.testing.assert_allclose(classes.metric(of_pairs), expected, rtol=1e-15)
    np.testing.assert_allclose(fastevals.bootstrap(classes, {"it": of_pairs}, n_resamples=99)["it"].value, expected)
    summary = ClassScoresSummary(range(4))
    summary.update(y_true, scores)
    np.testing.assert_allclose(np.asarray(summary.metric(of_pairs)), expected, atol=0.05)
    assert np.mean(expected) == pytest.approx(classes.hand_till(), rel=1e-14)
