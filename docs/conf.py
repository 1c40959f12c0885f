"""Build the site: `sphinx-build -W docs build/site`. Pages are plain files too; docstrings make the reference."""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(
    0, str(DOCS.parent)
)  # the checkout's own package, and the sections of the reference

import fastevals  # noqa: E402
from tests.documents import SECTIONS  # noqa: E402

project = "fastevals"
author = "the fastevals authors"
version = release = fastevals.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["build"]
html_theme = "furo"
html_title = "fastevals"
html_show_sphinx = html_show_copyright = False
html_static_path, html_css_files = ["_static"], ["site.css"]
html_theme_options = {"navigation_with_keys": True}
# `n_samples` in a docstring names an argument and many attributes; tests/test_documents.py checks links to code.
suppress_warnings = ["ref.python", "myst.xref_missing"]
myst_heading_anchors = 3
default_role = "py:obj"
autodoc_typehints = "none"  # docstrings have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

REFERENCE = DOCS / "api"


def write_reference(app) -> None:
    """Write one page per section of the reference, with the docstrings of its names."""
    REFERENCE.mkdir(exist_ok=True)
    for section in SECTIONS:
        lines = [
            f"# {section.title}",
            "",
            "```{eval-rst}",
            f".. currentmodule:: {section.module}",
            "",
        ]
        for name in section.names:
            value = getattr(section.load(), name)
            if isinstance(value, type):
                lines += [
                    f".. autoclass:: {name}",
                    "   :members:",
                    "   :inherited-members: Mapping, Sequence, tuple",
                    "",
                ]
            elif callable(value):
                lines += [f".. autofunction:: {name}", ""]
            else:
                lines += [f".. autodata:: {name}", ""]
        text = "\n".join([*lines, "```", ""])
        page = REFERENCE / f"{section.file}.md"
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


PICTURE = re.compile(
    r'<picture>\n<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\n'
    r'<img alt="([^"]+)" src="([^"]+)">\n</picture>'
)
IMAGES = "```{image} \\3\n:alt: \\2\n:class: only-light\n```\n\n```{image} \\1\n:alt: \\2\n:class: only-dark\n```"


def translate(app, docname: str, source: list[str]) -> None:
    """Turn GitHub's form into the site's: pictures by theme, and links from the list of names to docstrings."""
    source[0] = PICTURE.sub(IMAGES, source[0])
    if docname == "api":
        source[0] = re.sub(
            r"\[`([\w.]+)`\]\(\.\./fastevals/[^)]*\)", r"{py:obj}`\1`", source[0]
        )


def setup(app) -> None:
    """Connect the two hooks."""
    app.connect("builder-inited", write_reference)
    app.connect("source-read", translate)
