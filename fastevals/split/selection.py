"""Model selection: compare candidates on validation splits, and measure the chosen one on unseen rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastevals._distinct import sorted_unique
from fastevals._options import _warn, as_flag, check_integer, is_splitter, show
from fastevals._random import seed_key
from fastevals.infer.selection.bias_corrected import BestConfiguration, as_named_metric, bias_corrected_best
from fastevals.split.checks import as_share_or_count, check_direction, check_some_defined
from fastevals.split.designs import SplitDesign
from fastevals.split.estimates.fits import Fit
from fastevals.split.learners import Failure, Learner, take_rows
from fastevals.split.selection_results import CandidateResult, ModelSelection, NestedEstimate, OuterFailure
from fastevals.split.splitters.base import Pair, Rows
from fastevals.split.splitters.hold_out import HoldOut
from fastevals.split.splitters.k_fold import KFold
from fastevals.split.trials import (
    Candidate,
    Choice,
    Measurement,
    Outcome,
    Trial,
    best_place,
    list_candidates,
    raise_if_all_failed,
)


def select_model(
    candidates: Any,
    X: Any,
    y: Any,
    metric: Any,
    *,
    grid: Any = None,
    splitter: Any = 5,
    test: Any = 0.2,
    nested: Any = None,
    bias_correction: bool = False,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    maximize: bool | None = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
    rng: Any = None,
) -> ModelSelection:
    """Choose the candidate with the best mean over validation splits, and measure it on rows set aside.

    First, a test part is set aside. The other rows, the training part, are split into rows to fit on and validation
    rows, in the same way for all candidates. The best candidate is fitted to the training part and measured once on the
    test part. Finally, it is fitted to all rows. The test value and all intervals come from the earlier fits, to fewer
    rows.

    Parameters
    ----------
    candidates : function, estimator or mapping
        A learner as for `estimate_error`; or a mapping from names to learners, or to pairs (learner, grid).
    X, y : data of n_samples rows
        As for `estimate_error`.
    metric : str, `metric(...)` or function
        The single metric to choose by, as for `estimate_error`.
    grid : mapping or list of mappings, optional
        For a single learner, a mapping from each parameter to its values, or a list of such mappings. All combinations
        of values are candidates.
    splitter : int or splitter
        Validation splits of the training part: a number of folds, or a splitter of this package or with scikit-learn's
        interface.
    test : float, int, splitter or None
        The test part: its share or number of rows, or a splitter that makes one split. None means no test part.
    nested : int or splitter, optional
        Outer splits of a nested cross-validation, made from the training part (all rows if there is no test part). The
        whole selection is repeated on the training rows of each outer split, and the model it chooses is measured on
        the outer test rows.
    bias_correction : bool
        Whether to estimate the chosen candidate's performance from its predictions on the validation rows, corrected
        for the choice, by `bbc_cv`. It needs no further fits, and validation splits that test each row once, such as
        folds.
    groups : array-like of shape (n_samples,), optional
        The group of each row, if rows are clustered; none of the splits divides a group.
    pos_label, labels
        As for `estimate_error`.
    maximize : bool, optional
        Whether a greater value is better. For a metric with a name this is known; for a function it is required.
    confidence_level : float in (0, 1)
        Confidence level of the intervals.
    n_jobs : int, optional
        Number of joblib workers for all candidates' fits, or -1 for one per CPU. By default fits run in this process.
    progress : bool
        Whether to show a progress bar (needs tqdm).
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed for drawing parts and folds that are given as numbers. If the metric is for classes, these parts
        and folds are stratified, except the test part if `groups` are given.

    Returns
    -------
    ModelSelection

    Raises
    ------
    ValueError
        If an argument is not as described, or the metric is undefined for all candidates. If all candidates fail, the
        first error is raised, with a note that names the fit. If the chosen candidate fails on the training part or on
        all rows, its error is raised in the same way.

    Warns
    -----
    UndefinedMetricWarning
        If the metric is undefined in some splits; these splits are left out of the candidate's mean. Also if an outer
        split has no value because fits failed; this split is left out of the nested mean.

    Notes
    -----
    If a fit of a candidate fails, the candidate's estimate is NaN, `failure` has the error, and the candidate is not
    chosen. If means tie, the first candidate is chosen, so put simpler candidates first.

    The best validation value is the largest of many noisy estimates (or the smallest), and so too optimistic [1]_. The
    test value comes from rows that had no part in the choice. With few rows, the test value is imprecise; a nested
    cross-validation [2]_ with ``test=None`` then uses all rows both to choose and to test. It estimates the performance
    of the whole selection, not of one model, with as many training rows as the outer training parts have.

    References
    ----------
    .. [1] Cawley, G. and Talbot, N. (2010), "On Over-fitting in Model Selection and Subsequent Selection Bias in
       Performance Evaluation", JMLR 11, 2079-2107.
    .. [2] Varma, S. and Simon, R. (2006), "Bias in error estimation when using cross-validation for model selection",
       BMC Bioinformatics 7, 91, doi:10.1186/1471-2105-7-91.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import select_model
    >>> def polynomial(x, y, x_new, degree):
    ...     return np.polyval(np.polyfit(x, y, degree), x_new)
    >>> x = np.linspace(-1, 1, 100)
    >>> y = x**2 + np.random.default_rng(1).normal(scale=0.1, size=100)
    >>> select_model(polynomial, x, y, "mean_squared_error", grid={"degree": [0, 2]}, rng=0).best.params
    {'degree': 2}
    """
    tried = list_candidates(candidates, grid)
    measured = Measurement.build(
        X, y, metric, groups=groups, pos_label=pos_label, labels=labels, maximize=maximize,
        confidence_level=confidence_level,
    )  # fmt: skip
    better = check_direction("maximize", measured.metric, measured.maximize)
    corrects = as_flag("bias_correction", bias_correction)
    maker = _SplitMaker(measured, int(seed_key("rng", rng)))
    held_out = None if test is None else maker.test_part(test)
    rows = np.arange(measured.n_samples) if held_out is None else held_out.train
    seen = f"all {rows.size} rows" if held_out is None else f"the {rows.size} rows of the training part"
    outer = None if nested is None else maker.split("nested", nested, maker.folds("nested", nested, 2), rows, seen)
    outer_pairs = [] if outer is None else _to_split_further("nested", outer)
    inner = maker.folds("splitter", splitter, 1)
    # One search on the training part, then one in each outer split; all their fits run in one pass.
    searches = [maker.split("splitter", splitter, inner, rows, seen)] + [
        maker.split("splitter", splitter, inner, part, f"the {part.size} training rows of the outer split {k}")
        for k, (part, _) in enumerate(outer_pairs)
    ]
    keeps = [corrects, *(False for _ in outer_pairs)]
    if corrects:
        as_named_metric(measured.metric, measured.spec)
        _check_each_row_once("splitter", searches[0], rows)
    trials = [[Trial(candidate, each, kept) for candidate in tried] for each, kept in zip(searches, keeps, strict=True)]
    outcomes = iter(measured.outcomes([each for search in trials for each in search], n_jobs=n_jobs, progress=progress))
    by_search = [list(islice(outcomes, len(tried))) for _ in searches]

    raise_if_all_failed(trials[0], by_search[0])
    best = check_some_defined(measured.metric, _best_outcome(by_search[0], better), len(tried), "candidates")
    estimate = None
    if outer is not None:
        estimate = _estimate_nested(measured, tried, by_search[1:], better, outer_pairs, outer, n_jobs)
    choice, learner = tried[best]
    test_value = None
    if held_out is not None:
        (measure,) = measured.fits([Fit(learner, *held_out, f"{choice}, the training part")], 1)
        test_value = measured.value(measure, "test part")
    corrected = None
    if corrects and len(tried) > 1:
        corrected = _correct_choice(measured, tried, by_search[0], best, searches[0], rows, maker.key)
    whole = take_rows(X, None), take_rows(y, None)  # copies, so that later changes to the user's data have no effect
    model = _refit(choice, learner, *whole) if learner.is_estimator else None
    results = tuple(
        CandidateResult(each.choice, candidate_estimate, None if failure is None else str(failure))
        for each, (candidate_estimate, failure, _) in zip(tried, by_search[0], strict=True)
    )
    return ModelSelection(
        metric=measured.metric,
        maximize=better,
        pos_label=measured.pos_label,
        confidence_level=measured.level,
        best=results[best],
        candidates=results,
        test_value=test_value,
        test_rows=None if held_out is None else held_out.test,
        nested=estimate,
        corrected=corrected,
        model=model,
        _learner=learner,
        _data=None if learner.is_estimator else whole,
    )


class _SplitMaker(NamedTuple):
    """Makes splitters, each with its own seed, from the numbers that a user gave, and makes their splits."""

    measured: Measurement
    key: int

    def folds(self, name: str, value: Any, stream: int) -> Any:
        """Return a splitter for a number of folds, or the splitter itself."""
        n_folds = _check_folds_or_splitter(name, value, self.measured.n_samples)
        if n_folds is None:
            return value
        return KFold(n_folds, stratified=self.measured.is_classification, rng=[self.key, stream])

    def split(self, name: str, value: Any, splitter: Any, part: Rows | None, which: str) -> SplitDesign:
        """Return the splits of some rows by `splitter`, which was made from `value`.

        Error messages describe these rows by the text `which`.
        """
        if splitter is not value and splitter.stratified:
            kind = type(splitter).__name__
            which += f"; stratified because the metric is for classes; {name}={kind}({show(value)}) is not stratified"
        with _name_argument(name, f"of {which}"):
            return self.measured.splits(name, splitter, part)

    def test_part(self, value: Any) -> Pair:
        """Return the rows of the training part and of the test part."""
        splitter = value
        if not is_splitter(value):
            size = as_share_or_count("test", value)
            stratified = self.measured.is_classification and self.measured.groups is None
            splitter = HoldOut(size, stratified=stratified, rng=[self.key, 0])
        splits = self.split("test", value, splitter, None, f"all {self.measured.n_samples} rows")
        pairs = _to_split_further("test", splits)
        _check_one_split("test", len(pairs))
        return pairs[0]


def _to_split_further(name: str, splits: SplitDesign) -> list[Pair]:
    """Return splits as pairs, to split the training parts again; raise if a training part repeats a row."""
    pairs = list(splits.pairs())
    for pair in pairs:
        _check_distinct_rows(name, pair.train)
    return pairs


def _best_outcome(outcomes: Sequence[Outcome], maximize: bool) -> int | None:
    return best_place(np.array([estimate.value for estimate, *_ in outcomes]), maximize)


def _estimate_nested(
    measured: Measurement,
    tried: Sequence[Candidate],
    searches: Sequence[Sequence[Outcome]],
    maximize: bool,
    pairs: Sequence[Pair],
    outer: SplitDesign,
    n_jobs: int | None,
) -> NestedEstimate:
    """Choose a candidate in each outer split, from the split's search, and measure it on the outer test rows."""
    places = [_best_outcome(each, maximize) for each in searches]
    chosen = [None if k is None else tried[k] for k in places]
    fits = [
        Fit(each.learner, *pair, "all training rows of the outer split")
        for each, pair in zip(chosen, pairs, strict=True)
        if each is not None
    ]
    counted = iter(measured.fits(fits, len(fits), keep_failures=True, n_jobs=n_jobs))
    counts = [None if each is None else next(counted) for each in chosen]
    failures = []
    for k, (search, candidate, measure) in enumerate(zip(searches, chosen, counts, strict=True)):
        tries = [(each, failure) for each, (_, failure, _) in zip(tried, search, strict=True)]
        for each, failure in (*tries, (candidate, measure)):
            if each is not None and isinstance(failure, Failure):
                failures.append(OuterFailure(k, each.choice, str(failure)))
    names = tuple(None if each is None else each.choice for each in chosen)
    result = NestedEstimate(measured.estimate(counts, outer), names, tuple(failures))
    missing = sum(each is None or isinstance(each, Failure) for each in counts)
    if missing:
        _warn_outer_splits(measured.metric, missing, len(counts), result.failed())
    return result


def _correct_choice(
    measured: Measurement,
    tried: Sequence[Candidate],
    outcomes: Sequence[Outcome],
    best: int,
    splits: SplitDesign,
    rows: Rows,
    key: int,
) -> BestConfiguration | None:
    """Return the chosen candidate's performance, corrected for the choice; None if no other candidate was fitted."""
    tests = np.concatenate([pair.test for pair in splits.pairs()])
    order = np.argsort(tests, kind="stable")
    names = [str(each.choice) for each in tried]
    if len(set(names)) < len(names):  # parameters whose texts are equal or cut short
        names = [f"candidate {k}, {name}" for k, name in enumerate(names)]
    predictions = {
        name: np.concatenate(outcome.predicted)[order]
        for name, outcome in zip(names, outcomes, strict=True)
        if outcome.predicted is not None
    }
    if len(predictions) < 2:
        return None
    groups = None if measured.groups is None else take_rows(measured.groups, tests[order])
    return bias_corrected_best(
        take_rows(measured.truth, tests[order]), predictions, measured.spec, best=names[best],
        groups=groups, pos_label=measured.pos_label, rng=[key, 3], confidence_level=measured.level,
    )  # fmt: skip


def _refit(choice: Choice, learner: Learner, X: Any, y: Any) -> Any:
    """Fit the chosen estimator to all rows, and name the fit in errors."""
    try:
        return learner.fit(X, y)
    except Exception as error:
        Failure(error, f"{choice}, all rows").noted()
        raise


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_folds_or_splitter(name: str, value: Any, n: int) -> int | None:
    """Return the number of folds, at most n; None if the value is a splitter."""
    if is_splitter(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a number of folds or a splitter, got {show(value)}")
    return check_integer(name, value, low=2, high=n)


def _check_one_split(name: str, n_splits: int) -> None:
    """Raise unless a splitter makes exactly one split."""
    if n_splits != 1:
        raise ValueError(f"{name} must give one split, the test part, but gives {n_splits}")


@contextmanager
def _name_argument(name: str, rows: str) -> Iterator[None]:
    """Add to errors the name of a user's argument and the rows that it was applied to."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith((f"{name} ", f"{name}[")):
            raise
        raise ValueError(f"{name}: {error} ({rows})") from error


def _warn_outer_splits(metric: str, missing: int, n: int, failed: str) -> None:
    """Warn that no candidate could be measured in some outer splits."""
    why = f"; {failed}" if failed else ""
    _warn(f"{metric} has no value in {missing} of {n} outer splits, which are left out (n_undefined){why}")


def _check_each_row_once(name: str, splits: SplitDesign, rows: Rows) -> None:
    """Raise unless the splits test each row once, as `bias_correction` needs."""
    tests = np.concatenate([pair.test for pair in splits.pairs()])
    if tests.size != rows.size or sorted_unique(tests).size != rows.size:
        raise ValueError(
            f"{name} must test each row once with bias_correction=True, such as KFold(5); got {splits.n_splits} splits "
            f"that test {tests.size} rows, {sorted_unique(tests).size} of them distinct, of {rows.size}"
        )


def _check_distinct_rows(name: str, rows: Rows) -> None:
    """Raise if rows that will be split again contain a row twice, because its copies could be in both parts."""
    if sorted_unique(rows).size < rows.size:
        raise ValueError(
            f"{name} must have each training row once, as these rows are split further; got {rows.size} rows, "
            f"{sorted_unique(rows).size} of them distinct"
        )
