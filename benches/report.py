"""Results as a table for the terminal and the docs, and as README's picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benches.coverage import STUDIES, Study
from benches.figures import FIGURES, Figure

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def amount(figure: Figure, value: float | None) -> str:
    """Write one side's seconds or bytes."""
    if value is None:
        return ""
    if figure.unit == "B/row":
        return f"{value:.1f} B per row"
    size, unit = next((pair for pair in UNITS if value >= pair[0]), UNITS[-1])
    return f"{value / size:.3g} {unit}"


def _ratio(figure: Figure, ratio: float) -> str:
    """Write a ratio as a speed-up, or as a multiple of the peer's time."""
    return f"{1 / ratio:.3g}x faster" if figure.is_speed_up and ratio < 1 else f"{ratio:.2f}x the time"


def bar_of(figure: Figure) -> str:
    """Write a figure's bar."""
    if figure.at_least is not None:
        return f">= {figure.at_least:g}x"
    if figure.at_most is not None:
        return f"<= {figure.at_most:g}{'x' if figure.peer else ' ' + figure.unit}"
    return ""


def rows_of(figures: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Return a table of results by name, heading first."""
    rows = [["figure", "rows", "fastevals", "peer", "peer's time", "fastevals vs. peer", "bar", ""]]
    for name, result in figures.items():
        figure = FIGURES[name]
        rows.append(
            [
                figure.title,
                f"{figure.rows:,}" if figure.rows else "",
                amount(figure, result["ours"]),
                figure.peer or "",
                amount(figure, result["theirs"]),
                _ratio(figure, result["value"]) if figure.peer else "",
                bar_of(figure),
                "" if result["met"] is None else "met" if result["met"] else "missed",
            ]
        )
    return rows


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Align columns for the terminal."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Write rows, heading first, as Markdown."""
    heading, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([heading, "|" + "---|" * len(rows[0]), *body])


def with_section(text: str, section: str, content: str) -> str:
    """Replace a page's text between a section's markers."""
    first, last = f"<!-- {section}:start -->", f"<!-- {section}:end -->"
    before, start, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not start or not end:
        raise ValueError(f"the page has no {first} followed by {last}: add both where the table goes")
    return f"{before}{start}\n{content}\n{end}{after}"


def speed_section(history: Mapping[str, Any]) -> str:
    """Write a release's table of figures."""
    machine = history["machine"]
    versions = ", ".join(f"{library} {version}" for library, version in machine["libraries"].items())
    note = (
        f"fastevals {history['version']} on {machine['cpu']} ({machine['cores']} cores, {machine['threads']} threads"
        f"{', AVX-512' if machine['avx512'] else ''}), Python {machine['python']}, {versions}"
        f"{'; NumPy without AVX-512, faster here' if machine['numpy_without'] else ''}; BLAS with one thread. Times "
        "are medians over rounds in which both sides take turns. Results are checked to be equal first."
    )
    rows = [
        row[:6] for row in rows_of({name: result for name, result in history["figures"].items() if name in FIGURES})
    ]
    return f"{markdown_table(rows)}\n\n{note}"


SHOWN = {  # figures in README's picture if a release has them, with their titles there
    "roc_auc-10M-scikit-learn": "AUC of 10M rows",
    "roc_auc-10M-polarbearings": "AUC of 10M rows",
    "bootstrap_auc-1M-scikit-learn": "1,000 bootstrap replicates of 1M rows",
    "drop_in_report-10M-scikit-learn-strings": "classification report, 10M rows of text",
    "grouped_auc_most-1M-polarbearings": "AUCs of 200,000 users, 1M rows",
    "class_metrics-1M-scikit-learn": "five metrics of 10 classes, 1M rows",
}


def draw_speed(release: Mapping[str, Any], folder: Path) -> None:
    """Draw some figures' speed-ups, for light and dark pages."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    shown = {name: title for name, title in SHOWN.items() if name in release["figures"]}
    for scheme, ink in {"light": "#1f2328", "dark": "#e6edf3"}.items():
        with mpl.rc_context({"svg.hashsalt": "fastevals", "text.color": ink, "font.size": 10}):
            canvas = Canvas(figsize=(8.4, 2.8), layout="constrained")
            canvas.patch.set_alpha(0)
            axes = canvas.add_subplot()
            axes.set_axis_off()
            axes.set_xscale("log")
            for row, (name, title) in enumerate(shown.items()):
                figure, result = FIGURES[name], release["figures"][name]
                times = 1 / result["value"]
                ours, theirs = amount(figure, result["ours"]), amount(figure, result["theirs"])
                axes.barh(-row, times - 1, left=1, height=0.62, color="#0072b2" if scheme == "light" else "#56b4e9")
                axes.text(0.92, -row, f"{title}, {figure.peer}", ha="right", va="center")
                axes.text(times * 1.08, -row, f"{times:.0f} x faster  ({ours}; {theirs})", ha="left", va="center")
            axes.set_xlim(0.02, 6e4)
            machine = release["machine"]
            made = f"fastevals {release['version']}, {machine['cores']} cores of {machine['cpu']}"
            axes.text(1, -len(shown), f"{made}; a logarithmic scale", ha="left", va="center", fontsize=8)
            canvas.savefig(folder / f"speed-{scheme}.svg", metadata={"Date": None}, transparent=True)


def coverage_section(entry: Mapping[str, Any]) -> str:
    """Write the tables of an entry that `benches.coverage` saved."""
    tables = [_coverage_table(STUDIES[name], **study) for name, study in entry["studies"].items()]
    note = (
        f"fastevals {entry['version']}, {entry['n_data_sets']:,} data sets per setting, seed {entry['seed']}. Made by "
        "`python -m benches coverage`; `benches/history/coverage.json` also records the width of intervals and "
        "bands, and on which side they miss."
    )
    n = sum(len(study["settings"]) for study in entry["studies"].values())
    summary = f"Coverage of {100 * entry['confidence_level']:.0f} % intervals and bands, in %, in {n} settings."
    return "\n\n".join([summary, *tables, note])


def _coverage_table(study: Study, n_resamples: int, settings: Sequence[Mapping[str, Any]]) -> str:
    """Write a study's table under its title, without the columns that are equal in all settings."""
    settled: dict[str, Callable[[Any], str]] = {
        "scheme": lambda each: each["scheme"],
        "prevalence": lambda each: f"{100 * each['prevalence']:.0f} %",
        "rows": lambda each: f"{each['n']:,}",
        "positives": lambda each: f"{each['n_positives']:,g}",
        "negatives": lambda each: f"{each['n_negatives']:,g}",
        "AUC": lambda each: f"{each['auc']:g}",
        "decimals": lambda each: "" if each["decimals"] is None else str(each["decimals"]),
    }
    columns = {name: write for name, write in settled.items() if len(settings) == 1 or len({*map(write, settings)}) > 1}
    columns |= {name: partial(_percent, method=name, share="coverage") for name in study.methods}
    columns |= {name: partial(_percent, method=method, share="undefined") for name, method in study.undefined.items()}
    columns |= {name: partial(_width_ratio, methods=methods) for name, methods in study.beside.items()}
    rows = [list(columns), *([write(each) for write in columns.values()] for each in settings)]
    return f"**{study.title}**, {n_resamples} replicates per data set\n\n{markdown_table(rows)}"


def _percent(setting: Mapping[str, Any], method: str, share: str) -> str:
    return f"{100 * setting['methods'][method][share]:.1f}"


def _width_ratio(setting: Mapping[str, Any], methods: tuple[str, str]) -> str:
    width, other = (setting["methods"][method]["mean_width"] for method in methods)
    return f"{100 * width / other:.0f}"
