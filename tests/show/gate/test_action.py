"""The GitHub Action: its scripts, run by bash as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastevals.datasets import load_digits_eight

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".github" / "actions" / "gate"
if not FOLDER.exists():
    pytest.skip("the sdist has no actions", allow_module_level=True)
if shutil.which("bash") is None:
    pytest.skip("bash is not installed", allow_module_level=True)
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text())
STEPS = {step.get("id", k): step for k, step in enumerate(ACTION["runs"]["steps"])}
INPUT = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")


def gated(tmp_path: Path, **inputs: str) -> tuple[int, str, dict[str, str], str]:
    """Run the gate's script; return its status, the job summary, the outputs and the log."""
    data = load_digits_eight()
    columns = [data["label"], data["random_forest"], data["logistic"], np.arange(data["label"].size) % 2]
    np.savetxt(tmp_path / "scores.csv", np.column_stack(columns), "%g", ",", header="y,new,old,side", comments="")
    given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
    given |= {"data": "scores.csv", "label": "y", "score": "new\nold\n", "reference": "old"}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    step = STEPS["gate"]
    env = {name: INPUT.sub(lambda found: given[found[1]], value) for name, value in step["env"].items()}
    assert env.keys() >= {"DATA", "RULES", "OPTIONS"}
    env |= {
        "PYTHON": sys.executable,
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]  # as a runner does
    done = subprocess.run(
        bash, env=os.environ | {"PYTHONPATH": str(ROOT)} | env, cwd=tmp_path, capture_output=True, text=True
    )
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    return done.returncode, (tmp_path / "summary.md").read_text(), outputs, done.stdout + done.stderr


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("rules", "status", "outcome"),
    [
        ("roc_auc not worse than champion by 0.005\n\nroc_auc >= 0.95\n", 0, "pass"),
        ("roc_auc >= 0.999", 3, "fail"),
        ("roc_auc >= 0.98\r\n", 4, "undecided"),
    ],
)
def test_the_verdict_is_in_the_summary_and_the_status_is_kept(tmp_path, rules, status, outcome) -> None:
    (tmp_path / "random.py").write_text("raise RuntimeError('imported')")  # modules of the job are not imported
    found, summary, outputs, log = gated(tmp_path, rules=rules, options="--resamples=99")
    assert found == status
    assert outputs == {"outcome": outcome, "exit-status": str(status), "folder": str(tmp_path / "fastevals-gate")}
    assert f"**{outcome.upper()}: new " in summary or f"{outcome.upper()}: new " in summary
    assert "| rule |" in summary
    assert summary in log
    assert ("::error title=fastevals gate::" in log) == (outcome == "fail")
    assert ("::warning title=fastevals gate::" in log) == (outcome == "undecided")
    folder = Path(outputs["folder"])
    assert json.loads((folder / "gate.json").read_text())["outcome"] == outcome
    assert "<html" in (folder / "gate.html").read_text()[:300]


@pytest.mark.slow
def test_options_and_a_file_of_rules(tmp_path) -> None:
    (tmp_path / "gate.toml").write_text("rules = ['roc_auc >= 0.98 by side']\nn_resamples = 99\n")
    found, summary, outputs, _ = gated(tmp_path, rules_file="gate.toml", undecided="pass", options="--pos-label=1")
    assert (found, outputs["outcome"]) == (0, "undecided")
    assert "counts as passed" in summary


@pytest.mark.slow
def test_inputs_are_never_run_by_the_shell(tmp_path) -> None:
    found, summary, outputs, log = gated(
        tmp_path, rules="roc_auc >= 0.8 $(touch ran)\n`touch ran`\n'; touch ran; '", label='y"; touch ran; "'
    )
    assert not (tmp_path / "ran").exists()
    assert (found, outputs["outcome"], outputs["exit-status"]) == (2, "error", "2")
    assert summary.startswith("**ERROR: the gate did not run.**\n\n````\n")
    assert "fastevals gate: error: " in summary
    assert "error" in log
    assert not any("${{" in step.get("run", "") for step in STEPS.values())


@pytest.mark.cases(1)
@pytest.mark.parametrize("data", ["", "-x.csv"])
def test_data_that_are_not_there(tmp_path, data) -> None:
    found, _, outputs, log = gated(tmp_path, rules="roc_auc >= 0.8", data=data)
    assert (found, outputs["outcome"]) == (2, "error")
    assert "fastevals gate" in log


def test_outputs_and_inputs_are_those_of_the_steps() -> None:
    used = {name for step in STEPS.values() for name in re.findall(r"inputs\.([a-z-]+)", json.dumps(step))}
    assert used == {*ACTION["inputs"]}
    assert {each["value"] for each in ACTION["outputs"].values()} == {
        f"${{{{ steps.gate.outputs.{name} }}}}" for name in ACTION["outputs"]
    }
    assert all(step["shell"] == "bash" for step in STEPS.values() if "run" in step)
    installed = re.search(r'"\$GITHUB_ACTION_PATH/([./]+)\[', STEPS["install"]["run"])
    assert installed is not None
    assert (FOLDER / installed[1]).resolve() == ROOT
