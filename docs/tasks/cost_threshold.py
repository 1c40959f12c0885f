"""Which threshold costs the least, how sure is that, and for which shares of positives does it hold?

python cost_threshold.py scores.csv --cost-fp 1 --cost-fn 20 --prior 0.02
"""

from __future__ import annotations

import argparse
import csv

from fastevals import Ranking, bootstrap, metric


def main() -> None:
    """Read scores and print the cheapest threshold with its cost and matrix."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", help="CSV with the columns label and score")
    parser.add_argument(
        "--cost-fp", type=float, default=1.0, help="cost of a false alarm"
    )
    parser.add_argument(
        "--cost-fn", type=float, default=1.0, help="cost of a missed positive"
    )
    parser.add_argument(
        "--prior",
        type=float,
        help="share of positives where the model is used; default: the share in the file",
    )
    options = parser.parse_args()

    try:
        with open(options.file, newline="") as file:
            rows = list(csv.DictReader(file))
        ranking = Ranking(
            [int(row["label"]) for row in rows], [float(row["score"]) for row in rows]
        )
        if not ranking.n_positives or not ranking.n_negatives:
            raise ValueError(
                f"{ranking.n_positives} positive and {ranking.n_negatives} negative rows"
            )
    except (OSError, KeyError, TypeError, ValueError) as error:
        parser.error(f"{options.file}: {error!r}")  # exit status 2; 1 is a crash
    costs = {"cost_fp": options.cost_fp, "cost_fn": options.cost_fn}
    prior = (
        options.prior
        if options.prior is not None
        else ranking.n_positives / ranking.n_samples
    )

    cost, threshold = ranking.best_threshold("expected_cost", **costs, prior=prior)
    # The threshold was chosen on the rows it is judged on, so each replicate chooses its own.
    chosen = metric("expected_cost", best="expected_cost", **costs, prior=prior)
    low, high = bootstrap(ranking, chosen, n_resamples=1999, rng=0)[
        str(chosen)
    ].confidence_interval
    holds = ranking.cost_curve().over_prior(**costs).holds(prior)
    without = min(prior * options.cost_fn, (1 - prior) * options.cost_fp)

    print(
        f"threshold {threshold:.4g}: expected cost per row {cost:.4f} [{low:.4f}, {high:.4f}]"
    )
    print(f"cost per row without a model {without:.4f}")
    print(f"cheapest for shares of positives from {holds.low:.3g} to {holds.high:.3g}")
    print(ranking.confusion_at(threshold))


if __name__ == "__main__":
    main()
