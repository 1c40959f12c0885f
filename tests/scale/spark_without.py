"""Executors with another fastevals, in a folder that is given: what `ranking` says, and GROUP BY in its place."""

import sys
from typing import Any

import numpy as np

from fastevals import Ranking
from fastevals.scale import RankingSummary, spark
from tests.scale.test_spark import session, standalone


def main() -> None:
    with standalone(1) as master:
        run(session(master, **{"spark.executorEnv.PYTHONPATH": sys.argv[1]}))


def run(own: Any) -> None:
    from pyspark.sql import functions

    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.2).astype(int)
    p = 1 / (1 + np.exp(2 - 1.5 * y - rng.normal(size=2000)))
    df = own.createDataFrame(list(zip(y.tolist(), p.tolist(), strict=True)), "y int, p double")
    try:
        spark.ranking(df, label="y", score="p")
    except ImportError as error:
        print(error)
    cells = df.groupBy(functions.floor(df.p * 2**17)).agg(
        functions.min("p"), functions.max("p"), functions.sum("y"), functions.sum(1 - df.y)
    )
    _, low, high, positives, negatives = (column.to_numpy() for column in cells.toArrow().columns)
    auc = RankingSummary.from_cells(low, high, positives, negatives).ranking().roc_auc()
    true = Ranking(y, p).roc_auc()
    print("counted" if getattr(auc, "low", auc) <= true <= getattr(auc, "high", auc) else f"{auc} is not {true}")
    own.stop()


if __name__ == "__main__":
    main()
