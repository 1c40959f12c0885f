"""From the metrics a user asks for to what must be counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastevals import _validation as check
from fastevals.measure.asked import AskedMetric
from fastevals.measure.metric_kinds import kind_of
from fastevals.split.estimates.tallies.base import Tally
from fastevals.split.estimates.tallies.direct import FunctionTally, MedianTally
from fastevals.split.estimates.tallies.labels import LabelTally
from fastevals.split.estimates.tallies.scores import LossTally, RankTally, is_mean_loss
from fastevals.split.estimates.tallies.targets import TargetTally

__all__ = ["Asked", "tallies_of"]

Asked = Mapping[str, AskedMetric | Callable[..., Any]]

MEDIAN = "median_absolute_error"


def tallies_of(
    asked: Asked, name: str, y: Any, *, several: bool, pos_label: Any = None, labels: Any = None
) -> tuple[list[Tally], Any]:
    """Give the tallies of the metrics, that of labels first, and the positive class, None where there is none.

    `name` is what errors call `y`; `several` is whether there may be predicted labels and scores both.
    """
    kinds = {label: kind_of(each) for label, each in asked.items() if isinstance(each, AskedMetric)}
    check.check_one_kind("metrics", kinds, several=several)
    of_kind: dict[str, dict[str, Any]] = {}
    for label, each in asked.items():
        of_kind.setdefault(_tally_of(label, each, kinds), {})[label] = each
    if "labels" not in of_kind:
        check.check_not_given("labels", labels, "metrics of predicted labels")
    if not {"labels", "ranks", "losses"} & set(of_kind):
        check.check_not_given("pos_label", pos_label, "metrics of two classes")
    tallies: list[Tally] = []
    positive = None
    if "labels" in of_kind:
        of_labels = LabelTally(of_kind["labels"], y, name, labels=labels, pos_label=pos_label)
        tallies.append(of_labels)
        positive = of_labels.classes.pos_label
        pos_label = pos_label if positive is None else positive
    if "ranks" in of_kind or "losses" in of_kind:
        array, positive, _ = check.binary_labels(name, y, pos_label)
        rows = check.check_two_labels_only(name, array, positive)
        if "ranks" in of_kind:
            tallies.append(RankTally(of_kind["ranks"], rows))
        if "losses" in of_kind:
            tallies.append(LossTally(of_kind["losses"], rows))
    for key, kind in (("targets", TargetTally), ("median", MedianTally), ("functions", FunctionTally)):
        if key in of_kind:
            tallies.append(kind(of_kind[key], y, name))
    return tallies, positive


def _tally_of(label: str, each: Any, kinds: Mapping[str, str]) -> str:
    if label not in kinds:
        return "functions"
    if kinds[label] == "scores":
        return "losses" if is_mean_loss(each) else "ranks"
    return "median" if each.name == MEDIAN else kinds[label]
