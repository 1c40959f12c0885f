"""Comparing releases, and README's table."""

import json

import pytest

from benches import __main__ as commands
from benches import history
from benches.figures import FIGURES, Figure
from benches.race import Result, judged
from benches.report import END, START, amount, readme_with

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


@pytest.mark.parametrize(("seconds", "worse"), [(15.0, []), (21.0, ["cold_report"])])
def test_seconds_are_held_to_their_bar_alone(seconds, worse):
    assert history.compare(made("0.2.0", {"cold_report": seconds}), made("0.1.0", {"cold_report": 5.0}))[1] == worse


def test_newest_is_by_version(tmp_path):
    with pytest.raises(FileNotFoundError, match="python -m benches run"):
        history.newest(tmp_path)
    for version in ("0.2.0", "0.10.0", "0.9.1"):
        history.save(made(version, {SORT: 0.8}), tmp_path / f"{version}.json")
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
    assert f"worse by over 15%: {SORT if status else 'none'}" in capsys.readouterr().out


def test_readme_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    monkeypatch.setattr(history, "newest", lambda: THEN)
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{START}\nstale\n{END}\nafter\n")
    assert commands.main(["readme", "--check"]) == 1
    assert commands.main(["readme"]) == 0
    assert commands.main(["readme", "--check"]) == 0
    text = readme.read_text()
    assert text.startswith(f"before\n{START}\n| figure |")
    assert text.endswith(f"{END}\nafter\n")
    assert "stale" not in text
    assert "0.80x the time" in text
    assert "50x faster" in text
    readme.write_text("no markers")
    with pytest.raises(SystemExit) as stop:
        commands.main(["readme"])
    assert stop.value.code == 2
    assert START in capsys.readouterr().err


def test_readme_needs_its_markers_in_order():
    with pytest.raises(ValueError, match=r"README\.md has no"):
        readme_with(f"{END} {START}", THEN)


def test_a_result_is_the_median_of_ratios_of_neighbours():
    # The machine halves its speed after the second round: medians of the sides alone would give 0.4 / 0.6.
    result = judged(Figure("roc_auc", "np.sort", at_most=0.6), [0.1, 0.1, 0.4, 0.4], [0.2, 0.2, 0.8, 0.8], threads=2)
    assert result.value == pytest.approx(0.5)
    assert result.met is True
    assert judged(Figure("cold_report", at_most=20, unit="s"), [21.0, 22.0, 3.0], [], threads=2).met is False


@pytest.mark.parametrize(("value", "text"), [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (2e-7, "0.2 µs"), (None, "")])
def test_amounts(value, text):
    assert amount(FIGURES[SORT], value) == text
