"""Sections of which a page shows one: the reader chooses which, and the address keeps the choice."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import fastevals
from fastevals.document.page.page import write_page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def page(choice: str) -> str:
    rng = np.random.default_rng(0)
    y, day = np.arange(300) % 2, np.arange(300) % 3
    data = {"y": y, "s": rng.normal(size=300) + y, "day": day}
    document = fastevals.report(data, label="y", score="s", by="day", n_resamples=0)._document()
    sections = [each._replace(choice=choice if each.is_block else "") for each in document.sections]
    return write_page(document._replace(sections=sections))


def test_a_page_has_a_list_to_choose_from() -> None:
    written = page("Day")
    (select,) = re.findall(r'<select id="pick" aria-label="Day">(.*?)</select>', written, re.DOTALL)
    options = re.findall(r'<option value="(\d)">(.*?)</option>', select)
    articles = re.findall(r'data-block="(\d)" data-choice="Day" aria-label="(.*?)"', written)
    assert len(options) == 4  # all rows, and each day
    assert options == articles
    assert 'id="pick"' not in page("")
    contents = [re.findall(r'<li><a href="#(.*?)"', each) for each in (page(""), written)]
    assert len(contents[0]) - len(contents[1]) == 3  # the first leads to all of them


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize(
    ("fragment", "shown"), [("", 0), ("#pick=1", 1), ("#pick=2&by=recall&at=0.5", 2), ("#pick=9", 0)]
)
def test_the_script_shows_one_of_them(tmp_path: Path, fragment: str, shown: int) -> None:
    path = tmp_path / "page.html"
    path.write_text(page("Day"))
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    found = subprocess.run(
        [*command, f"file://{path}{fragment}"], capture_output=True, text=True, check=True, timeout=60
    )
    articles = re.findall(r'<article class="block" data-block="(\d+)" data-choice="Day"([^>]*)>', found.stdout)
    visible = [int(block) for block, others in articles if "hidden" not in others]
    assert len(articles) == 4
    assert visible == [int(articles[0][0]) + shown]
    assert "Day: " in re.search(r'id="settings">(.*?)</p>', found.stdout)[1]  # type: ignore[index]
