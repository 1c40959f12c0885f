"""`to_scalars` in Weights & Biases, DVCLive and TensorBoard: what is logged is what is read back."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import fastevals
from fastevals.datasets import load_digits_eight

pytestmark = pytest.mark.filterwarnings("ignore")  # of the trackers and what they import
DATA = load_digits_eight()
COLUMNS = ("logistic", "random_forest")
ODD = {"a b/c": DATA["logistic"], "ndcg@10 >= 50 %": DATA["random_forest"], "größe ☃": DATA["logistic"]}


@pytest.fixture(scope="module")
def scalars() -> dict[str, float]:
    report = fastevals.report(DATA, label="label", score=COLUMNS, n_resamples=99)
    odd = fastevals.batch_metrics(DATA["label"], ODD, ["roc_auc", "brier_score"])
    rules = ["roc_auc >= 0.9 by fold", "brier not worse than champion by 2%"]
    gate = fastevals.gate(DATA, rules, label="label", score=COLUMNS, reference="logistic", n_resamples=99)
    found = report.to_scalars("test/") | odd.to_scalars("odd/") | gate.to_scalars("gate/")
    assert len(found) > 200
    assert all(math.isfinite(value) for value in found.values())
    return found


def test_tensorboard(scalars, tmp_path) -> None:
    tensorboard = pytest.importorskip("torch.utils.tensorboard", reason="TensorBoard and torch are not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with tensorboard.SummaryWriter(tmp_path) as writer:
        for name, value in scalars.items():
            writer.add_scalar(name, value, global_step=7)
    events = EventAccumulator(str(tmp_path)).Reload()
    assert {*events.Tags()["scalars"]} == {*scalars}  # TensorBoard would replace other characters
    for name, value in scalars.items():
        [event] = events.Scalars(name)
        assert (event.step, event.value) == (7, np.float32(value))


def test_dvclive(scalars, tmp_path, monkeypatch) -> None:
    dvclive = pytest.importorskip("dvclive", reason="DVCLive is not installed")
    monkeypatch.chdir(tmp_path)
    with dvclive.Live(str(tmp_path / "live"), report=None, save_dvc_exp=False, dvcyaml=None) as live:
        for name, value in scalars.items():
            live.log_metric(name, value)
        live.make_summary()
    summary = json.loads((tmp_path / "live" / "metrics.json").read_text())
    for name, value in scalars.items():
        at = summary
        for part in name.split("/"):
            at = at[part]
        assert at == value
        assert (tmp_path / "live" / "plots" / "metrics" / f"{name}.tsv").exists()


@pytest.mark.parametrize("mode", [pytest.param("offline", marks=pytest.mark.slow), "disabled"])
def test_weights_and_biases(scalars, tmp_path, monkeypatch, mode) -> None:
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(mode=mode, dir=str(tmp_path), project="tests", settings=wandb.Settings(console="off")) as run:
        run.log(scalars)
        if mode == "offline":
            assert {name: run.summary[name] for name in scalars} == scalars
