"""One bench per figure: `python -m pytest benches --benchmark-enable`."""

from typing import Any

import pytest

import fastevals
from benches.figures import FIGURES
from benches.race import Result, can_run, checked_sides, judged, measured, warm_up


@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if can_run(figure)])
def test_figure(name: str, benchmark: Any, results: dict[str, Result], pytestconfig: pytest.Config) -> None:
    figure = FIGURES[name]
    scale = pytestconfig.getoption("--rows-scale")
    with fastevals.num_threads(figure.threads or fastevals.get_num_threads()):
        ours, theirs = checked_sides(figure, scale)
        if benchmark.disabled:
            return
        rounds = pytestconfig.getoption("--rounds") or warm_up(ours, theirs)
        rows = figure.rows * scale
        numbers: list[float] = []
        theirs_measured: list[float] = []
        benchmark.group = f"{figure.case} {figure.rows or ''}"
        # The peer's turn is the set-up of ours: A B A B, so drift in the machine's speed affects both sides equally.
        benchmark.pedantic(
            ours if figure.unit != "B/row" else lambda: numbers.append(measured(figure, ours, rows)),
            setup=lambda: theirs_measured.append(measured(figure, theirs, rows)) if theirs else None,
            rounds=rounds,
        )
        result = judged(figure, numbers or benchmark.stats.stats.data, theirs_measured, fastevals.get_num_threads())
    if scale < 1:  # checks that the benches run; not a measurement
        return
    results[name] = result
    benchmark.extra_info.update(result.to_dict())
    assert result.met is not False, f"{name}: {result.value:.3g}, bar {result.bar:.3g}"
