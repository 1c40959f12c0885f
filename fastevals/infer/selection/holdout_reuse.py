"""What repeated looks at one test set cost: the luck of the best of k models, and the intervals that remain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fastevals._options import check_integer, check_number
from fastevals._text import count_of, format_number
from fastevals._validation.arrays import EXACT_INTEGER
from fastevals.document.document import GAP, Document, Number, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, make_columns
from fastevals.results import Frozen, check_confidence_level

WIDEST = 40.0  # standard normal deviations beyond which a normal tail is 0
STEPS = 20_001  # points of the integral of an expected maximum, which is then exact to 1e-6


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HoldoutReuse(Frozen):
    """Result of `holdout_reuse`: what k looks at one test set cost. All values are in units of the metric.

    Attributes
    ----------
    n_samples : int
        Rows of the test set.
    n_looks : int
        Number of models that were measured on it.
    standard_error : float
        Standard error of one model's value.
    luck_of_best : float
        Mean excess of the best value over its true value, if the models are equally good and none was chosen by
        earlier looks.
    margin : float
        Half the width of the interval of a model that was chosen beforehand.
    simultaneous_margin : float
        Half the width of the intervals of all models, if these hold simultaneously (Sidak). So it is also valid for the
        best model.
    luck_by_feedback : float
        Mean excess of a model built from the results of `n_looks` models that only guess: what looks can cost if each
        model may depend on earlier results. NaN if a `standard_deviation` was given.
    correlation : float
        Correlation of two models' results on a row.
    confidence_level : float
        Level of the margins.
    conclusion : str
        The answer, in words.

    Examples
    --------
    >>> import fastevals
    >>> cost = fastevals.holdout_reuse(10_000, 200, value=0.9)
    >>> [round(each, 4) for each in (cost.luck_of_best, cost.margin, cost.simultaneous_margin, cost.luck_by_feedback)]
    [0.0082, 0.0059, 0.011, 0.0449]
    """

    n_samples: int
    n_looks: int
    standard_error: float
    luck_of_best: float
    margin: float
    simultaneous_margin: float
    luck_by_feedback: float
    correlation: float
    confidence_level: float

    @property
    def conclusion(self) -> str:
        """The answer, in words."""
        level = f"{100 * self.confidence_level:.6g} %"
        looks, rows = f"{self.n_looks:,} looks", f"{self.n_samples:,} row{'s' * (self.n_samples != 1)}"
        if self.n_looks == 1:
            return f"One look at {rows}: a {level} interval of the value is +-{format_number(self.margin)}."
        said = (
            f"{looks} at {rows}: the best of {self.n_looks:,} equally good models exceeds its true value by "
            f"{format_number(self.luck_of_best)} on average. A {level} interval is +-{format_number(self.margin)} for "
            f"a model chosen beforehand, and +-{format_number(self.simultaneous_margin)} for the best one."
        )
        if math.isnan(self.luck_by_feedback):
            return said
        excess = format_number(self.luck_by_feedback)
        return (
            f"{said} If each model may depend on earlier results, the excess can be {excess}, and only new rows give "
            "an honest value."
        )

    def __repr__(self) -> str:
        looks = f"{count_of(self.n_looks, 'look')} at {count_of(self.n_samples, 'row')}"
        return (
            f"HoldoutReuse({looks}, luck_of_best={self.luck_of_best:.3g}, margin={self.margin:.3g}, "
            f"simultaneous_margin={self.simultaneous_margin:.3g})"
        )

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def _columns(self) -> Columns:
        return make_columns({name: value for name, value in self.to_dict().items() if name != "conclusion"})

    def _document(self) -> Document:
        rows = {
            "standard error of a model": self.standard_error,
            "luck of the best, on average": self.luck_of_best,
            "margin of a model chosen beforehand": self.margin,
            "margin of the best model": self.simultaneous_margin,
        }
        if not math.isnan(self.luck_by_feedback):
            rows["luck by feedback, on average"] = self.luck_by_feedback
        table = Table("costs", "Costs", ["", "value"], [Row(name, [Number(value)]) for name, value in rows.items()])
        parts: list[Part] = [Sentence(self.conclusion, "verdict"), GAP, table]
        return Document("", "Repeated looks at a test set", sections=[Section(parts)], numbers=self.to_dict)


def holdout_reuse(
    n_samples: int,
    n_looks: int,
    *,
    value: float = 0.5,
    standard_deviation: float | None = None,
    correlation: float = 0.0,
    confidence_level: float = 0.95,
) -> HoldoutReuse:
    """Compute what k looks at one test set cost, such as k submissions to a public leaderboard.

    Parameters
    ----------
    n_samples : int
        Rows of the test set.
    n_looks : int
        Number of models that are measured on it, or that the best was chosen from.
    value : float in (0, 1)
        The models' share of correct (or of wrong) rows; 0.5 is the worst case.
    standard_deviation : float, optional
        For another metric that is a mean over rows, the standard deviation of a row's loss, in place of `value`.
    correlation : float in [0, 1)
        Correlation of two models' results (right or wrong, or the loss) on a row. Models of one kind are often wrong on
        the same rows, with correlations of 0.5 to 0.9; 0 is the worst case.
    confidence_level : float in (0, 1)
        Level of the margins.

    Returns
    -------
    HoldoutReuse

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    The excess of the best of k equally good models is the expected maximum of k normal values, times the standard error
    and the square root of 1 - `correlation`. For shares of 0.05 to 0.95 of 1,000 rows, and up to 1,000 models, it
    differs from the exact mean by at most 8 %. With few rows and a share near 0 or 1 it is too large, because no share
    is below 0 or above 1.

    If models may depend on earlier results, k looks can cost far more. `luck_by_feedback` is the mean excess of the
    attack in [1]_: each of k models guesses at random. The predictions of models that are wrong more often than right
    are reversed, and the majority of all models is submitted. Its true share is 0.5, and its expected share on the test
    set is Phi(sqrt(2 k / (pi n))). It does not depend on `value`.

    References
    ----------
    .. [1] Blum, A. and Hardt, M. (2015), "The Ladder: A Reliable Leaderboard for Machine Learning Competitions", ICML,
       PMLR 37, 1006-1014.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.holdout_reuse(2_000, 50, value=0.85, correlation=0.6)
    HoldoutReuse(50 looks at 2000 rows, luck_of_best=0.0114, margin=0.0156, simultaneous_margin=0.0262)
    """
    from scipy.special import ndtr, ndtri

    n = check_integer("n_samples", n_samples, low=1, high=EXACT_INTEGER)
    k = check_integer("n_looks", n_looks, low=1, high=EXACT_INTEGER)
    share = check_number("value", value, low=0, high=1, open_low=True, open_high=True)
    rho = check_number("correlation", correlation, low=0, high=1, open_high=True)
    level, alpha = check_confidence_level(confidence_level)
    deviation = math.sqrt(share * (1 - share))
    if standard_deviation is not None:
        deviation = check_number("standard_deviation", standard_deviation, low=0, high=math.inf, open_high=True)
    error = deviation / math.sqrt(n)
    per_look = -math.expm1(math.log1p(-alpha) / k)
    feedback = 0.0 if k == 1 else float(ndtr(math.sqrt(2 * k / (math.pi * n)))) - 0.5
    return HoldoutReuse(
        n_samples=n,
        n_looks=k,
        standard_error=error,
        luck_of_best=math.sqrt(1 - rho) * error * expected_maximum(k),
        margin=-float(ndtri(alpha / 2)) * error,
        simultaneous_margin=-float(ndtri(per_look / 2)) * error,
        luck_by_feedback=feedback if standard_deviation is None else math.nan,
        correlation=rho,
        confidence_level=level,
    )


def expected_maximum(k: int) -> float:
    """Return the expected maximum of k independent standard normal values."""
    from scipy.special import log_ndtr

    if k == 1:
        return 0.0
    z = np.linspace(0.0, WIDEST, STEPS)
    above = -np.expm1(k * log_ndtr(z))  # chances of a maximum above z, and below -z
    return float(np.trapezoid(above - np.exp(k * log_ndtr(-z)), z))
