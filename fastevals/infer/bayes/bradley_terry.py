"""The Bayesian Bradley-Terry model: many learners over several data sets, from wins and ties."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice, check_number
from fastevals._random import seed_key
from fastevals._text import count_of, printable
from fastevals._validation.tables import find_name
from fastevals.document.document import GAP, Cell, Document, Number, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, as_column, make_columns
from fastevals.infer.bayes.chains import LEAST_DRAWS, chain_quality, draw_starts, new_streams, run_chains, warn_if_rough
from fastevals.infer.bayes.comparison import BayesComparison, probability_text
from fastevals.infer.bayes.pairs import check_direction, check_draws
from fastevals.infer.learners.results import Results, as_learner_results
from fastevals.results import TIE_TOLERANCE, Frozen, Interval, check_confidence_level

Floats = NDArray[np.float64]

TERMS_PER_PAIR = 5
LEAST_SPREAD, SPREAD_DEVIATION = 0.001, 0.5  # of the strengths: its prior is log-normal around 1
PAIRS_WRITTEN = 45

TiedWins = Literal["spread", "ignore"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BradleyTerry(Frozen):
    """Strengths of learners, and the probabilities that one beats another on a data set.

    Matrices have a row for the first and a column for the second learner of a pair.

    Attributes
    ----------
    learners : tuple
        Names of the learners.
    strength : ndarray of shape (n_learners,)
        Posterior mean of the strengths, as log odds against the average learner.
    low, high : ndarray of shape (n_learners,)
        Ends of the credible intervals of the strengths.
    wins, ties : ndarray of shape (n_learners, n_learners)
        Numbers of data sets that the first learner wins, and that are tied.
    win_probability : ndarray of shape (n_learners, n_learners)
        Posterior mean of the probability that the first learner wins; 1/2 on the diagonal.
    better : ndarray of shape (n_learners, n_learners)
        Posterior probability that the first learner's probability of winning is above ``1/2 + rope``.
    equivalent : ndarray of shape (n_learners, n_learners)
        Posterior probability that it is from ``1/2 - rope`` to ``1/2 + rope``; 1 on the diagonal.
    rope, local_rope : float
        The regions of practical equivalence: of winning probabilities, and of differences on a data set.
    confidence_level : float
        Posterior probability of the intervals.
    metric : str or None
        Name of the metric, if known.
    greater_is_better : bool
        Whether higher values of the metric are better.
    n_datasets : int
        Number of data sets.
    n_draws : int
        Number of draws from the posterior.
    r_hat, n_effective : float
        Largest R-hat and smallest effective number of draws over the strengths.
    notes : tuple of str
        Sentences on what was done to the data.
    conclusion : str
        The strongest learner, and how sure that is.

    Examples
    --------
    >>> import fastevals
    >>> error = {"forest": [0.1, 0.2, 0.1, 0.3], "svm": [0.2, 0.3, 0.1, 0.4], "tree": [0.3, 0.4, 0.2, 0.2]}
    >>> found = fastevals.bayes_bradley_terry(error, higher_is_better=False, rng=0)
    >>> found.learners[found.strength.argmax()], int(found.wins[0, 2])
    ('forest', 3)
    >>> forest_better, equivalent, tree_better = found.between("forest", "tree")
    """

    learners: tuple[Any, ...]
    strength: Floats
    low: Floats
    high: Floats
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    win_probability: Floats
    better: Floats
    equivalent: Floats
    rope: float
    local_rope: float
    confidence_level: float
    metric: str | None
    greater_is_better: bool
    n_datasets: int
    r_hat: float
    n_effective: float
    notes: tuple[str, ...]
    _draws: Floats

    def between(self, a: Any, b: Any) -> BayesComparison:
        """Return the comparison of two learners, given their names.

        Raises
        ------
        ValueError
            If they are not two of the learners.
        """
        i, j = find_name("a", a, self.learners), find_name("b", b, self.learners)
        if i == j:
            raise ValueError(f"a and b must be two different learners, got {a!r} twice")
        chances = win_probabilities(self._draws[:, i] - self._draws[:, j])
        tail = (1 - self.confidence_level) / 2
        low, high = np.quantile(chances, [tail, 1 - tail])
        return BayesComparison(
            "Bradley-Terry model", self.learners[i], self.learners[j], float(self.better[i, j]),
            float(self.equivalent[i, j]) if self.rope else 0.0, float(self.better[j, i]), self.rope,
            float(self.win_probability[i, j]), Interval(float(low), float(high)), self.confidence_level,
            self.metric, self.greater_is_better, self.n_datasets, _differences=chances, r_hat=self.r_hat,
            n_effective=self.n_effective, notes=self.notes, of_wins=True,
        )  # fmt: skip

    @property
    def conclusion(self) -> str:
        """The strongest learner, and how sure that is."""
        order = np.argsort(-self.strength, kind="stable")
        return self.between(self.learners[order[0]], self.learners[order[1]]).conclusion

    @property
    def n_draws(self) -> int:
        """Number of draws from the posterior."""
        return len(self._draws)

    def strengths(self) -> Floats:
        """Return the strengths in each draw from the posterior, of shape (n_draws, n_learners)."""
        return self._draws

    def _columns(self) -> Columns:
        """Return a row for each pair of learners, the stronger one first."""
        first, second = self._pairs()
        names = as_column(self.learners)
        matrices = {"wins": self.wins, "ties": self.ties, "win_probability": self.win_probability}
        values: dict[str, Any] = {name: matrix[first, second] for name, matrix in matrices.items()}
        values |= {"losses": self.wins[second, first], "first_better": self.better[first, second]}
        values |= {"equivalent": self.equivalent[first, second], "second_better": self.better[second, first]}
        order = ("wins", "ties", "losses", "win_probability", "first_better", "equivalent", "second_better")
        return {"first": names[first], "second": names[second], **make_columns({name: values[name] for name in order})}

    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the learners of each pair, the stronger one first, strong pairs first."""
        order = np.argsort(-self.strength, kind="stable")
        first, second = np.triu_indices(len(order), 1)
        return order[first], order[second]

    def _title(self) -> str:
        of = "" if self.metric is None else f", {self.metric}"
        return (
            f"Bayesian Bradley-Terry model: {len(self.learners)} learners, {count_of(self.n_datasets, 'data set')}{of}"
        )

    def _document(self) -> Document:
        order = np.argsort(-self.strength, kind="stable")
        ends = (self.strength, self.low, self.high)
        strengths = [
            Row(printable(str(self.learners[k])), [Number(float(each[k]), written=f"{each[k]:.2f}") for each in ends])
            for k in order.tolist()
        ]
        first, second = self._pairs()

        def pairs() -> Iterator[Row]:
            for i, j in zip(first.tolist(), second.tolist(), strict=True):
                counts = f"{self.wins[i, j]}-{self.ties[i, j]}-{self.wins[j, i]}"
                shares = (self.better[i, j], self.equivalent[i, j], self.better[j, i])
                yield Row(
                    f"{printable(str(self.learners[i]))}, {printable(str(self.learners[j]))}",
                    [Cell(counts), *(Cell(probability_text(float(p))) for p in (self.win_probability[i, j], *shares))],
                )

        more = f"... {len(first) - PAIRS_WRITTEN} more pairs" if len(first) > PAIRS_WRITTEN else ""
        titles = ["pair", "win-tie-loss", "first wins", "first better", "equivalent", "second better"]
        parts: list[Part] = [
            Sentence(self.conclusion, "verdict"),
            GAP,
            Table("strengths", "Strengths", ["learner", "strength", "low", "high"], strengths),
            GAP,
            Table("pairs", "Pairs", titles, pairs, n_shown=PAIRS_WRITTEN, more=more, n_rows=len(first)),
            *([GAP] if self.notes else []),
            *(Sentence(each, "caution") for each in self.notes),
        ]
        return Document("", self._short_title(), sections=[Section(parts)], numbers=self.to_dict)

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def __repr__(self) -> str:
        best = self.learners[int(self.strength.argmax())]
        sets = count_of(self.n_datasets, "data set")
        return f"BradleyTerry({len(self.learners)} learners, {sets}, strongest: {best!r})"


def bayes_bradley_terry(
    results: Any,
    *,
    rope: float = 0.05,
    local_rope: float = 0.4,
    ties: TiedWins = "spread",
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
    n_draws: int = 10_000,
    rng: Any = None,
) -> BradleyTerry:
    """Compute how probable it is that each learner beats each other on a data set, for any metric.

    On each data set, one learner of a pair wins, or they are tied. Wins don't depend on the metric's scale, so data
    sets may have different scales ([1]_). Missing results are allowed: a pair is compared on the data sets of both.

    Parameters
    ----------
    results : Results, or data for `Results`
        Results of two or more learners on data sets, with or without folds.
    rope : float in [0, 0.5)
        Half the width of the region of practical equivalence of winning probabilities: with 0.05, from 45 to 55 %.
    local_rope : float
        With folds: a data set is tied if the mean difference between its folds is at most this number of their standard
        deviations. Without folds, only equal results are tied.
    ties : {"spread", "ignore"}
        "spread" counts half of a pair's ties (rounded up) as wins of each. "ignore" leaves them out.
    higher_is_better : bool, optional
        Whether higher results are better; needed if the metric is unknown.
    confidence_level : float in (0, 1)
        Posterior probability of the intervals.
    n_draws : int
        Number of draws from the posterior, at least 400, shared by four chains.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed.

    Returns
    -------
    BradleyTerry
        Strengths, and matrices over all pairs.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    ConvergenceWarning
        If R-hat is above 1.01, or the effective number of draws below 400.

    Notes
    -----
    The probability that i beats j is ``1 / (1 + exp(s_j - s_i))``, where s are strengths. They have a normal prior
    around 0, whose standard deviation has a log-normal prior with parameters 0 and 0.5: the model of bbtcomp [1]_.
    Chains are sampled by slice steps; a draw takes time O(n_learners**2).

    The model takes the pairs of learners on a data set as independent. They are not: a learner that is lucky there
    beats several others at once. So with many learners, the probabilities are too sure. In simulations with five
    equally good learners on 12 data sets, one of a pair was better with a probability above 0.95 in 9 % of pairs, and
    in at least one of the ten pairs in 41 % of simulations (without a rope, 21 % and 72 %). With two learners, it was
    4 %.

    References
    ----------
    .. [1] Wainer, J. (2023), "A Bayesian Bradley-Terry model to compare multiple ML algorithms on multiple data sets",
       JMLR 24(341), 1-34, arXiv:2208.04935.

    Examples
    --------
    >>> import fastevals
    >>> error = {"forest": [0.1, 0.2, 0.1, 0.3], "svm": [0.2, 0.3, 0.1, 0.4], "tree": [0.3, 0.4, 0.2, 0.2]}
    >>> fastevals.bayes_bradley_terry(error, higher_is_better=False, rng=0)
    BradleyTerry(3 learners, 4 data sets, strongest: 'forest')
    """
    given = as_learner_results("results", results)
    n_learners = len(given.learners)
    if n_learners < 2:
        raise ValueError(f"results must have at least 2 learners, got {n_learners}")
    direction = check_direction(given.metric, given.greater_is_better, higher_is_better)
    rope = check_number("rope", rope, low=0, high=0.5, open_high=True)
    local_rope = check_number("local_rope", local_rope, low=0, high=math.inf, open_high=True)
    check_choice("ties", ties, TiedWins)
    level, _ = check_confidence_level(confidence_level)
    n_draws, key = check_draws(n_draws, LEAST_DRAWS), seed_key("rng", rng)
    wins, tied = count_wins(given, local_rope, direction)
    spread = (tied + 1) // 2 if ties == "spread" else np.zeros_like(tied)
    drawn = _sample_strengths((wins + spread).astype(np.float64), n_draws, key)
    drawn = drawn - drawn.mean(axis=2, keepdims=True)
    r_hat, effective = chain_quality(drawn)
    warn_if_rough("the Bradley-Terry model", r_hat, effective)
    draws = drawn.reshape(-1, n_learners)[:n_draws]
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    chances, better, equivalent = _compare_strengths(draws, rope)
    return BradleyTerry(
        given.learners, draws.mean(axis=0), low, high, wins, tied, chances, better, equivalent, rope, local_rope,
        level, given.metric, direction, len(given.datasets), r_hat, effective, given.notes, draws,
    )  # fmt: skip


def count_wins(
    results: Results, local_rope: float, higher_is_better: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of data sets that each learner (row) wins against each other (column), and that are tied."""
    n_datasets, n_learners = results.values.shape[:2]
    values = results.values.reshape(n_datasets, n_learners, -1)
    largest = np.where(np.isnan(values), 0.0, np.abs(values)).max(axis=(1, 2), keepdims=True)
    values = np.ldexp(values, -np.frexp(largest)[1])  # differences don't overflow
    wins, tied = (np.zeros((n_learners, n_learners), dtype=np.int64) for _ in range(2))
    for i in range(n_learners - 1):
        differences = values[:, i : i + 1] - values[:, i + 1 :]
        known = ~np.isnan(differences)
        n = known.sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, differences, 0.0).sum(axis=2) / n
            squares = np.where(known, differences - mean[..., np.newaxis], 0.0) ** 2
            deviation = np.sqrt(squares.sum(axis=2) / (n - 1))
        largest = np.nanmax(np.abs(np.where(known, values[:, i : i + 1], 0.0)), axis=2)
        limit = local_rope * np.where(n > 1, deviation, 0.0) + TIE_TOLERANCE * largest
        better = mean if higher_is_better else -mean
        first, second = (better > limit).sum(axis=0), (better < -limit).sum(axis=0)
        wins[i, i + 1 :], wins[i + 1 :, i] = first, second
        tied[i, i + 1 :] = tied[i + 1 :, i] = (n > 0).sum(axis=0) - first - second
    return wins, tied


def _sample_strengths(wins: Floats, n_draws: int, key: np.uint64) -> Floats:
    """Return draws of strengths, of shape (n_chains, n_draws, n_learners)."""
    from fastevals._kernels.bradley_terry import sample_strengths

    n, streams = len(wins), new_streams(key)
    states = [np.append(2 * away[:n], 2 ** away[n]) for away in draw_starts(key, n + 1)]

    def advance(chain: int, drawn: Floats) -> None:
        sample_strengths(wins, LEAST_SPREAD, SPREAD_DEVIATION, states[chain], streams[chain], drawn)

    return run_chains(advance, n_draws, n, TERMS_PER_PAIR * n**2, sample_strengths)


def _compare_strengths(draws: Floats, rope: float) -> tuple[Floats, Floats, Floats]:
    """Return the mean probability of winning, and the probabilities of being better and of being equivalent."""
    n = draws.shape[1]
    limit = math.log((0.5 + rope) / (0.5 - rope))
    chances, better, equivalent = np.full((n, n), 0.5), np.zeros((n, n)), np.eye(n)
    for i in range(n - 1):
        ahead = draws[:, i : i + 1] - draws[:, i + 1 :]
        chances[i, i + 1 :] = win_probabilities(ahead).mean(axis=0)
        better[i, i + 1 :], better[i + 1 :, i] = (ahead > limit).mean(axis=0), (ahead < -limit).mean(axis=0)
    below = np.tril_indices(n, -1)
    chances[below] = 1 - chances.T[below]
    off = ~np.eye(n, dtype=bool)
    equivalent[off] = np.maximum(1 - better - better.T, 0.0)[off] if rope else 0.0
    return chances, better, equivalent


def win_probabilities(ahead: Floats) -> Floats:
    """Return the probability of winning for each difference of strengths."""
    from scipy.special import expit

    return np.asarray(expit(ahead))
