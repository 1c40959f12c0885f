"""Write `bayes.json`: posteriors by baycomp 1.0.3 (Stan's sampler by pystan 3.10 for the models with chains).

Run with Python 3.11 and ``pip install baycomp pystan`` in an empty folder, since baycomp leaves files there::

    python /path/to/tests/data/bayes_figures.py
"""

import json
from pathlib import Path

import numpy as np
from baycomp import multiple, single

HERE = Path(__file__).parent


def folds(seed, n_datasets, n_repeats, n_folds, spread, mean, noise, outlier=0.0):
    """Return made-up accuracies of two learners, each of shape (n_datasets, n_repeats * n_folds)."""
    rng = np.random.default_rng(seed)
    n = n_repeats * n_folds
    a = rng.normal(0.8, 0.02, (n_datasets, n))
    differences = rng.normal(mean, spread, (n_datasets, 1)) + rng.normal(0, noise, (n_datasets, 1))
    differences = differences + rng.normal(0, noise, (n_datasets, n)) * rng.uniform(0.5, 2, (n_datasets, 1))
    differences[0] += outlier
    return (a + differences).round(4), a.round(4)


CASES = {
    "different data sets": (folds(1, 12, 2, 10, 0.02, 0.015, 0.02), 2, 0.01),
    "alike data sets": (folds(2, 8, 1, 10, 0.0, 0.0, 0.01), 1, 0.01),
    "an outlier": (folds(3, 10, 1, 10, 0.01, 0.012, 0.015, 0.4), 1, 0.01),
}


def hierarchical(a, b, rope, runs):
    """Return baycomp's figures for the first learner, from 100,000 draws."""
    kept, cdf = [], multiple.stats.t.cdf

    def record(x, df, mean, scale):  # called twice with each draw's parameters
        kept.append((mean, scale, df))
        return 0.0

    multiple.stats.t.cdf = record
    try:  # baycomp's difference is its second argument minus its first
        multiple.HierarchicalTest.sample(b, a, rope, runs=runs, nsamples=25_000, chains=4, random_state=1)
    finally:
        multiple.stats.t.cdf = cdf
    unit = np.mean(np.std(a - b, axis=1))
    mean, spread, df = np.array(kept[::2]).T * np.array([[unit], [unit], [1.0]])
    above, below = cdf((mean - rope) / spread, df), cdf((-rope - mean) / spread, df)
    shares = np.stack([above, 1 - above - below, below], axis=1)
    levels = [0.025, 0.25, 0.5, 0.75, 0.975]
    named = {"mean": mean, "spread": spread, "df": df}
    return {
        "probabilities": [float(each) for each in multiple.Posterior(shares).probs()],
        "shares": shares.mean(axis=0).tolist(),
        "levels": levels,
        "quantiles": {name: np.quantile(values, levels).tolist() for name, values in named.items()},
    }


def main():
    """Compute and write all figures."""
    Path("last-sample.pickle").unlink(missing_ok=True)
    found = {"hierarchical": [], "signed-rank": [], "correlated t": []}
    for name, ((a, b), runs, rope) in CASES.items():
        case = {"name": name, "a": a.tolist(), "b": b.tolist(), "n_folds": a.shape[1] // runs, "rope": rope}
        Path("last-sample.pickle").unlink(missing_ok=True)
        found["hierarchical"].append(case | hierarchical(a, b, rope, runs))
        for each in (rope, 0.0):
            posterior = single.CorrelatedTTest(b[0], a[0], each, runs)
            figures = {"probabilities": [float(p) for p in posterior.probs()[::-1]], "df": posterior.df}
            figures |= {"mean": float(posterior.mean), "scale": float(np.sqrt(posterior.var))}
            found["correlated t"].append({"of": name, "rope": each} | figures)
            sample = multiple.SignedRankTest.sample(
                b.mean(axis=1), a.mean(axis=1), each, nsamples=200_000, random_state=1
            )
            probabilities = [float(p) for p in multiple.Posterior(sample).probs(each > 0)[::-1]]
            shares = sample.mean(axis=0)[::-1].tolist()
            found["signed-rank"].append({"of": name, "rope": each, "probabilities": probabilities, "shares": shares})
    (HERE / "bayes.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
