"""Comparison of releases, and the figures on pages."""

import json

import numpy as np
import pytest

from benches import __main__ as commands
from benches import coverage, history, linear_thresholds
from benches.figures import FIGURES, Figure
from benches.race import Result, judged
from benches.report import SHOWN, amount, coverage_section, draw_speed, speed_section, with_section

SORT, SKLEARN = "roc_auc-1M-np.sort", "roc_auc-1M-scikit-learn"
MACHINE = {
    "cpu": "a CPU",
    "cores": 2,
    "avx512": True,
    "threads": 2,
    "python": "3.11.0",
    "libraries": {"numpy": "2.4.0"},
    "numpy_without": "",
}


def made(version, values):
    figures = {
        name: Result(value * 0.1, 0.1, value, FIGURES[name].limit, value <= (FIGURES[name].limit or 9), 5, 2).to_dict()
        for name, value in values.items()
    }
    return {"version": version, "machine": MACHINE, "figures": figures}


THEN = made("0.1.0", {SORT: 0.8, SKLEARN: 0.02})

ROW = {
    "scheme": "plain",
    "prevalence": 0.05,
    "n": 2000,
    "auc": 0.9,
    "decimals": None,
    "n_positives": 100.0,
    "n_negatives": 1900.0,
    "methods": {method: {"coverage": 0.9435, "undefined": 0.0} for method in coverage.METHODS}
    | {"DeLong": {"coverage": 0.9, "undefined": 0.0125}},
}
OF_BAND = {
    "methods": {
        method: {"coverage": 0.95, "undefined": 0.0, "mean_width": 0.2 if "studentised" in method else 0.5}
        for method in coverage.BANDS
    },
}
OTHER = [{**ROW, **OF_BAND, "decimals": decimals} for decimals in (None, 1)]
COVERAGE = coverage.entry_of({"auc": [ROW], "bands": OTHER})


@pytest.mark.parametrize(("change", "worse"), [(1.2, [SORT]), (1.1, []), (0.5, [])])
def test_a_ratio_may_get_worse_by_15_per_cent(change, worse):
    rows, found = history.compare(made("0.2.0", {SORT: 0.8 * change, SKLEARN: 0.02}), THEN)
    assert found == worse
    assert rows[1][0] == SORT
    assert rows[1][-1] == ("WORSE" if worse else "")


def test_missing_and_new_figures_are_reported():
    rows, worse = history.compare(made("0.2.0", {SORT: 0.8, "import-numpy": 1.0}), THEN)
    assert worse == []
    assert {row[0]: row[-1] for row in rows[1:]} == {SORT: "", SKLEARN: "not measured now", "import-numpy": "new"}


@pytest.mark.parametrize(("seconds", "worse"), [(5.5, []), (21.0, ["cold_report"])])
def test_seconds_are_held_to_their_bar_alone(seconds, worse):
    assert history.compare(made("0.2.0", {"cold_report": seconds}), made("0.1.0", {"cold_report": 5.0}))[1] == worse


def test_newest_is_by_version(tmp_path):
    with pytest.raises(FileNotFoundError, match="python -m benches run"):
        history.newest(tmp_path)
    for version in ("0.2.0", "0.10.0", "0.9.1"):
        history.save(made(version, {SORT: 0.8}), tmp_path / f"{version}.json")
    history.save(COVERAGE, tmp_path / "coverage.json")  # has no version
    assert history.newest(tmp_path)["version"] == "0.10.0"


@pytest.mark.parametrize(("second", "status"), [(1.2, 1), (1.1, 0)])
def test_what_measures_worse_is_measured_again(monkeypatch, capsys, second, status):
    def measure(names=()):
        assert list(names) == ([SORT] if tries else [])
        tries.append(made("0.2.0", {SORT: 0.8 * (second if tries else 1.3)}))
        return tries[-1]

    tries = []
    monkeypatch.setattr(history, "newest", lambda: THEN)
    monkeypatch.setattr(commands, "_measure", measure)
    assert commands.main(["compare"]) == status
    assert len(tries) == 2
    assert "not measured now" in capsys.readouterr().out


@pytest.mark.parametrize(("change", "status"), [(1.2, 1), (1.1, 0)])
def test_compare_command(tmp_path, monkeypatch, capsys, change, status):
    monkeypatch.setattr(history, "newest", lambda: THEN)
    results = tmp_path / "results.json"
    results.write_text(json.dumps(made("0.2.0", {SORT: 0.8 * change, SKLEARN: 0.02})))
    assert commands.main(["compare", str(results)]) == status
    assert f"more than 15 % worse: {SORT if status else 'none'}" in capsys.readouterr().out


def page(section, content="stale"):
    return f"before\n<!-- {section}:start -->\n{content}\n<!-- {section}:end -->\nafter\n"


def test_pages_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    monkeypatch.setattr(history, "newest", lambda: THEN)
    monkeypatch.setattr(coverage, "saved", lambda: COVERAGE)
    monkeypatch.setattr(commands, "draw_speed", lambda release, folder: None)
    monkeypatch.setattr(linear_thresholds, "table", lambda: [["a", "b"], ["1", "2"]])
    monkeypatch.setattr(linear_thresholds, "check_peers", lambda: [])
    (tmp_path / "docs").mkdir()
    sections = {"README.md": "linear-thresholds", "docs/benchmarks.md": "bench", "docs/coverage.md": "coverage"}
    for name, section in sections.items():
        (tmp_path / name).write_text(page(section))
    assert commands.main(["pages", "--check"]) == 1
    assert "README.md, docs/benchmarks.md, docs/coverage.md" in capsys.readouterr().out
    assert commands.main(["pages"]) == 0
    assert commands.main(["pages", "--check"]) == 0
    contents = ["| a | b |\n|---|---|\n| 1 | 2 |", speed_section(THEN), coverage_section(COVERAGE)]
    for (name, section), content in zip(sections.items(), contents, strict=True):
        assert (tmp_path / name).read_text() == page(section, content)
    (tmp_path / "docs" / "coverage.md").write_text("no section")
    with pytest.raises(SystemExit) as stop:
        commands.main(["pages"])
    assert stop.value.code == 2
    assert "<!-- coverage:start -->" in capsys.readouterr().err


def test_a_page_needs_the_markers_in_order():
    start, end = "<!-- bench:start -->", "<!-- bench:end -->"
    assert with_section(f"a{start}b{end}c", "bench", "new") == f"a{start}\nnew\n{end}c"
    with pytest.raises(ValueError, match=rf"the page has no {start}"):
        with_section(f"{end} {start}", "bench", "new")


@pytest.mark.slow
def test_pages_are_up_to_date():
    assert commands.main(["pages", "--check"]) == 0


def test_picture_of_speed(tmp_path):
    """Figures are in the picture once a release has them."""
    release = history.newest()
    recorded = {name for name in SHOWN if name in release["figures"]}
    every = {**release, "figures": dict.fromkeys(SHOWN, release["figures"]["roc_auc-10M-scikit-learn"])}
    for entry, n_shown in ((release, len(recorded)), (every, len(SHOWN))):
        draw_speed(entry, tmp_path)
        for scheme in ("light", "dark"):
            assert (tmp_path / f"speed-{scheme}.svg").read_text().count("x faster") == n_shown
    assert SHOWN.keys() <= FIGURES.keys()


def test_thresholds_spread_evenly_are_summed_as_roc_curves():
    y, scores, machine = linear_thresholds.rows()
    few = y[:4000], np.round(scores[:4000] * 3e3, 3).clip(0, 1), machine[:4000]
    for n_thresholds in (2, 10, 200):
        at = np.linspace(0, 1, n_thresholds)[::-1]
        fpr, tpr = ([0.0, *(np.mean(few[1][rows] >= each - 1e-12) for each in at)] for rows in (~few[0], few[0]))
        assert linear_thresholds.linear(n_thresholds)(few) == pytest.approx(np.trapezoid(tpr, fpr), abs=1e-12)


def test_section_of_speed():
    text = speed_section(THEN)
    assert text.startswith("| figure |")
    assert "0.80x the time" in text
    assert "50x faster" in text
    slower = speed_section(made("0.1.0", {SKLEARN: 2.0}))
    assert "2.00x the time" in slower  # not "0.5x faster"


def test_section_of_coverage():
    lines = coverage_section(COVERAGE).split("\n")
    assert lines[0] == "Coverage of 95 % intervals and bands, in %, in 3 settings."
    assert lines[2] == "**Intervals of AUC**, 999 replicates per data set"
    assert lines[4].endswith(
        "| AUC | decimals | BCa | percentile | basic | normal | DeLong | DeLong, logit | no BCa | no DeLong |"
    )
    assert (
        lines[6]
        == "| plain | 5 % | 2,000 | 100 | 1,900 | 0.9 |  | 94.3 | 94.3 | 94.3 | 94.3 | 90.0 | 94.3 | 0.0 | 1.2 |"
    )
    assert lines[8].startswith("**Simultaneous bands")
    kinds = "ROC, studentised | ROC, kolmogorov | P-R, studentised | P-R, kolmogorov | width, ROC | width, P-R"
    assert lines[10] == f"| decimals | {kinds} |"  # columns equal in all settings are left out
    assert lines[12:14] == [f"| {decimals} | 95.0 | 95.0 | 95.0 | 95.0 | 40 | 40 |" for decimals in ("", "1")]


def test_coverage_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(coverage, "PATH", tmp_path / "coverage.json")
    with pytest.raises(FileNotFoundError, match="python -m benches coverage"):
        coverage.saved()
    rows = {coverage.STUDIES[name].title: study["settings"] for name, study in COVERAGE["studies"].items()}
    monkeypatch.setattr(coverage, "simulate", lambda study: iter(rows.get(study.title, [])))
    assert commands.main(["coverage"]) == 0
    assert coverage.saved() == coverage.entry_of(
        {"metrics": [], "chosen": [], **{n: s["settings"] for n, s in COVERAGE["studies"].items()}}
    )
    said = capsys.readouterr().out
    assert "auc, plain, 100 of 2000, AUC 0.9: BCa 94.3 %; percentile 94.3 %" in said
    assert "bands, plain, 100 of 2000, AUC 0.9, decimals 1: ROC, studentised 95.0 %" in said
    monkeypatch.setattr(coverage, "simulate", lambda study: iter([ROW]))
    assert commands.main(["coverage", "auc"]) == 0
    assert coverage.saved()["studies"]["bands"] == COVERAGE["studies"]["bands"]
    with pytest.raises(SystemExit):
        commands.main(["coverage", "bnads"])


def test_a_result_is_the_median_of_ratios_of_neighbours():
    # The machine halves its speed after the second round; the ratio of the sides' medians would be 0.4 / 0.6.
    result = judged(Figure("roc_auc", "np.sort", at_most=0.6), [0.1, 0.1, 0.4, 0.4], [0.2, 0.2, 0.8, 0.8], threads=2)
    assert result.value == pytest.approx(0.5)
    assert result.met is True
    assert judged(Figure("cold_report", at_most=20, unit="s"), [21.0, 22.0, 3.0], [], threads=2).met is False


@pytest.mark.parametrize(("value", "text"), [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (2e-7, "0.2 µs"), (None, "")])
def test_amounts(value, text):
    assert amount(FIGURES[SORT], value) == text
