"""Choose fonts for the words in a picture: if matplotlib's font lacks some letters, add a font that has them."""

from __future__ import annotations

import dataclasses
import threading
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


_LOCK = threading.RLock()  # matplotlib's settings and the filters of warnings are those of the process


@contextmanager
def fonts_for(words: Any, ax: Axes | None = None) -> Iterator[None]:
    """Draw the words in some plain data with fonts that have their letters.

    The fonts apply to texts made inside the block, and to labels and titles that `ax` already has. A warning names
    letters that no installed font has.
    """
    letters = {letter for text in _texts(words) for letter in text if not letter.isascii()}
    if not letters:
        yield
        return
    from matplotlib import rc_context, rcParams
    from matplotlib.text import Text

    with _LOCK:
        usual = rcParams["font.family"]
        added = _add_families(frozenset(letters), usual)
        if ax is not None and added:
            ax.tick_params(labelfontfamily=[*usual, *added])
            for text in ax.findobj(Text):
                text.set_fontfamily([*dict.fromkeys([*text.get_fontfamily(), *added])])
        with rc_context({"font.family": [*usual, *added]}), warnings.catch_warnings():
            for said in ("Glyph .* missing from font", MISSING.partition("{")[0]):
                warnings.filterwarnings("ignore", said, UserWarning)  # `_add_families` has said so
            yield


def _texts(thing: Any) -> Iterator[str]:
    """Yield the words in plain data, including the words in fields, tuples, lists and mappings."""
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


def _add_families(letters: frozenset[str], usual: Iterable[str]) -> tuple[str, ...]:
    """Return installed families with letters that the usual families lack; warn of letters that no font has."""
    from matplotlib.font_manager import fontManager

    added, lacked = _added(_missing(letters, usual), len(fontManager.ttflist))
    if lacked:
        quoted = ", ".join(printable(repr(letter)) for letter in sorted(lacked)[:MOST_LETTERS])
        more = f" and {len(lacked) - MOST_LETTERS} more" if len(lacked) > MOST_LETTERS else ""
        warn_outside(MISSING.format(quoted + more), UserWarning)
    return added


def _missing(letters: frozenset[str], families: Iterable[str]) -> frozenset[str]:
    """Return the letters that none of the families has."""
    from matplotlib.font_manager import FontProperties, findfont

    for family in families:
        letters = _lacking(findfont(FontProperties(family=[family])), letters)
    return letters


@lru_cache(maxsize=8)
def _added(missing: frozenset[str], n_fonts: int) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return installed families that have letters in `missing`, preferred first, and the letters that none has.

    The cache depends on `n_fonts`, so fonts that are added later are found.
    """
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
    """Return the letters that a font's file lacks: all letters if the file is gone or broken."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
    except (OSError, RuntimeError):
        return letters
    return frozenset(letter for letter in letters if not font.get_char_index(ord(letter)))
