"""The pictures that no page's code draws: a report's page in a browser, and README's first picture, light and dark.

python docs/make_pictures.py   # with the extras plots, page and browser, and Chromium on the path
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from fastevals import Ranking, confidence_band, report
from fastevals.datasets import load_digits_eight
from fastevals.document.page import page
from fastevals.document.page.svg import draw
from fastevals.show.plots import plot_roc
from fastevals.show.plots.drawing import picture_on

IMAGES = Path(__file__).parent / "images"
FRAGMENT = "#by=recall&at=0.9"
N_COLORS = 160  # of a file
FIRST = """<!DOCTYPE html><style>{css}
body {{ display: flex; gap: 22px; align-items: center; padding: 14px; width: 1230px }}
svg {{ width: 440px; flex: none }} img {{ width: 720px; border: 1px solid var(--line); border-radius: 8px }}</style>
<body>{svg}<img src="{page}">"""


def main() -> None:
    """Make the pictures."""
    data = load_digits_eight()
    html = report(
        label="label", score=["logistic", "random_forest"]
    ).to_html()  # of the same data
    models = {
        name: Ranking(data["label"], data[name])
        for name in ("logistic", "random_forest")
    }
    axes = plot_roc(
        models,
        marks=False,
        band={name: confidence_band(each, rng=0) for name, each in models.items()},
    )
    svg = draw(picture_on(axes), "roc", "ROC curves with bands", "first")
    css = (page.FOLDER / "page.css").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file, first = Path(folder) / "page.html", Path(folder) / "first.html"
        file.write_text(html, encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme in ("light", "dark"):
            tab = browser.new_page(
                color_scheme=scheme,
                viewport={"width": 1240, "height": 900},
                device_scale_factor=1.5,
            )
            tab.goto(file.as_uri() + FRAGMENT)
            tab.evaluate("document.querySelector('details').open = false")
            shown = save(tab.screenshot(), f"page-{scheme}.png")
            first.write_text(
                FIRST.format(css=css, svg=svg, page=shown.as_uri()), encoding="utf-8"
            )
            tab.set_viewport_size({"width": 1258, "height": 560})
            tab.goto(first.as_uri())
            save(tab.screenshot(), f"first-{scheme}.png")
        browser.close()


def save(png: bytes, name: str) -> Path:
    """Write a picture with few colours, which makes it small."""
    path = IMAGES / name
    Image.open(io.BytesIO(png)).convert("RGB").quantize(N_COLORS).save(
        path, optimize=True
    )
    return path


if __name__ == "__main__":
    main()
