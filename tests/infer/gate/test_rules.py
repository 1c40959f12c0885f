"""The rules of a gate: what they mean, and errors that point at the place."""

from __future__ import annotations

import math

import pytest

from fastevals.infer.gate.rules import Condition, bind_rules, parse_rule, parse_rules

INF = math.inf


@pytest.mark.parametrize(
    ("text", "label", "form", "conditions"),
    [
        ("roc_auc >= 0.80", "roc_auc", "at least", [(0.8, INF)]),
        ("auc>=0.8", "roc_auc", "at least", [(0.8, INF)]),
        ("  ROC_AUC   ≥ .8 ", "roc_auc", "at least", [(0.8, INF)]),
        ("brier <= 0.2", "brier_score", "at most", [(-INF, 0.2)]),
        ("average precision >= 30%", "average_precision", "at least", [(0.3, INF)]),
        ("recall at fpr=0.01 >= 0.5", "recall(fpr=0.01)", "at least", [(0.5, INF)]),
        ("recall at threshold 0.5 >= 0.9", "recall(threshold=0.5)", "at least", [(0.9, INF)]),
        ("f1 at best=f1 >= 0.5", "f1(best='f1')", "at least", [(0.5, INF)]),
        ("precision(recall=0.9) >= 0.4", "precision(recall=0.9)", "at least", [(0.4, INF)]),
        ("expected_cost(cost_fn=5) at fpr=.1 <= 2", "expected_cost(cost_fn=5, fpr=0.1)", "at most", [(-INF, 2)]),
        ("predicted/observed within 0.9 .. 1.1", "predicted/observed", "within", [(0.9, 1.1)]),
        ("predicted/observed within 0.9..1.1", "predicted/observed", "within", [(0.9, 1.1)]),
        ("calibration slope between .8 and 1.2", "calibration_slope", "within", [(0.8, 1.2)]),
        ("mean_error within -1 to 1", "mean_error", "within", [(-1.0, 1.0)]),
        ("roc_auc better than old", "roc_auc", "better than", [(0.0, INF)]),
        ("brier better than old by 0.01", "brier_score", "better than", [(-INF, -0.01)]),
        ("roc_auc not worse than old by 5e-3", "roc_auc", "not worse than", [(-0.005, INF)]),
        ("brier not worse than old by 0.01", "brier_score", "not worse than", [(-INF, 0.01)]),
        ("brier equivalent to old within 0.002", "brier_score", "equivalent to", [(-0.002, 0.002)]),
        ("rmse not worse than old by 2%", "root_mean_squared_error", "not worse than", [(-INF, 0.0, 1.02)]),
        ("rmse better than old by 2 %", "root_mean_squared_error", "better than", [(-INF, 0.0, 0.98)]),
        ("recall not worse than old by 10%", "recall", "not worse than", [(0.0, INF, 0.9)]),
        ("recall equivalent to old within 10%", "recall", "equivalent to", [(0.0, INF, 0.9), (-INF, 0.0, 1.1)]),
    ],
)  # fmt: skip
def test_rules_state_the_range_of_a_metric_or_a_difference(text, label, form, conditions):
    rule = parse_rule(text)
    assert (rule.label, rule.form) == (label, form)
    for found, expected in zip(rule.conditions(), conditions, strict=True):
        assert tuple(found) == pytest.approx(tuple(Condition(*expected)))


@pytest.mark.parametrize(
    ("text", "other", "by"),
    [
        ("roc_auc better than champion by region", "champion", ("region",)),
        ("roc_auc better than champion by 0.01 by region", "champion", ("region",)),
        ("auc not worse than 'my model' by 0.01 by \"the region\" x b", "my model", ("the region", "b")),
        ("roc_auc not worse than old-v1.2 by 0.01", "old-v1.2", ()),
        ("roc_auc >= 0.8 by region", None, ("region",)),
        ("roc_auc not worse than by by 0.01 by x x x2", "by", ("x", "x2")),
    ],
)  # fmt: skip
def test_rules_name_the_other_model_and_columns(text, other, by):
    rule = parse_rule(text)
    assert (rule.other, rule.by) == (other, by)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("roc_acu >= 0.8", r"rule: unknown metric 'roc_acu' \(did you mean 'roc_auc'\?\) \(at character 1 of 'roc_acu"),
        ("roc_auc not wrose than a by 0.1", r"expected 'not worse than', got 'wrose' .*'worse'.* \(at character 13 of"),
        ("roc_auc better then a", r"expected 'better than', got 'then' \(did you mean 'than'\?\) \(at character 16 of"),
        ("roc_auc is 0.8", r"expected >=, <=, within, .*, got 'is' \(at character 9 of"),
        ("roc_auc", "expected >=, .*, got nothing .at the end of 'roc_auc'"),
        ("roc_auc >=", "expected a number after >=, got nothing"),
        ("roc_auc >= 80", r"no value of roc_auc can satisfy the rule: roc_auc lies in \[0, 1\]"),
        ("roc_auc not worse than a by 2", "every model satisfies the rule, because the margin 2 is so wide"),
        ("roc_auc equivalent to a within 1", "every model satisfies the rule, because the margin 1 is so wide"),
        ("roc_auc not worse than a by 100%", "every model satisfies the rule, because the margin 100 % is so wide"),
        ("brier better than a by 1", "no value of brier_score can satisfy the rule"),
        ("roc_auc >= -1e400", "-1e400 is too large for a number .at character 12"),
        ("roc_auc >= \u0660.\u0668", "expected a number after >="),
        ("recall at fpr=0.01, threshold=0.5 >= 0.1", "'threshold', 'fpr' exclude each other: a metric has one"),
        ("roc_auc >= 0.8 by a x a", "the column a is given twice .at character 23"),
        ("roc_auc >= 0.8 by a by b", "expected the end of the rule, .* got 'by' .at"),
        ("roc_auc not worse than a by \u2212 0.1", "expected the margin, a number such as 0.005, after 'by', got"),
        ("roc_auc <= 0.9", "roc_auc is better when it is higher: write >= 0.9"),
        ("brier >= 0.2", "brier_score is better when it is lower: write <= 0.2"),
        ("brier not worse than a by -0.1", "a margin must be at least 0, .* got -0.1 .at character 27"),
        ("roc_auc not worse than a", "expected 'by' and the margin, such as by 0.005, got nothing"),
        ("roc_auc equivalent to a by 0.1", "expected 'within' and the margin, such as within 0.005, got 'by'"),
        ("roc_auc within 0.9 .. 0.8", r"the range must be in ascending order, got 0.9 .. 0.8"),
        ("prevalence better than a", "neither higher nor lower prevalence is better: demand 'within LOW .. HIGH'"),
        ("predicted/observed better than a", "neither higher nor lower predicted/observed is better"),
        ("matthews not worse than a by 2%", "matthews can be negative, so its margin must be a number"),
        ("recall at fprr=0.1 >= 0.2", r"recall\(fprr=0.1\) has no option fprr= \(did you mean 'fpr'\?\)"),
        ("recall at fpr=0.1, fpr=0.2 >= 0.2", "the option fpr is given twice"),
        ("recall at >= 0.2", "expected the name of an option, such as threshold=0.5 or fpr=0.01, got '>='"),
        ("ndcg@10 >= 0.5", "ndcg@10 measures ranked documents"),
        ("roc_auc >= 0.8 for all", "expected the end of the rule, 'by' and a column, or 'assuming' .*, got 'for'"),
        ("roc_auc >= 0.8 by", "expected a column, got nothing"),
        ("roc_auc # 0.8", "got '#'"),
        ("roc_auc >= 0.8.5", "expected a number after >="),
        ("roc_auc >= nan", "expected a number after >=, got 'nan'"),
        ("", "the rule is empty"),
        (5, "rule must be text such as .*, got 5"),
    ],
)  # fmt: skip
def test_wrong_rules_raise_with_the_place_and_what_is_meant(text, message):
    with pytest.raises(ValueError, match=message):
        parse_rule(text)


def test_rules_state_what_is_assumed_true():
    assert parse_rule("roc_auc >= 0.8 assuming 0.83").assumed == 0.83
    rule = parse_rule("roc_auc not worse than a by 0.01 by region assuming -0.002")
    assert (rule.assumed, rule.by) == (-0.002, ("region",))
    assert parse_rule("roc_auc >= 0.8 assuming 0.83 by region").by == ("region",)
    with pytest.raises(ValueError, match="expected the true value that is assumed, got nothing"):
        parse_rule("roc_auc >= 0.8 assuming")


def test_rules_must_differ_and_agree():
    with pytest.raises(ValueError, match=r"'roc_auc >= 0.8' and 'auc>=0.8' are the same rule"):
        parse_rules(["roc_auc >= 0.8", "auc>=0.8"])
    with pytest.raises(ValueError, match=r"'roc_auc >= 0.8' and 'roc_auc within 0.5 .. 0.7' contradict each other"):
        parse_rules(["roc_auc >= 0.8", "roc_auc within 0.5 .. 0.7"])
    with pytest.raises(ValueError, match="rules 2: unknown metric"):
        parse_rules(["roc_auc >= 0.8", "x >= 1"])
    with pytest.raises(ValueError, match="rules is empty"):
        parse_rules([])
    with pytest.raises(ValueError, match="rules must be texts such as"):
        parse_rules(5)
    assert len(parse_rules(["roc_auc >= 0.8", "roc_auc >= 0.7", "roc_auc >= 0.8 by region"])) == 3


def test_champion_is_the_reference_unless_a_model_has_this_name():
    (rule,) = parse_rules("roc_auc better than Champion")
    assert bind_rules([rule], ["new", "old"], "old", "rule")[0].other == "old"
    assert bind_rules([rule], ["new", "Champion"], "new", "rule")[0].other == "Champion"
    assert bind_rules([rule], ["new"], None, "rule")[0].other is None
    (rule,) = parse_rules("roc_auc better than odl")
    with pytest.raises(ValueError, match=r"no model is called 'odl' \(did you mean 'old'\?\): there are 'new', 'old'"):
        bind_rules([rule], ["new", "old"], None, "rule")
