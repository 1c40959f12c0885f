"""The bootstrap: from a user's arguments to intervals.

1. `subjects.py` reads the subject (a ranking, a matrix, a pair of arrays) and the metrics, and makes a `Sample`:
   units that are drawn with replacement, and the metrics of a draw.
2. The sample repeatedly draws as many units as there are, and measures each draw (`samples.py` has the loop). A
   replicate is never a new array of rows, but how often each unit was drawn. The unit depends on the rows:

   - *Identical rows form a cell*, and a draw is a multinomial count of the cells: steps of the ROC staircase
     (`RankingSample`, and `CurveSample` for whole curves), or cells of confusion matrices (`MatrixSample`). Few cells
     are drawn as binomials for many replicates in one call (`draw_tables`); many cells by a `CellSampler`, at a cost
     that does not grow with the rows of large cells. If the rows are not available (summaries, files, machines, reports
     of many rows), a few thousand cells are drawn (`few_cells.py`).
   - *Rows with an identity*, because they have weights, clusters, or scores of several models, are drawn by number, as
     are rows that probability metrics all distinguish. A `UnitSample` counts how often each row or cluster was drawn
     (`row_samples.py`), and a `CellCounter` adds these counts up to the same cells. `ModelsSample` has rankings,
     `LabelSample` confusion matrices, `TargetSample` targets.
3. `bootstrap.py` turns values and replicates into an `Estimate` with an interval. The acceleration for BCa comes from
   the sample (`Sample.accelerations`): in closed form (`leave_each_out`), or by measuring with rows left out.

Differences of models need the same draw of rows for all models. `compare_rankings`, and reports whose rows fit in
memory and in their budget, draw rows by number. Reports beyond the budget, or of files beyond their memory (more than
20,000 rows), draw the few cells of each model separately, and its differences from sums over rows of what each row
contributes to two models (`fastevals.scale.paired`).
"""
