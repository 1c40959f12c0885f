"""Section 2.3.4: errors that differ in what they cost: cost curves, and thresholds that follow from costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals import HoldOut, Ranking, cost_threshold
from fastevals._options import import_optional
from fastevals.chapter.example import Answer, Comparison, example, table
from fastevals.chapter.measures import APART, CLASSES, SCORES
from fastevals.chapter.pictures import curves, panel
from fastevals.show.plots.confusion import draw_confusion

NO_SKLEARN = "the data and the models are scikit-learn's: pip install scikit-learn"
SMALL_INCHES = (4.0, 4.4)  # inches


@example("2.3.4")
def cost_curves() -> Answer:
    """Cost curves of the twenty instances, at costs 1:1, 1:3 and 1:5.

    A false alarm costs 1, a miss 1, 3 or 5: phishing that slips through. How do the cost curves differ?
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
            "Over PC(+) they do not differ: the costs are in the axis, as prior times cost, so one curve serves all "
            "three. The costs tell where on it one is.",
            "Over the prior of the positive class they do: the dearer a miss, the further left is the peak, where "
            f"knowing the scores helps least (at a prior of {peaks}).",
            "And the dearer a miss, the lower the threshold that is best at a given prior.",
        ],
        [
            *(
                Comparison(f"lower envelope at PC(+) = {x}", curve.at(probability_cost=x).value, printed, APART)
                for x, printed in zip(places, ["0.08", "0.2", "0.3", "0.225", "0.09"], strict=True)
            ),
            Comparison("area over PC(+)", curve.area, "0.189881", APART),
            *(
                Comparison(f"area over the prior at {name}, normalised", each.area, printed, APART)
                for (name, each), printed in zip(over_prior.items(), ["0.1899", "0.1706", "0.1482"], strict=True)
            ),
            *(
                Comparison(f"area over the prior at {name}, of a row's cost", each.area, printed, APART)
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
    """Two models on training and test rows: a threshold, its errors, and what they cost.

    Draw P-R and ROC curves of two models on the rows they were fitted to and on others, choose a threshold and say
    why, and give the confusion matrices. A false positive costs twice a false negative: which model is the cheaper?
    The course's fishing data are not public; here positive is a benign tumour, of scikit-learn's breast cancer data, so
    the dear error is to call a malignant one benign.
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
            f"The logistic regression: on test rows a decision costs it {rows[logistic_name][-1]:.3f}, the tree "
            f"{rows[tree_name][-1]:.3f}.",
            f"On training rows the tree looks better: it errs on {rows['tree, training'][3]:.1%} of them, the logistic "
            f"regression on {rows['logistic, training'][3]:.1%}. On test rows its AUC falls from "
            f"{rows['tree, training'][0]:.3f} to {rows['tree, test'][0]:.3f}, that of the logistic regression from "
            f"{rows['logistic, training'][0]:.3f} to {rows['logistic, test'][0]:.3f}: the tree has fitted what its "
            "rows have by chance.",
            f"The threshold is {threshold:.3f} = 2 / (2 + 1): if scores are probabilities, to call a tumour benign "
            "costs 2 (1 - p) on average, and not to costs p. It needs no labels, so it can't fit them; one that is "
            "best on training rows would.",
            f"At costs 2:1 the logistic regression is the cheaper at a prior of benign tumours of {cheaper}.",
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
    """Fit two models to 70 % of the rows, and score these and the others; classes and scores by model and rows."""
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
