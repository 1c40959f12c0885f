"""The picture of a splitter: each row appears in the part that the splitter assigns it to."""

from itertools import islice

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.model_selection import TimeSeriesSplit

from fastevals import BootstrapSplit, HoldOut, KFold, LeaveOneOut, LeavePOut
from fastevals.show.plots import plot_splits
from fastevals.show.plots.splits import (
    HALF_ROW,
    MOST_ROWS,
    MOST_SPLITS,
    REPEATED,
    ROLES,
    STRIP_COLORS,
    TESTED,
    TRAINED,
    VALIDATED,
    read_splits,
)
from tests.show.plots.test_significance import axes, check_texts, legend

N = 24
Y, GROUPS = np.tile([0, 0, 1], 8), np.arange(N) // 3
SPLITTERS = {
    "folds": KFold(4, stratified=True, rng=0),
    "repeated": KFold(2, n_repeats=3, rng=0),
    "hold-out": HoldOut(0.25, n_repeats=5, rng=0),
    "part unused": HoldOut(0.25, train_size=0.5, rng=0),
    "leave-one-out": LeaveOneOut(),
    "all pairs": LeavePOut(2),
    "bootstrap": BootstrapSplit(5, rng=0),
    "of scikit-learn": TimeSeriesSplit(3),
    "listed": [(range(8), range(8, 12)), (range(12), range(12, 16))],
}


def colors(ax, y):
    """Return the colour at each row of a line, "" where it is blank."""
    found = [""] * N
    for shade in ax.collections:
        box = shade.get_paths()[0].vertices if shade.get_paths() else np.empty((0, 2))
        if box.size and box[:, 1].min() == pytest.approx(y - HALF_ROW):
            for row in range(N):
                if shade.get_paths()[0].contains_point((row, y)):
                    found[row] = to_hex(shade.get_facecolor()[0]).upper()
    return found


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", SPLITTERS)
def test_rows_have_the_colour_of_their_part(name):
    splitter = SPLITTERS[name]
    pairs = splitter if name == "listed" else list(islice(splitter.split(Y, Y), MOST_SPLITS))
    ax = plot_splits(splitter, y=Y, ax=axes())
    for k, (train, test) in enumerate(pairs):
        expected = [""] * N
        for row in train:
            expected[row] = ROLES[TRAINED][1] if expected[row] == "" else ROLES[REPEATED][1]
        for row in test:
            expected[row] = ROLES[TESTED][1]
        assert colors(ax, float(k)) == expected
    assert colors(ax, len(pairs) + 0.6) == [STRIP_COLORS[label] for label in Y]
    assert ("(blank: not used)" in legend(ax)) == (name in ("part unused", "of scikit-learn", "listed"))


def test_labels_of_splits_classes_and_groups():
    ax = plot_splits(LeavePOut(2), y=np.array(["no", "yes"])[Y], groups=GROUPS, ax=axes((8, 9)), title="pairs")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [*map(str, range(1, 29)), "class", "group"]
    assert legend(ax) == ["training", "test", "class no", "class yes"]  # the colours of 8 groups repeat
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("Row", "Split", "pairs")
    check_texts(ax)
    assert plot_splits(LeavePOut(2), range(N), ax=axes()).get_ylabel() == "Split (the first 30 of 276)"


def test_validation_rows_are_told_apart():
    splitter = HoldOut(0.25, validation_size=0.25, n_repeats=2, rng=0)
    for role, parts in zip(read_splits(splitter, range(N)).roles, splitter.parts(range(N)), strict=True):
        assert [np.flatnonzero(role == code).tolist() for code in (TRAINED, VALIDATED, TESTED)] == [
            part.tolist() for part in parts
        ]


def test_too_many_rows_and_what_is_no_splitter():
    with pytest.raises(ValueError, match=rf"y must have at most {MOST_ROWS} rows to be drawn, got 2001: pass some"):
        plot_splits(KFold(2), y=np.arange(2001), ax=axes())
    with pytest.raises(ValueError, match="splitter must be a splitter such as KFold"):
        plot_splits("folds", range(9), ax=axes())
