"""The bootstrap: from what a user passes to intervals.

1. `subjects.py` reads the subject (a ranking, a matrix, a pair of arrays) and the metrics, and makes a `Sample`:
   units that are drawn with replacement, and the metrics of a draw.
2. The sample draws as many units as there are, again and again, and measures each draw (`samples.py` has the loop).
   A replicate is never a new array of rows, but how often each unit was drawn. What a unit is, depends on the rows:

   - *Rows that are alike are a cell*, and a draw is a multinomial count of each cell: steps of the ROC staircase
     (`RankingSample`, and `CurveSample` for whole curves), or cells of confusion matrices (`MatrixSample`). Few cells
     are drawn a binomial each for many replicates at once (`draw_tables`); many by a `CellSampler`, of large ones at a
     cost that doesn't grow with rows. Where the rows are not there (summaries, files, machines, reports of many rows)
     a few thousand cells are drawn (`few_cells.py`).
   - *Rows that have names*, since they have weights, groups, or scores of several models, are drawn by number, as are
     rows that metrics of probabilities all tell apart: a `UnitSample` counts how often each row or group was drawn
     (`row_samples.py`), and a `CellCounter` adds that up to the same cells. `ModelsSample` has rankings, `LabelSample`
     confusion matrices, `TargetSample` targets.
3. `bootstrap.py` makes of values and replicates an `Estimate` with an interval; BCa's acceleration is the sample's
   (`Sample.accelerations`): in closed form (`leave_each_out`), or by the same measurements with rows left out.

Differences of models need the same draw of rows for all. `compare_rankings`, and reports whose rows are in memory and
within their budget, draw rows by number. Reports past the budget, or of files past their memory (of more than 20,000
rows), draw each model's few cells by themselves, and its differences from sums over the rows of what two models owe to
each (`fastevals.scale.paired`).
"""
