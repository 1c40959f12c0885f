"""The options of a comparison, and which can be combined; the command checks them before it imports NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastevals._choices import McNemarMethod, OnInvalid, PostHoc
from fastevals._naming import option
from fastevals.show.commands import refuse
from fastevals.show.options import (
    CONFIDENCE,
    ENCODING,
    GROUP,
    HEADER,
    LABEL,
    ON_MISSING_LABEL,
    POS_LABEL,
    PROGRESS,
    REFERENCE,
    RESAMPLES,
    SEED,
    SEPARATOR,
    own,
)
from fastevals.show.report.options import PROBABILITIES, as_in_report

RESULTS, PREDICTIONS = "results", "predictions"
OF_LABELS = ("pred", "pos_label", "method")  # which go with predicted classes, not with their probabilities


@dataclass(frozen=True, kw_only=True, slots=True)
class CompareOptions:
    """The options of a comparison: each field is an option of the command and an argument of the call."""

    # fmt: off
    dataset: str | Sequence[str] | None = own(
        "D", "column that names data sets; repeat",
        "str or sequence of str, optional: Columns that name data sets, in addition to columns of text.",
        repeats=True, is_column=True, goes_with=RESULTS)
    algorithm: str | Sequence[str] | None = own(
        "A", "column of an algorithm's results (all others)",
        "str or sequence of str, optional: Columns of algorithms' results; by default all others.", repeats=True,
        is_column=True, goes_with=RESULTS)
    by: str | None = own(
        "COLUMN", "compare results for each value of this column",
        "str, optional: Compare results separately for each value of this column.", is_column=True, goes_with=RESULTS)
    lower_is_better: bool = own(
        "", "results are errors or losses",
        "bool: Whether results are errors or losses; estimates have the direction of their metric.",
        default=False, goes_with=RESULTS)
    control: str | None = own(
        "A", "compare only with this algorithm", "str, optional: Compare the other algorithms only with this one.",
        is_column=True, goes_with=RESULTS)
    posthoc: PostHoc | None = own(
        "TEST", "test of pairs, as below: nemenyi; with --control bonferroni-dunn",
        """str, optional: The test of pairs, "nemenyi", "bonferroni-dunn", "holm", "hochberg", "shaffer", "finner",
        "benjamini-hochberg" or "wilcoxon": "nemenyi" by default, or "bonferroni-dunn" with `control`.""",
        choices=PostHoc, goes_with=RESULTS)
    bibtex: bool = own(
        "", "end with the BibTeX of the works cited",
        "bool: Whether the text ends with the BibTeX entries of the works that its paragraph for a paper cites.",
        default=False, goes_with=RESULTS)
    reference: str | None = REFERENCE.field(
        doc="""str, optional: Compare the other models only with this one; differences are another model minus the
        reference. For results, the same as `control`.""")
    label: str | None = LABEL.field(doc="str, optional: Column of the true class; then `data` holds predictions.")
    pred: Sequence[str] | None = own(
        "P", "column of a model's predicted class; repeat for more",
        "sequence of str: Columns of the predicted classes of two or more models.", repeats=True, is_column=True,
        goes_with=PREDICTIONS)
    probabilities: Any = as_in_report(
        "probabilities", PROBABILITIES,
        doc="""sequence of str, or mapping of str to array-like: Probabilities of classes instead of predicted classes,
        one entry per model: a pattern such as ``"forest_*"``, whose ``*`` stands for the class in the names of columns;
        a column of lists; or, by model, arrays of shape (n_samples, n_classes) and frames with a column per class.""")
    classes: Sequence[Any] | None = as_in_report("classes", PROBABILITIES)
    ordered: bool = as_in_report("ordered", PROBABILITIES)
    normalize: bool = as_in_report("normalize", PROBABILITIES)
    pos_label: Any = POS_LABEL.field(
        help="the positive class if there are two; 1 by default",
        doc="label, optional: The positive class if there are two; 1 among 0/1, -1/1 and booleans.", metavar="L",
        goes_with=PREDICTIONS)
    method: McNemarMethod | None = own(
        "", "form of McNemar's test (exact)",
        """{"exact", "mid-p", "corrected", "uncorrected"}, optional: Form of McNemar's test, "exact" by default.""",
        choices=McNemarMethod, goes_with=PREDICTIONS)
    groups: str | None = GROUP.field(goes_with=PREDICTIONS)
    n_resamples: int | None = RESAMPLES.field(
        help="bootstrap replicates (1999)", doc="int, optional: Bootstrap replicates, 1999 by default.",
        goes_with=PREDICTIONS)
    rng: Any = SEED.field(
        doc="int or numpy.random.Generator, optional: Seed of the replicates, 0 by default.", goes_with=PREDICTIONS)
    on_missing_label: OnInvalid = ON_MISSING_LABEL.field(
        "raise", help="rows without a label",
        doc="""{"raise", "drop"}: Whether a row without a true class is an error, or is left out and counted.""",
        goes_with=PREDICTIONS)
    on_invalid: OnInvalid = own(
        "", "rows that lack a model's prediction",
        """{"raise", "drop"}: Whether a row that lacks a cluster, or a model's predicted class or probabilities, is
        an error, or is left out and counted.""", choices=OnInvalid, default="raise", goes_with=PREDICTIONS)
    confidence_level: float = CONFIDENCE.field(
        0.95, help="level of intervals (0.95); tests are at level 1 - C",
        doc="float in (0, 1): Level of intervals; tests are at level 1 - `confidence_level`.")
    separator: str | None = SEPARATOR.field()
    encoding: str | None = ENCODING.field()
    header: bool | None = HEADER.field()
    progress: bool = PROGRESS.field(
        False, doc="bool: Show a progress bar for the bootstrap (needs tqdm).", goes_with=PREDICTIONS)
    # fmt: on


def check_options(data: Any, options: CompareOptions) -> None:
    """Raise unless the options suit the kind of data (results or predictions) and each other."""
    control, posthoc, named = options.control, options.posthoc, "control"
    if options.reference is not None:
        if control is not None:
            raise ValueError(f"{option('control')} and {option('reference')} exclude each other: both name one model")
        control, named = options.reference, "reference"
    if options.label is None and options.probabilities is not None:
        raise ValueError(f"{option('label')} is missing: it names the true classes, for {option('probabilities')}")
    if options.label is None:
        for kind in (PREDICTIONS, PROBABILITIES):
            refuse(options, kind, f", which need {option('label')}; this is a comparison of results")
    else:
        refuse(options, RESULTS, "; this is a comparison of predictions")
    if options.label is not None:
        if data is None:
            raise ValueError(f"{option('label')} goes with a FILE of predictions")
        _check_models(options)
    elif control is not None and posthoc in ("nemenyi", "shaffer"):
        raise ValueError(f"{option('posthoc', posthoc)} compares all pairs; with {option(named)} use another")
    elif control is None and posthoc == "bonferroni-dunn":
        raise ValueError(f"{option('posthoc', posthoc)} needs {option('control')}")


def _check_models(options: CompareOptions) -> None:
    """Raise unless two models or more are named, all by predicted classes or all by probabilities."""
    if options.probabilities is None:
        refuse(options, PROBABILITIES, "; this is a comparison of predicted classes")
        if len(options.pred or []) < 2:
            raise ValueError(
                f"{option('pred')} must be given twice or more: it names the column of a model's predictions"
            )
        return
    for name in OF_LABELS:
        if getattr(options, name) is not None:
            raise ValueError(f"{option(name)} goes with predicted classes, not {option('probabilities')}")
    given = options.probabilities
    if isinstance(given, str) or (isinstance(given, (Sequence, Mapping)) and len(given) < 2):
        raise ValueError(
            f"{option('probabilities')} must be given twice or more: it names the columns of a model's probabilities"
        )
