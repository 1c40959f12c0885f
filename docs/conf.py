"""The site: `sphinx-build -W docs build/site`. Pages read as plain files too; the reference is made of docstrings."""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))  # the checkout's own package, and the sections of the reference

import fastevals  # noqa: E402
from tests.documents import SECTIONS  # noqa: E402

project = "fastevals"
author = "the fastevals authors"
version = release = fastevals.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["build"]
html_theme = "furo"
html_title = "fastevals"
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
# `n_samples` in a docstring is an argument, and an attribute of many; links to code are tested with all others.
suppress_warnings = ["ref.python", "myst.xref_missing"]
myst_heading_anchors = 3
default_role = "py:obj"
autodoc_typehints = "none"  # docstrings say them
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

REFERENCE = DOCS / "api"


def write_reference(app) -> None:
    """Write a page of the reference for each section, of its names' docstrings."""
    REFERENCE.mkdir(exist_ok=True)
    for section in SECTIONS:
        lines = [f"# {section.title}", "", "```{eval-rst}", f".. currentmodule:: {section.module}", ""]
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


def link_names(app, docname: str, source: list[str]) -> None:
    """Point the names of the list to the reference, where the plain file points to the code."""
    if docname == "api":
        source[0] = re.sub(r"\[`([\w.]+)`\]\(\.\./fastevals/[^)]*\)", r"{py:obj}`\1`", source[0])


def setup(app) -> None:
    """Connect what this file adds."""
    app.connect("builder-inited", write_reference)
    app.connect("source-read", link_names)
