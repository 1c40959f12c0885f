"""The table of curves: one entry per curve, read by rankings, folds, plots, reports, pages, documents and the tests.

To add a curve, write its class in a file of this folder (a `Curve` of `base.py`), its entry here, the method of
`BaseRanking` that makes it, and its slow twin in `tests/reference/curves.py`. `tests/measure/test_curve_registry.py`
reports what is missing. Entries are plain data that every module can read: functions are given by name and imported
when used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, NamedTuple


class Axis(NamedTuple):
    """An axis of a picture.

    Attributes
    ----------
    label : str
    number : str
        Name of the number along the axis, a function of true and false positives: from `numbers.py`, or a metric of
        cells. A number that only marks a model at its threshold may be defined by `numbers_at` in
        `show/report/pictures.py` instead. `page.js` also implements each number, to move the mark.
    scale : "linear" or "deviate"
    """

    label: str = ""
    number: str = ""
    scale: Literal["linear", "deviate"] = "linear"


class Line(NamedTuple):
    """A grey reference line given by its vertices; "positives" stands for the share of positives of all models."""

    label: str
    x: tuple[float | str, ...]
    y: tuple[float | str, ...]
    dotted: bool = False


class MarkedPoint(NamedTuple):
    """A marked point of each model's curve: its x is a metric's value, and it lies on a line across the picture."""

    name: str  # in legends
    metric: str
    line: Line


class CurveEntry(NamedTuple):
    """What the rest of the package needs to know about a curve.

    Attributes
    ----------
    name : str
        Name of the picture. Followed by `_curve`, it is the method of rankings that makes the curve, such as
        `roc_curve`.
    home : str
        Module and class of the curve, such as "roc.RocCurve"; the class is public.
    title, caption : str
        Text above the picture: the title, and an explanation of the grey lines.
    x, y : Axis
        The axes. If the numbers along both axes are functions of counts, the curve is drawn from counts, and pages
        keep the points needed for this. If y has no number, a model's mark is a vertical line.
    needs : "counts", "probabilities" or "costs"
        What the curve is computed from.
    undefined_without : tuple of str
        Classes ("positives", "negatives") without which the curve is undefined.
    made_by : tuple of str
        Methods that make the curve, if they do not follow from its name: the first is called on the ranking, and each
        further method on the previous one's result.
    averaged : "rates", "shares", "precision_and_recall" or ""
        What the methods `mean_...` in `many/folds.py` average over folds at each threshold. If empty, only `pool()` of
        `RankingFolds` has a method for the curve.
    macro : "fpr", "share", "recall" or ""
        The rate at whose values the macro curve of several classes is their mean, a function in `many/class_curves.py`.
        If empty, classes have the curve, but no macro average of it.
    detail : str
        How finely the curve distinguishes rows, as in `Detail`. Coarser counts yield two curves that enclose the true
        one, unless the curve needs "THRESHOLDS": the score of each row. If empty, there are always two such curves.
    size : "square", "wide" or "tall"
        Size of the picture.
    legend : str
        Position where a legend covers the least, as matplotlib names it.
    lines : tuple of Line
        Reference lines.
    area, area_metric : str
        The name of the area in legends, and the metric that equals the area, if any.
    marked : MarkedPoint or None
    in_reports : bool
        Whether reports of scores draw the curve.
    of_top_label : bool
        Whether the curve of several classes is the one of their most probable class, `ClassRankings.top_label`, instead
        of a curve for each class.
    """

    name: str
    home: str
    title: str
    caption: str
    x: Axis
    y: Axis = Axis()
    needs: Literal["counts", "probabilities", "costs"] = "counts"
    undefined_without: tuple[str, ...] = ("positives", "negatives")
    made_by: tuple[str, ...] = ()
    averaged: Literal["rates", "shares", "precision_and_recall", ""] = ""
    macro: Literal["fpr", "share", "recall", ""] = ""
    detail: str = "POLYLINE"
    size: Literal["square", "wide", "tall"] = "square"
    legend: str = "best"
    lines: tuple[Line, ...] = ()
    area: str = "area"
    area_metric: str = ""
    marked: MarkedPoint | None = None
    in_reports: bool = True
    of_top_label: bool = False

    @property
    def module(self) -> str:
        """Return the module of the curve's class, within `fastevals`."""
        return f"measure.curves.{self.home.split('.')[0]}"

    @property
    def kind_name(self) -> str:
        """Return the name of the curve's class."""
        return self.home.split(".")[1]

    @property
    def kind(self) -> Any:
        """Return the curve's class."""
        return getattr(import_module(f"fastevals.{self.module}"), self.kind_name)

    @property
    def method(self) -> str:
        """Return the method of rankings and folds that makes the curve."""
        return f"{self.name}_curve"

    def of_counts(self, counts: Any, *options: Any, **more: Any) -> Any:
        """Make the curve from threshold counts."""
        kind = self.kind
        return getattr(kind, "from_counts", kind)(counts, *options, **more)

    def of_ranking(self, ranking: Any) -> Any:
        """Make the curve from a ranking."""
        made = ranking
        for method in self.made_by or (self.method,):
            made = getattr(made, method)()
        return made


CURVES: dict[str, CurveEntry] = {
    entry.name: entry
    for entry in (
        CurveEntry(
            "roc",
            "roc.RocCurve",
            "ROC",
            "dashed: chance; dotted: equal error rates, with a ring for each model",
            Axis("False positive rate", "false_positive_rate"),
            Axis("True positive rate", "recall"),
            averaged="rates",
            macro="fpr",
            legend="lower right",
            lines=(Line("chance", (0, 1), (0, 1)),),
            area="AUC",
            area_metric="roc_auc",
            marked=MarkedPoint("EER", "equal_error_rate", Line("equal error rates (EER)", (0, 1), (1, 0), True)),
        ),
        CurveEntry(
            "precision_recall",
            "precision_recall.PrecisionRecallCurve",
            "Precision and recall",
            "dashed: chance; dotted: precision = recall",
            Axis("Recall", "recall"),
            Axis("Precision", "precision"),
            undefined_without=("positives",),
            averaged="precision_and_recall",
            macro="recall",
            detail="POSITIVES",
            lines=(Line("chance", (0, 1), ("positives", "positives")),),
            area_metric="pr_auc",
            marked=MarkedPoint("BEP", "break_even_point", Line("precision = recall (BEP)", (0, 1), (0, 1), True)),
        ),
        CurveEntry(
            "det",
            "roc.DetCurve",
            "DET",
            "error rates on normal deviates; dotted: equal error rates",
            Axis("False positive rate, %", "false_positive_rate", "deviate"),
            Axis("False negative rate, %", "false_negative_rate", "deviate"),
            averaged="rates",
            macro="fpr",
        ),
        CurveEntry(
            "gain",
            "gain.GainCurve",
            "Gain",
            "dashed: chance; dotted: perfect",
            Axis("Share of rows predicted positive", "share"),
            Axis("Gain, share of positives found", "recall"),
            undefined_without=("positives",),
            averaged="shares",
            macro="share",
            legend="lower right",
            lines=(Line("perfect", (0, "positives", 1), (0, 1, 1), True), Line("chance", (0, 1), (0, 1))),
        ),
        CurveEntry(
            "lift",
            "gain.LiftCurve",
            "Lift",
            "dashed: chance",
            Axis("Share of rows predicted positive", "share"),
            Axis("Lift", "lift"),
            undefined_without=("positives",),
            averaged="shares",
            macro="share",
            size="wide",
            lines=(Line("chance", (0, 1), (1, 1)),),
            area="mean lift",
        ),
        CurveEntry(
            "risk_coverage",
            "risk_coverage.RiskCoverageCurve",
            "Risk and coverage",
            "share of errors among the answers given, the most confident first",
            Axis("Coverage, share of rows answered", "share"),
            Axis("Selective risk, share of errors", "risk"),
            undefined_without=(),
            legend="upper left",
            size="wide",
            area="AURC",
            area_metric="risk_coverage_area",
            in_reports=False,
            of_top_label=True,
        ),
        CurveEntry(
            "cost",
            "cost.CostCurve",
            "Cost",
            "dashed: always positive; dotted: always negative; bars: where a model is worth using",
            Axis("PC(+), probability cost", "probability_cost"),
            Axis("Normalised expected cost", "normalized_cost"),
            averaged="rates",
            size="wide",
        ),
        CurveEntry(
            "cost_over_prior",
            "cost.CostOverPrior",
            "Cost over the prior",
            "dashed: always positive; dotted: always negative",
            Axis("Prior of the positive class", "prior"),
            Axis("Normalised expected cost", "normalized_cost"),
            needs="costs",
            made_by=("cost_curve", "over_prior"),
            size="wide",
        ),
        CurveEntry(
            "calibration",
            "calibration.CalibrationCurve",
            "Calibration",
            "dashed: perfect; below: number of rows in each bin",
            Axis("Mean predicted probability", "threshold"),
            Axis("Share of positives"),
            needs="probabilities",
            undefined_without=(),
            detail="THRESHOLDS",
            size="tall",
        ),
        CurveEntry(
            "reliability",
            "reliability.ReliabilityCurve",
            "Reliability",
            "isotonic fit of the labels; dashed: perfect; below: number of rows by probability",
            Axis("Predicted probability", "threshold"),
            Axis("Calibrated probability"),
            needs="probabilities",
            undefined_without=(),
            detail="THRESHOLDS",
            size="tall",
        ),
        CurveEntry(
            "decision",
            "decision.DecisionCurve",
            "Net benefit",
            "dashed: treat all; dotted: treat none",
            Axis("Threshold probability", "threshold"),
            Axis("Net benefit, true positives per row", "net_benefit"),
            needs="probabilities",
            undefined_without=(),
            detail="",
            size="wide",
        ),
    )
}
_BY_CLASS = {entry.kind_name: entry for entry in CURVES.values()}


def entry_of(kind: type) -> CurveEntry:
    """Return the entry of a curve's class."""
    return _BY_CLASS[kind.__name__]
