"""Results in MLflow: `log_report` logs one to a run, and `mlflow.models.evaluate(evaluators="fastevals")` makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastevals.document.result import Result

METRICS_PER_CALL = 1000  # MLflow's limit
NAME = "fastevals.integrations.mlflow"
FOLDER = "fastevals"  # of artifacts
PREFIX = "fastevals/"  # of the evaluator's metrics, so that they do not replace those of other evaluators
THRESHOLD = 0.5  # at which classifiers decide
# Settings of MLflow's own evaluators, which a flat `evaluator_config` hands to all.
NOT_OURS = {
    "average", "col_mapping", "eval_results_path", "eval_results_mode", "explainability_algorithm",
    "explainability_kernel_link", "explainability_nsamples", "log_explainer", "log_metrics_with_dataset_info",
    "log_model_explainability", "max_classes_for_multiclass_roc_pr", "max_num_classes_threshold_logging_roc_pr_curve",
}  # fmt: skip


def log_report(
    report: Result, *, prefix: str = "", run_id: str | None = None, step: int | None = None, artifact_path: str = FOLDER
) -> dict[str, float]:
    """Log a result to a run of MLflow: its numbers, its page and its JSON; of a gate also the verdict and the rules.

    Parameters
    ----------
    report : Report, GateResult or any other result of fastevals
        What to log.
    prefix : str
        What the names of metrics and tags begin with, such as ``"test/"``.
    run_id : str, optional
        The run; by default the active run or, without one, a new run, which stays active.
    step : int, optional
        Step of the metrics.
    artifact_path : str
        Folder of the artifacts ``report.html``, ``report.json`` and, of a gate, ``rules.csv``.

    Returns
    -------
    dict of str to float
        The metrics that were logged, by name: `report.to_scalars(prefix)`.

    Raises
    ------
    ValueError
        If `report` is not a result, or if `prefix` has characters that MLflow refuses.
    ImportError
        If MLflow is not installed or too old, or if Jinja2, which writes the page, is not installed.

    Notes
    -----
    The verdict of a gate is the tag ``gate``, and the outcome of each rule a tag such as ``gate.roc_auc_at_least_0.8``:
    "pass", "fail" or "undecided".

    Examples
    --------
    With MLflow installed::

        with mlflow.start_run():
            log_report(fastevals.report("scores.parquet", label="y", score="p"))
    """
    mlflow = _load()
    scalars, texts, tags = report_parts(report, prefix)
    if run_id is None:
        run_id = (mlflow.active_run() or mlflow.start_run()).info.run_id
    names = [*scalars]
    for first in range(0, len(names), METRICS_PER_CALL):
        chunk = {name: scalars[name] for name in names[first : first + METRICS_PER_CALL]}
        mlflow.log_metrics(chunk, step=step, run_id=run_id)
    for name, text in texts.items():
        mlflow.log_text(text, f"{artifact_path}/{name}", run_id=run_id)
    client = mlflow.MlflowClient()
    for name, value in tags.items():
        client.set_tag(run_id, name, value)
    return scalars


def report_parts(report: Any, prefix: str) -> tuple[dict[str, float], dict[str, str], dict[str, str]]:
    """Return what is logged of a result: metrics, texts of artifacts by file name, and tags."""
    from fastevals._options import show
    from fastevals.document.result import Result
    from fastevals.document.scalars import legal
    from fastevals.show.gate.document import GateResult

    if not isinstance(report, Result):
        raise ValueError(
            f"report must be a result, such as that of fastevals.report or fastevals.gate, got {show(report)}"
        )
    texts = {"report.html": report.to_html(), "report.json": report.to_json()}
    tags = {}
    if isinstance(report, GateResult):
        texts["rules.csv"] = report.to_frame("pandas").to_csv(index=False)
        tags = {f"{prefix}gate.{legal(each.rule.text)}": str(each.outcome) for each in report.results}
        tags[f"{prefix}gate"] = report.outcome
    return report.to_scalars(prefix), texts, tags


def _load() -> Any:
    from fastevals.integrations._packages import load

    return load("mlflow", NAME)


class ReportEvaluator:
    """Evaluator of `mlflow.models.evaluate` for classifiers and regressors; MLflow finds it by its entry point.

    It logs a report, with intervals, as `log_report` does. Class probabilities are used if the model has
    `predict_proba`, predicts a matrix, or if the column of predictions holds lists. Other predictions of a classifier
    are classes if each is among the labels, and scores of the positive class if not.

    `evaluator_config` takes the options of `fastevals.report`, such as ``n_resamples=0``; columns, as in
    ``by="region"``, are those of the features. It also takes `metric_prefix` ("fastevals/" by default, so that metrics
    do not replace those of other evaluators), `artifact_path`, and MLflow's `pos_label`, `label_list` and
    `sample_weights`.
    """

    def can_evaluate(self, *, model_type: str, **_: Any) -> bool:
        """Return whether a model is a classifier or a regressor."""
        return model_type in ("classifier", "regressor")

    def evaluate(
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: dict[str, Any] | None = None,
        model: Any = None,
        predictions: str | None = None,
        **_: Any,
    ) -> Any:
        """Log a report on the predictions to the run, and return MLflow's `EvaluationResult`."""
        mlflow = _load()
        from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact, TextEvaluationArtifact

        import fastevals

        options = {name: value for name, value in (evaluator_config or {}).items() if name not in NOT_OURS}
        prefix, folder = options.pop("metric_prefix", PREFIX), options.pop("artifact_path", FOLDER)
        truth, predicted, classes = _predictions(dataset, model, predictions)
        data, options = _arguments(model_type, dataset, truth, predicted, classes, options)
        report = fastevals.report(data, **options)
        scalars = log_report(report, prefix=prefix, run_id=run_id, artifact_path=folder)
        folder = f"{mlflow.get_run(run_id).info.artifact_uri}/{folder}"
        artifacts = {
            f"{prefix}report.html": TextEvaluationArtifact(f"{folder}/report.html", report.to_html()),
            f"{prefix}report.json": JsonEvaluationArtifact(f"{folder}/report.json", report.to_dict()),
        }
        return mlflow.models.EvaluationResult(metrics=scalars, artifacts=artifacts)


def _predictions(dataset: Any, model: Any, column: str | None) -> tuple[Any, Any, Any]:
    """Return targets, predictions and, for class probabilities of a model, the classes of their columns."""
    import numpy as np

    truth, features = dataset.labels_data, dataset.features_data
    if model is None:
        predicted = dataset.predictions_data
        if predicted is None:
            raise ValueError("predictions must name a column of data, because no model is given")
        first: Any = predicted[0] if len(predicted) else None
        is_of_lists = predicted.dtype == object and not isinstance(first, str) and np.ndim(first) == 1
        return truth, np.array(predicted.tolist()) if is_of_lists else predicted, None
    wrapper: Any = getattr(model, "_model_impl", None)
    raw: Any = (
        wrapper.get_raw_model() if hasattr(wrapper, "get_raw_model") else getattr(wrapper, "sklearn_model", wrapper)
    )
    if hasattr(raw, "predict_proba") and hasattr(raw, "classes_"):
        return truth, np.asarray(raw.predict_proba(features)), raw.classes_
    found = model.predict(features)
    if column is not None and hasattr(found, "columns"):
        found = found[column]
    found = np.asarray(found)
    return truth, found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found, None


def _arguments(
    model_type: str, dataset: Any, truth: Any, predicted: Any, classes: Any, options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns and the options of the report."""
    import numpy as np

    target, name = dataset.targets_name or "target", dataset.predictions_name or "prediction"
    labels = options.pop("label_list", None)
    columns: dict[str, Any] = {}
    if options.get("sample_weights") is not None:
        columns["sample_weights"] = options["sample_weights"]
        options["sample_weight"] = "sample_weights"
    options.pop("sample_weights", None)
    named = {
        each
        for value in options.values()
        for each in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(each, str)
    }
    features = dataset.features_data
    columns |= {each: features[each].to_numpy() for each in getattr(features, "columns", ()) if each in named}
    if model_type == "regressor":
        options |= {"target": target, "pred": name}
        return {**columns, target: truth, name: predicted}, options
    options["label"] = target
    if predicted.ndim == 2:
        if classes is None:
            classes = np.unique(truth) if labels is None else np.asarray(labels)
        if len(classes) != predicted.shape[1]:
            raise ValueError(
                f"label_list must name the class of each of {predicted.shape[1]} columns of predictions, got "
                f"{len(classes)} classes"
            )
        if len(classes) > 2:
            options |= {"probabilities": name, "classes": classes.tolist()}
            return {**columns, target: truth, name: predicted}, options
        positive = options.setdefault("pos_label", classes.tolist()[1])
        predicted = predicted[:, classes.tolist().index(positive)]
    elif np.isin(predicted, truth if labels is None else labels).all():
        options["pred"] = name
        return {**columns, target: truth, name: predicted}, options
    options["score"] = name
    if not options.keys() & {"threshold", "best"}:
        options["threshold"] = THRESHOLD
    return {**columns, target: truth, name: predicted}, options
