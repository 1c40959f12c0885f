"""Rankings of several classes: each against the rest, and averages over them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._options import UndefinedMetricWarning, as_flag, check_choice, show, warn_undefined
from fastevals._text import first_lines
from fastevals._validation.arrays import read_only
from fastevals._validation.labels import Classes
from fastevals.document.frames import Columns, make_columns
from fastevals.document.result import Result
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample, specs_for
from fastevals.many.class_curves import MACROS
from fastevals.many.class_metrics import columns_by_class, value_of_classes
from fastevals.many.columns import batch_rankings
from fastevals.measure.class_losses import predicted_classes
from fastevals.measure.class_pairs import means_of_pairs, pair_aucs
from fastevals.measure.class_scores import BaseClassRankings, ClassScores, read_class_scores
from fastevals.measure.class_specs import ClassMetric
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.registry import CURVES, CurveEntry
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.kinds import CLASSES, Spec, require_needed_probabilities
from fastevals.measure.metric_specs import MetricSpec, parse_metric
from fastevals.measure.probability_metrics import Strategy, checked_bins
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import METRICS, name_among
from fastevals.results import as_json

CALIBRATION_ERRORS = [name for name in METRICS if name.endswith("calibration_error")]
LACK = "lack rows of the class, or rows outside it"
WITHOUT_PAIRS = "have no bin of two rows"
AreaMean = Literal["macro", "micro", "weighted"]
AreaAverage = Literal[AreaMean, None]
MultiClass = Literal["ovr", "ovo"]
Mean = Literal["micro", "macro"]
CurveAverage = Literal[None, Mean]
BinnedAverage = Literal[None, "micro"]


class ClassRankings(BaseClassRankings, Result):
    """Rows of data with many classes, ranked by one score per class.

    `y_true` has one label per row (multiclass) or is an indicator matrix (multilabel). Each class is ranked against the
    rest by its own column. Only ``average="micro"`` compares columns with each other; a row's scores need not add up to
    1. Later changes to the arrays have no effect.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        Labels: integers, booleans, strings, or floats without a fraction; or an indicator matrix of 0 and 1.
    y_score : array-like of shape (n_samples, n_classes)
        Finite scores of any real dtype: one column per class, higher for rows of the class. If it is a frame whose
        columns are named by the labels ("cat", or "p_cat" with the same prefix for all), or by the columns of an
        indicator frame, columns are matched by name.
    labels : sequence of n_classes labels, optional
        The class of each column, in order. The default is the labels that occur, sorted; for an indicator matrix, it is
        0 to n_classes - 1. Classes without rows are allowed; their values are undefined.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out (but their labels count as occurring).

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        Names of the classes, read-only.
    n_samples : int
        Number of rows with weight above zero.
    n_positives : ndarray of shape (n_classes,)
        Number of rows of each class.
    support : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    is_multilabel : bool
        Whether a row may have many labels.
    rankings : tuple of Ranking
        One ranking of each class against the rest, made on first use.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        From methods whose value is undefined (NaN) because a class has no rows, or there are no rows outside it. The
        macro average is then NaN too; a weighted average leaves out classes without rows.

    Notes
    -----
    A copy of the scores is kept; once made, `rankings` take another 8 to 24 bytes per row and class.

    Examples
    --------
    >>> import fastevals
    >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
    >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
    >>> classes.roc_auc(average=None)
    array([0.75, 1.  , 1.  ])
    >>> classes.roc_auc(), classes.hand_till()
    (0.9166666666666666, 0.9166666666666666)
    """

    __slots__ = ("_rankings",)

    _rankings: tuple[Ranking, ...] | None

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self._labels, self._scores = read_class_scores(y_true, y_score, labels, sample_weight)
        self._rankings = None

    def __repr__(self) -> str:
        kind = ", multilabel" if self.is_multilabel else ""
        weighted = "" if self._scores.weights is None else ", weighted"
        return f"ClassRankings({self._labels.size} classes, n_samples={self.n_samples}{kind}{weighted})"

    def __str__(self) -> str:
        rows = zip(self._labels.tolist(), self.n_positives.tolist(), strict=True)
        return repr(self) + first_lines(f"{show(label)}: n_positives={n}" for label, n in rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as strict JSON, one list per column."""
        return as_json(self._columns())  # type: ignore[no-any-return]

    def _columns(self) -> Columns:
        return make_columns({"label": self._labels, "n_positives": self.n_positives, "support": self.support})

    @property
    def labels(self) -> NDArray[Any]:
        """Names of the classes."""
        return read_only("labels", self._labels)

    @property
    def n_samples(self) -> int:
        """Number of rows with weight above zero."""
        return int(self._scores.columns.shape[1])

    @property
    def n_positives(self) -> NDArray[np.int64]:
        """Number of rows of each class."""
        return self._scores.n_positives.copy()

    @property
    def support(self) -> NDArray[Any]:
        """Total weight of the rows of each class."""
        return self._scores.support()

    @property
    def is_multilabel(self) -> bool:
        """Return whether a row may have many labels."""
        return self._scores.indicator is not None

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """One ranking of each class against the rest, made on first use."""
        if self._rankings is None:
            self._rankings = tuple(batch_rankings(columns_by_class(self._scores)))
        return self._rankings

    @overload
    def roc_auc(
        self, *, average: AreaMean = ..., multi_class: MultiClass = ..., max_fpr: float | None = ...
    ) -> float: ...
    @overload
    def roc_auc(
        self, *, average: None, multi_class: MultiClass = ..., max_fpr: float | None = ...
    ) -> NDArray[np.float64]: ...
    def roc_auc(
        self, *, average: AreaAverage = "macro", multi_class: MultiClass = "ovr", max_fpr: float | None = None
    ) -> Any:
        """Compute the AUC of each class against the rest or of each pair of classes, or an average of these AUCs.

        Parameters
        ----------
        average : {"macro", "micro", "weighted", None}
            "macro" is the mean over classes or pairs, and "weighted" the mean weighted by `support` (for a pair, the
            sum of both supports). "micro" is the area of all classes' columns ranked as one (ovr only). None returns
            each value.
        multi_class : {"ovr", "ovo"}
            "ovr" ranks each class against the rest, "ovo" each pair of classes (for one label per row). The value of a
            pair is the mean of A(j | k) and A(k | j): the AUCs of the pair's rows, ranked by column j and by column k.
        max_fpr : float in (0, 1], optional
            If given, return only the area up to this FPR, scaled so that chance is 0.5 (ovr only).

        Returns
        -------
        float or ndarray
            With ``average=None``, an array of shape (n_classes,), or (n_classes, n_classes) for pairs: row j, column k
            has A(j | k), the chance that column j scores a row of class j above a row of class k. (The metric
            ``metric("roc_auc", multi_class="ovo", average=None)`` has the means of A(j | k) and A(k | j) for the pairs
            j < k, as rows of the matrix's upper triangle.) Without weights, each
            value is the ratio of two integers, rounded once. Values are NaN if undefined, and where j = k.

        Raises
        ------
        ValueError
            If an option has another value, or "ovo" is combined with "micro", `max_fpr` or an indicator matrix.

        References
        ----------
        Hand and Till (2001), doi:10.1023/A:1010920819831; with support: Ferri, Hernandez-Orallo and Modroiu (2009),
        doi:10.1016/j.patrec.2008.08.010.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
        >>> classes.roc_auc(average="weighted"), classes.roc_auc(average="micro")
        (0.875, 0.90625)
        >>> classes.roc_auc(multi_class="ovo", average="weighted")
        0.90625
        """
        check_choice("average", average, AreaAverage)
        check_choice("multi_class", multi_class, MultiClass)
        if multi_class == "ovo":
            _check_one_vs_one(self.is_multilabel, average, max_fpr)
            if average is None:
                aucs = pair_aucs(self._scores)
                _warn_if_undefined("roc_auc", means_of_pairs(aucs), f"pairs of classes {LACK}")
                return aucs
        options = {} if max_fpr is None else {"max_fpr": max_fpr}
        return self._value(MetricSpec("roc_auc", {"average": average, "multi_class": multi_class, **options}))

    def hand_till(self) -> float:
        """Compute Hand and Till's M: the mean over pairs of classes of (A(j | k) + A(k | j)) / 2.

        M does not depend on class frequencies; for two classes whose scores add up to 1, M is the AUC.

        Returns
        -------
        float
            In [0, 1]; NaN if a class has no rows.

        Raises
        ------
        ValueError
            If `y_true` is an indicator matrix.

        References
        ----------
        Hand and Till (2001), doi:10.1023/A:1010920819831.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ClassRankings([0, 1, 2], [[3, 1, 1], [1, 2, 1], [2, 2, 1]]).hand_till()
        0.75
        """
        self._of_one_label("hand_till")
        return float(self._value(MetricSpec("hand_till", {})))

    @overload
    def average_precision(self, *, average: AreaMean = ...) -> float: ...
    @overload
    def average_precision(self, *, average: None) -> NDArray[np.float64]: ...
    def average_precision(self, *, average: AreaAverage = "macro") -> Any:
        """Compute the average precision of each class against the rest, or its average over classes.

        Parameters
        ----------
        average : {"macro", "micro", "weighted", None}
            "macro" is the mean over classes, and "weighted" the mean weighted by `support`. "micro" is the value of all
            classes' columns ranked as one. None returns each value.

        Returns
        -------
        float or ndarray
            With ``average=None``, an array of shape (n_classes,). Values are NaN for a class without rows.

        Raises
        ------
        ValueError
            If `average` has another value.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ClassRankings([[1, 0], [1, 1], [0, 1]], [[3, 1], [1, 2], [2, 3]]).average_precision(average=None)
        array([0.83333333, 1.        ])
        """
        check_choice("average", average, AreaAverage)
        return self._value(MetricSpec("average_precision", {"average": average}))

    @overload
    def calibration_error(
        self, metric: str = ..., *, average: AreaMean = ..., n_bins: int = ..., strategy: Strategy = ...
    ) -> float: ...
    @overload
    def calibration_error(
        self, metric: str = ..., *, average: None, n_bins: int = ..., strategy: Strategy = ...
    ) -> NDArray[np.float64]: ...
    def calibration_error(
        self,
        metric: str = "expected_calibration_error",
        *,
        average: AreaAverage = "macro",
        n_bins: int = 10,
        strategy: Strategy = "uniform",
    ) -> Any:
        """Compute the calibration error of each class against the rest, or its average over classes (class-wise error).

        For the error of the most probable class alone, use `top_label`.

        Parameters
        ----------
        metric : str
            Name of a calibration error: "expected_calibration_error", "root_mean_square_calibration_error",
            "maximum_calibration_error", "debiased_calibration_error" or "smooth_calibration_error".
        average : {"macro", "micro", "weighted", None}
            "macro" is the mean over classes, and "weighted" the mean weighted by `support`. "micro" is the error of all
            classes' columns together. None returns each value.
        n_bins, strategy
            Bins of each class, as in `Ranking.calibration_curve`; the smooth error has none.

        Returns
        -------
        float or ndarray
            With ``average=None``, an array of shape (n_classes,).

        Raises
        ------
        ValueError
            If an option has another value, a score is outside [0, 1], or a row's scores don't add up to 1 (unless rows
            may have many labels).

        References
        ----------
        Kull et al. (2019), "Beyond temperature scaling", arXiv:1910.12656.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
        >>> classes.calibration_error(average=None).round(4)
        array([0.375, 0.35 , 0.225])
        """
        check_choice("average", average, AreaAverage)
        entry = METRICS[name_among("metric", metric, CALIBRATION_ERRORS)]
        options = {name: value for name, value in checked_bins(n_bins, strategy).items() if name in entry.options}
        self._scores.require_probabilities("y_score")
        return self._value(MetricSpec(entry.name, {"average": average, **options}))

    def top_label(self) -> Ranking:
        """Rank rows by their highest probability; a row is positive if it is of the class with this probability.

        Its calibration is the top-label (confidence) calibration: ``top_label().expected_calibration_error(15)``, or
        ``calibration(classes.top_label())``. If classes tie for the highest probability, the first one counts.

        Returns
        -------
        Ranking
            With labels True and False.

        Raises
        ------
        ValueError
            If `y_true` is an indicator matrix, a score is outside [0, 1], or a row's scores don't add up to 1.

        References
        ----------
        Guo et al. (2017), "On Calibration of Modern Neural Networks", arXiv:1706.04599.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.25, 0.2, 0.55], [0.55, 0.05, 0.4], [0.1, 0.3, 0.6], [0.9, 0.05, 0.05]]
        >>> round(fastevals.ClassRankings([0, 1, 2, 0], scores).top_label().expected_calibration_error(3), 12)
        0.2
        """
        self._of_one_label("top_label").require_probabilities("y_score")
        predicted, highest = predicted_classes(self._scores.columns)
        return Ranking(predicted == self._scores.codes, highest, sample_weight=self._scores.weights, pos_label=True)

    def log_loss(self) -> float:
        """Compute the mean of -log(probability of the true class), natural logarithm.

        Returns
        -------
        float
            Not negative; inf if a true class was given probability 0 (nothing is clipped).

        Raises
        ------
        ValueError
            If `y_true` is an indicator matrix, a score is outside [0, 1], or a row's scores don't add up to 1.

        Examples
        --------
        >>> import fastevals
        >>> classes = fastevals.ClassRankings([0, 1, 2], [[0.5, 0.25, 0.25], [0, 1, 0], [0.25, 0.25, 0.5]])
        >>> round(classes.log_loss(), 4)
        0.4621
        """
        return self._mean_loss("multiclass_log_loss")

    def brier_score(self) -> float:
        """Compute the mean over rows of the squared distance between the probabilities and the truth.

        The squares are added up over classes. For two classes, the score is twice the Brier score of either class.

        Returns
        -------
        float
            In [0, 2].

        Raises
        ------
        ValueError
            As for `log_loss`.

        References
        ----------
        Brier (1950), doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ClassRankings([0, 1, 2], [[0.5, 0.25, 0.25], [0, 1, 0], [0.25, 0.25, 0.5]]).brier_score()
        0.25
        """
        return self._mean_loss("multiclass_brier_score")

    def ranked_probability_score(self) -> float:
        """Compute the mean squared distance between cumulative probabilities and truth, for ordered classes.

        The classes are ordered as in `labels`. The squares are added up over classes except the last one, and divided
        by their number.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        ValueError
            As for `log_loss`.

        References
        ----------
        Epstein (1969), doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ClassRankings([0, 1, 2], [[0.5, 0.5, 0], [0, 1, 0], [0.5, 0, 0.5]]).ranked_probability_score()
        0.125
        """
        return self._mean_loss("ranked_probability_score")

    def top_k_accuracy(self, k: int = 3) -> float:
        """Compute the share of rows whose class is among the k classes with the highest scores.

        Parameters
        ----------
        k : int
            Number of classes, 3 by default. Of classes with equal scores, the first ones count as higher.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        ValueError
            If `y_true` is an indicator matrix, or `k` is not a whole number above 0.

        Examples
        --------
        >>> import fastevals
        >>> classes = fastevals.ClassRankings([0, 1, 2], [[0.5, 0.5, 0], [0, 1, 0], [0.5, 0.3, 0.2]])
        >>> classes.top_k_accuracy(2)
        0.6666666666666666
        """
        return self._mean_loss("top_k_accuracy", k=k)

    @overload
    def metric(self, name: str) -> float: ...
    @overload
    def metric(self, name: MetricSpec) -> float | NDArray[np.float64]: ...
    def metric(self, name: str | MetricSpec) -> float | NDArray[np.float64]:
        """Compute any metric of scores of several classes, or of rows that may have many labels.

        Parameters
        ----------
        name : str or `metric(...)`
            Any metric that `bootstrap` takes for this ranking, such as "label_ranking_loss", or F1 at a threshold with
            ``average="micro"``.

        Returns
        -------
        float or ndarray
            With ``average=None``, an array of shape (n_classes,), or with ``multi_class="ovo"`` of the pairs of classes
            j < k: (0, 1), (0, 2), ..., (1, 2), ...

        Raises
        ------
        ValueError
            If there is no such metric, or it does not apply.

        Warns
        -----
        UndefinedMetricWarning
            If the metric is undefined (NaN).

        Examples
        --------
        >>> import fastevals
        >>> classes = fastevals.ClassRankings([[1, 0], [1, 1], [0, 1]], [[0.9, 0.1], [0.4, 0.8], [0.6, 0.7]])
        >>> classes.metric(fastevals.metric("f1", threshold=[0.3, 0.5], average=None))
        array([0.8, 1. ])
        >>> classes.metric("subset_accuracy")
        0.3333333333333333
        """
        value: float | NDArray[np.float64] = self._value(parse_metric("name", name)[1])
        return value

    def best_thresholds(self, metric: str = "f1") -> NDArray[np.float64]:
        """Find the threshold of each class's scores that is best by a metric of the class against the rest.

        Parameters
        ----------
        metric : str
            A metric of one threshold, as for `Ranking.best_threshold`.

        Returns
        -------
        ndarray of shape (n_classes,)
            The highest of the best thresholds of each class, NaN if undefined. Pass them as the ``threshold=`` of a
            metric to measure other rows. On these rows, the metric is optimistic; ``metric("f1", best="f1")`` has an
            interval that allows for that.

        Raises
        ------
        ValueError
            If there is no such metric.

        Examples
        --------
        >>> import fastevals
        >>> classes = fastevals.ClassRankings([[1, 0], [1, 1], [0, 1]], [[0.9, 0.1], [0.4, 0.8], [0.6, 0.7]])
        >>> classes.best_thresholds()
        array([0.4, 0.7])
        """
        return np.array([each.best_threshold(metric).threshold for each in self.rankings])

    def confusion_matrix(self) -> ConfusionMatrix:
        """Count rows by their true and their most probable class, the first one of classes with equal scores.

        Returns
        -------
        ConfusionMatrix
            With `labels` as classes.

        Raises
        ------
        ValueError
            If `y_true` is an indicator matrix.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ClassRankings([0, 1, 2], [[0.5, 0.5, 0], [0, 1, 0], [0.5, 0.3, 0.2]]).confusion_matrix().counts
        array([[1, 0, 0],
               [0, 1, 0],
               [1, 0, 0]])
        """
        scores = self._of_one_label("confusion_matrix")
        predicted, numbers = predicted_classes(scores.columns)[0], np.arange(self._labels.size)
        codes: Any = scores.codes
        found = ConfusionMatrix.from_predictions(codes, predicted, labels=numbers, sample_weight=scores.weights)
        return ConfusionMatrix._from_counts(found.counts, Classes(self._labels, None))

    def _mean_loss(self, name: str, **options: Any) -> float:
        """Return a metric that is a mean over rows."""
        self._of_one_label(name.removeprefix("multiclass_"))
        return float(self._value(MetricSpec(name, options)))

    def _value(self, spec: Spec) -> Any:
        """Return a metric, an array or a float; warn if it is undefined."""
        specs = specs_for(self, {str(spec): spec})
        require_needed_probabilities(specs.values(), {"y_score": self._scores})
        (found,) = CLASSES.metrics(specs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # the warning below names the metric
            value = value_of_classes(self._scores, found)
            if value is None:
                value = np.asarray(make_sample(self, specs, SamplingDesign()).estimates()[0])
        if np.isnan(value).any():
            self._warn_undefined(getattr(spec, "name", str(spec)), found)
        return value if value.ndim else float(value)

    def _warn_undefined(self, name: str, metric: ClassMetric) -> None:
        """Warn that a metric is undefined; say of how many classes, or pairs of classes, if it is an average."""
        flags = sum(self.n_positives.tolist()), self.n_samples * self._labels.size
        if metric.source == "micro" and flags[0] in (0, flags[1]):
            warn_undefined(name, f"y_true has no {'negatives' if flags[0] else 'positives'}")
            return
        of_each = value_of_classes(self._scores, replace(metric, average=None, function=None))
        if of_each is None or not of_each.ndim:
            warn_undefined(name, "a class or a row that it needs is missing")
            return
        what = "pairs of classes" if metric.source == "pairs" else "classes"
        _warn_if_undefined(name, of_each, f"{what} {WITHOUT_PAIRS if name in CALIBRATION_ERRORS else LACK}")

    def _of_one_label(self, call: str) -> ClassScores:
        """Return the scores; raise if rows may have many labels."""
        if self.is_multilabel:
            raise ValueError(f"{call} needs one label per row, but y_true is an indicator matrix")
        return self._scores

    @overload
    def roc_curve(self, *, average: None = ..., drop_intermediate: bool = ...) -> dict[Any, RocCurve]: ...
    @overload
    def roc_curve(self, *, average: Mean, drop_intermediate: bool = ...) -> RocCurve: ...
    def roc_curve(self, *, average: CurveAverage = None, drop_intermediate: bool = True) -> Any:
        """Return the ROC curve of each class against the rest, or an average curve.

        Parameters
        ----------
        average : {None, "micro", "macro"}
            None returns each class's curve. "micro" is the curve of all classes' columns ranked as one. "macro" is the
            mean of the classes' TPR at each FPR; it has no thresholds (NaN), and its area is the macro AUC.
        drop_intermediate : bool
            Whether to leave out points inside horizontal and vertical stretches, which gives the same polyline.

        Returns
        -------
        dict of RocCurve by label, or RocCurve
            Rates are NaN if a class has no rows, or if no rows are outside the class.

        Raises
        ------
        ValueError
            If `average` has another value, or is "macro" and a class's curve is undefined.

        References
        ----------
        For the mean at each FPR: Fawcett (2006), section 8, doi:10.1016/j.patrec.2005.10.010.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
        >>> classes.roc_curve()["a"], round(classes.roc_curve(average="macro").area, 12)
        (RocCurve(5 points, area=0.75), 0.916666666667)
        """
        thinned = as_flag("drop_intermediate", drop_intermediate)
        return self._curve(CURVES["roc"], average, drop_intermediate=thinned)

    @overload
    def det_curve(self, *, average: None = ..., drop_intermediate: bool = ...) -> dict[Any, DetCurve]: ...
    @overload
    def det_curve(self, *, average: Mean, drop_intermediate: bool = ...) -> DetCurve: ...
    def det_curve(self, *, average: CurveAverage = None, drop_intermediate: bool = True) -> Any:
        """Return the DET curve of each class against the rest, or an average curve.

        Parameters
        ----------
        average : {None, "micro", "macro"}
            As for `roc_curve`: "macro" is the mean of the classes' FNR at each FPR.
        drop_intermediate : bool
            As for `roc_curve`.

        Returns
        -------
        dict of DetCurve by label, or DetCurve
            Rates are NaN if a class has no rows, or if no rows are outside the class.

        Raises
        ------
        ValueError
            If `average` has another value, or is "macro" and a class's curve is undefined.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> fastevals.ClassRankings(["a", "a", "b", "c"], scores).det_curve(average="macro").at(fpr=0.0)
        0.16666666666666663
        """
        thinned = as_flag("drop_intermediate", drop_intermediate)
        return self._curve(CURVES["det"], average, drop_intermediate=thinned)

    @overload
    def precision_recall_curve(self, *, average: None = ...) -> dict[Any, PrecisionRecallCurve]: ...
    @overload
    def precision_recall_curve(self, *, average: Mean) -> PrecisionRecallCurve: ...
    def precision_recall_curve(self, *, average: CurveAverage = None) -> Any:
        """Return the precision-recall curve of each class against the rest, or an average curve.

        Parameters
        ----------
        average : {None, "micro", "macro"}
            None returns each class's curve. "micro" is the curve of all classes' columns ranked as one: each of its
            points is the precision and recall at one threshold for all classes. "macro" is the mean of the classes'
            precision at each recall, so each class has a threshold of its own, and the curve has none (NaN).

        Returns
        -------
        dict of PrecisionRecallCurve by label, or PrecisionRecallCurve
            Recall is NaN for a class without rows.

        Raises
        ------
        ValueError
            If `average` has another value, or is "macro" and a class has no rows.

        Notes
        -----
        The macro curve is exact at each recall of any class. In between its counts are linear, so precision and area
        differ slightly from the means of the classes' values. Common classes have a higher precision by chance than
        rare ones, so for classes of different sizes read the macro curve with the curves of the classes.

        Examples
        --------
        >>> import fastevals
        >>> classes = fastevals.ClassRankings([[1, 0], [1, 1], [0, 1]], [[3, 1], [1, 2], [2, 3]])
        >>> classes.precision_recall_curve()[1].precision
        array([1.        , 1.        , 1.        , 0.66666667])
        >>> classes.precision_recall_curve(average="macro").at(recall=[0.5, 1.0])
        array([1.        , 0.83333333])
        """
        return self._curve(CURVES["precision_recall"], average)

    @overload
    def gain_curve(self, *, average: None = ...) -> dict[Any, GainCurve]: ...
    @overload
    def gain_curve(self, *, average: Mean) -> GainCurve: ...
    def gain_curve(self, *, average: CurveAverage = None) -> Any:
        """Return the gain curve of each class against the rest, or an average curve.

        Parameters
        ----------
        average : {None, "micro", "macro"}
            None returns each class's curve. "micro" is the curve of all classes' columns ranked as one, so its share
            counts cells: pairs of a row and a class. "macro" is the mean of the classes' gain at each share of rows; it
            has no thresholds (NaN).

        Returns
        -------
        dict of GainCurve by label, or GainCurve
            The gain is NaN for a class without rows.

        Raises
        ------
        ValueError
            If `average` has another value, or is "macro" and a class has no rows.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> fastevals.ClassRankings(["a", "a", "b", "c"], scores).gain_curve(average="macro").at(share=0.25)
        0.8333333333333334
        """
        return self._curve(CURVES["gain"], average)

    @overload
    def lift_curve(self, *, average: None = ...) -> dict[Any, LiftCurve]: ...
    @overload
    def lift_curve(self, *, average: Mean) -> LiftCurve: ...
    def lift_curve(self, *, average: CurveAverage = None) -> Any:
        """Return the lift curve of each class against the rest, or an average curve.

        Parameters
        ----------
        average : {None, "micro", "macro"}
            As for `gain_curve`: "macro" is the mean of the classes' lift at each share of rows.

        Returns
        -------
        dict of LiftCurve by label, or LiftCurve
            The lift is NaN for a class without rows.

        Raises
        ------
        ValueError
            If `average` has another value, or is "macro" and a class has no rows.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> round(fastevals.ClassRankings(["a", "a", "b", "c"], scores).lift_curve(average="macro").at(share=0.25), 12)
        3.333333333333
        """
        return self._curve(CURVES["lift"], average)

    @overload
    def calibration_curve(
        self, n_bins: int = ..., *, average: None = ..., strategy: Strategy = ...
    ) -> dict[Any, CalibrationCurve]: ...
    @overload
    def calibration_curve(
        self, n_bins: int = ..., *, average: Literal["micro"], strategy: Strategy = ...
    ) -> CalibrationCurve: ...
    def calibration_curve(
        self, n_bins: int = 10, *, average: BinnedAverage = None, strategy: Strategy = "uniform"
    ) -> Any:
        """Return the calibration curve of each class against the rest, or one curve for all classes.

        Parameters
        ----------
        n_bins, strategy
            Bins, as in `Ranking.calibration_curve`.
        average : {None, "micro"}
            None returns each class's curve, and "micro" the curve of all classes' columns together. (There is no macro
            curve, because classes have different mean probabilities in a bin.) For the most probable class alone, use
            ``top_label().calibration_curve()``.

        Returns
        -------
        dict of CalibrationCurve by label, or CalibrationCurve

        Raises
        ------
        ValueError
            If an option has another value, a score is outside [0, 1], or a row's scores don't add up to 1 (unless rows
            may have many labels).

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
        >>> classes.calibration_curve(2, average="micro").fraction_of_positives
        array([0.2, 1. ])
        """
        bins = checked_bins(n_bins, strategy)
        self._scores.require_probabilities("y_score")
        return self._curve(CURVES["calibration"], average, BinnedAverage, **bins)

    def _curve(self, entry: CurveEntry, average: CurveAverage, averages: Any = CurveAverage, **options: Any) -> Any:
        """Make a curve of each class, or an average curve."""
        check_choice("average", average, averages)
        if average == "micro":
            return getattr(self._as_one(), entry.method)(**options)
        if average == "macro":
            _check_each_class("average='macro'", self._labels, self.n_positives, self.n_samples, entry)
            return entry.kind(MACROS[entry.macro](self.rankings))
        return self._by_label(entry, run(lambda ranking: entry.of_counts(ranking.counts, **options), self.rankings))

    def _as_one(self) -> Ranking:
        """Rank all classes' columns as one; the positives of each column are the rows of its class."""
        flags, scores, weights = self._scores.all_together()
        return Ranking(flags, scores, sample_weight=weights, pos_label=1)

    def _by_label(self, entry: CurveEntry, curves: list[Any]) -> dict[Any, Any]:
        """Return curves by class label; warn once if some are undefined."""
        missing = sum(not curve.defined for curve in curves)
        if missing:
            lacking = LACK if "negatives" in entry.undefined_without else "lack rows of the class"
            warn_undefined(entry.method, f"{missing} of {len(curves)} classes {lacking}")
        return dict(zip(self._labels.tolist(), curves, strict=True))


# Checks ---------------------------------------------------------------------------------------------------------------


def _warn_if_undefined(name: str, values: NDArray[np.float64], lacking: str) -> None:
    if np.isnan(values).any():
        warn_undefined(name, f"{np.isnan(values).sum()} of {values.size} {lacking}")


def _check_one_vs_one(multilabel: bool, average: AreaAverage, max_fpr: Any) -> None:
    """Raise unless one-vs-one areas are defined with these options."""
    if multilabel:
        raise ValueError("multi_class='ovo' needs one label per row, but y_true is an indicator matrix")
    if average == "micro":
        raise ValueError("average='micro' requires multi_class='ovr': pairs of classes have no indicator matrix")
    if max_fpr is not None:
        raise ValueError(f"max_fpr requires multi_class='ovr', got {show(max_fpr)} with 'ovo'")


def _check_each_class(
    option: str, labels: NDArray[Any], n_positives: NDArray[Any], n_samples: int, entry: CurveEntry
) -> None:
    """Raise unless each class has the rows that its curve needs."""
    sides = {"positives": ("rows", n_positives), "negatives": ("rows outside it", n_samples - n_positives)}
    needed = "rows of each class" + " and outside it" * ("negatives" in entry.undefined_without)
    for side, rows in (sides[each] for each in entry.undefined_without):
        if not rows.all():
            label = show(labels[int(np.argmin(rows != 0))])
            raise ValueError(f"{option} needs {needed}, but class {label} has no {side}")
