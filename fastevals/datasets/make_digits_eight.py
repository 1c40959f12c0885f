"""Make digits_eight.csv: ``python -m fastevals.datasets.make_digits_eight [FILE]``.

The file holds 5-fold cross-validated scores of three classifiers for "the digit is an 8", on scikit-learn's 1797
handwritten digits, of which 174 are an 8. It was made with scikit-learn 1.9.1, NumPy 2.4.6 and SciPy 1.17.1 on Linux
x86-64 with AVX-512. Labels, folds and the forest's votes do not depend on the machine; the last digits
of the logistic regression do (OpenBLAS sums in another order without AVX-512).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

FOLDS = 5
SEED = 0


def make_csv() -> str:
    """Fit the classifiers and return the file's text, one row per digit."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB

    pixels, digits = load_digits(return_X_y=True)
    pixels, label = pixels / 16, (digits == 8).astype(np.int64)
    models = {
        "logistic": LogisticRegression(max_iter=1000),
        "naive_bayes": GaussianNB(),
        "random_forest": RandomForestClassifier(n_estimators=25, random_state=SEED),
    }
    fold = np.empty(label.size, dtype=np.int64)
    scores = {name: np.empty(label.size) for name in models}
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(pixels, label)
    for number, (train, test) in enumerate(splits):
        fold[test] = number
        for name, model in models.items():
            scores[name][test] = model.fit(pixels[train], label[train]).predict_proba(pixels[test])[:, 1]
    columns = {"label": label, "fold": fold, **scores}
    rows = zip(*(map(repr, column.tolist()) for column in columns.values()), strict=True)
    return "".join(",".join(row) + "\n" for row in (columns, *rows))


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("digits_eight.csv")
    path.write_text(make_csv(), encoding="utf-8", newline="\n")
