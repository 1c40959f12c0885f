"""Executors with another Python or another fastevals, in given folders: the error of `ranking`, and GROUP BY."""

import os
import sys
from typing import Any

import numpy as np

from fastevals import Ranking
from fastevals.scale import RankingSummary, spark
from tests.scale.spark_cluster import session, standalone


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.argv[1]
    own = session("local[1]")
    print(told(own.range(9).selectExpr("id % 2 y", "id / 9 p")))
    own.stop()
    with standalone(1) as master:
        own = session(master, **{"spark.executorEnv.PYTHONPATH": sys.argv[2]})
        run(own)
        own.stop()


def told(df: Any) -> str:
    """Return the error about workers that cannot count rows."""
    try:
        return str(spark.ranking(df, label="y", score="p"))
    except ImportError as error:
        return str(error)


def run(own: Any) -> None:
    from pyspark.sql import functions

    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.2).astype(int)
    p = 1 / (1 + np.exp(2 - 1.5 * y - rng.normal(size=2000)))
    df = own.createDataFrame(list(zip(y.tolist(), p.tolist(), strict=True)), "y int, p double")
    print(told(df))
    cells = df.groupBy(functions.floor(df.p * 2**17)).agg(
        functions.min("p"), functions.max("p"), functions.sum("y"), functions.sum(1 - df.y)
    )
    _, low, high, positives, negatives = zip(*cells.collect(), strict=True)
    auc = RankingSummary.from_cells(low, high, positives, negatives).ranking().roc_auc()
    true = Ranking(y, p).roc_auc()
    print("counted" if getattr(auc, "low", auc) <= true <= getattr(auc, "high", auc) else f"{auc} is not {true}")


if __name__ == "__main__":
    main()
