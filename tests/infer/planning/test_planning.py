"""Planned sample sizes: variances against slow twins, goals, words and bad input."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import fastevals as fe
from fastevals import ConfusionMatrix, Ranking, SampleSize, metric, plan_sample_size
from tests.reference import planning as slow

RNG = np.random.default_rng(20261126)
N = 400
Y = RNG.random(N) < 0.4
SCORES = np.round(RNG.normal(size=N) + 1.4 * Y, 1)
OTHER = np.round(0.7 * SCORES + 0.7 * RNG.normal(size=N) + 0.3 * Y, 1)
PROBABILITIES = 1 / (1 + np.exp(0.7 - SCORES))
PAIR = Y, {"old": OTHER, "new": SCORES}
GROUPS = np.arange(N) // 8
QUICK = {"n_resamples": 499}


def variance(found: SampleSize) -> float:
    """Return n times the squared standard error of a plan."""
    return found.n_samples * found.standard_error**2


# AUC ------------------------------------------------------------------------------------------------------------------


@pytest.mark.cases(2)
@pytest.mark.parametrize("prevalence", [None, 0.03, 0.9])
def test_variance_of_an_auc(prevalence: float | None) -> None:
    found = plan_sample_size((Y, SCORES), "roc_auc", width=0.02, prevalence=prevalence)
    share = float(Y.mean()) if prevalence is None else prevalence
    expected = slow.delong_variance(SCORES[Y].tolist(), SCORES[~Y].tolist(), share)
    assert variance(found) == pytest.approx(expected, rel=1e-9)
    assert found.n_samples == math.ceil(expected * (2 * 1.959963984540054 / 0.02) ** 2)
    assert found.n_positives == math.ceil(round(found.n_samples * share, 6))


def test_variance_of_an_auc_is_delongs() -> None:
    found = plan_sample_size((Y, SCORES), "roc_auc", width=0.02)
    assert math.sqrt(variance(found) / N) == pytest.approx(fe.delong(Y, SCORES).standard_error, rel=1e-12)
    pair = plan_sample_size(PAIR, "roc_auc", reference="old", width=0.02)
    covariance = fe.delong(Y, np.stack([SCORES, OTHER])).covariance
    assert variance(pair) / N == pytest.approx(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1], rel=1e-9)
    assert pair.pilot_value == Ranking(Y, SCORES).roc_auc() - Ranking(Y, OTHER).roc_auc()


def test_any_source_of_counts_gives_the_same_plan() -> None:
    summary = fe.scale.RankingSummary()
    summary.update(Y, SCORES)
    ranking = Ranking(Y, SCORES)
    sources: list[Any] = [(Y, SCORES), ranking, ranking.counts, summary]
    for spec in ("roc_auc", metric("recall", threshold=0.5)):
        plans = {plan_sample_size(each, spec, width=0.05, prevalence=0.1).n_samples for each in sources}
        assert len(plans) == 1


# Rates ----------------------------------------------------------------------------------------------------------------


def test_recall_needs_the_same_positives_at_any_prevalence() -> None:
    spec = metric("recall", threshold=0.5)
    plans = [
        plan_sample_size((Y, SCORES), spec, value=0.85, bound=0.8, prevalence=share) for share in (None, 0.1, 0.01)
    ]
    assert [each.method for each in plans] == ["Clopper-Pearson"] * 3
    assert max(each.n_positives for each in plans) - min(each.n_positives for each in plans) <= 3  # type: ignore[type-var,operator]
    assert all(each.power >= 0.8 for each in plans)


def test_a_rate_does_not_depend_on_the_pilots_own_rate() -> None:
    matrices = [ConfusionMatrix([[90, 10], [k, 40 - k]]) for k in (0, 5, 40)]
    assert len({plan_sample_size(each, "recall", value=0.9, bound=0.8).n_samples for each in matrices}) == 1


@pytest.mark.parametrize(
    ("name", "share"),
    [("accuracy", 1.0), ("recall", 0.2), ("specificity", 0.8), ("precision", 0.2 * 0.85 + 0.8 * 0.1),
     ("negative_predictive_value", 0.2 * 0.15 + 0.8 * 0.9)],
)  # fmt: skip
def test_share_of_trials(name: str, share: float) -> None:
    pilot = ConfusionMatrix([[900, 100], [15, 85]])
    found = plan_sample_size(pilot, name, value=0.9, bound=0.8, prevalence=0.2)
    assert variance(found) == pytest.approx(0.09 / share, rel=1e-12)


def test_accuracy_at_another_prevalence() -> None:
    found = plan_sample_size(ConfusionMatrix([[900, 100], [15, 85]]), "accuracy", width=0.02, prevalence=0.5)
    assert found.pilot_value == pytest.approx((0.9 + 0.85) / 2)
    assert found.assumed_value == found.pilot_value
    stated = plan_sample_size(ConfusionMatrix([[900, 100], [15, 85]]), "accuracy", width=0.02, value=0.5)
    assert stated.assumed_value == 0.5
    assert stated.n_samples > found.n_samples


def test_labels_and_scores_at_a_threshold_give_the_same_plan() -> None:
    goal = {"value": 0.9, "bound": 0.8, "prevalence": 0.1}
    of_scores = plan_sample_size((Y, SCORES), metric("specificity", threshold=0.5), **goal)
    of_labels = plan_sample_size((Y, SCORES >= 0.5), "specificity", **goal)
    assert of_scores.n_samples == of_labels.n_samples
    assert of_scores.pilot_value == of_labels.pilot_value


@pytest.mark.parametrize("prevalence", [None, 0.1])
@pytest.mark.parametrize("name", ["recall", "specificity", "accuracy", "prediction_rate"])
def test_difference_of_rates_by_discordance(name: str, prevalence: float | None) -> None:
    goal: dict[str, Any] = {"reference": "old", "effect": 0.01, "alternative": "greater", "prevalence": prevalence}
    of_scores = plan_sample_size(PAIR, metric(name, threshold=0.5), **goal)
    labels = {model: each >= 0.5 for model, each in PAIR[1].items()}
    of_labels = plan_sample_size((Y, labels), name, **goal)
    assert of_scores.n_samples == of_labels.n_samples
    share = float(Y.mean()) if prevalence is None else prevalence
    differ = labels["old"] != labels["new"]
    by_class = {"recall": (share, 0.0), "specificity": (0.0, 1 - share)}.get(name, (share, 1 - share))
    discordance = (by_class[0] * differ[Y].mean() + by_class[1] * differ[~Y].mean()) / sum(by_class)
    assert variance(of_scores) == pytest.approx((discordance - 1e-4) / sum(by_class), rel=1e-12)


def test_the_discordance_matches_the_bootstrap() -> None:
    spec = metric("recall", threshold=0.5)
    found = plan_sample_size(PAIR, spec, reference="old", width=0.05)
    compared = fe.compare_rankings(*PAIR, metrics=spec, reference="old", rng=1)[str(spec)].differences[0]
    assert found.pilot_value == pytest.approx(compared.value)
    assert math.sqrt(variance(found) / N) == pytest.approx(compared.standard_error, rel=0.03)


# Bootstrapped variances -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["average_precision", "ks_statistic"])
def test_variance_of_a_bootstrap(name: str) -> None:
    found = plan_sample_size((Y, SCORES), name, width=0.05, rng=3, **QUICK)
    error = fe.bootstrap(Ranking(Y, SCORES), name, method="normal", rng=3, **QUICK)[name].standard_error
    assert math.sqrt(variance(found) / N) == pytest.approx(error, rel=1e-9)


SPECS: list[Any] = ["average_precision", "brier_score", metric("f1", threshold=0.4), metric("recall", fpr=0.1)]


@pytest.mark.cases(2)
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_pilots_own_prevalence_changes_nothing_but_noise(spec: Any) -> None:
    plans = [
        plan_sample_size((Y, PROBABILITIES), spec, width=0.05, prevalence=share, n_resamples=1999)
        for share in (None, float(Y.mean()))
    ]
    assert plans[1].n_samples / plans[0].n_samples == pytest.approx(1, abs=0.12)
    assert plans[1].pilot_value == pytest.approx(plans[0].pilot_value, abs=1e-3)


@pytest.mark.cases(2)
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_pilots_own_prevalence_in_a_difference(spec: Any) -> None:
    models = {"old": 1 / (1 + np.exp(0.7 - OTHER)), "new": PROBABILITIES}
    plans = [
        plan_sample_size((Y, models), spec, reference="old", width=0.05, prevalence=share, n_resamples=1999)
        for share in (None, float(Y.mean()))
    ]
    assert plans[1].n_samples / plans[0].n_samples == pytest.approx(1, abs=0.12)
    assert plans[1].pilot_value == pytest.approx(plans[0].pilot_value, abs=0.03)


@pytest.mark.parametrize("prevalence", [0.01, 0.3, 0.95])
def test_variance_of_a_mean_at_another_prevalence(prevalence: float) -> None:
    models = {"old": 1 / (1 + np.exp(0.7 - OTHER)), "new": PROBABILITIES}
    losses = {name: (each - Y) ** 2 for name, each in models.items()}
    weights = np.where(Y, prevalence / Y.sum(), (1 - prevalence) / (~Y).sum())
    one = plan_sample_size((Y, PROBABILITIES), "brier_score", width=0.01, prevalence=prevalence, **QUICK)
    two = plan_sample_size((Y, models), "brier_score", reference="old", width=0.01, prevalence=prevalence, **QUICK)
    for found, terms in ((one, losses["new"]), (two, losses["new"] - losses["old"])):
        mean = weights @ terms
        assert variance(found) == pytest.approx(weights @ (terms - mean) ** 2, rel=0.25)
        assert found.pilot_value == pytest.approx(mean, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_pilot_with_another_prevalence_plans_alike(spec: Any) -> None:
    def rows(n: int, share: float) -> tuple[Any, Any]:
        rng = np.random.default_rng(7)
        y = rng.random(n) < share
        z = rng.normal(size=(2, n)) * 0.8 + rng.normal(size=n) + 1.5 * y
        return y, {k: 1 / (1 + np.exp(1 - each)) for k, each in zip(("old", "new"), z, strict=True)}

    pilots = rows(20_000, 0.5), rows(20_000, 0.05)
    for reference in (None, "old"):
        sizes = []
        for y, models in pilots:
            pilot = (y, models if reference else models["new"])
            plan = plan_sample_size(
                pilot, spec, reference=reference, width=0.01, prevalence=0.05, n_resamples=999
            )  # fmt: skip
            sizes.append(plan.n_samples)
        assert sizes[0] / sizes[1] == pytest.approx(1, abs=0.12)


def test_matrix_of_many_classes() -> None:
    pilot = ConfusionMatrix([[80, 10, 3], [5, 70, 5], [1, 2, 99]])
    found = plan_sample_size(pilot, metric("f1", average="macro"), value=0.9, bound=0.85, **QUICK)
    assert found.n_positives is None
    assert found.pilot_n_samples == 275
    assert plan_sample_size(pilot, "accuracy", value=0.9, bound=0.85).method == "Clopper-Pearson"


def test_numbers() -> None:
    x = RNG.normal(size=300)
    models = {"a": x + RNG.normal(size=300), "b": x + RNG.normal(size=300)}
    one = plan_sample_size((x, models["a"]), "root_mean_squared_error", width=0.05, **QUICK)
    two = plan_sample_size((x, models), "mean_absolute_error", reference="a", effect=0.0, margin=0.05, **QUICK)
    assert one.n_positives is None
    assert (two.model, two.reference) == ("b", "a")
    losses = np.abs(models["b"] - x) - np.abs(models["a"] - x)
    assert variance(two) == pytest.approx(losses.var(), rel=0.2)


# Clusters and weights -------------------------------------------------------------------------------------------------


def test_copies_of_rows_multiply_the_rows() -> None:
    y, scores = np.repeat(Y, 5), np.repeat(SCORES, 5)
    plain = plan_sample_size((Y, SCORES), "roc_auc", width=0.05)
    found = plan_sample_size((y, scores), "roc_auc", width=0.05, groups=np.repeat(np.arange(N), 5), n_resamples=1999)
    assert found.design_effect == pytest.approx(5, rel=0.1)
    assert found.n_samples / plain.n_samples == pytest.approx(5, rel=0.1)
    assert found.n_clusters == math.ceil(found.n_samples / 5)


def test_clusters_at_another_prevalence() -> None:
    plain = plan_sample_size((Y, SCORES), "roc_auc", width=0.05, prevalence=0.1)
    found = plan_sample_size((Y, SCORES), "roc_auc", width=0.05, prevalence=0.1, groups=GROUPS, **QUICK)
    assert found.n_samples == pytest.approx(plain.n_samples * found.design_effect, abs=2)


def test_equal_weights_change_nothing_but_noise() -> None:
    found = plan_sample_size((Y, SCORES), "roc_auc", width=0.05, sample_weight=np.full(N, 2.0), n_resamples=1999)
    assert found.design_effect == pytest.approx(1, abs=0.1)
    unequal = plan_sample_size((Y, SCORES), "roc_auc", width=0.05, sample_weight=1 + 9 * (GROUPS % 5 == 0), **QUICK)
    assert unequal.design_effect > 1.5
    assert "Weights are like the pilot's weights" in " ".join(unequal.assumptions)


def test_clusters_of_rates_are_not_planned_by_exact_limits() -> None:
    found = plan_sample_size(
        (Y, SCORES), metric("recall", threshold=0.5), value=0.9, bound=0.8, groups=GROUPS, **QUICK
    )  # fmt: skip
    assert found.method == "normal"


# Goals ----------------------------------------------------------------------------------------------------------------


def test_power_of_a_difference() -> None:
    found = plan_sample_size(PAIR, "roc_auc", reference="old", effect=0.0, margin=0.02)
    assert found.n_samples == slow.normal_rows(variance(found), 0.02, 0.95, 0.8)
    assert found.power == pytest.approx(0.8, abs=1e-3)
    assert found.detectable_difference == pytest.approx(0.02, rel=1e-3)
    better = plan_sample_size(PAIR, "roc_auc", reference="old", effect=0.02)
    assert better.n_samples == found.n_samples
    both = plan_sample_size(PAIR, "roc_auc", reference="old", effect=0.0, margin=0.02, equivalence=True)
    assert both.n_samples > found.n_samples


def test_smaller_is_better() -> None:
    models = {"old": 1 / (1 + np.exp(0.7 - OTHER)), "new": PROBABILITIES}
    better = plan_sample_size((Y, models), "brier_score", reference="old", effect=-0.01, **QUICK)
    same = plan_sample_size((Y, models), "brier_score", reference="old", effect=0.0, margin=0.01, **QUICK)
    assert better.n_samples == same.n_samples
    assert "new is better than old in brier_score" in better.conclusion
    assert "new is not worse than old by 0.01 or more in brier_score" in same.conclusion
    one = plan_sample_size((Y, PROBABILITIES), "brier_score", value=0.15, bound=0.2, **QUICK)
    assert "brier_score is below 0.2" in one.conclusion


def test_reference_by_number() -> None:
    by_name = plan_sample_size(PAIR, "roc_auc", reference="old", effect=0.02)
    by_number = plan_sample_size((Y, np.stack([OTHER, SCORES])), "roc_auc", reference=0, effect=0.02)
    assert by_number.n_samples == by_name.n_samples
    assert (by_number.model, by_number.reference) == (1, 0)
    labels = np.stack([OTHER, SCORES]) >= 0.5
    assert plan_sample_size((Y, labels), "accuracy", reference=0, effect=0.02).model == 1


def test_an_interval_within_bounds() -> None:
    found = plan_sample_size((Y, SCORES), metric("prediction_rate", threshold=0.5), value=0.5, bound=(0.45, 0.56))
    assert "is between 0.45 and 0.56" in found.conclusion
    assert "two one-sided 95 % limits" in found.conclusion


def test_the_stated_value_sets_the_variance() -> None:
    sizes = [plan_sample_size((Y, SCORES), "roc_auc", value=v, bound=v - 0.02).n_samples for v in (0.7, 0.9, 0.98)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_same_seed_same_plan() -> None:
    plans = {plan_sample_size((Y, SCORES), "average_precision", width=0.05, **QUICK).n_samples for _ in range(2)}
    assert len(plans) == 1


# Words ----------------------------------------------------------------------------------------------------------------


def test_text() -> None:
    found = plan_sample_size(ConfusionMatrix([[880, 20], [15, 85]]), "recall", value=0.85, bound=0.8)
    assert str(found) == (
        "Sample size for recall\n\n"
        "With 3,793 rows (380 positive), the chance is 80.0 % to show that recall is above 0.8,\n"
        "    if its true value is 0.85 (one-sided 95 % limit).\n\n"
        "                              Planned  Pilot\n"
        "rows                             3793   1000\n"
        "positives                         380    100\n"
        "negatives                        3413    900\n"
        "value                          0.8500 0.8500\n"
        "standard error                0.01833\n"
        "detectable difference         0.04559\n"
        "power                          0.8000\n"
        "width                               -\n"
        "confidence level               0.9500\n"
        "prevalence                     0.1000\n"
        "design effect                  1.0000\n"
        "limits                Clopper-Pearson\n\n"
        "The rows are drawn at random, and 10 % of them are positive.\n"
        "The true recall is 0.85, as stated.\n"
        "recall is a share of the rows that are positive: 10 % of all rows.\n"
        "Limits are Clopper-Pearson limits."
    )
    assert repr(found) == "SampleSize(recall: n_samples=3793, n_positives=380, power=0.8)"
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    assert len(found.to_frame("pandas")) == 1


def test_cautions() -> None:
    few = plan_sample_size((Y[:60], SCORES[:60]), "roc_auc", width=0.0005)
    assert few.cautions[0].startswith("The pilot has only 19 rows of the rarer class")
    assert "times the pilot" in few.cautions[1]
    wide = plan_sample_size((Y, SCORES), "roc_auc", width=0.4)
    assert "The planned sample has only" in wide.cautions[0]
    best = plan_sample_size((Y, SCORES), metric("f1", best="f1"), width=0.05, **QUICK)
    assert "computed at the threshold that is best on the same rows" in best.cautions[-1]
    labels = {"old": SCORES >= 0.5, "new": SCORES >= 0.6}
    alike = plan_sample_size((Y, labels), "accuracy", reference="old", effect=0.0, margin=0.05)
    assert "expected to decide differently on only" in alike.cautions[0]
    clusters = plan_sample_size((Y, SCORES), "roc_auc", width=0.05, groups=GROUPS // 2, **QUICK)
    assert "only 25 clusters" in clusters.cautions[0]


def test_names_of_models_are_printed_safely() -> None:
    found = plan_sample_size((Y, {"a\x1b": SCORES, "b": OTHER}), "roc_auc", reference="b", effect=0.01)
    assert "\x1b" not in found.conclusion


# Bad input ------------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "no goal": (((Y, SCORES), "roc_auc"), {}, "exactly one of width and bound must be given, got none"),
    "no effect": ((PAIR, "roc_auc"), {"reference": "old"}, "exactly one of width and effect must be given, got none"),
    "two goals": (((Y, SCORES), "roc_auc"), {"width": 0.1, "bound": 0.7}, "exactly one of width and bound"),
    "no value": (((Y, SCORES), "roc_auc"), {"bound": 0.7}, "value must be given with bound: the roc_auc that is"),
    "a value below a floor": (
        ((Y, SCORES), "roc_auc"), {"value": 0.7, "bound": 0.8},
        "value must be above bound to show that roc_auc is above it, got value=0.7 and bound=0.8: no number of rows",
    ),
    "a value above a ceiling": (
        ((Y, PROBABILITIES), "brier_score"), {"value": 0.3, "bound": 0.2}, "value must be below bound",
    ),
    "a value at the floor": (((Y, SCORES), "roc_auc"), {"value": 0.8, "bound": 0.8}, "value must be above bound"),
    "a value outside": (((Y, SCORES), "roc_auc"), {"value": 1.2, "bound": 0.8}, r"value must be in \[0, 1\], got 1.2"),
    "a value outside a range": (
        ((Y, SCORES), "roc_auc"), {"value": 0.7, "bound": (0.8, 0.9)}, "between the bounds 0.8 and 0.9, got 0.7",
    ),
    "three bounds": (((Y, SCORES), "roc_auc"), {"value": 0.7, "bound": (0, 1, 2)}, r"a pair \(low, high\)"),
    "a floor of a rate": (
        ((Y, SCORES), metric("recall", threshold=0.5)), {"value": 0.7, "bound": 0.0}, r"bound must be in \(0, 1\)",
    ),
    "an effect beyond the margin": (
        (PAIR, "roc_auc"), {"reference": "old", "effect": -0.02, "margin": 0.01},
        "effect must be above -0.01 for roc_auc, where high is better, got -0.02: no number of rows",
    ),
    "an effect of nothing": ((PAIR, "roc_auc"), {"reference": "old", "effect": 0}, "effect must be above 0 for"),
    "not equivalent": (
        (PAIR, "roc_auc"), {"reference": "old", "effect": 0.02, "margin": 0.01, "equivalence": True},
        "effect must be within the margin of 0.01, got 0.02",
    ),
    "equivalent within nothing": (
        (PAIR, "roc_auc"), {"reference": "old", "effect": 0.0, "equivalence": True}, "margin must be given with",
    ),
    "a negative margin": (
        (PAIR, "roc_auc"), {"reference": "old", "effect": 0.0, "margin": -0.01}, r"margin must be in \[0, inf\)",
    ),
    "an effect of one model": (((Y, SCORES), "roc_auc"), {"effect": 0.1}, "effect applies only with a reference"),
    "a bound of two": ((PAIR, "roc_auc"), {"reference": "old", "bound": 0.1}, "bound applies only with no reference"),
    "an effect out of range": (
        (PAIR, "roc_auc"), {"reference": "old", "effect": 2, "margin": 0.1}, "effect must be at most 1, the range"
    ),
    "an unlimited margin": (
        (PAIR, "roc_auc"), {"reference": "old", "effect": 0, "margin": 1}, "margin must be below 1, .*all models"
    ),
    "a value at a limit": (((Y, SCORES), "roc_auc"), {"value": 1, "bound": 0.8}, r"value must be in \(0, 1\) for"),
    "a rate at a limit": (
        ((Y, SCORES), metric("recall", threshold=0.5)), {"value": 1, "bound": 0.8}, r"value must be in \(0, 1\) for"
    ),
    "bounds that go down": (
        ((Y, SCORES), "roc_auc"), {"value": 0.8, "bound": (0.9, 0.7)}, "bound must be in ascending order"
    ),
    "an unknown reference": ((PAIR, "roc_auc"), {"reference": "x", "effect": 0.1}, "reference must be one of 'old'"),
    "no reference": ((PAIR, "roc_auc"), {"width": 0.1}, "reference must name the model to compare with"),
    "three models": (
        ((Y, {**PAIR[1], "more": OTHER}), "roc_auc"), {"reference": "old", "effect": 0.1}, "two models, .* got 3",
    ),
    "a difference of counts": (
        (Ranking(Y, SCORES), "roc_auc"), {"reference": "old", "effect": 0.1}, r"pilot must be a pair \(y_true, pred",
    ),
    "an impossible effect": (
        (PAIR, metric("recall", threshold=0.5)), {"reference": "old", "effect": 0.9}, "decide differently on",
    ),
    "no direction": (
        (PAIR, metric("prediction_rate", threshold=0.5)), {"reference": "old", "effect": 0.1},
        "alternative must be 'greater' or 'less' for prediction_rate",
    ),
    "width of a difference": ((PAIR, "roc_auc"), {"reference": "old", "width": 2}, "width must be below 2, the range"),
    "an equivalent width": (((Y, SCORES), "roc_auc"), {"width": 0.1, "equivalence": True}, "apply only to a decision"),
    "a stated AUC of a width": (((Y, SCORES), "roc_auc"), {"width": 0.1, "value": 0.8}, "value applies with bound"),
    "power": (((Y, SCORES), "roc_auc"), {"width": 0.1, "power": 0.05}, "power must be above 1 - confidence_level"),
    "a quota": (
        ((Y, SCORES), metric("precision", n_predicted=10)), {"width": 0.1}, "must mean the same for any number of rows",
    ),
    "one class": ((([1, 1, 1], [1, 2, 3]), "roc_auc"), {"width": 0.1}, "got nan for 3 positive and 0 negative rows"),
    "a perfect ranking": ((([0, 0, 1, 1], [1, 2, 3, 4]), "roc_auc"), {"width": 0.1}, "its standard error is 0"),
    "prevalence of one class": (
        (([1, 1, 1], [0.1, 0.2, 0.3]), "brier_score"), {"width": 0.1, "prevalence": 0.5},
        "must have both classes, got 3 positive and 0 negative rows",
    ),
    "prevalence": (((Y, SCORES), "roc_auc"), {"width": 0.1, "prevalence": 0}, r"prevalence must be in \(0, 1\), got 0"),
    "prevalence of numbers": (
        ((SCORES, OTHER), "r2"), {"width": 0.1, "prevalence": 0.1}, "prevalence applies only to metrics of two classes",
    ),
    "several values": (
        (ConfusionMatrix([[5, 2], [3, 6]]), metric("recall", average=None)), {"width": 0.1}, "one number for each sa",
    ),
    "a stack": ((ConfusionMatrix(np.ones((2, 2, 2), int)), "accuracy"), {"width": 0.1}, r"one confusion matrix, got a"),
    "a function of two": (
        (PAIR, lambda counts: 0.0), {"reference": "old", "width": 0.1}, "metric must be a named metric",
    ),
    "alternative": (
        ((Y, SCORES), "roc_auc"), {"value": 0.9, "bound": 0.8, "alternative": "two-sided"}, "alternative must be",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    given, options, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        plan_sample_size(*given, **options, **QUICK)
