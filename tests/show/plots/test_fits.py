"""The picture of fits: each line shows the learner's predictions over its training rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from fastevals.show.plots import plot_fits
from tests.show.plots.test_significance import axes, check_texts, labelled, legend

X = np.linspace(-1, 1, 15)
Y = X**3 + 0.1 * np.cos(9 * X)


def polynomial(x, y, x_new, degree, power=1.0):
    return power * np.polyval(np.polyfit(x, y, degree), x_new)


def test_lines_are_predictions_and_marks_are_rows():
    ax = plot_fits(polynomial, X, Y, parameter="degree", values=[1, 3], truth=lambda x: x**3, ax=axes(), title="fits")
    assert legend(ax) == ["training rows", "degree = 1", "degree = 3", "truth"]
    (rows,) = labelled(ax, "training rows")
    assert_allclose(rows.get_xydata(), np.column_stack([X, Y]))
    assert rows.get_linestyle() == "None"
    for degree in (1, 3):
        (line,) = labelled(ax, f"degree = {degree}")
        assert_allclose(line.get_ydata(), np.polyval(np.polyfit(X, Y, degree), line.get_xdata()), atol=1e-12)
    (truth,) = labelled(ax, "truth")
    assert_allclose(truth.get_ydata(), truth.get_xdata() ** 3)
    assert ax.get_title() == "fits"
    check_texts(ax)


def test_estimators_get_a_column_and_other_parameters_are_passed_on():
    ax = plot_fits(Ridge(), X, Y, parameter="alpha", values=[1.0], ax=axes())
    (line,) = labelled(ax, "alpha = 1.0")
    assert_allclose(line.get_ydata(), Ridge().fit(X[:, None], Y).predict(line.get_xdata()[:, None]))
    ax = plot_fits(polynomial, X, Y, parameter="degree", values=[1], params={"power": 0.0}, ax=axes())
    assert not labelled(ax, "degree = 1")[0].get_ydata().any()


def test_the_axis_follows_the_data_where_a_fit_leaves_them():
    ax = plot_fits(polynomial, X, Y, parameter="degree", values=[1], params={"power": 1e9}, ax=axes())
    low, high = ax.get_ylim()
    assert Y.min() - 0.2 * np.ptp(Y) < low < Y.min()
    assert Y.max() < high < Y.max() + 0.2 * np.ptp(Y)


def test_values_that_are_written_alike_have_a_line_each():
    ax = plot_fits(lambda x, y, x_new, a: a + x_new, X, Y, parameter="a", values=[0.12345671, 0.12345672], ax=axes())
    one, other = labelled(ax, "a = 0.123457")
    assert (one.get_ydata() < other.get_ydata()).all()


def test_what_is_refused():
    for truth, message in (
        (X, "truth must be a function, got"),
        (lambda x: 1.0, r"truth must return one number for each of 400 points, got shape \(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            plot_fits(polynomial, X, Y, parameter="degree", values=[1], truth=truth, ax=axes())
    for arguments, message in (
        ((polynomial, X, Y[:3]), "y has 3 rows, but x has 15"),
        ((polynomial, X, np.full(15, np.nan)), "y must be finite, but has 15 NaN values"),
        ((lambda x, y, x_new, degree: x_new * np.nan, X, Y), "the predictions of degree = 1 "),
    ):
        with pytest.raises(ValueError, match=message):
            plot_fits(*arguments, parameter="degree", values=[1], ax=axes())
