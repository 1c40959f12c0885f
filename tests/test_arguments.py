"""An argument has one name in every public call and on the command line."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fastevals
from fastevals import plots, scale
from fastevals._naming import OPTION_NAMES
from fastevals._options import FORMER_KEYWORDS
from fastevals.scale import parquet
from fastevals.scale.engines.engine import Engine, _ByValue
from fastevals.scale.rounding import LooseCounts, Spare
from fastevals.show.cli import main
from tests.scale.local_frames import LOCAL, LocalFrame

# Names in other libraries and earlier versions for arguments that have one name here.
OTHERS = {
    "resamples", "n_bootstrap", "n_boot", "n_permutations", "seed", "random_state", "generator", "group", "clusters",
    "positive", "pos_class", "confidence", "level", "weight", "weights", "predicted", "bins", "n_threads", "n_workers",
    "verbose",
}  # fmt: skip
RNG = np.random.default_rng(0)
COLUMNS: dict[str, Any] = {
    "y": RNG.integers(0, 2, 60), "s": RNG.random(60), "w": RNG.integers(1, 4, 60), "g": np.arange(60) // 3,
    "p": RNG.integers(0, 2, 60), "q": RNG.integers(0, 2, 60), "t": RNG.random(60),
}  # fmt: skip
SCORES = {"label": "y", "score": "s"}


def public_functions() -> Iterator[tuple[str, Any]]:
    """Yield functions, methods, and constructors of the classes that users create."""
    rooms = [
        (fastevals, fastevals.__all__),
        (plots, plots.__all__),
        (scale, scale.__all__),
        (parquet, ["ranking", "ranking_summary"]),
    ]
    members = [(name, getattr(room, name)) for room, names in rooms for name in names if not name.startswith("_")]
    for name, member in [*members, ("Engine", Engine)]:
        if inspect.isfunction(member):
            yield name, member
        elif inspect.isclass(member) and member.__module__.startswith("fastevals"):
            for method, each in vars(member).items():
                function = getattr(each, "__func__", each)
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}", function


def test_no_call_has_another_name_for_an_argument() -> None:
    found = {}
    for name, function in public_functions():
        parameters = inspect.signature(function).parameters.values()
        if others := OTHERS & {
            each.name for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        }:
            found[name] = others
    of_models = {"DelongResult.contrast": {"weights"}, "ConfusionMatrix.cohen_kappa": {"weights"}}  # of models, errors
    within_groups = {name: {"clusters"} for name in ("compare_groups", "group_differences", "grouped_auc")}
    assert found == of_models | within_groups  # clusters of rows whose groups are segments


FORMER = {
    "report": (fastevals.report, {**SCORES, "resamples": 19, "confidence": 0.9, "seed": 3, "group": "g"}),
    "report of weights": (fastevals.report, {**SCORES, "resamples": 0, "weight": "w"}),
    "compare": (
        fastevals.compare,
        {"label": "y", "pred": ["p", "q"], "resamples": 19, "confidence": 0.9, "seed": 3, "group": "g"},
    ),
    "parquet.ranking": (parquet.ranking, SCORES | {"weight": "w"}),
    "parquet.ranking_summary": (parquet.ranking_summary, SCORES | {"weight": "w"}),
    "ranking": (LOCAL.ranking, SCORES | {"weight": "w"}),
    "ranking_summary": (LOCAL.ranking_summary, SCORES | {"weight": "w"}),
    "summarize": (LOCAL.summarize, SCORES | {"weight": "w"}),
    "confusion_summary": (LOCAL.confusion_summary, {"label": "y", "predicted": "p", "weight": "w"}),
    "target_summary": (LOCAL.target_summary, {"target": "t", "predicted": "s", "weight": "w"}),
    "probability_summary": (LOCAL.probability_summary, SCORES | {"weight": "w"}),
    "group_summary": (LOCAL.group_summary, SCORES | {"by": "g", "weight": "w"}),
    "grouped_auc": (LOCAL.grouped_auc, SCORES | {"by": "g", "weight": "w"}),
    "grouped_metrics": (LOCAL.grouped_metrics, SCORES | {"metrics": "roc_auc", "by": "g", "weight": "w"}),
}


def shown(result: Any) -> Any:
    return repr(result.to_dict() if hasattr(result, "to_dict") else result)


QUICK = {"report", "compare", "parquet.ranking", "confusion_summary"}
CASES = [pytest.param(*each, id=name, marks=[pytest.mark.slow] * (name not in QUICK)) for name, each in FORMER.items()]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("call", "given"), CASES)
def test_a_former_name_is_understood_and_says_the_new_one(call: Any, given: dict[str, Any]) -> None:
    table = pa.table(COLUMNS)
    data = LocalFrame([table[:20], table[20:]]) if "engine" in call.__module__ else table
    former = FORMER_KEYWORDS[call.__qualname__.partition(".")[0]]
    with pytest.warns(FutureWarning) as warned:
        found = call(data, **given)
    old = [name for name in given if name in former]
    assert [str(each.message) for each in warned if each.category is FutureWarning] == [
        f"{name}= of {call.__name__}() is now called {former[name]}=; the old name will be removed in 0.6"
        for name in old
    ]
    assert all(each.filename == __file__ for each in warned if each.category is FutureWarning)
    assert shown(found) == shown(call(data, **{former.get(name, name): value for name, value in given.items()}))
    with pytest.raises(TypeError, match=rf"got both {former[old[0]]}= and its former name {old[0]}="):
        call(data, **given, **{former[old[0]]: given[old[0]]})


def test_every_former_name_is_one() -> None:
    functions = {name.partition(".")[0]: function for name, function in public_functions()}
    for name, former in FORMER_KEYWORDS.items():
        of_class = [each for called, each in public_functions() if called.startswith(f"{name}.")]
        parameters = {each for call in of_class or [functions[name]] for each in inspect.signature(call).parameters}
        assert set(former.values()) <= parameters, name
        assert not former.keys() & parameters, name


@pytest.mark.slow
def test_a_generator_draws_a_number_that_can_be_used_again() -> None:
    asked = {**SCORES, "n_resamples": 19}
    found = fastevals.report(COLUMNS, **asked, rng=np.random.default_rng(1)).to_dict()
    seed = found["intervals"]["seed"]
    assert seed not in (0, 1)
    assert fastevals.report(COLUMNS, **asked, rng=seed).to_dict() == found
    assert fastevals.report(COLUMNS, **asked).to_dict() == fastevals.report(COLUMNS, **asked, rng=None).to_dict()


@pytest.mark.parametrize("command", ["report", "gate", "compare", "summarize", "bias-variance"])
def test_commands_have_the_names_of_the_command_line(command: str, capsys: Any) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert not any(f"--{name.replace('_', '-')} " in text for name in OPTION_NAMES)
    if command in ("report", "gate", "compare"):
        assert all(f"--{name} " in text for name in ("resamples", "confidence", "seed", "group"))
        assert main([command, "--n-resamples=9"]) == main([command, "--rng", "1"]) == 2
        said = capsys.readouterr().err
        assert "'--n-resamples=9', did you mean --resamples?" in said
        assert "'--rng', did you mean --seed?" in said


# Errors ---------------------------------------------------------------------------------------------------------------


def internal_subjects() -> dict[str, Any]:
    """Return results of calls whose class is internal."""
    table = pa.table(COLUMNS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "ROWS_HELD", -1)
        ranking = parquet.ranking(table, **SCORES)
    summary = LOCAL.group_summary(LocalFrame([table]), **SCORES, by="g")
    folds = fastevals.RankingFolds.from_scores(COLUMNS["y"], COLUMNS["s"], np.arange(60) % 2)
    return {
        "ranking of files": ranking,
        "its counts": ranking.counts,
        "rankings of groups": summary.rankings(),
        "by value": _ByValue({"s": {"mon": ranking}}),
        "averaged counts": folds.roc_curve(average="vertical").counts,
        "loose counts": LooseCounts.of(fastevals.Ranking(COLUMNS["y"], COLUMNS["s"]).counts, Spare(1, 0.5), 1),
    }


def wrong_calls(call: Any, subject: Any) -> Iterator[Callable[[], Any]]:
    y, s = COLUMNS["y"], COLUMNS["s"]
    for given in ((y, subject), (subject, s), (y, {"a": subject}), (y, [subject, subject]), ({"a": subject},)):
        yield partial(call, *given)
    for name in {"metrics", "rng", "groups", "sample_weight", "ax", "reference"} & inspect.signature(
        call
    ).parameters.keys():
        yield partial(call, y, s, **{name: subject})


@pytest.mark.filterwarnings("ignore")
def test_errors_name_no_class_that_users_do_not_know() -> None:
    subjects = internal_subjects()
    hidden = {type(each).__qualname__ for each in subjects.values()}
    assert len(hidden) == len(subjects)
    messages: dict[str, str] = {}
    for name, call in public_functions():
        for which, subject in subjects.items() if "." not in name else ():
            for attempt in wrong_calls(call, subject):
                try:
                    attempt()
                except (ValueError, TypeError) as error:
                    messages[str(error)] = f"{name} of {which}"
    assert len(messages) > 300
    assert not [(where, each) for each, where in messages.items() if any(word in each for word in hidden)]
    assert "got a Ranking" in " ".join(messages)
    assert all(type(pickle.loads(pickle.dumps(each))) is type(each) for each in list(subjects.values())[:1])
