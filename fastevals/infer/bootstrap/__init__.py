"""The bootstrap, in three steps from a user's arguments to intervals.

1. `subjects.py` reads the subject (a ranking, a matrix, a pair of arrays) and the metrics, and makes a `Sample`. It has
   units to draw with replacement, and computes the metrics of a draw.
2. The sample repeatedly draws as many units as there are, and measures each draw (`samples.py` has the loop). A
   replicate is never a new array of rows; it counts how often each unit was drawn. The unit depends on the rows:

   - *Identical rows form a cell*, and a draw is a multinomial count of the cells. Cells are steps of the ROC staircase
     (`RankingSample`, and `CurveSample` for whole curves) or cells of confusion matrices (`MatrixSample`). Few cells
     are drawn as binomials for many replicates in one call (`draw_tables`). Many cells are drawn by a `CellSampler`, at
     a cost that does not grow with the rows of large cells. If the rows are not available (summaries, files, machines,
     reports of many rows), a few thousand cells are drawn (`few_cells.py`).
   - *Rows with an identity* are drawn by number: rows with weights, clusters or scores of several models, and rows that
     nearly all have a cell of their own because a probability metric distinguishes them. A `UnitSample` counts how
     often each row or cluster was drawn (`row_samples.py`), and a `CellCounter` adds these counts up by cell.
     `ModelsSample` is for rankings, `LabelSample` for confusion matrices, and `TargetSample` for regression.
3. `bootstrap.py` turns values and replicates into an `Estimate` with an interval. The acceleration for BCa comes from
   the sample (`Sample.accelerations`): in closed form (`leave_each_out`), or by measuring again with rows left out.

To compare models, the same rows must be drawn for all models. `compare_rankings` draws rows by number, and so do
reports of up to 20,000 rows (or of more, if the rows fit in memory and in the report's budget). Other reports draw a
few cells for each model separately, and compute differences from sums over rows of each row's contributions to the
metrics of two models (`fastevals.scale.paired`).
"""
