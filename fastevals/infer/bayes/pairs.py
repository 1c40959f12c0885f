"""Read the results of the two learners of a Bayesian comparison, and the options that the models share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import as_direction, check_integer, check_number
from fastevals._validation.tables import find_pair
from fastevals.infer.bayes.comparison import BayesComparison, StudentPosterior
from fastevals.infer.learners.results import Results
from fastevals.results import TIE_TOLERANCE, Interval, check_confidence_level

Floats = NDArray[np.float64]

MOST_DRAWS = 10_000_000


class Asked(NamedTuple):
    """Two learners, given by place and name, and the checked options of a comparison."""

    places: tuple[int, int]
    a: Any
    b: Any
    metric: str | None
    greater_is_better: bool
    rope: float
    confidence_level: float

    def answer(
        self, test: str, shares: tuple[float, float], effect: float, interval: Interval, n_datasets: int, **more: Any
    ) -> BayesComparison:
        """Return the result, given the probabilities of differences above the rope, and below minus the rope."""
        better, worse = shares if self.greater_is_better else shares[::-1]
        equivalent = max(0.0, 1.0 - better - worse) if self.rope else 0.0
        return BayesComparison(
            test, self.a, self.b, better, equivalent, worse, self.rope, effect, interval, self.confidence_level,
            self.metric, self.greater_is_better, n_datasets, **more,
        )  # fmt: skip

    def answer_from_posterior(self, test: str, posterior: StudentPosterior, **more: Any) -> BayesComparison:
        """Return the result for a known posterior of the difference."""
        interval = posterior.interval(self.confidence_level)
        return self.answer(
            test, posterior.outside(self.rope), posterior.location, interval, 1, posterior=posterior, **more
        )

    def answer_from_draws(
        self, test: str, draws: Floats, differences: Floats, n_datasets: int, **more: Any
    ) -> BayesComparison:
        """Return the result for draws of the shares of differences above, within and below the rope."""
        largest = draws >= draws.max(axis=1, keepdims=True) - TIE_TOLERANCE
        shares = (largest / largest.sum(axis=1, keepdims=True)).mean(axis=0)
        tail = (1 - self.confidence_level) / 2
        low, high = np.quantile(differences, [tail, 1 - tail])
        return self.answer(
            test, (float(shares[0]), float(shares[2])), float(differences.mean()), Interval(float(low), float(high)),
            n_datasets, _shares=np.ascontiguousarray(draws if self.greater_is_better else draws[:, ::-1]),
            _differences=differences, **more,
        )  # fmt: skip


def read_options(
    learners: tuple[Any, ...],
    a: Any,
    b: Any,
    *,
    metric: str | None,
    known: bool | None,
    higher_is_better: bool | None,
    rope: float,
    confidence_level: float,
) -> Asked:
    """Check which learners are compared, the metric's direction, the rope and the level."""
    places = find_pair(a, b, learners)
    direction = check_direction(metric, known, higher_is_better)
    rope = check_number("rope", rope, low=0, high=math.inf, open_high=True)
    level, _ = check_confidence_level(confidence_level)
    first, second = (learners[place] for place in places)
    return Asked(places, first, second, metric, direction, rope, level)


def check_direction(metric: str | None, known: bool | None, given: bool | None) -> bool:
    """Return whether higher results are better; raise if neither the metric nor the user says so."""
    direction = as_direction("higher_is_better", metric or "these results", given, known)
    if direction is None:
        of = "a metric that is not named" if metric is None else repr(metric)
        raise ValueError(f"higher_is_better must be given, True or False, for results of {of}")
    return direction


def check_draws(n_draws: Any, low: int = 1) -> int:
    """Check the number of draws."""
    return check_integer("n_draws", n_draws, low=low, high=MOST_DRAWS)


def correlation_of_folds(results: Results, n_train: Any, n_test: Any) -> Floats:
    """Return the correlation between the results of folds on each data set: the test rows' share of all rows."""
    ratio = results.test_to_train
    if ratio is not None:
        if not (n_train is n_test is None):
            raise ValueError("n_train and n_test are known from the results, so leave both out")
    elif n_train is None or n_test is None:
        raise ValueError(
            "n_train and n_test must be given for results without them; for ten folds, they may be 9 and 1"
        )
    else:
        train, test = (check_integer(name, n, low=1) for name, n in (("n_train", n_train), ("n_test", n_test)))
        ratio = np.full(len(results.datasets), test / train)
    return np.asarray(ratio / (1 + ratio))
