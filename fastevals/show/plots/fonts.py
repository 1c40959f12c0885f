"""Fonts for the words of a picture: where matplotlib's font lacks letters, such as Chinese ones, one that has them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fastevals._options import warn_outside
from fastevals._text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PREFERRED = (  # sans-serif fonts with Chinese, Japanese or Korean letters, as systems and their packages name them
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR",
    "Source Han Sans SC", "Source Han Sans", "PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Apple SD Gothic Neo",
    "Microsoft YaHei", "SimHei", "Yu Gothic", "Meiryo", "MS Gothic", "Malgun Gothic", "NanumGothic", "IPAexGothic",
    "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Droid Sans Fallback", "Arial Unicode MS",
)  # fmt: skip
LAST_RESORT = "Last Resort"  # a font that draws a box for every letter
MOST_LETTERS = 5  # that a hint quotes
MISSING = (
    "no installed font has the letters {}, so pictures show boxes: install one that does, such as Noto Sans CJK, or "
    "set matplotlib.rcParams['font.family'] to a list that ends with one"
)


@contextmanager
def fonts_for(words: Any, ax: Axes | None = None) -> Iterator[None]:
    """Draw words, wherever they are in plain data, in fonts that have their letters.

    The fonts are those of texts made inside the block, and of labels and titles that `ax` has already. A warning names
    letters that no installed font has.
    """
    letters = {letter for text in _texts(words) for letter in text if not letter.isascii()}
    if not letters:
        yield
        return
    from matplotlib import rc_context
    from matplotlib.text import Text

    families = _families(frozenset(letters))
    if ax is not None:
        ax.tick_params(labelfontfamily=families)
        for text in ax.findobj(Text):
            text.set_fontfamily(families)
    with rc_context({"font.family": families}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # `_families` has said so
        yield


def _texts(thing: Any) -> Iterator[str]:
    """Yield the words in plain data: of fields, tuples, lists and mappings."""
    if isinstance(thing, str):
        yield thing
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            yield from _texts(getattr(thing, field.name))
    elif isinstance(thing, Mapping):
        yield from _texts([*thing.values()])
    elif isinstance(thing, tuple | list):
        for each in thing:
            yield from _texts(each)


def _families(letters: frozenset[str]) -> list[str]:
    """Return the usual font families, and others for letters that these lack."""
    from matplotlib import rcParams

    usual = rcParams["font.family"]
    added, lacked = _added(_missing(letters, usual))
    if lacked:
        quoted = ", ".join(printable(repr(letter)) for letter in sorted(lacked)[:MOST_LETTERS])
        more = f" and {len(lacked) - MOST_LETTERS} more" if len(lacked) > MOST_LETTERS else ""
        warn_outside(MISSING.format(quoted + more), UserWarning)
    return [*usual, *added]


def _missing(letters: frozenset[str], families: Iterable[str]) -> frozenset[str]:
    """Return the letters that none of the families has."""
    from matplotlib.font_manager import FontProperties, findfont

    for family in families:
        letters = _lacking(findfont(FontProperties(family=[family])), letters)
    return letters


@lru_cache(maxsize=8)
def _added(missing: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return installed families that have missing letters, the preferred ones first, and the letters none has."""
    from matplotlib.font_manager import fontManager

    paths = {font.name: font.fname for font in fontManager.ttflist if not font.name.startswith(LAST_RESORT)}
    added = []
    for name in [*(name for name in PREFERRED if name in paths), *sorted(paths.keys() - {*PREFERRED})]:
        if not missing:
            break
        rest = _lacking(paths[name], missing)
        if rest != missing:
            added.append(name)
            missing = rest
    return tuple(added), missing


def _lacking(path: str, letters: frozenset[str]) -> frozenset[str]:
    """Return the letters that a font's file lacks."""
    from matplotlib.font_manager import get_font

    font = get_font(path)
    return frozenset(letter for letter in letters if not font.get_char_index(ord(letter)))
