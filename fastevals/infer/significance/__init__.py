"""Significance tests that compare learners.

Choose a test by what you have:

============================================  ==============================  ==========================================
you have                                      test                            it assumes
============================================  ==============================  ==========================================
one learner, errors on one test set,          `binomial_error_test`           independent rows; for several runs, p is
a rate to compare with                                                        corrected for testing the worst of them
one learner, error rates of folds or          `error_rate_t_test`             about normal, independent; for splits of
hold-outs, a rate to compare with                                             one data set, pass ``n_train``, ``n_test``
two learners, predictions on one test set     `mcnemar_test`                  independent rows; says nothing about other
                                                                              training sets
two learners, counts of rows each gets        `mcnemar_test_of_table`         independent rows
right and wrong
two learners, any metric on one test set      `permutation_test`,             independent rows; for `permutation_test`,
                                              `delong_test` (AUC)             scores on the same scale
two learners, AUCs on different rows          `delong_test_unpaired`          independent rows, no row in both sets
two learners, any metric on different rows    `bootstrap_unpaired`            independent rows, no row in both sets
two learners, k folds                         `corrected_resampled_t_test`    about normal; allows for shared rows
                                                                              (`paired_t_test` does not: false alarms)
two learners, five times two folds            `five_by_two_cv_f_test`,        about normal
                                              `five_by_two_cv_t_test`
two learners, several data sets               `wilcoxon_test`                 independent data sets, differences
                                                                              symmetric about their median
two learners, data sets with no common scale  `sign_test`                     independent data sets
two learners, one loss per row or data set    `paired_permutation_test`       differences symmetric about 0
many learners, several data sets              `friedman_test`, then           independent data sets; mean ranks depend
                                              `nemenyi_test` (all pairs) or   on which algorithms are compared
                                              `bonferroni_dunn_test` (with a
                                              control); with more power:
                                              `rank_comparison_test` (Holm),
                                              `pairwise_tests` (Wilcoxon)
many learners, several data sets, some        `skillings_mack_test`           independent data sets; results missing for
results missing                                                               reasons other than their quality
two learners, are they equivalent?            `equivalence_test`              as for the paired test of each side
many learners, predictions on one test set    `cochran_q_test`, then          independent rows
                                              `pairwise_mcnemar_tests`
many learners, any metric on one test set,    `compare_predictions`,          independent rows, or clusters of rows
with intervals                                `compare_rankings`
============================================  ==============================  ==========================================

Every test returns a `SignificanceResult`. Tests of many pairs return a sequence of results, with p-values
adjusted for the number of pairs (`adjust_pvalues`). A test that does not reject is no evidence of equality: look at the
interval.
"""
