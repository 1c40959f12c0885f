"""Tests between learners: from a measured difference to a decision.

Which test fits which situation:

=========================================  ==============================  ============================================
you have                                   test                            it assumes
=========================================  ==============================  ============================================
one learner, errors on one test set,       `binomial_error_test`           independent rows; given several runs, each
a rate to compare with                                                     on its own rows, it corrects for the worst
one learner, error rates of folds or       `error_rate_t_test`             independent, about normal; with ``n_train``
hold-outs, a rate                                                          and ``n_test`` for splits of one data set
two, predictions on one test set           `mcnemar_test`                  independent rows; says nothing about other
                                                                           training sets
two, how many rows each gets right         `mcnemar_test_of_table`         independent rows
two, any metric on one test set            `permutation_test`,             independent rows; scores on one scale
                                           `delong_test` (AUC)
two, AUCs on different rows                `delong_test_unpaired`          independent rows, none in both
two, any metric on different rows          `bootstrap_unpaired`            independent rows, none in both
two, k folds                               `corrected_resampled_t_test`    about normal; allows for shared training
                                                                           rows (`paired_t_test` doesn't: too many
                                                                           false alarms)
two, five times two folds                  `five_by_two_cv_f_test`,        about normal
                                           `five_by_two_cv_t_test`
two, several data sets                     `wilcoxon_test`                 independent data sets, differences that are
                                                                           symmetric about their median
two, data sets without a common scale      `sign_test`                     independent data sets
two, losses of each row or data set        `paired_permutation_test`       differences symmetric about 0
many, several data sets                    `friedman_test`, then           independent data sets; mean ranks depend
                                           `nemenyi_test`, or with a       on which algorithms are compared
                                           control
                                           `bonferroni_dunn_test`; more
                                           powerful:
                                           `rank_comparison_test` (Holm)
                                           and `pairwise_tests` (Wilcoxon)
many, predictions on one test set          `cochran_q_test`, then          independent rows
                                           `pairwise_mcnemar_tests`
many, any metric on one test set,          `compare_predictions`,          independent rows, or clusters of rows
with intervals                             `compare_rankings`
=========================================  ==============================  ============================================

Every test returns a `SignificanceResult`. Tests of many pairs return a sequence of them, with p-values adjusted for
their number (`adjust_pvalues`). Failing to reject is no evidence of equality: look at the interval.
"""
