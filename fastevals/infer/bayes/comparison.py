"""The result of a Bayesian comparison of two learners, and its conclusion in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._text import count_of, printable, wrap_text
from fastevals.document.document import GAP, Document, Section, Sentence
from fastevals.document.frames import Columns, make_columns
from fastevals.results import TIE_TOLERANCE, Frozen, Interval, format_estimate, format_test

Floats = NDArray[np.float64]

PROBABILITY_STEP = 0.001  # to which conclusions give probabilities


class StudentPosterior(NamedTuple):
    """A posterior that is a Student distribution; without scale, all of it is at its location."""

    df: int
    location: float
    scale: float

    def outside(self, rope: float) -> tuple[float, float]:
        """Return the probabilities of differences above the rope and below minus the rope."""
        from scipy.special import stdtr

        if self.scale:
            ends = (-rope - self.location) / self.scale, (self.location - rope) / self.scale
            below, above = stdtr(self.df, ends)
            return float(above), float(below)
        if not rope and not self.location:
            return 0.5, 0.5
        outside = not math.isclose(abs(self.location), rope, rel_tol=TIE_TOLERANCE) and abs(self.location) > rope
        return float(outside and self.location > 0), float(outside and self.location < 0)

    def pdf(self, values: Any) -> Any:
        """Return the density at each value."""
        from scipy.special import gammaln

        z = (np.asarray(values, dtype=np.float64) - self.location) / self.scale
        half = (self.df + 1) / 2
        constant = gammaln(half) - gammaln(self.df / 2) - 0.5 * math.log(self.df * math.pi) - math.log(self.scale)
        return np.exp(constant - half * np.log1p(z * z / self.df))

    def interval(self, confidence_level: float) -> Interval:
        """Return the interval with equal probability on both sides."""
        from scipy.special import stdtrit

        margin = float(stdtrit(self.df, 0.5 + confidence_level / 2)) * self.scale
        return Interval(self.location - margin, self.location + margin)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BayesComparison(Frozen):
    """Posterior probabilities that one learner is better than another, or that they are practically equivalent.

    Unpacks as ``a_better, equivalent, b_better``.

    Attributes
    ----------
    test : str
        Name of the model.
    a, b : str or int
        Names of the two learners.
    a_better, equivalent, b_better : float
        Probabilities that the first learner is better than the second by more than the rope, that the two are
        equivalent, and that the second is better; they add up to 1. With a rope of 0, `equivalent` is 0.
    rope : float
        Half the width of the region of practical equivalence, in the unit of `effect`.
    effect : float
        Posterior mean of the difference, first learner minus second, in the unit of the metric. In a Bradley-Terry
        model, it is the probability that the first learner beats the second on a data set.
    credible_interval : Interval
        Interval that contains the difference with probability `confidence_level`, with equal tails.
    confidence_level : float
        Posterior probability of the interval.
    metric : str or None
        Name of the metric, if known.
    greater_is_better : bool
        Whether higher values of the metric are better.
    n_datasets : int
        Number of data sets.
    n_draws : int
        Number of draws from the posterior; 0 if it is known. `shares` and `differences` return the draws.
    posterior : StudentPosterior or None
        The posterior of the difference, if it is known.
    r_hat, n_effective : float
        Largest R-hat and smallest effective number of draws over the parameters of Markov chains; NaN without chains.
    notes : tuple of str
        Sentences on what was done to the data.
    of_wins : bool
        Whether `effect` is a probability of winning, as in a Bradley-Terry model.
    conclusion : str
        The probabilities, in words.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = {"new": [0.84, 0.88, 0.83, 0.86, 0.85], "old": [0.82, 0.85, 0.83, 0.83, 0.82]}
    >>> found = fastevals.bayes_correlated_t(accuracy, rope=0.01, n_train=4, n_test=1, higher_is_better=True)
    >>> new_better, equivalent, old_better = found
    >>> print(found)
    Bayesian correlated t-test: new and old
      new better  0.879
      equivalent  0.110
      old better  0.011
      difference  0.02200, 95 % credible interval -0.00228 to 0.04628
      rope        0.01
    new is better than old by more than 0.01 with probability 0.879; the two are equivalent
    (differ by at most 0.01) with probability 0.110, and old is better with probability 0.011
    (Bayesian correlated t-test).
    """

    test: str
    a: Any
    b: Any
    a_better: float
    equivalent: float
    b_better: float
    rope: float
    effect: float
    credible_interval: Interval
    confidence_level: float
    metric: str | None
    greater_is_better: bool
    n_datasets: int
    posterior: StudentPosterior | None = None
    r_hat: float = math.nan
    n_effective: float = math.nan
    notes: tuple[str, ...] = ()
    of_wins: bool = False
    _shares: Floats | None = None
    _differences: Floats | None = None

    def __iter__(self) -> Iterator[float]:
        return iter((self.a_better, self.equivalent, self.b_better))

    def shares(self) -> Floats:
        """Return the shares of data sets on which a is better, the two are equivalent, and b is better, in each draw.

        Returns
        -------
        ndarray of shape (n_draws, 3)
            No rows for one data set, and for a Bradley-Terry model.
        """
        return np.empty((0, 3)) if self._shares is None else self._shares

    def differences(self) -> Floats:
        """Return the difference (see `effect`) in each draw.

        Returns
        -------
        ndarray of shape (n_draws,)
            No numbers if the posterior is known.
        """
        return np.empty(0) if self._differences is None else self._differences

    @property
    def n_draws(self) -> int:
        """Number of draws from the posterior; 0 if it is known."""
        return self.differences().size

    @property
    def conclusion(self) -> str:
        """The probabilities, in words."""
        return conclude_probabilities(self)

    def _columns(self) -> Columns:
        """Return one row; learners and probabilities are named as in tables of many pairs."""
        low, high = self.credible_interval
        pair = {"first": self.a, "second": self.b, "rope": self.rope}
        shares = {"first_better": self.a_better, "equivalent": self.equivalent, "second_better": self.b_better}
        numbers = ("n_datasets", "n_draws", "r_hat", "n_effective")
        more = {name: getattr(self, name) for name in numbers}
        return make_columns({**pair, **shares, "effect": self.effect, "low": low, "high": high, **more})

    def _title(self) -> str:
        of = "" if self.metric is None else f", {self.metric}"
        return f"Bayesian {self.test}: {self.a} and {self.b}{of}"

    def _document(self) -> Document:
        return with_cautions(Frozen._document(self), self.notes)

    def _rows(self) -> list[tuple[str, str]]:
        """Return the printed rows: names and texts."""
        shown = [(f"{self.a} better", self.a_better), (f"{self.b} better", self.b_better)]
        shown[1:1] = [("equivalent", self.equivalent)] if self.rope else []
        rows = [(printable(name), probability_text(value)) for name, value in shown]
        interval = format_estimate(self.effect, self.credible_interval, 1 - self.confidence_level)
        name = f"{printable(str(self.a))} wins" if self.of_wins else "difference"
        rows += [(name, interval.replace("interval", "credible interval")), ("rope", f"{self.rope:g}")]
        if not math.isnan(self.r_hat):
            rows.append(("draws", f"{self.n_draws:,}, as good as {self.n_effective:,.0f} (R-hat {self.r_hat:.3f})"))
        return rows

    def __str__(self) -> str:
        notes = [line for note in self.notes for line in wrap_text(note, indent="")]
        return "\n".join([format_test(self._title(), self._rows(), self.conclusion), *notes])

    def __repr__(self) -> str:
        return (
            f"BayesComparison({self.a!r} better: {self.a_better:.4f}, equivalent: {self.equivalent:.4f}, "
            f"{self.b!r} better: {self.b_better:.4f}, rope={self.rope:g})"
        )


def with_cautions(document: Document, notes: tuple[str, ...]) -> Document:
    """Return a document with notes at its end."""
    parts = [GAP, *(Sentence(note, "caution") for note in notes)] if notes else []
    return document._replace(sections=[*document.sections, Section(parts)]) if parts else document


def probability_text(value: float) -> str:
    """Return a posterior probability to three decimals; never as 0 or 1."""
    if value < PROBABILITY_STEP / 2:
        return f"<{PROBABILITY_STEP:g}"
    return f">{1 - PROBABILITY_STEP:g}" if value > 1 - PROBABILITY_STEP / 2 else f"{value:.3f}"


def conclude_probabilities(found: BayesComparison) -> str:
    """Return the probabilities as a sentence, the largest first."""
    a, b, rope = str(found.a), str(found.b), found.rope
    if found.of_wins:
        more, less = (f"{100 * (0.5 + each):.4g} %" for each in (rope, -rope))
        wins, also = f"{{}} beats {{}} on more than {more} of data sets", f"{{}} wins on more than {more}"
        equal, also_equal = f"{a} and {b} each win on at least {less} of data sets", f"each wins on at least {less}"
    else:
        wins, also = "{} is better than {}" + f" by more than {rope:g}" * bool(rope), "{} is better"
        within = f"differ by at most {rope:g}"
        equal, also_equal = f"{a} and {b} are equivalent ({within})", f"the two are equivalent ({within})"
    says = [
        (found.a_better, wins.format(a, b), also.format(a, b)),
        (found.b_better, wins.format(b, a), also.format(b, a)),
        *([(found.equivalent, equal, also_equal)] if rope else []),
    ]
    first, *others = sorted(says, key=lambda each: -each[0])
    rest = ", and ".join(f"{short} with probability {_in_words(value)}" for value, _, short in others)
    sets = f", {count_of(found.n_datasets, 'data set')}" if found.n_datasets > 1 else ""
    return f"{first[1]} with probability {_in_words(first[0])}; {rest} (Bayesian {found.test}{sets})."


def _in_words(value: float) -> str:
    return probability_text(value).replace("<", "below ").replace(">", "above ")
