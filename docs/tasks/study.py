"""Do six learners differ on twelve data sets? Folds, tests, a picture, and a table for a paper.

python study.py paper
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import fastevals as fe
from fastevals.show import plots

LEARNERS = {
    "naive Bayes": GaussianNB(),
    "LDA": LinearDiscriminantAnalysis(),
    "1-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
    "9-NN": make_pipeline(StandardScaler(), KNeighborsClassifier(9)),
    "tree": DecisionTreeClassifier(min_samples_leaf=3, random_state=0),
    "SVM": make_pipeline(StandardScaler(), SVC()),
}


def load_data():
    """Return twelve data sets that scikit-learn ships or generates, by name."""
    data = {name: getattr(datasets, f"load_{name}")() for name in ("iris", "wine")}
    data = {name: (each.data, each.target) for name, each in data.items()}
    for name, load in [("cancer", "breast_cancer"), ("digits", "digits")]:
        found = getattr(datasets, f"load_{load}")()
        data[name] = found.data[:400], found.target[:400]
    seed = {"random_state": 0}
    data["moons"] = datasets.make_moons(200, noise=0.35, **seed)
    data["circles"] = datasets.make_circles(200, noise=0.15, factor=0.6, **seed)
    data["blobs"] = datasets.make_blobs(200, centers=4, cluster_std=2.5, **seed)
    data["shells"] = datasets.make_gaussian_quantiles(n_samples=300, **seed)
    data["chi-square"] = datasets.make_hastie_10_2(300, **seed)
    for name, informative in [("few", 3), ("some", 6), ("many", 12)]:
        options = {"n_features": 20, "n_informative": informative, "flip_y": 0.05}
        data[name] = datasets.make_classification(300, **options, **seed)
    return {name: (X, y.astype(int)) for name, (X, y) in data.items()}


def main() -> None:
    """Fit all learners on all folds, test which differ, and write tables and a picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where tables and pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(exist_ok=True)

    folds = fe.KFold(5, stratified=True, rng=0)
    accuracies = {
        name: {
            learner: fe.estimate_error(fit, X, y, folds, "accuracy")["accuracy"]
            for learner, fit in LEARNERS.items()
        }
        for name, (X, y) in load_data().items()
    }
    results = fe.Results(accuracies)
    results.save(folder / "accuracy.tex")
    comparison = fe.compare(results, posthoc="wilcoxon")
    print(comparison)
    (folder / "tests.bib").write_text(comparison.to_bibtex())
    ax = plots.plot_comparison_matrix(results)
    ax.figure.savefig(folder / "pairs.pdf")


if __name__ == "__main__":
    main()
