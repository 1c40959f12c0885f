"""Gates of class probabilities: rules on averages over classes, one model against another, and other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import fastevals
from fastevals import metric
from fastevals.show import cli
from tests.show.report.test_class_probabilities import CODES, FRAME, NAMES, ONE, TWO, P

SETTINGS: dict[str, Any] = {"n_resamples": 999}


def test_rules_are_judged_by_the_metrics_of_all_classes() -> None:
    rules = ["roc_auc >= 0.5", "log_loss <= 9", "f1 >= 0.99", "hand_till >= 0.5", "matthews >= 0.1"]
    found = fastevals.gate(FRAME, rules, **ONE, **SETTINGS)
    values = found.to_dict()
    assert [each["outcome"] for each in values["rules"]] == ["pass", "pass", "fail", "pass", "pass"]
    assert values["kind"] == "probabilities"
    classes = fastevals.ClassRankings(CODES, P["forest"])
    by_rule = {each["rule"]: each["judged"][0] for each in values["rules"]}
    for rule, expected in {"roc_auc >= 0.5": classes.roc_auc(), "hand_till >= 0.5": classes.hand_till()}.items():
        assert_allclose(by_rule[rule]["value"], expected, rtol=1e-12)


def test_a_model_is_compared_with_the_champion_of_the_same_rows_or_of_others() -> None:
    rule = "roc_auc better than champion"
    found = fastevals.gate(FRAME, rule, **TWO, reference="forest", **SETTINGS)
    assert (found.model, found.outcome) == ("boost", "pass")
    found = fastevals.gate(FRAME, rule, **TWO, reference="boost", **SETTINGS)
    assert (found.model, found.outcome) == ("forest", "fail")
    equal = fastevals.gate(FRAME[:300], "roc_auc better than champion", **ONE, reference=FRAME[300:], **SETTINGS)
    assert equal.outcome == "undecided"
    receipt = fastevals.gate(FRAME[:300], "log_loss <= 9", **ONE, **SETTINGS)
    later = fastevals.gate(FRAME[300:], "log_loss not worse than champion by 1", **ONE, reference=receipt, **SETTINGS)
    assert later.outcome == "pass"


def test_segments_and_classes_in_order() -> None:
    found = fastevals.gate(FRAME, "accuracy >= 0.2 by site", **ONE, classes=NAMES[::-1], **SETTINGS)
    assert found.outcome == "pass"
    assert len(found.to_dict()["rules"][0]["judged"]) == 3
    arrays = {"forest": pd.DataFrame(P["forest"], columns=NAMES)}
    found = fastevals.gate({"y": FRAME["y"]}, "brier <= 1.9", label="y", probabilities=arrays, **SETTINGS)
    assert found.outcome == "pass"


@pytest.mark.parametrize(
    ("options", "rule", "message"),
    [
        (ONE, "predicted/observed within 0.9 .. 1.1", "needs probabilities of the positive class, given by score"),
        (ONE, metric("roc_auc", average=None), "value for each class|rules"),
        (ONE, "r2 >= 0.5", "can't be computed from class probabilities"),
        ({**ONE, "score": "forest_owl"}, "roc_auc >= 0.5", "exclude each other"),
        ({"label": "y", "pred": "y", "normalize": True}, "accuracy >= 0.5", "normalize goes with probabilities"),
        (
            {**ONE, "nightly": "state.json", "night": "monday"},
            "accuracy >= 0.5",
            "probabilities and nightly exclude each other: nights have no class probabilities",
        ),
        (
            {**ONE, "plan": True},
            "accuracy >= 0.5 assuming 0.6",
            "plan goes with score or pred, not probabilities: for accuracy",
        ),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], rule: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.gate(FRAME, rule, **options)


def test_command(tmp_path: Path, capsys: Any) -> None:
    FRAME.to_csv(tmp_path / "p.csv", index=False)
    options = ["--label", "y", "--probabilities", "forest_*", "--rule", "roc_auc >= 0.5", "--resamples", "999"]
    assert cli.main(["gate", str(tmp_path / "p.csv"), *options]) == 0
    assert "pass" in capsys.readouterr().out
    assert np.isfinite(P["forest"]).all()
