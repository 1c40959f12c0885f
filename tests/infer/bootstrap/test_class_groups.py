"""Random groups of rows: influences are derivatives, and replicates spread as replicates of rows do."""

import warnings
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.infer.bootstrap import class_groups
from fastevals.infer.bootstrap.class_groups import GroupedClassSample, can_be_grouped
from fastevals.infer.bootstrap.samples import Sample
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.measure.kinds import CLASSES
from fastevals.show.report import intervals
from fastevals.show.report.measure_class_probabilities import EACH_PROBABILITY, probability_specs

KEY = np.uint64(5)


def specs_of(n_classes: int) -> dict[str, Any]:
    """Return all metrics of a report."""
    each = {f"{name} of each class": spec for name, spec in EACH_PROBABILITY.items()}
    return CLASSES.specs({**probability_specs(n_classes, are_ordered=True), **each})


def data(n: int, k: int, digits: int | None = None, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """Return classes, one of them rare, and probabilities of two models, the first with ties if digits are given."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(k), rng.choice(k, n - k, p=[0.02, *[0.98 / (k - 1)] * (k - 1)]))
    found, shared = {}, rng.standard_normal((n, k))
    for name in "ab":
        evidence = shared + 0.5 * rng.standard_normal((n, k))
        evidence[np.arange(n), y] += 1.5
        p = np.exp(evidence)
        p /= p.sum(axis=1, keepdims=True)
        if digits is not None and name == "a":
            p = np.round(p, digits) + 0.01
            p /= p.sum(axis=1, keepdims=True)
        found[name] = p
    return y, found


def sample_of(y: Any, models: Any, *, coarse: bool, **design: Any) -> Sample:
    k = next(iter(models.values())).shape[1]
    return make_class_sample(
        y, models, specs_of(k), SamplingDesign(labels=np.arange(k), **design), one_model=len(models) == 1, coarse=coarse
    )


@pytest.mark.cases(2)
@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_changes_are_derivatives(digits: int | None, weighted: bool) -> None:
    y, models = data(200, 4, digits)
    weights = np.random.default_rng(1).integers(1, 4, y.size).astype(float) if weighted else None
    sample = sample_of(y, models, coarse=True, sample_weight=weights)
    assert isinstance(sample, GroupedClassSample)
    (grouped, numbers), step = sample._samples(KEY)[-1], 1e-4
    for row in (0, 3, 77, 150):
        changed = []
        for factor in (1 + step, 1 - step):
            mass = np.ones(y.size) if weights is None else weights.copy()
            mass[row] *= factor
            changed.append(sample_of(y, models, coarse=False, sample_weight=mass).estimates())
        times = np.ones((2, y.size))
        times[:, row] = 1 + step, 1 - step
        found = grouped.measure(times, 2, None)
        for k, values in zip(numbers, found, strict=True):
            expected = (changed[0][k] - changed[1][k]) / (2 * step)
            assert (values[0] - values[1]) / (2 * step) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.cases(1)
@pytest.mark.parametrize("design", ["rows", "clusters", "weights"])
def test_replicates_spread_like_those_of_rows(design: str) -> None:
    y, models = data(2400, 3)
    rng = np.random.default_rng(2)
    options: dict[str, Any] = {
        "rows": {}, "weights": {"sample_weight": rng.exponential(size=y.size)},
        "clusters": {"groups": np.repeat(np.arange(600), 4)},
    }[design]  # fmt: skip
    if design == "clusters":  # rows of a cluster are alike
        y, models = np.repeat(y[:600], 4), {name: np.repeat(p[:600], 4, axis=0) for name, p in models.items()}
    ours, rows = (sample_of(y, models, coarse=coarse, **options) for coarse in (True, False))
    for one, other in zip(ours.estimates(), rows.estimates(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    found = [each.replicates(299, KEY) for each in (ours, rows)]
    accelerations = [each.accelerations(KEY, range(len(found[0]))) for each in (ours, rows)]
    for k, (one, other) in enumerate(zip(*found, strict=True)):
        assert one.std(axis=0) == pytest.approx(other.std(axis=0), rel=0.2)
        between = [(each[:, 0] - each[:, 1]).std(axis=0) for each in (one, other)]
        assert between[0] == pytest.approx(between[1], rel=0.2, abs=1e-12)
        assert accelerations[0][k] == pytest.approx(accelerations[1][k], abs=0.03)


def test_one_model_and_an_infinite_loss() -> None:
    y, models = data(300, 3)
    models["a"][5] = np.eye(3)[(y[5] + 1) % 3]
    specs = list(specs_of(3))
    samples = [sample_of(y, each, coarse=True) for each in (models, {"a": models["a"]})]
    both, one = (each.replicates(30, KEY) for each in samples)
    assert isinstance(samples[0], GroupedClassSample)
    for k in samples[0]._samples(KEY)[-1][1]:  # matrices are drawn by cells, which differ
        assert one[k] == pytest.approx(both[k][:, 0], rel=1e-12, nan_ok=True)
    losses = both[specs.index("log_loss")]
    assert np.isinf(losses[:, 0]).all()
    assert np.isfinite(losses[:, 1]).all()


def test_draws_depend_on_the_key_only() -> None:
    y, models = data(300, 3)
    few, many = (sample_of(y, models, coarse=True).replicates(n, KEY) for n in (70, 130))
    for one, other in zip(few, many, strict=True):
        np.testing.assert_allclose(one, other[:70], rtol=1e-14)  # BLAS may add in another order


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("roc_auc", {}, True), ("roc_auc", {"average": "micro"}, True), ("hand_till", {}, True), ("f1", {}, True),
        ("top_k_accuracy", {"k": 2}, True), ("expected_calibration_error", {"n_bins": 5}, True),
        ("roc_auc", {"max_fpr": 0.1}, False), ("roc_auc", {"multi_class": "ovo"}, False),
        ("expected_calibration_error", {"strategy": "quantile"}, False), ("ks_statistic", {}, False),
        ("expected_calibration_error", {"average": "micro"}, False), ("f1", {"threshold": 0.5}, False),
    ],
)  # fmt: skip
def test_metrics_that_can_be_grouped(name: str, options: dict[str, Any], expected: bool) -> None:
    assert can_be_grouped([fastevals.metric(name, **options)]) is expected


@pytest.fixture
def few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_groups, "ROWS_ALWAYS_DRAWN", 100)
    monkeypatch.setattr(class_groups, "MOST_STEPS", 1000)


@pytest.fixture
def few_replicates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 299)


@pytest.mark.cases(1)
@pytest.mark.usefixtures("few_rows_are_many", "few_replicates")
@pytest.mark.parametrize("n_models", [1, 2])
def test_reports_of_many_rows_draw_groups(n_models: int) -> None:
    y, models = data(600, 3)
    models = dict(list(models.items())[:n_models])
    options: dict[str, Any] = {"label": "y", "probabilities": list(models), "rng": 0}
    many = fastevals.report({"y": y, **models}, **options)
    rows = fastevals.report({"y": y, **models}, **options, n_resamples=299)
    assert "299 bootstrap replicates of random groups of rows (seed 0)" in " ".join(str(many).split())
    assert "bootstrap replicates of rows" in " ".join(str(rows).split())
    blocks = [each.to_dict()["blocks"][0] for each in (many, rows)]
    assert [block["intervals"]["method"] for block in blocks] == ["groups", "BCa"]
    for one, other in zip(*(block["models"] for block in blocks), strict=True):
        assert one["metrics"] == pytest.approx(other["metrics"], rel=1e-12)
        for name, ends in one["intervals"].items():
            assert 0.5 < np.ptp(ends) / np.ptp(other["intervals"][name]) < 2, name


@pytest.mark.usefixtures("few_rows_are_many")
def test_gates_of_many_rows_draw_groups() -> None:
    y, models = data(600, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rules = ["roc_auc >= 0.5", "log_loss <= 2", "hand_till >= 0.99"]
        found = fastevals.gate({"y": y, **models}, label="y", probabilities=["a", "b"], rules=rules, model="a", rng=0)
    assert [each["outcome"] for each in found.to_dict()["rules"]] == ["pass", "pass", "fail"]


@pytest.mark.cases(1)
@pytest.mark.usefixtures("few_rows_are_many", "few_replicates")
@pytest.mark.parametrize("clustered", [False, True])
def test_other_rows_that_are_many_draw_groups(clustered: bool) -> None:
    rows = {"y": data(600, 3)[0], **data(600, 3)[1]}
    other = {"y": data(500, 3, seed=1)[0], **data(500, 3, seed=1)[1]}
    if clustered:
        rows["c"], other["c"] = np.arange(600) // 3, np.arange(500) // 3
    options: dict[str, Any] = {"label": "y", "probabilities": ["a"], "groups": "c" if clustered else None, "rng": 0}
    found = [fastevals.report(rows, against=other, **options, **more) for more in ({}, {"n_resamples": 299})]
    margins = []
    for each in found:
        (pair,) = each.to_dict()["blocks"][0]["against"]
        margins.append({name: np.ptp(one["interval"]) for name, one in pair["metrics"].items()})
    for name, margin in margins[0].items():
        assert 0.5 < margin / margins[1][name] < 2, name


@pytest.mark.usefixtures("few_rows_are_many")
def test_comparisons_of_many_rows_draw_groups() -> None:
    y, models = data(600, 3)
    found = fastevals.compare({"y": y, **models}, label="y", probabilities=["a", "b"])
    assert "1,999 bootstrap replicates of random groups of rows" in " ".join(str(found).split())


@pytest.mark.usefixtures("few_rows_are_many", "few_replicates")
def test_blocks_of_few_rows_and_of_many() -> None:
    y, models = data(600, 3)
    rows = {"y": y, **models, "s": np.where(np.arange(600) < 80, "few", "many")}
    found = fastevals.report(rows, label="y", probabilities=["a"], by="s", n_resamples=None, rng=0)
    blocks = found.to_dict()["blocks"]
    assert [each["intervals"]["method"] for each in blocks] == ["BCa", "groups"]
    said = " ".join(str(found).split())
    assert "replicates of rows (seed 0), or for many rows, 299 bootstrap replicates of random groups of rows" in said
