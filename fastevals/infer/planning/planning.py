"""How many rows or labelled positives an interval or a decision needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from numpy.typing import ArrayLike

from fastevals._options import as_flag, check_choice, check_number, show
from fastevals._text import count_of, limit_text, printable
from fastevals.document.document import GAP, Cell, Count, Document, Number, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.bootstrap.bootstrap import FEW_ROWS, BootstrapSettings
from fastevals.infer.bootstrap.subjects import SamplingDesign
from fastevals.infer.planning.pilots import Pilot, read_pilot
from fastevals.infer.planning.sizes import (
    Claim,
    ExactClaim,
    detectable_difference,
    relative_deviation,
    rows_for_standard_error,
    standard_error_for_width,
    trials_for_width,
    width_of_share,
)
from fastevals.measure.metric_specs import MetricSpec, influence_of, metric_bounds, optimized_bounds, parse_metric
from fastevals.measure.registry import METRICS, Influence
from fastevals.results import Frozen, check_confidence_level

Side = Literal["greater", "less"]

LARGEST_GROWTH = 1000  # times the pilot's rows; beyond it, the pilot says little


MODEL, REFERENCE = "\0model", "\0reference"


class Goal(NamedTuple):
    """What the rows are for: an interval of a width, or a claim that is to be shown with a power.

    Attributes
    ----------
    width : float or None
        Full width of the two-sided interval.
    claim : Claim or None
        The value that is assumed true, and the bounds it is to be compared with.
    words : str
        The claim, for sentences, with `MODEL` and `REFERENCE` for the names of models: "recall is above 0.8".
    """

    width: float | None
    claim: Claim | None
    words: str
    confidence_level: float
    target_power: float


def plan_sample_size(
    pilot: Any,
    metric: Any,
    *,
    reference: Any = None,
    width: float | None = None,
    value: float | None = None,
    bound: float | tuple[float, float] | None = None,
    effect: float | None = None,
    margin: float | None = None,
    equivalence: bool = False,
    alternative: Side | None = None,
    power: float = 0.8,
    confidence_level: float = 0.95,
    prevalence: float | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    n_resamples: int = 9999,
    rng: Any = 0,
) -> SampleSize:
    """Compute how many rows, or labelled positives, an interval or a decision needs.

    A pilot shows how much the metric varies. The effect is stated by the user, never estimated from the pilot: an
    effect that a small pilot happens to show is often too large, and the sample would be too small.

    Parameters
    ----------
    pilot : Ranking, RankingSummary, ThresholdCounts, ConfusionMatrix, or pair (y_true, y_score or y_pred)
        Labelled rows like those that are planned, as for `bootstrap`. With `reference`, a pair of `y_true` and the
        predictions of two models on the same rows: a mapping of name to array-like, an array-like of shape (2,
        n_samples), or a frame.
    metric : str, `metric(...)` or function
        The metric, as for `bootstrap`.
    reference : name or int, optional
        The model to compare the other one with. All figures are then about the metric of the other model minus the
        metric of this model.
    width : float, optional
        Full width of the two-sided interval at `confidence_level`.
    value, bound : float, optional
        For one model: the true value that you assume, and the bound of the rule, such as a floor of 0.8 for recall.
        Give `bound` as a pair to show that the metric is within (low, high). The value of a proportion may also be
        given with `width`.
    effect, margin : float, optional
        For two models: the true difference that is assumed (0 if the models are equally good), and the largest
        difference, above 0, by which the other model may be worse. Without a margin, the sample shows that the other
        model is better.
    equivalence : bool
        Show that the difference is within the margin on both sides, by two one-sided tests.
    alternative : {"greater", "less"}, optional
        Which side is to be shown. By default the side on which the metric is better, such as "less" for the Brier
        score. If neither is better, as for the prediction rate, it is the side of the bound on which `value` lies.
    power : float in (0, 1)
        The chance that the sample shows the claim if the stated value or effect is true.
    confidence_level : float in (0, 1)
        Level of the interval, or of the one-sided limits that decide.
    prevalence : float in (0, 1), optional
        Share of positives in the planned rows, if it is not the pilot's. Each class is assumed to have the same scores
        as in the pilot.
    groups, sample_weight, pos_label
        As for `bootstrap`; for pairs.
    n_resamples : int
        Number of bootstrap replicates, for metrics without a closed form. With 9,999, the number of rows has a standard
        error of 1.4 %.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed.

    Returns
    -------
    SampleSize
        The number of rows, with the assumptions, the attained power and a conclusion in words.

    Raises
    ------
    ValueError
        If an argument is not as described; if not exactly one goal is stated; or if no number of rows suffices, because
        the stated value does not meet the rule.

    Notes
    -----
    The variance of an estimate from n rows is taken to be V / n, and limits are normal. Then
    ``n = V ((z_a + z_b) / d)**2``, where d is the distance of the stated value from the bound, and z_a and z_b are the
    normal deviates of `confidence_level` and `power` [1]_. For an interval, ``n = V (2 z / width)**2``. Metrics of
    rankings and of confusion matrices vary less near their bounds. So for one model, their standard deviation is taken
    to depend on their value v as ``sqrt(v (1 - v))`` (if they are within 0 and 1): for the stated value, and for the
    estimate whose limit is at the bound. This is exact for proportions, and close for AUCs.

    V is DeLong's variance for AUCs, the binomial variance at the stated value for proportions, and bootstrapped
    otherwise. The variance of an AUC is a part for the positives divided by their share, plus a part for the negatives
    divided by theirs, so it follows for any prevalence. For other metrics, the bootstrap draws the classes in the
    planned shares.

    Proportions of one model at a fixed threshold, such as recall, are decided by limits of Clopper and Pearson. Their
    power has a saw-tooth: with one more row it may fall. `n_samples` is the smallest number from which on the power
    stays at `power` or above, averaged over the number of trials that occurs among these rows. For the difference of
    two models in such a proportion, V follows from the share of rows on which the models decide differently in the
    pilot. Score limits, such as Tango's, need slightly more rows if fewer than about 50 rows differ.

    With `groups` or `sample_weight`, the number of rows is multiplied by the design effect: the variance in a bootstrap
    of whole clusters, with weights, divided by the variance for independent rows.

    References
    ----------
    .. [1] Julious, S. A. (2004), "Sample sizes for clinical trials with Normal data", Statistics in Medicine 23,
       1921-1986, doi:10.1002/sim.1783.
    .. [2] Obuchowski, N. A. (1998), "Sample size calculations in studies of test accuracy", Statistical Methods in
       Medical Research 7, 371-392, doi:10.1177/096228029800700405.
    .. [3] Chernick, M. R. and Liu, C. Y. (2002), "The Saw-Toothed Behavior of Power Versus Sample Size", The American
       Statistician 56, 149-155, doi:10.1198/000313002317572835.

    Examples
    --------
    >>> import fastevals
    >>> pilot = fastevals.ConfusionMatrix([[880, 20], [15, 85]])
    >>> planned = fastevals.plan_sample_size(pilot, "recall", value=0.85, bound=0.8)
    >>> planned.n_samples, planned.n_positives
    (3793, 380)
    """
    label, spec = parse_metric("metric", metric)
    goal = read_goal(
        label, spec, reference=reference, width=width, value=value, bound=bound, effect=effect, margin=margin,
        equivalence=equivalence, alternative=alternative, power=power, confidence_level=confidence_level,
    )  # fmt: skip
    if prevalence is not None:
        prevalence = check_number("prevalence", prevalence, low=0, high=1, open_low=True, open_high=True)
    settings = BootstrapSettings.checked(n_resamples, confidence_level, "normal", "two-sided", rng)
    design = SamplingDesign(groups, sample_weight, pos_label=pos_label)
    found = read_pilot(
        pilot, label, spec, reference=reference, prevalence=prevalence, design=design, settings=settings
    )  # fmt: skip
    return plan(label, spec, goal, found, is_other_prevalence=prevalence is not None)


# The goal -------------------------------------------------------------------------------------------------------------


def read_goal(
    label: str,
    spec: Any,
    *,
    reference: Any,
    width: Any,
    value: Any,
    bound: Any,
    effect: Any,
    margin: Any,
    equivalence: Any,
    alternative: Any,
    power: Any,
    confidence_level: Any,
) -> Goal:
    """Check a user's goal; raise if no sample reaches it."""
    equivalence = as_flag("equivalence", equivalence)
    power = check_number("power", power, low=0, high=1, open_low=True, open_high=True)
    level, alpha = check_confidence_level(confidence_level)
    if power <= alpha:
        raise ValueError(f"power must be above 1 - confidence_level, {alpha:g}, got {power:g}")
    if alternative is not None:
        check_choice("alternative", alternative, Side)
    given = {"value": value, "bound": bound, "effect": effect, "margin": margin}
    of_two = reference is not None
    wanted = ("effect", "margin") if of_two else ("value", "bound")
    for name, each in given.items():
        if each is not None and name not in wanted:
            needs = "no reference (one model)" if of_two else "a reference (a difference between two models)"
            raise ValueError(f"{name} applies only with {needs}; got {show(each)}")
    if width is not None:
        for name in ("bound", "effect", "margin"):
            if given[name] is not None:
                raise ValueError(f"exactly one of width and {name} must be given: they are different goals")
        if equivalence or alternative is not None:
            raise ValueError("equivalence and alternative apply only to a decision, not to a width")
        width = check_number("width", width, low=0, open_low=True, open_high=True)
        least, most = metric_bounds(spec)
        if width >= (most - least) * (1 + of_two):
            raise ValueError(
                f"width must be below {(most - least) * (1 + of_two):g}, the range of {label}; got {width:g}"
            )
        claim = None if value is None else Claim(_within("value", value, label, spec))
        return Goal(width, claim, "", level, power)
    if of_two:
        return _goal_of_difference(label, spec, effect, margin, equivalence, alternative, level, power)
    if equivalence:
        raise ValueError("equivalence applies only to a difference between two models: give bound=(low, high)")
    return _goal_of_value(label, spec, value, bound, alternative, level, power)


def _bounds_of_deviation(spec: Any) -> tuple[float, float] | None:
    """Return the bounds of a metric whose standard deviation shrinks towards them; None for other metrics."""
    bounds = metric_bounds(spec)
    if not isinstance(spec, MetricSpec) or METRICS[spec.name].of not in ("ranking", "cells"):
        return None
    return bounds if all(map(math.isfinite, bounds)) and optimized_bounds(spec) is None else None


def _goal_of_value(label: str, spec: Any, value: Any, bound: Any, alternative: Any, level: float, power: float) -> Goal:
    if bound is None:
        raise ValueError("exactly one of width and bound must be given, got none")
    if value is None:
        raise ValueError(f"value must be given with bound: the {label} that is assumed true, not the pilot's own")
    value, bounds = _within("value", value, label, spec), _bounds_of_deviation(spec)
    if bounds is not None and value in bounds:
        low, high = bounds
        raise ValueError(
            f"value must be in ({low:g}, {high:g}) for {label}, which does not vary at its limits, got {value:g}"
        )
    if isinstance(bound, (tuple, list)):
        if len(bound) != 2 or alternative is not None:
            raise ValueError(f"bound must be a number, or a pair (low, high) without alternative; got {show(bound)}")
        low, high = (_within(f"bound[{k}]", each, label, spec) for k, each in enumerate(bound))
        if low >= high:
            raise ValueError(f"bound must be in ascending order, got {show(bound)}")
        if not low < value < high:
            raise ValueError(
                f"value must be between the bounds {low:g} and {high:g}, got {value:g}: no number of rows can show a "
                "rule that does not hold"
            )
        words = f"{label} is between {limit_text(low)} and {limit_text(high)}"
        return Goal(None, Claim(value, low, high, bounds), words, level, power)
    bound = _within("bound", bound, label, spec)
    side = alternative or _better_side(spec) or ("greater" if value > bound else "less")
    if value == bound or (value > bound) != (side == "greater"):
        word = "above" if side == "greater" else "below"
        raise ValueError(
            f"value must be {word} bound to show that {label} is {word} it, got value={value:g} and bound={bound:g}: "
            "no number of rows can show a rule that does not hold"
        )
    if side == "greater":
        claim, words = Claim(value, low=bound, metric_bounds=bounds), f"{label} is above {limit_text(bound)}"
    else:
        claim, words = Claim(value, high=bound, metric_bounds=bounds), f"{label} is below {limit_text(bound)}"
    return Goal(None, claim, words, level, power)


def _goal_of_difference(
    label: str, spec: Any, effect: Any, margin: Any, equivalence: bool, alternative: Any, level: float, power: float
) -> Goal:
    if effect is None:
        raise ValueError(
            f"exactly one of width and effect must be given, got none; effect is the difference in {label} that is "
            "assumed true, not the pilot's own"
        )
    least, most = metric_bounds(spec)
    range_of_difference = most - least
    effect = check_number("effect", effect, open_low=True, open_high=True)
    if abs(effect) > range_of_difference:
        raise ValueError(f"effect must be at most {range_of_difference:g}, the range of {label}, got {effect:g}")
    if margin is None and equivalence:
        raise ValueError("margin must be given with equivalence: the largest difference that does not matter")
    margin = 0.0 if margin is None else check_number("margin", margin, low=0, open_high=True)
    if margin >= range_of_difference:
        raise ValueError(
            f"margin must be below {range_of_difference:g}, the range of {label}, got {margin:g}, which all models "
            "satisfy"
        )
    if equivalence:
        if alternative is not None:
            raise ValueError(f"alternative must be left out with equivalence, got {show(alternative)}")
        if abs(effect) >= margin:
            raise ValueError(
                f"effect must be within the margin of {margin:g}, got {effect:g}: no number of rows can show a rule "
                "that does not hold"
            )
        words = f"the {label} of {MODEL} and of {REFERENCE} differ by less than {limit_text(margin)}"
        return Goal(None, Claim(effect, -margin, margin), words, level, power)
    side = alternative or _better_side(spec)
    if side is None:
        raise ValueError(
            f"alternative must be 'greater' or 'less' for {label}, because neither a high nor a low value is better; "
            "got None"
        )
    claim = Claim(effect, low=-margin) if side == "greater" else Claim(effect, high=margin)
    limit = f"above {0 - margin:g}" if side == "greater" else f"below {margin:g}"
    if claim.distance <= 0:
        better = "high" if side == "greater" else "low"
        raise ValueError(
            f"effect must be {limit} for {label}, where {better} is better, got {effect:g}: no number of rows can show "
            "a rule that does not hold"
        )
    if side != _better_side(spec):
        words = f"the difference in {label}, {MODEL} minus {REFERENCE}, is {limit}"
    elif margin:
        words = f"{MODEL} is not worse than {REFERENCE} by {limit_text(margin)} or more in {label}"
    else:
        words = f"{MODEL} is better than {REFERENCE} in {label}"
    return Goal(None, claim, words, level, power)


def _within(name: str, number: Any, label: str, spec: Any) -> float:
    """Return a value of the metric; raise if it is outside the metric's bounds."""
    low, high = metric_bounds(spec)
    number = check_number(name, number, low=low, high=high, open_low=low == -math.inf, open_high=high == math.inf)
    return float(number)


def _better_side(spec: Any) -> Side | None:
    better = METRICS[spec.name].greater_is_better if isinstance(spec, MetricSpec) else None
    return None if better is None else "greater" if better else "less"


# The answer -----------------------------------------------------------------------------------------------------------


def plan(label: str, spec: Any, goal: Goal, pilot: Pilot, *, is_other_prevalence: bool = False) -> SampleSize:
    """Return the sample size for a checked goal, given how much the metric varies in the pilot."""
    level, claim, rate = goal.confidence_level, goal.claim, pilot.rate
    exact = rate if rate is not None and rate.discordance is None else None
    if claim is not None and goal.width is not None and exact is None:
        raise ValueError(
            "value applies with bound, or with the width of a proportion of independent rows, not with the width of "
            f"{label}"
        )
    variance, assumed = _variance(label, goal, pilot)
    attained, planned_width = math.nan, math.nan
    if exact is not None and goal.width is not None:
        trials = trials_for_width(assumed, goal.width, level)
        n = math.ceil(trials / exact.share)
        planned_width = width_of_share(assumed, n * exact.share, level)
    elif goal.width is not None:
        n = rows_for_standard_error(_checked(variance, label), standard_error_for_width(goal.width, level))
        planned_width = goal.width * math.sqrt(variance / n) / standard_error_for_width(goal.width, level)
    else:
        assert claim is not None
        if exact is not None:
            for each in (claim.low, claim.high):
                if math.isfinite(each) and not 0 < each < 1:
                    raise ValueError(f"bound must be in (0, 1) for {label}, got {each:g}")
            n, attained = ExactClaim(claim, exact.share, round(1 - level, 12)).rows(goal.target_power)
        else:
            wanted = claim.standard_error(level, goal.target_power)
            n = rows_for_standard_error(_checked(variance, label), wanted)
            attained = claim.power(math.sqrt(variance / n), level)
    share = pilot.prevalence
    n_positives = None if share is None else math.ceil(round(n * share, 6))
    error = math.sqrt(variance / n)
    return SampleSize(
        metric=label,
        model=None if pilot.models is None else pilot.models[0],
        reference=None if pilot.models is None else pilot.models[1],
        n_samples=n,
        n_positives=n_positives,
        n_negatives=None if n_positives is None else n - n_positives,
        n_clusters=None if pilot.n_clusters is None else math.ceil(n * pilot.n_clusters / pilot.n),
        standard_error=error,
        power=attained,
        width=planned_width,
        detectable_difference=detectable_difference(error, confidence_level=level, power=goal.target_power),
        confidence_level=level,
        assumed_value=assumed,
        prevalence=math.nan if share is None else share,
        design_effect=pilot.design_effect,
        method="normal" if exact is None else "Clopper-Pearson",
        pilot_value=pilot.value,
        pilot_n_samples=pilot.n,
        pilot_n_positives=pilot.n_pos,
        pilot_n_negatives=None if pilot.n_pos is None else pilot.n - pilot.n_pos,
        assumptions=tuple(_assumptions(label, goal, pilot, is_other_prevalence)),
        cautions=tuple(_cautions(label, spec, pilot, n, n_positives)),
        conclusion=_conclusion(label, goal, pilot, n, n_positives, attained),
    )


def _variance(label: str, goal: Goal, pilot: Pilot) -> tuple[float, float]:
    """Return the variance times the number of rows, and the value it is for."""
    rate = pilot.rate
    stated = pilot.value if goal.claim is None else goal.claim.value
    if rate is None:
        bounds = None if goal.claim is None else goal.claim.metric_bounds
        if bounds is None:
            return pilot.variance, stated
        at_stated, own = relative_deviation(stated, bounds), relative_deviation(pilot.value, bounds)
        return (pilot.variance * (at_stated / own) ** 2 if own else 0.0), stated
    if not rate.share > 0:
        raise ValueError(f"pilot must have rows that {label} is about, got none")
    if rate.discordance is None:
        return stated * (1 - stated) / rate.share, stated
    if rate.discordance < abs(stated):
        raise ValueError(
            f"effect must be possible: the models decide differently on {100 * rate.discordance:.3g} % of the pilot's "
            f"rows, so {label} can't differ by {stated:g}"
        )
    return (rate.discordance - stated**2) / rate.share, stated


def _checked(variance: float, label: str) -> float:
    """Return a variance; raise if it is 0 or unknown."""
    if not variance > 0:
        raise ValueError(
            f"pilot must show how much {label} varies, but its standard error is {variance:g}: use a pilot with more "
            "rows"
        )
    return variance


def _conclusion(label: str, goal: Goal, pilot: Pilot, n: int, n_positives: int | None, power: float) -> str:
    rows = f"{n:,} row{'s' * (n != 1)}" + ("" if n_positives is None else f" ({n_positives:,} positive)")
    level = f"{100 * goal.confidence_level:.6g} %"
    if goal.width is not None:
        what = label if pilot.models is None else f"the difference in {label}"
        return f"{rows} give {what} a {level} interval of width {goal.width:g}."
    assert goal.claim is not None
    what = "its true value" if pilot.models is None else "the true difference"
    words = goal.words
    for place, model in zip((MODEL, REFERENCE), pilot.models or (), strict=False):
        words = words.replace(place, printable(str(model)))
    limits = "one-sided" if math.inf in (-goal.claim.low, goal.claim.high) else "two one-sided"
    return (
        f"With {rows}, the chance is {100 * power:.1f} % to show that {words}, if {what} is "
        f"{limit_text(goal.claim.value)} ({limits} {level} limit{'s' * (limits != 'one-sided')})."
    )


def _assumptions(label: str, goal: Goal, pilot: Pilot, is_other_prevalence: bool) -> list[str]:
    """Return what the number of rows rests on, in sentences."""
    sentences = []
    if pilot.prevalence is not None:
        share = f"{100 * pilot.prevalence:.3g} %"
        sentences.append(f"The rows are drawn at random, and {share} of them are positive.")
    else:
        sentences.append("The rows are drawn at random.")
    if goal.claim is not None:
        what = f"The true {label}" if pilot.models is None else f"The true difference in {label}"
        sentences.append(f"{what} is {limit_text(goal.claim.value)}, as stated.")
    rate = pilot.rate
    if rate is not None and rate.discordance is not None:
        rows = rate.trials if rate.trials != "rows" else "rows"
        sentences.append(f"The models decide differently on {100 * rate.discordance:.3g} % of {rows}, as in the pilot.")
    elif rate is not None:
        if rate.share < 1:
            trials = {"positives": "positive", "negatives": "negative", "predicted": "predicted positive"}
            named = trials.get(rate.trials, "predicted negative")
            sentences.append(f"{label} is a share of the rows that are {named}: {100 * rate.share:.3g} % of all rows.")
        sentences.append("Limits are Clopper-Pearson limits.")
    else:
        what = label if pilot.models is None else "The difference"
        sentences.append(f"{what} varies as in the pilot of {pilot.n:,} rows ({pilot.method}), and limits are normal.")
        if goal.claim is not None and goal.claim.metric_bounds is not None:
            low, high = (f"{each:g}" for each in goal.claim.metric_bounds)
            away = "v" if low == "0" else f"(v - {low})" if low[0] != "-" else f"(v + {low[1:]})"
            sentences.append(f"Its standard deviation depends on its value v as sqrt({away} ({high} - v)).")
    if is_other_prevalence:
        sentences.append("Within each class, rows are like the pilot's rows.")
    if pilot.n_clusters is not None:
        sentences.append(
            f"Clusters are like the pilot's clusters, with {pilot.n / pilot.n_clusters:.3g} rows on average; the "
            f"design effect is {pilot.design_effect:.3g}."
        )
    elif pilot.design_effect != 1:
        sentences.append(f"Weights are like the pilot's weights; the design effect is {pilot.design_effect:.3g}.")
    return sentences


def _cautions(label: str, spec: Any, pilot: Pilot, n: int, n_positives: int | None) -> list[str]:
    """Return why the number of rows may be off, in sentences."""
    found = []
    rarer = pilot.n if pilot.n_pos is None else min(pilot.n_pos, pilot.n - pilot.n_pos)
    of_class = "" if pilot.n_pos is None else " of the rarer class"
    rate = pilot.rate
    if rarer < FEW_ROWS and (rate is None or rate.discordance is not None):
        found.append(
            f"The pilot has only {count_of(rarer, 'row')}{of_class}, so its variance is rough: use a pilot "
            f"with {FEW_ROWS} or more."
        )
    if pilot.n_clusters is not None and pilot.n_clusters < FEW_ROWS:
        found.append(f"The pilot has only {pilot.n_clusters} clusters, so the design effect is rough.")
    least = n if n_positives is None else min(n_positives, n - n_positives)
    if least < FEW_ROWS and rate is None:
        found.append(
            f"The planned sample has only {count_of(least, 'row')}{of_class}, where normal limits are rough: plan for "
            f"{FEW_ROWS} or more."
        )
    differing = math.inf if rate is None or rate.discordance is None else n * rate.share * rate.discordance
    if differing < FEW_ROWS:
        found.append(
            f"The models are expected to decide differently on only {differing:.0f} of the planned rows, where normal "
            f"limits are rough: plan for {FEW_ROWS} or more such rows."
        )
    if n > LARGEST_GROWTH * pilot.n:
        found.append(
            f"The planned sample is {n / pilot.n:,.0f} times the pilot, which says little about so many rows: plan "
            "again once more rows are labelled."
        )
    if pilot.n_undefined:
        found.append(f"{label} is undefined in {pilot.n_undefined:,} bootstrap replicates, which are left out.")
    if isinstance(spec, MetricSpec) and influence_of(spec) == Influence.BEST:
        found.append(
            f"{label} is computed at the threshold that is best on the same rows, so its estimates are optimistic in "
            "small samples."
        )
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SampleSize(Frozen):
    """Result of `plan_sample_size`: the rows that an interval or a decision needs.

    Attributes
    ----------
    metric : str
        Name of the metric.
    model, reference : str, int or None
        The two models of a difference, which is the metric of `model` minus the metric of `reference`; None for one
        model.
    n_samples : int
        Rows that are needed.
    n_positives, n_negatives : int or None
        Rows of each class among them, on average; None without two classes.
    n_clusters : int or None
        Clusters that are needed, if rows are clustered.
    standard_error : float
        Standard error of the metric, or of the difference, with this many rows.
    power : float
        Attained chance to show the claim if the stated value is true; NaN for a width.
    width : float
        Expected full width of the two-sided interval; NaN for a decision.
    detectable_difference : float
        Smallest distance from a bound that a one-sided decision finds with the requested power.
    confidence_level : float
        Level of the interval or of the one-sided limits.
    assumed_value : float
        The true value or difference that is assumed: the stated one or, for a width without one, the pilot's.
    prevalence : float
        Share of positives that is assumed; NaN without two classes.
    design_effect : float
        Factor by which clusters and weights multiply the variance; 1 without them.
    method : str
        Limits that are assumed: "normal" or "Clopper-Pearson".
    pilot_value : float
        The pilot's own value, at the planned prevalence. The plan does not use it for a decision.
    pilot_n_samples : int
        Rows of the pilot.
    pilot_n_positives, pilot_n_negatives : int or None
        Rows of each class in the pilot.
    assumptions : tuple of str
        What the number of rows rests on, in sentences.
    cautions : tuple of str
        Why the number of rows may be off; empty if there is no known reason.
    conclusion : str
        The answer, as a sentence.

    Examples
    --------
    >>> import fastevals
    >>> pilot = fastevals.ConfusionMatrix([[880, 20], [15, 85]])
    >>> fastevals.plan_sample_size(pilot, "recall", width=0.1, value=0.9).conclusion
    '1,580 rows (158 positive) give recall a 95 % interval of width 0.1.'
    """

    metric: str
    model: Any
    reference: Any
    n_samples: int
    n_positives: int | None
    n_negatives: int | None
    n_clusters: int | None
    standard_error: float
    power: float
    width: float
    detectable_difference: float
    confidence_level: float
    assumed_value: float
    prevalence: float
    design_effect: float
    method: str
    pilot_value: float
    pilot_n_samples: int
    pilot_n_positives: int | None
    pilot_n_negatives: int | None
    assumptions: tuple[str, ...]
    cautions: tuple[str, ...]
    conclusion: str

    def __repr__(self) -> str:
        positive = "" if self.n_positives is None else f", n_positives={self.n_positives}"
        reached = f"width={self.width:.4g}" if math.isnan(self.power) else f"power={self.power:.4g}"
        return f"SampleSize({self.metric}: n_samples={self.n_samples}{positive}, {reached})"

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def _title(self) -> str:
        what = self.metric if self.reference is None else f"{self.metric} of {self.model} minus {self.reference}"
        return f"Sample size for {what}"

    def _columns(self) -> Columns:
        return make_columns({name: getattr(self, name) for name in COLUMNS})

    def _shown_columns(self) -> Columns:
        columns = Frozen._shown_columns(self)
        return {name: columns[name] for name in columns if name != "conclusion"}  # it is a sentence

    def _document(self) -> Document:
        parts: list[Part] = [
            Sentence(self.conclusion, "verdict"),
            GAP,
            Table("rows", "Rows", ["", "Planned", "Pilot"], list(self._rows())),
            GAP,
            *(Sentence(each, "line", ()) for each in self.assumptions),
            *([GAP] if self.cautions else []),
            *(Sentence(each, "caution") for each in self.cautions),
        ]
        return Document("", self._short_title(), sections=[Section(parts)], numbers=self.to_dict)

    def _rows(self) -> Any:
        pairs = (
            ("rows", self.n_samples, self.pilot_n_samples),
            ("positives", self.n_positives, self.pilot_n_positives),
            ("negatives", self.n_negatives, self.pilot_n_negatives),
        )
        for name, planned, own in pairs:
            if planned is not None and own is not None:
                yield Row(name, [Count(planned), Count(own)])
        if self.n_clusters is not None:
            yield Row("clusters", [Count(self.n_clusters), Cell("")])
        yield Row("value", [Number(self.assumed_value), Number(self.pilot_value)])
        for name, small in (
            ("standard error", self.standard_error),
            ("detectable difference", self.detectable_difference),
        ):
            yield Row(name, [Number(small, written=f"{small:.4g}"), Cell("")])
        for name, value in (
            ("power", self.power),
            ("width", self.width),
            ("confidence level", self.confidence_level),
            ("prevalence", self.prevalence),
            ("design effect", self.design_effect),
        ):
            yield Row(name, [Number(value), Cell("")])
        yield Row("limits", [Cell(self.method), Cell("")])


COLUMNS = (
    "metric", "model", "reference", "n_samples", "n_positives", "n_negatives", "n_clusters", "standard_error",
    "power", "width", "detectable_difference", "confidence_level", "assumed_value", "prevalence", "design_effect",
    "method", "pilot_value", "pilot_n_samples", "pilot_n_positives", "pilot_n_negatives", "conclusion",
)  # fmt: skip
