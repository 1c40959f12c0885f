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
    scalars, texts, tags = _parts(report, prefix)
    if run_id is None:
        run_id = (mlflow.active_run() or mlflow.start_run()).info.run_id
    _log(mlflow, run_id, scalars, texts, tags, artifact_path, step)
    return scalars


def _log(
    mlflow: Any,
    run_id: str,
    scalars: dict[str, float],
    texts: dict[str, str],
    tags: dict[str, str],
    folder: str,
    step: int | None = None,
) -> None:
    """Log metrics, artifacts and tags to a run."""
    names = [*scalars]
    for first in range(0, len(names), METRICS_PER_CALL):
        chunk = {name: scalars[name] for name in names[first : first + METRICS_PER_CALL]}
        mlflow.log_metrics(chunk, step=step, run_id=run_id)
    for name, text in texts.items():
        mlflow.log_text(text, f"{folder}/{name}", run_id=run_id)
    client = mlflow.MlflowClient()
    for name, value in tags.items():
        client.set_tag(run_id, name, value)


def _parts(report: Any, prefix: str) -> tuple[dict[str, float], dict[str, str], dict[str, str]]:
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
    are scores of the positive class if they are floats that are not all among the labels, and else classes.

    `evaluator_config` takes the options of `fastevals.report`, such as ``n_resamples=0``; an option such as
    ``by="region"`` names a column of the features. It also takes `metric_prefix` ("fastevals/" by default, so that
    metrics do not replace those of other evaluators), `artifact_path`, and MLflow's `pos_label`, `label_list` and
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
        if model is None:
            predicted, classes = _predictions_of_data(dataset), None
        else:
            predicted, classes = _predictions_of_model(model, dataset.features_data, predictions, model_type)
        data, options = _arguments(model_type, dataset, predicted, classes, options)
        report = fastevals.report(data, **options)
        scalars, texts, tags = _parts(report, prefix)
        _log(mlflow, run_id, scalars, texts, tags, folder)
        folder = f"{mlflow.get_run(run_id).info.artifact_uri}/{folder}"
        artifacts = {
            f"{prefix}report.html": TextEvaluationArtifact(f"{folder}/report.html", texts["report.html"]),
            f"{prefix}report.json": JsonEvaluationArtifact(f"{folder}/report.json", report.to_dict()),
        }
        return mlflow.models.EvaluationResult(metrics=scalars, artifacts=artifacts)


def _predictions_of_data(dataset: Any) -> Any:
    """Return the column of predictions; one of lists as a matrix."""
    import numpy as np

    from fastevals._options import listed

    predicted = dataset.predictions_data
    if predicted is None:
        raise ValueError("predictions must name a column of data, because no model is given")
    if predicted.dtype != object:
        return predicted
    rows = predicted.tolist()
    lengths = {np.shape(row) for row in rows}
    if len(lengths) > 1:
        raise ValueError(f"predictions must hold values, or lists of equal lengths, got shapes {listed(lengths)}")
    return np.array(rows)


def _predictions_of_model(model: Any, features: Any, column: str | None, model_type: str) -> tuple[Any, Any]:
    """Return a model's predictions and, if they are its class probabilities, the classes of the columns."""
    import numpy as np

    raw: Any = getattr(model, "_model_impl", None)
    raw = raw.get_raw_model() if hasattr(raw, "get_raw_model") else getattr(raw, "sklearn_model", raw)
    if model_type == "classifier" and hasattr(raw, "predict_proba") and hasattr(raw, "classes_"):
        return np.asarray(raw.predict_proba(features)), raw.classes_
    found = model.predict(features)
    found = np.asarray(found[column] if column is not None and hasattr(found, "columns") else found)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found, None


def _arguments(
    model_type: str, dataset: Any, predicted: Any, classes: Any, options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns and the options of the report."""
    import numpy as np

    from fastevals._distinct import sorted_unique
    from fastevals._options import listed, show

    truth, features = dataset.labels_data, dataset.features_data
    target, name = dataset.targets_name or "target", dataset.predictions_name or "prediction"
    labels, weights = options.pop("label_list", None), options.pop("sample_weights", None)
    columns = {each: features[each].to_numpy() for each in _named(options) if each in getattr(features, "columns", ())}
    if weights is not None:
        columns["sample_weights"], options["sample_weight"] = weights, "sample_weights"
    columns |= {target: truth, name: predicted}
    if model_type == "regressor":
        return columns, options | {"target": target, "pred": name}
    options["label"] = target
    if predicted.ndim == 2:
        if classes is None:
            classes = sorted_unique(truth) if labels is None else np.asarray(labels)
        if len(classes) != predicted.shape[1]:
            raise ValueError(
                f"label_list must name the class of each of {predicted.shape[1]} columns of predictions, got "
                f"{len(classes)} classes"
            )
        if len(classes) > 2:
            return columns, options | {"probabilities": name, "classes": classes.tolist()}
        positive = options.setdefault("pos_label", classes.tolist()[1])
        if positive not in classes.tolist():
            raise ValueError(f"pos_label must be one of {listed(classes.tolist())}, got {show(positive)}")
        columns[name] = predicted[:, classes.tolist().index(positive)]
    elif predicted.dtype.kind != "f" or np.isin(predicted, truth if labels is None else labels).all():
        return columns, options | {"pred": name}
    if not options.keys() & {"threshold", "best"}:
        options["threshold"] = THRESHOLD
    return columns, options | {"score": name}


def _named(options: dict[str, Any]) -> set[str]:
    """Return texts in options, which may name columns."""
    values = [each for value in options.values() for each in (value if isinstance(value, (list, tuple)) else [value])]
    return {each for each in values if isinstance(each, str)}
