"""Section 2.3.4: unequal costs of errors: cost curves, and thresholds that follow from costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals import HoldOut, Ranking, cost_threshold
from fastevals._options import import_optional
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.measures import CLASSES, RECOMPUTED, SCORES
from fastevals.chapter.pictures import curves, panel
from fastevals.show.plots.confusion import draw_confusion

NO_SKLEARN = "the data and the models are from scikit-learn: pip install scikit-learn"
SMALL_INCHES = (4.0, 4.4)  # inches


@example("2.3.4")
def cost_curves() -> Answer:
    """Cost curves of the twenty instances at costs 1:1, 1:3 and 1:5.

    A phishing filter is evaluated. A false positive costs 1, and a false negative (missed phishing) costs 1, 3 or 5.
    How do the cost curves differ?
    """
    curve = Ranking(CLASSES, SCORES).cost_curve()
    costs = [1, 3, 5]
    over_prior = {f"1:{cost}": curve.over_prior(cost_fn=cost) for cost in costs}
    in_all = {f"1:{cost}": curve.over_prior(cost_fn=cost, normalize=False) for cost in costs}
    peaks = ", ".join(f"{each.prior[np.argmax(each.cost)]:.2f}" for each in over_prior.values())
    places = [0.1, 0.25, 0.5, 0.75, 0.9]
    best = {f"1:{cost}": [*curve.at(prior=0.5, cost_fn=cost), *curve.at(prior=0.1, cost_fn=cost)] for cost in costs}
    return Answer(
        [
            "Plotted against PC(+), the three curves are the same, because PC(+) already includes the costs: it "
            "multiplies the prior of each class by the cost of misclassifying that class.",
            "The costs only determine which PC(+) corresponds to a prior.",
            "Plotted against the prior of the positive class, the curves differ. The more a false negative "
            f"costs, the further left the curve peaks (at a prior of {peaks}).",
            "The more a false negative costs, the lower the best threshold at a given prior.",
        ],
        [
            *(
                Comparison(f"lower envelope at PC(+) = {x}", curve.at(probability_cost=x).value, printed, RECOMPUTED)
                for x, printed in zip(places, ["0.08", "0.2", "0.3", "0.225", "0.09"], strict=True)
            ),
            Comparison("area under normalised cost against PC(+)", curve.area, "0.189881", RECOMPUTED),
            *(
                Comparison(
                    f"area under normalised cost against prior, costs {name}", each.area, printed, RECOMPUTED
                )
                for (name, each), printed in zip(over_prior.items(), ["0.1899", "0.1706", "0.1482"], strict=True)
            ),
            *(
                Comparison(
                    f"area under cost per row against prior, costs {name}", each.area, printed, RECOMPUTED
                )
                for (name, each), printed in zip(in_all.items(), ["0.1899", "0.3035", "0.3476"], strict=True)
            ),
        ],
        [
            table(
                "Least expected cost (normalised) and its threshold",
                ["Costs", "prior 0.5", "threshold", "prior 0.1", "threshold"], best,
            )
        ],
        [
            ("cost", [curves("cost", {"20 instances": curve}, lines=20)]),
            ("cost_over_prior", [curves("cost_over_prior", over_prior)]),
        ],
    )  # fmt: skip


@example("2.3.4")
def train_test() -> Answer:
    """Two models on training and test rows: threshold, errors and costs.

    Draw the P-R and ROC curves of two models on training and test rows, choose a threshold, give the reason, and print
    the confusion matrices. A false positive costs twice as much as a false negative. Which model costs less? The
    fishing data of the course are not public. Here the positive class is a benign tumour in scikit-learn's breast
    cancer data, so the expensive error is to predict that a malignant tumour is benign.
    """
    rankings = {
        f"{name}, {rows}": Ranking(y, score)
        for name, by_rows in _scores_of_two_models().items()
        for rows, (y, score) in by_rows.items()
    }
    training = {name: each for name, each in rankings.items() if name.endswith("training")}
    test = {name: each for name, each in rankings.items() if name.endswith("test")}

    threshold = cost_threshold(cost_fp=2, cost_fn=1)
    matrices = {name: each.confusion_at(threshold) for name, each in rankings.items()}
    rows = {
        name: [
            each.roc_auc(), each.pr_auc(), each.cost_curve().area, matrices[name].error_rate(),
            each.expected_cost(threshold, cost_fp=2, cost_fn=1),
        ]
        for name, each in rankings.items()
    }  # fmt: skip
    (logistic_name, logistic), (tree_name, tree) = test.items()
    difference = logistic.cost_curve().difference(tree.cost_curve())
    wins = difference.over_prior(cost_fp=2, cost_fn=1)[0]
    cheaper = ", ".join(f"{low:.3f} to {high:.3f}" for low, high in wins)
    return Answer(
        [
            f"The logistic regression costs less: {rows[logistic_name][-1]:.3f} per test row, against "
            f"{rows[tree_name][-1]:.3f} for the tree.",
            f"On training rows the tree looks better: its error rate is {100 * rows['tree, training'][3]:.1f} %, "
            f"against {100 * rows['logistic, training'][3]:.1f} % for the logistic regression. But the tree overfits: "
            f"its AUC falls from {rows['tree, training'][0]:.3f} on training rows to {rows['tree, test'][0]:.3f} on "
            f"test rows, while the logistic regression's AUC falls only from {rows['logistic, training'][0]:.3f} to "
            f"{rows['logistic, test'][0]:.3f}.",
            f"The threshold is {threshold:.3f} = 2 / (2 + 1). For a tumour that is benign with probability p, "
            "predicting benign costs 2 (1 - p) on average and predicting malignant costs p. This threshold uses no "
            "labels, so it cannot overfit them.",
            f"With costs of 2:1 the logistic regression costs less at priors of benign tumours from {cheaper}.",
        ],
        tables=[
            table(
                f"At the threshold {threshold:.4f}", ["", "AUC", "P-R area", "cost area", "error rate", "cost"], rows
            ),
            table(
                "Confusion matrices", ["", "TP", "FP", "FN", "TN"],
                {name: [int(n) for n in each.counts[::-1, ::-1].T.ravel()] for name, each in matrices.items()},
            ),
        ],
        pictures=[
            ("precision_recall", [curves("precision_recall", training, "training"),
                                  curves("precision_recall", test, "test")]),
            ("roc", [curves("roc", training, "training"), curves("roc", test, "test")]),
            ("confusion", [
                panel(draw_confusion, each.counts, SMALL_INCHES, name, names=["malignant", "benign"])
                for name, each in matrices.items()
            ]),
            ("cost", [curves("cost", test, "test")]),
            ("cost_over_prior", [
                curves("cost_over_prior", {
                    name: each.cost_curve().over_prior(cost_fp=2, cost_fn=1) for name, each in test.items()
                }, "test")
            ]),
        ],
    )  # fmt: skip


def _scores_of_two_models() -> dict[str, dict[str, tuple[Any, Any]]]:
    """Fit two models to 70 % of the rows; return each model's classes and scores of training rows and of test rows."""
    datasets = import_optional("sklearn.datasets", NO_SKLEARN)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    x, y = datasets.load_breast_cancer(return_X_y=True)
    ((train, test),) = HoldOut(0.3, stratified=True, rng=0).split(x, y)
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    }
    return {
        name: {
            rows: (y[chosen], np.asarray(model.predict_proba(x[chosen])[:, 1]))
            for rows, chosen in (("training", train), ("test", test))
        }
        for name, model in models.items()
        if model.fit(x[train], y[train])
    }
