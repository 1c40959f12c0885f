"""The calibration of a report's models: what is measured, the table, and the caveat of a model that is far off."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from fastevals._options import UndefinedMetricWarning
from fastevals._text import printable
from fastevals.document.document import Cell, Number, PValue, Row
from fastevals.infer.bootstrap.bootstrap import FEW_ROWS
from fastevals.infer.calibration.calibrations import Calibration, CalibrationEstimate, describe_count
from fastevals.infer.calibration.errors import CalibrationError
from fastevals.infer.calibration.estimates import Settings, measure
from fastevals.infer.calibration.forecasts import CountedForecasts, Forecasts, RowForecasts
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.measure.ranking.ranking import Ranking
from fastevals.results import NOWHERE, as_json
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.show.report.data import ModelNumbers
from fastevals.show.report.intervals import IntervalPlan, ScoredRows
from fastevals.show.verdict import listed

BINS: tuple[int, Any] = (10, "quantile")  # of the picture
LEVEL = 0.95  # without a plan of intervals
COLUMNS = ("predicted", "observed", "ratio", "intercept", "slope", "error", "z", "p of z")
FAR_RATIO, FAR_SLOPE = 0.05, 0.1  # distances from 1 from which a significant miscalibration is a caveat
RATIO = "pred/obs"  # title of the ratio in overviews
ESTIMATES = ("ratio", "intercept", "slope", "error")


def calibrate_rows(
    ranking: Ranking, rows: ScoredRows, model: str, plan: IntervalPlan | None, *, is_pictured: bool
) -> Calibration | None:
    """Return the calibration of a model's rows, with bins if it is pictured; None if scores are not probabilities."""
    counts = ranking.counts
    if not are_probabilities(counts):
        return None
    if rows.ranking is not None:
        return _calibrate(CountedForecasts.of(counts, ranking._squares), model, plan, is_pictured)
    forecasts, _ = RowForecasts.of([rows.scores[model]], rows.positive, clusters=rows.groups, **rows.weight_options)
    return _calibrate(forecasts.reduced(counts), model, plan, is_pictured)


def calibrate_losses(
    losses: ProbabilitySummary | None, model: str, plan: IntervalPlan | None, *, is_pictured: bool
) -> Calibration | None:
    """Return the calibration of a model whose rows were counted in small cells; None if that is unknown."""
    if losses is None or not losses.are_probabilities:
        return None
    return _calibrate(CountedForecasts.of(losses._pooled(), losses._pooled_squares()), model, plan, is_pictured)


def _calibrate(
    forecasts: Forecasts | None, model: str, plan: IntervalPlan | None, is_pictured: bool
) -> Calibration | None:
    if forecasts is None:  # the variance of weights is unknown
        return None
    settings = Settings(LEVEL if plan is None else plan.confidence_level, BINS, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the table has a dash
        (found,), _ = measure(forecasts, [model], settings)
        return found.without_rows(("bins", "error") if is_pictured else ("error",))


# Table and caveats ----------------------------------------------------------------------------------------------------


def calibration_rows(models: Iterable[ModelNumbers], *, with_intervals: bool) -> list[Row]:
    """Return a row for each model whose calibration is known."""
    rows = []
    for place, model in enumerate(models):
        found = model.calibrated
        if found is None:
            continue
        estimates = [
            Number(each.value, each.confidence_interval if with_intervals else None) for each in _estimates(found)
        ]
        z = found.spiegelhalter
        written = "" if math.isnan(z.statistic) else f"{z.statistic:.2f}"
        sums = [Cell(describe_count(each), repr(each)) for each in (found.predicted, found.observed)]
        rows.append(
            Row(
                model.name,
                [*sums, *estimates, Number(z.statistic, written=written), PValue(z.pvalue)],
                place,
            )
        )
    return rows


def written_ratio(found: Calibration | None, *, with_interval: bool) -> str:
    """Return predicted / observed, with its interval in brackets if wanted; "-" if it is unknown."""
    if found is None or math.isnan(found.ratio.value):
        return "-"
    low, high = found.ratio.confidence_interval if with_interval else NOWHERE
    return f"{found.ratio.value:.3f}" + ("" if math.isnan(low) else f" [{low:.3f}, {high:.3f}]")


def calibration_cautions(models: Iterable[ModelNumbers]) -> list[str]:
    """Return the conclusion on each model that is significantly and far off."""
    return [
        model.calibrated.conclusion
        for model in models
        if model.calibrated is not None and _is_far_off(model.calibrated)
    ]


def undefined_calibration(models: Iterable[ModelNumbers]) -> list[str]:
    """Say why models have no calibration ratio, intercept, slope or error."""
    found: dict[tuple[str, ...], list[str]] = {}
    for model in models:
        known = model.calibrated
        if known is None or min(known.n_positives, known.n_negatives) < FEW_ROWS:  # too few to expect a slope
            continue
        for reason, names in known._undefined(ESTIMATES).items():
            found.setdefault((listed(names), reason), []).append(printable(model.name))
    return [
        f"calibration {names} of {listed(models_)} {'are' if ' and ' in names else 'is'} undefined ({reason})"
        for (names, reason), models_ in found.items()
    ]


def _is_far_off(found: Calibration) -> bool:
    """Return whether a significant deviation is large; Spiegelhalter's test counts only if the slope is undefined."""
    ratio, slope = found.ratio.value, found.slope.value
    far = {"ratio": abs(ratio - 1) >= FAR_RATIO, "slope": abs(slope - 1) >= FAR_SLOPE}
    return any(far.get(name, math.isnan(slope)) for name in found.miscalibrated)


# JSON and frames ------------------------------------------------------------------------------------------------------


def calibration_values(found: Calibration | None) -> dict[str, Any] | None:
    """Return a model's calibration as JSON."""
    if found is None:
        return None
    z = found.spiegelhalter
    values: dict[str, Any] = {"predicted": found.predicted, "observed": found.observed}
    for name, each in zip(ESTIMATES, _estimates(found), strict=True):
        low, high = each.confidence_interval
        interval = None if math.isnan(low) else [low, high]
        values[name] = {"value": each.value, "interval": interval, "pvalue": each.pvalue}
    values["spiegelhalter"] = {"z": z.statistic, "pvalue": z.pvalue}
    return as_json({**values, "conclusion": found.conclusion, "cautions": list(found.cautions)})  # type: ignore[no-any-return]


def calibration_numbers(found: Calibration) -> Iterator[dict[str, Any]]:
    """Yield the rows of a frame: a model's calibration by name."""
    for name in ("predicted", "observed"):
        yield {"metric": name, "value": getattr(found, name)}
    for name, each in zip(ESTIMATES, _estimates(found), strict=True):
        low, high = each.confidence_interval
        yield {"metric": f"calibration_{name}", "value": each.value, "low": low, "high": high, "pvalue": each.pvalue}
    z = found.spiegelhalter
    yield {"metric": "spiegelhalter_z", "value": z.statistic, "pvalue": z.pvalue}


def _estimates(found: Calibration) -> list[CalibrationEstimate | CalibrationError]:
    return [getattr(found, name) for name in ESTIMATES]
