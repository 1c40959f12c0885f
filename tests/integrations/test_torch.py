"""The torchmetrics metric against fastevals on all rows and torchmetrics' own numbers, alone and over processes."""

from __future__ import annotations

import copy
import doctest
import math
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import fastevals
from fastevals.measure.registry import METRICS

torch = pytest.importorskip("torch", reason="torch is not installed")
torchmetrics = pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")

import fastevals.integrations.torch as ours  # noqa: E402
from fastevals.integrations.torch import CertifiedMetric  # noqa: E402

N, BATCH = 20_000, 4096
RNG = np.random.default_rng(7)
Y = (RNG.random(N) < 0.3).astype(np.int64)
LOGITS = (RNG.normal(size=N) + Y).astype(np.float32)
TARGET, PREDS = torch.from_numpy(Y), torch.sigmoid(torch.from_numpy(LOGITS))
SCORES = PREDS.numpy()
SEVERAL = {
    "auc": "roc_auc",
    "ap": "average_precision",
    "f1": fastevals.metric("f1", threshold=0.3),
    "tail": fastevals.metric("recall", fpr=0.01),
}
FEW = torch.tensor([0.1, 0.4, 0.4]), torch.tensor([0, 1, 1])


def fed(metric, preds=PREDS, target=TARGET):
    for rows in range(0, len(target), BATCH):
        metric.update(preds[rows : rows + BATCH], target[rows : rows + BATCH])
    return metric


def exact(metric, y=Y, scores=SCORES):
    return fastevals.batch_metrics(y, [scores], {"it": metric})["it"][0]


def contains(found, value):
    return found.low <= value <= found.high


@pytest.mark.parametrize("scores", ["probabilities", "logits", "few", "saturated"])
def test_batches_are_certified_and_agree_with_all_rows_and_with_torchmetrics(scores) -> None:
    logits = torch.from_numpy(LOGITS)
    preds = {
        "probabilities": PREDS,
        "logits": logits,
        "few": PREDS.bfloat16(),
        "saturated": torch.sigmoid(12 + 4 * logits),
    }[scores]
    metric = fed(CertifiedMetric(SEVERAL), preds)
    values, bounds = metric.compute(), metric.certified()
    for name, spec in SEVERAL.items():
        value = exact(spec, scores=preds.float().numpy())
        assert contains(bounds[name], value)
        assert values[name] == torch.tensor(bounds[name].value)
        assert bounds[name].width < (2e-4 if scores != "few" and name != "f1" else 1e-15)
    theirs = torchmetrics.classification.BinaryAUROC()(torch.sigmoid(preds.double()), TARGET)
    assert values["auc"].item() == pytest.approx(theirs.item(), abs=1e-6)


def test_every_metric_is_certified_or_refused() -> None:
    """Whatever the constructor accepts, its bounds contain the exact value."""
    accepted = []
    for name, entry in METRICS.items():
        try:
            metric = CertifiedMetric({"it": name})
        except ValueError:
            continue
        accepted.append(name)
        metric.update(PREDS[:3000], TARGET[:3000])
        assert contains(metric.certified()["it"], exact(name, Y[:3000], SCORES[:3000])), name
        assert metric.higher_is_better is (None if entry.greater_is_better is None else bool(entry.greater_is_better))
    assert {"roc_auc", "average_precision", "ks_statistic", "gini"} <= {*accepted}
    assert not {"log_loss", "brier_score", "mse", "ndcg"} & {*accepted}


def test_one_metric_gives_a_tensor_and_several_a_dict() -> None:
    one = fed(CertifiedMetric("roc_auc"))
    assert isinstance(one.compute(), torch.Tensor)
    assert one.compute().dtype == torch.float32
    assert one.higher_is_better
    assert not one.is_differentiable
    assert contains(one.certified(), exact("roc_auc"))
    listed = fed(CertifiedMetric(["roc_auc"]))
    assert {*listed.compute()} == {*listed.certified()} == {"roc_auc"}
    assert CertifiedMetric(SEVERAL).higher_is_better is None
    assert CertifiedMetric("rank_loss").higher_is_better is False


def test_reset_copies_and_files() -> None:
    metric = fed(CertifiedMetric(n_cells=2**13))
    value = metric.compute()
    copies = [metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    metric.reset()
    assert not metric.counts.any()
    with pytest.warns(UserWarning, match="before the ``update``"), pytest.warns(fastevals.UndefinedMetricWarning):
        assert torch.isnan(metric.compute())
    for each in copies:
        assert each.compute() == value
        fed(each)
        assert each.counts.sum() == 2 * N
        assert contains(each.certified(), exact("roc_auc"))
    metric.persistent(True)
    metric.load_state_dict({name: getattr(copies[0], name).clone() for name in ours.STATES})
    metric.update(*FEW)
    assert metric.counts.sum() == 2 * N + 3
    assert {*metric.state_dict()} == {"counts", "ends"}
    assert not CertifiedMetric().state_dict()


def test_the_summary_has_intervals_and_curves() -> None:
    summary = fed(CertifiedMetric("average_precision")).summary()
    ours, theirs = fastevals.delong(summary), fastevals.delong(fastevals.Ranking(TARGET, PREDS))
    assert ours.confidence_interval().low == pytest.approx(theirs.confidence_interval().low, abs=1e-4)
    assert contains(summary.ranking().roc_auc(), exact("roc_auc"))
    labels = CertifiedMetric(num_labels=2)
    labels.update(PREDS.reshape(-1, 2), TARGET.reshape(-1, 2))
    assert [each.n_positives for each in labels.summary()] == Y.reshape(-1, 2).sum(axis=0).tolist()


def test_states_of_other_options_are_refused() -> None:
    metric = CertifiedMetric(n_cells=2**13)
    metric.load_state_dict({name: getattr(CertifiedMetric(n_cells=2**12), name) for name in ours.STATES})
    with pytest.raises(ValueError, match=r"counts must be a contiguous array of int64 of shape \(2, \d+\), got int64"):
        metric.update(*FEW)


@pytest.mark.skipif(not hasattr(torchmetrics.Metric, "merge_state"), reason="this torchmetrics can't merge states")
def test_states_merge() -> None:
    one, other = CertifiedMetric(n_cells=2**13), CertifiedMetric(n_cells=2**13)
    fed(one, PREDS[:5000], TARGET[:5000])
    fed(other, PREDS[5000:], TARGET[5000:])
    one.merge_state(other)
    assert one.certified() == fed(CertifiedMetric(n_cells=2**13)).certified()


@pytest.mark.parametrize("sync", [False, True])
def test_forward_returns_the_exact_metric_of_the_batch(sync) -> None:
    metric = CertifiedMetric(SEVERAL, n_cells=2**13, dist_sync_on_step=sync)
    found = metric(PREDS[:500], TARGET[:500])
    for name, spec in SEVERAL.items():
        assert found[name].item() == pytest.approx(exact(spec, Y[:500], SCORES[:500]), rel=1e-6, abs=1e-3 * sync)
    fed(metric, PREDS[500:], TARGET[500:])
    assert metric.certified() == fed(CertifiedMetric(SEVERAL, n_cells=2**13)).certified()
    if not sync:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert torch.isnan(CertifiedMetric()(FEW[0][1:], FEW[1][1:]))
            assert torch.isnan(CertifiedMetric()(FEW[0][:0], FEW[1][:0]))


@pytest.mark.parametrize("order", ["update", "forward", "update then forward", "forward then update"])
def test_a_collection_counts_each_row_once(order) -> None:
    both = torchmetrics.MetricCollection(
        {
            "auc": CertifiedMetric(n_cells=2**13),
            "ap": CertifiedMetric("average_precision", n_cells=2**13),
            "theirs": torchmetrics.classification.BinaryAUROC(),
        }
    )
    for rows in range(4):
        batch = PREDS[rows * 999 : (rows + 1) * 999], TARGET[rows * 999 : (rows + 1) * 999]
        calls = order.split(" then ")
        both.update(*batch) if calls[rows % len(calls)] == "update" else both(*batch)
    found = both.compute()
    y, scores = Y[:3996], SCORES[:3996]
    assert both["auc"].counts.sum() == both["ap"].counts.sum() == 3996
    assert contains(both["auc"].certified(), exact("roc_auc", y, scores))
    assert contains(both["ap"].certified(), exact("average_precision", y, scores))
    assert found["auc"].item() == pytest.approx(found["theirs"].item(), abs=1e-5)
    if order == "update":
        assert ["ap", "auc"] in both.compute_groups.values()


@pytest.mark.parametrize("average", ["macro", "micro", None])
def test_several_labels(average) -> None:
    y = (RNG.random((3000, 3)) < [0.5, 0.2, 0.1]).astype(np.int64)
    scores = torch.sigmoid(torch.from_numpy(RNG.normal(size=(3000, 3)) + y))
    metric = CertifiedMetric(num_labels=3, average=average)
    for rows in (slice(0, 1000), slice(1000, 1000), slice(1000, 3000)):
        metric.update(scores[rows], torch.from_numpy(y)[rows])
    each = [exact("roc_auc", y[:, k], scores[:, k].numpy()) for k in range(3)]
    found, bounds = metric.compute(), metric.certified()
    theirs = torchmetrics.classification.MultilabelAUROC(3, average=average or "none")(scores, torch.from_numpy(y))
    np.testing.assert_allclose(found, theirs, atol=2e-5)
    if average is None:
        assert all(map(contains, bounds, each))
    else:
        expected = np.mean(each) if average == "macro" else exact("roc_auc", y.ravel(), scores.numpy().ravel())
        assert contains(bounds, expected)
    np.testing.assert_allclose(metric(scores, torch.from_numpy(y)), theirs, atol=1e-6)
    images = scores.reshape(1000, 3, 3).transpose(1, 2)  # labels come second, whatever follows
    fed(spread := CertifiedMetric(num_labels=3, average=average), images, torch.from_numpy(y).reshape(1000, 3, 3).mT)
    metric.reset()
    metric.update(scores, torch.from_numpy(y))
    assert spread.certified() == metric.certified()


def test_rows_with_the_ignored_target_are_left_out() -> None:
    target = TARGET.clone()
    target[::3] = -100
    metric = fed(CertifiedMetric(ignore_index=-100), target=target)
    kept = target.numpy() >= 0
    assert metric.counts.sum() == kept.sum()
    assert contains(metric.certified(), exact("roc_auc", Y[kept], SCORES[kept]))
    with pytest.raises(ValueError, match=r"target must hold 0 and 1, or ignore_index=-100, got 2 at row 1"):
        metric.update(FEW[0], torch.tensor([-100, 2, 0]))
    preds = PREDS.clone()
    preds[::3] = math.nan  # of padding, say
    assert fed(CertifiedMetric(ignore_index=-100), preds, target).certified() == metric.certified()
    with pytest.raises(ValueError, match="preds must be finite, but has 1 NaN value, the first at row 2"):
        metric.update(torch.tensor([math.nan, 0.5, math.nan]), torch.tensor([-100, 1, 0]))
    for index, said in ((1, "neither 0 nor 1, which are classes, got 1"), ("a", "an integer, got 'a'")):
        with pytest.raises(ValueError, match=f"ignore_index must be {said}"):
            CertifiedMetric(ignore_index=index)


# What is read, and what is refused ------------------------------------------------------------------------------------


class OnlyDLPack:
    """An array with nothing but DLPack's methods."""

    def __init__(self, tensor, device=(1, 0)):
        self.tensor, self.device = tensor, device

    def __dlpack__(self, **options):
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("targets", [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float32])
def test_tensors_of_any_type_are_read_by_their_values(dtype, targets) -> None:
    preds = PREDS.to(dtype).clone()
    metric = CertifiedMetric()
    metric.update(preds.requires_grad_(), TARGET.to(targets))
    assert contains(metric.certified(), exact("roc_auc", scores=preds.detach().double().numpy()))


def test_views_lists_arrays_and_dlpack_are_read() -> None:
    wide = torch.stack((PREDS, 1 - PREDS), dim=1)
    expected = fed(CertifiedMetric()).certified()
    for preds, target in (
        (wide[:, 0], TARGET),
        (PREDS.reshape(-1, 2), TARGET.reshape(-1, 2)),
        (SCORES, Y),
        (SCORES.tolist(), Y.tolist()),
        (OnlyDLPack(PREDS), OnlyDLPack(TARGET)),
    ):
        metric = CertifiedMetric()
        metric.update(preds, target)
        assert metric.certified() == expected


def test_negative_views_are_read() -> None:
    np.testing.assert_array_equal(ours._as_array("preds", torch._neg_view(PREDS)), -SCORES)


@pytest.mark.parametrize("values", [PREDS, PREDS.double(), OnlyDLPack(PREDS)])
def test_memory_of_the_cpu_is_not_copied(values) -> None:
    read = ours._as_array("preds", values)
    assert read.ctypes.data == getattr(values, "tensor", values).data_ptr()


def test_the_core_reads_them_too() -> None:
    value = exact("roc_auc")
    assert fastevals.Ranking(TARGET, PREDS).roc_auc() == value
    assert fastevals.Ranking(OnlyDLPack(TARGET), OnlyDLPack(PREDS)).roc_auc() == value
    short = PREDS.bfloat16()
    assert fastevals.Ranking(Y, short).roc_auc() == exact("roc_auc", scores=short.float().numpy())
    with pytest.raises(ValueError, match=r"y_score can't be read as an array: Can't call numpy.. on Tensor that requ"):
        fastevals.Ranking(Y, short.clone().requires_grad_())


@pytest.mark.parametrize("read", [lambda values: CertifiedMetric().update(values, FEW[1]),
                                  lambda values: fastevals.Ranking([0, 1, 1], values)])  # fmt: skip
def test_arrays_on_a_device_are_refused(read) -> None:
    said = r"must be in the memory of the CPU, got a OnlyDLPack on a device \(DLPack device 2:1\): copy it to the CPU"
    with pytest.raises(ValueError, match=said):
        read(OnlyDLPack(FEW[0], (2, 1)))
    with pytest.raises(ValueError, match="meta"):
        read(FEW[0].to("meta"))


class OnGPU(torch.Tensor):
    """A tensor that says it is on a GPU, and counts its copies."""

    copies = 0

    @property
    def device(self):
        return torch.device("cuda:0")

    def detach(self):
        return self

    def numpy(self, *args, **kwargs):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def cpu(self, *args, **kwargs):
        OnGPU.copies += 1
        return self.as_subclass(torch.Tensor)


def test_a_tensor_on_a_gpu_is_copied_in_one_call() -> None:
    metric = CertifiedMetric()
    metric.update(PREDS.as_subclass(OnGPU), TARGET.as_subclass(OnGPU))
    assert OnGPU.copies == 2
    assert metric.certified() == fed(CertifiedMetric()).certified()


def test_states_stay_on_the_cpu_and_keep_their_type() -> None:
    metric = fed(CertifiedMetric(n_cells=2**13))
    moved = copy.deepcopy(metric).half().set_dtype(torch.float16).to("meta")
    assert moved.device.type == "meta"
    assert moved.counts.device.type == "cpu"
    assert moved.counts.dtype == torch.int64
    assert torch.equal(moved.counts, metric.counts)


@pytest.mark.parametrize(
    ("preds", "target", "message"),
    [
        ([0.1, float("nan")], [0, 1], "preds must be finite, but has 1 NaN value, the first at row 1"),
        ([0.1, float("inf")], [0, 1], "preds must be finite"),
        ([0.1, 0.2], [0, 2], "target must hold 0 and 1, got 2 at row 1"),
        ([0.1, 0.2], [0, float("nan")], "target must hold 0 and 1, got nan at row 1"),
        ([0.1, 0.2], [0, 1, 1], "preds and target must have the same shape, got (2,) and (3,)"),
        ([[0.1, 0.9]], [1], "several classes are not counted, see fastevals.scale.ClassScoresSummary"),
        (["a", "b"], [0, 1], "preds must hold numbers"),
        (torch.tensor([1j, 2j]), [0, 1], "preds must hold numbers, got dtype complex64"),
    ],
)
def test_what_can_not_be_counted_is_refused_whole(preds, target, message) -> None:
    metric = CertifiedMetric()
    metric.update(*FEW)
    with pytest.raises(ValueError, match=re.escape(message)):
        metric.update(preds if isinstance(preds, torch.Tensor) else np.array(preds), np.array(target))
    assert metric.counts.sum() == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "log_loss"}, "ranges of scores are not enough for log_loss"),
        ({"metrics": "roc_acu"}, "metrics must be one of"),
        ({"metrics": {"mine": len}}, "metrics must hold names or metric(...), got <built-in function len>"),
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": "ndcg@10"}, "measures the ranked documents of queries"),
        ({"metrics": "mse"}, "metrics must be one of"),
        ({"n_cells": 5}, "n_cells must be an integer from 4096"),
        ({"num_labels": 1}, "num_labels must be an integer from 2"),
        ({"average": "weighted"}, "average must be"),
        ({"thresholds": 5}, "Unexpected keyword arguments: `thresholds`"),
    ],
)
def test_options_that_do_not_fit(options, message) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        CertifiedMetric(**options)


def test_labels_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("preds must have shape (N, 3, ...) for num_labels=3, got (1, 2)")):
        CertifiedMetric(num_labels=3).update([[0.1, 0.2]], [[0, 1]])


def test_the_example_in_the_docstring() -> None:
    assert doctest.testmod(ours).attempted > 3
    assert doctest.testmod(ours).failed == 0


# Processes ------------------------------------------------------------------------------------------------------------

PROCESS = """
import sys
import numpy as np
import torch
import torch.distributed as dist
import torchmetrics
from torchmetrics.classification import BinaryAUROC
from fastevals.integrations.torch import CertifiedMetric

file, rank = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
preds, target = np.load(file + ".npy")[:, :5000] if rank == 0 else np.load(file + ".npy")[:, 5000:]
preds, target = torch.from_numpy(preds), torch.from_numpy(target).long()
ours = torchmetrics.MetricCollection({name: CertifiedMetric(name) for name in ("roc_auc", "average_precision")})
gathered = CertifiedMetric(dist_sync_fn=lambda *a, **k: torchmetrics.utilities.distributed.gather_all_tensors(*a, **k))
binned, idle = BinaryAUROC(thresholds=200), CertifiedMetric()
for rows in range(0, len(preds), 1000):
    for metric in (ours, gathered, binned):
        metric.update(preds[rows : rows + 1000], target[rows : rows + 1000])
if rank == 0:
    idle.update(preds, target)  # the other process has no rows
else:
    idle.update(preds[:0], target[:0])
print("average", BinaryAUROC(sync_on_compute=False)(preds, target).item())
print("binned", binned.compute().item())
print("values", *(value.item() for value in ours.compute().values()))
bounds = [ours[name].certified() for name in ("roc_auc", "average_precision")]
print("auc", bounds[0].low, bounds[0].high, *("ap", bounds[1].low, bounds[1].high))
print("same", gathered.certified() == bounds[0], ours["roc_auc"].counts.sum().item() == len(preds))
print("rows", gathered.summary(), ours["roc_auc"].summary())
print("idle", idle.certified().low, idle.certified().high)
ours.update(preds[:10], target[:10])  # a process goes on with its own rows
print("on", ours["average_precision"].counts.sum().item() == len(preds) + 10)
dist.destroy_process_group()
"""


def test_two_processes_with_drifting_predictions(tmp_path) -> None:
    """Each returns the same certified number, which contains the exact one; binned and averaged AUCs are off."""
    y = (RNG.random(10_000) < 0.3).astype(np.float64)
    scores = 1 / (1 + np.exp(-(RNG.normal(size=y.size) + y + np.where(np.arange(y.size) < 5000, -7, 1))))
    np.save(tmp_path / "group.npy", np.stack((scores, y)))
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", PROCESS, str(tmp_path / "group"), str(rank)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    said = [dict(line.split(" ", 1) for line in each.communicate(timeout=100)[0].splitlines()) for each in started]
    assert [each.returncode for each in started] == [0, 0]
    assert all(each.pop("same") == "True True" and each.pop("on") == "True" for each in said)
    average = np.mean([float(each.pop("average")) for each in said])
    assert said[0] == said[1]
    auc, ap = fastevals.Ranking(y, scores).roc_auc(), fastevals.Ranking(y, scores).average_precision()
    low, high, _, ap_low, ap_high = (each if each == "ap" else float(each) for each in said[0]["auc"].split())
    assert low <= auc <= high < low + 2e-5
    assert ap_low <= ap <= ap_high < ap_low + 1e-3
    assert abs(float(said[0]["binned"]) - auc) > 100 * (high - low)
    assert abs(average - auc) > 0.05
    low, high = map(float, said[0]["idle"].split())
    assert low <= fastevals.Ranking(y[:5000], scores[:5000]).roc_auc() <= high


@pytest.mark.filterwarnings("ignore")
def test_lightning_logs_it(tmp_path) -> None:
    lightning = pytest.importorskip("lightning", reason="lightning is not installed")

    class Net(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.auc, self.ap = CertifiedMetric(), CertifiedMetric("average_precision")

        def training_step(self, batch, _):
            logits = self.layer(batch[0])[:, 0]
            self.ap(logits, batch[1])
            self.log("train_ap", self.ap, on_step=True, on_epoch=True)
            return torch.nn.functional.binary_cross_entropy_with_logits(logits, batch[1].float())

        def validation_step(self, batch, _):
            self.auc.update(torch.sigmoid(self.layer(batch[0])[:, 0]), batch[1])
            self.log("auc", self.auc)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.5)

    rows = torch.utils.data.TensorDataset(torch.from_numpy(LOGITS[:4000, None]), TARGET[:4000])
    loader = torch.utils.data.DataLoader(rows, batch_size=500)
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
    )  # fmt: skip
    trainer.fit(net := Net(), loader, loader)
    weight = net.layer.weight.item()
    assert weight > 0  # so that all scores are in the order of LOGITS
    assert trainer.callback_metrics["auc"].item() == pytest.approx(exact("roc_auc", Y[:4000], LOGITS[:4000]), abs=1e-5)
    assert 0.2 < trainer.callback_metrics["train_ap_epoch"].item() < 1
