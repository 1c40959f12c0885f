"""`fastevals gate --nightly`: records of nights, their state file, and decisions by all nights."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

import fastevals
from fastevals.infer.gate.nights import nights_evidence
from fastevals.infer.sequential.state import read_state
from fastevals.show.cli import main

RULES = ["roc_auc >= 0.7", "recall at threshold=0.5 >= 0.5", "roc_auc not worse than old by 0.05"]
ROLES = {"label": "y", "score": ["new", "old"], "reference": "old", "n_resamples": 199}


def night(seed, n=600, shift=1.5):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    latent = shift * y + rng.normal(size=n) - shift / 2
    scores = {name: 1 / (1 + np.exp(-latent - 0.4 * rng.normal(size=n))) for name in ("new", "old")}
    return {"y": y.astype(int), **scores}


def write(path, columns):
    rows = zip(*(np.asarray(each).tolist() for each in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def state(tmp_path):
    return tmp_path / "state.json"


def ask(state, columns, name, rules=RULES, **options):
    return fastevals.gate(columns, rules, **{**ROLES, "nightly": state, "night": name, **options})


def asked(state, seeds, **options):
    for seed in seeds:
        found = ask(state, night(seed), f"night {seed}", **options)
    return found


# Records and decisions ---------------------------------------------------------------------------------------------


def test_rules_are_decided_by_all_nights(state):
    found = asked(state, range(3))
    assert found.nights == (str(state), "night 2", "added", 3, 0, None)
    aucs, recalls, differences = [], [], []
    for seed in range(3):
        columns = night(seed)
        y = columns["y"] == 1
        values, covariance = fastevals.delong(y, [columns["new"], columns["old"]])
        common = f"night {seed}", values[0] - values[1], np.array([1, -1]) @ covariance @ [1, -1], y.sum(), (~y).sum()
        differences.append(fastevals.NightRecord.of_auc(*common))
        aucs.append(fastevals.NightRecord.of_auc(common[0], values[0], covariance[0, 0], *common[3:]))
        recalls.append(fastevals.NightRecord.of_rate(common[0], np.sum(columns["new"][y] >= 0.5), y.sum()))
    for k, (records, bounds) in enumerate([(aucs, (0, 1)), (recalls, (0, 1)), (differences, (-1, 1))]):
        expected = fastevals.confidence_sequence(records, bounds=bounds)
        judged = found.results[k].worst
        decision = judged.decision
        assert decision.value == pytest.approx(expected.value)
        assert decision.outcome == "pass"
        assert decision.interval == pytest.approx((expected.low(0.95), expected.high(0.95)))
        assert (judged.n_nights, judged.sizes.n_samples) == (3, 1800)
        alone = fastevals.gate(night(2), RULES[k], **ROLES)
        assert judged.tonight.interval == pytest.approx(alone.results[0].worst.decision.interval)
        assert judged.tonight.value != decision.value


def test_the_text_says_how_many_nights_and_what_tonight_says_alone(state):
    ask(state, night(0), "monday")
    text = ask(state, night(1), "tuesday").to_text()
    flat = " ".join(text.replace("- :", "").split())
    assert f"2 in {state}; 'tuesday' is added".replace(" ", "") in flat.replace(" ", "")
    assert "2 nights, 1,200 rows; tonight alone: 0." in flat
    assert "for a single look." in flat
    assert "they hold at every nightly look, for the mean over nights" in flat
    assert "confidence sequence (normal mixture)" in flat


def test_the_receipt_has_nights_and_tonight(state):
    values = asked(state, range(2)).to_dict()
    assert values["nightly"] == {
        "state": str(state), "night": "night 1", "change": "added", "n_nights": 2, "n_empty": 0, "same_as": None
    }  # fmt: skip
    judged = values["rules"][0]["judged"][0]
    assert (judged["n_nights"], judged["n_samples"]) == (2, 1200)
    assert judged["tonight"]["interval_level"] == 0.9
    assert judged["tonight"]["method"] == "score and DeLong"
    once = fastevals.gate(night(0), RULES, **ROLES).to_dict()
    assert once["nightly"] is None
    assert once["rules"][0]["judged"][0]["tonight"] is None
    json.dumps(values, allow_nan=False)


def test_too_few_rows_are_undecided_until_there_are_enough(state):
    first = ask(state, night(0, 200), "a", rules="roc_auc >= 0.6", reference=None, model="new")
    decision = first.results[0].worst.decision
    assert (first.outcome, first.exit_status) == ("undecided", 4)
    assert decision.reason.startswith("there is no interval yet: ")
    assert decision.reason.endswith(" positive rows, and 200 are needed")
    assert ask(state, night(1, 600), "b", rules="roc_auc >= 0.6", reference=None, model="new").outcome == "pass"


def test_a_relative_margin_has_a_record_for_each_factor(state):
    rules = ["roc_auc equivalent to old within 5%", "roc_auc not worse than old by 5%"]
    found = asked(state, range(4), rules=rules)
    assert sorted(read_state(state, None).rules) == ["roc_auc - 0.95 x old", "roc_auc - 1.05 x old"]
    assert found.outcome == "pass"


def test_predicted_classes_and_numbers(state, tmp_path):
    columns = night(0)
    labels = {"y": columns["y"], "new": (columns["new"] > 0.5).astype(int)}
    options = {"nightly": state, "night": "a", "label": "y", "n_resamples": 199}
    found = fastevals.gate(labels, "accuracy >= 0.6", pred="new", **options)
    right = int(np.sum(labels["new"] == labels["y"]))
    (record,) = read_state(state, None).rules["accuracy"]
    assert (record.successes, record.trials) == (right, 600)
    assert found.outcome == "pass"
    numbers = {"y": columns["new"] * 9, "new": columns["old"] * 9}
    found = fastevals.gate(
        numbers, "mae <= 2", target="y", pred="new", **{**options, "nightly": tmp_path / "b", "label": None}
    )
    errors = np.abs(numbers["y"] - numbers["new"])
    (record,) = read_state(tmp_path / "b", None).rules["mean_absolute_error"]
    assert record.value == pytest.approx(errors.mean())
    assert record.variance == pytest.approx(errors.var(ddof=1) / 600, rel=0.3)  # 199 replicates
    assert found.results[0].worst.decision.caution.startswith("with fewer than 1,000 rows")


def test_a_receipt_is_a_champion_whose_error_is_counted_at_every_look(state, tmp_path):
    receipt = tmp_path / "champion.json"
    receipt.write_text(json.dumps(fastevals.gate(night(99), "roc_auc >= 0.5", **ROLES).to_dict()))
    options = {"rules": "roc_auc not worse than champion by 0.05", "reference": str(receipt), "score": "new"}
    found = asked(state, range(3), **options)
    pinned = json.loads(receipt.read_text())["pinned"]["roc_auc"]
    own = nights_evidence(read_state(state, None).rules["roc_auc"], fastevals.metric("roc_auc"))
    decision = found.results[0].worst.decision
    assert decision.value == pytest.approx(own.value - pinned["value"])
    reach = NormalDist().inv_cdf(0.975) * pinned["standard_error"]
    assert decision.interval.low == pytest.approx(own.interval(0.975).low - pinned["value"] - reach)
    assert decision.interval.high == pytest.approx(own.interval(0.975).high - pinned["value"] + reach)
    receipt.write_text(receipt.read_text() + " ")
    with pytest.raises(ValueError, match=r"has 3 nights with the reference_sha256"):
        ask(state, night(7), "later", **options)


def test_counts_are_as_good_as_rows(tmp_path):
    for k in range(2):
        write(tmp_path / f"{k}.csv", night(k))
        main(["summarize", str(tmp_path / f"{k}.csv"), "--label", "y", "--score", "new", "--at", "0.5",
              "--out", str(tmp_path / f"{k}.fe")])  # fmt: skip
    found = {}
    for kind in ("csv", "fe"):
        for k in range(2):
            options = {"label": "y", "score": "new"} if kind == "csv" else {}
            found[kind] = fastevals.gate(
                str(tmp_path / f"{k}.{kind}"), RULES[:2], nightly=tmp_path / kind, n_resamples=999, **options
            )
    for one, two in zip(found["csv"].results, found["fe"].results, strict=True):
        assert one.worst.decision.value == pytest.approx(two.worst.decision.value)
        assert one.worst.decision.interval == pytest.approx(two.worst.decision.interval, abs=0.005)
    assert found["fe"].results[1].worst.decision.interval == found["csv"].results[1].worst.decision.interval


# The state file ----------------------------------------------------------------------------------------------------


def test_the_same_night_twice_changes_nothing(state):
    asked(state, range(2))
    before = state.read_bytes()
    found = ask(state, night(1), "night 1")
    assert (found.nights.change, state.read_bytes()) == ("unchanged", before)
    again = ask(state, night(1), "other name")
    assert (again.nights.change, again.nights.same_as, state.read_bytes()) == ("repeated", "night 1", before)
    assert "recorded as night 'night 1' already" in " ".join(again.cautions)


def test_a_rewritten_file_replaces_its_record(tmp_path, state):
    file = write(tmp_path / "monday.csv", night(0))
    options = {**ROLES, "nightly": state}
    fastevals.gate(str(file), RULES, **options)
    write(file, night(1))
    found = fastevals.gate(str(file), RULES, **options)
    assert (found.nights.change, found.nights.night, found.nights.n_nights) == ("replaced", "monday.csv", 1)
    assert "give it another name: night" in " ".join(found.cautions)
    fresh = fastevals.gate(str(file), RULES, **{**options, "nightly": tmp_path / "fresh.json"})
    assert found.results[0].worst.decision == fresh.results[0].worst.decision


def test_empty_nights_are_counted_and_change_nothing(tmp_path, state, capsys):
    arguments = ["--label", "y", "--score", "new", "--score", "old", "--reference", "old", "--nightly", str(state)]
    arguments += [part for rule in RULES for part in ("--rule", rule)]
    empty = tmp_path / "tuesday.csv"
    empty.write_text("y,new,old\n")
    assert main(["gate", str(empty), *arguments]) == 2  # the first night tells what the state is about
    assert not state.exists()
    assert main(["gate", str(write(tmp_path / "monday.csv", night(0))), *arguments]) == 0
    capsys.readouterr()
    assert main(["gate", str(empty), *arguments, "--format", "json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["nightly"]["n_nights"], values["nightly"]["n_empty"]) == (2, 1)
    assert values["cautions"][0].endswith("has no rows: the night is counted and changes nothing.")
    judged = values["rules"][0]["judged"][0]
    assert (judged["n_nights"], judged["n_samples"], judged["tonight"]["value"]) == (1, 600, None)
    assert judged["tonight"]["reason"] == "there are no rows"
    write(empty, night(1))  # its rows arrive late
    assert main(["gate", str(empty), *arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["nightly"] == {
        "state": str(state), "night": "tuesday.csv", "change": "replaced", "n_nights": 2, "n_empty": 0, "same_as": None
    }  # fmt: skip


def test_a_night_with_one_class_changes_only_what_it_measures(state):
    asked(state, range(2))
    columns = night(5, 50)
    columns["y"][:] = 0
    found = ask(state, columns, "no positives")
    assert [result.worst.n_nights for result in found.results] == [2, 2, 2]
    specificity = ask(state.with_name("s"), columns, "a", rules="specificity at threshold=0.5 >= 0.1", reference=None,
                      model="new")  # fmt: skip
    assert specificity.results[0].worst.n_nights == 1


def test_a_night_with_one_positive_has_a_value_without_a_variance(state):
    columns = night(5, 50)
    columns["y"][1:] = 0
    columns["y"][0] = 1
    ask(state, columns, "one positive")
    record = read_state(state, None).rules["roc_auc"][0]
    assert math.isfinite(record.value)
    assert math.isnan(record.variance)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "old", "reference": None, "rules": RULES[0]}, "the model 'new', and not 'old': "),
        ({"rules": RULES[:2]}, "the rules "),
        ({"rules": [RULES[0].replace("0.7", "0.6"), *RULES[1:]]}, "the rules "),
        ({"pos_label": 0}, "the pos_label '1', and not '0'"),
    ],
)
def test_another_state_is_refused_and_stays(state, options, message):
    asked(state, range(2))
    before = state.read_bytes()
    with pytest.raises(ValueError, match=f"state file '.*state.json' has 2 nights with {message}.*use another file"):
        ask(state, night(7), "later", **options)
    assert state.read_bytes() == before


@pytest.mark.parametrize("name", ["state.json", "pinned.json", "gate.toml"])
def test_deeply_nested_files_are_refused(tmp_path, name, capsys):
    (tmp_path / name).write_text("rules = " * name.endswith("toml") + "[" * 100_000)
    file = write(tmp_path / "n.csv", night(3))
    given = {"state.json": "--nightly", "pinned.json": "--reference", "gate.toml": "--rules"}[name]
    rule = "roc_auc not worse than champion by 0.1" if name == "pinned.json" else "roc_auc >= 0.7"
    arguments = [str(file), "--label", "y", "--score", "new", given, str(tmp_path / name), "--rule", rule]
    assert main(["gate", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_advice_fits_nights(state):
    """Clusters can't be named, and AUCs have no replicates."""
    text = " ".join(ask(state, night(0), "1", rules=RULES[0], model="new").to_text().split())
    assert "independent, within a night and between nights" in text
    assert "name the column of clusters" not in text
    assert "replicates" not in text
    with pytest.raises(ValueError, match="night must be a text such as a date, got ' '"):
        ask(state, night(0), " ")


@pytest.mark.parametrize("damage", [lambda text: text[:-40], lambda text: text.replace("600", "601", 1)])
def test_a_damaged_state_is_refused_and_stays(tmp_path, state, damage, capsys):
    asked(state, range(2))
    state.write_text(damage(state.read_text()))
    before = state.read_bytes()
    file = write(tmp_path / "n.csv", night(3))
    arguments = ["--label", "y", "--score", "new", "--rule", "roc_auc >= 0.7", "--nightly", str(state)]
    assert main(["gate", str(file), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"fastevals gate: error: state file {str(state)!r} is ")
    assert error.count("\n") == 1
    assert state.read_bytes() == before


def test_a_gate_that_raises_writes_nothing(state, monkeypatch):
    asked(state, range(2))
    before = state.read_bytes()
    with pytest.raises(ValueError, match="must"):
        ask(state, {**night(3), "new": np.full(600, np.nan)}, "later")
    monkeypatch.setattr("fastevals.show.gate.nightly.decide", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ask(state, night(3), "later")
    assert state.read_bytes() == before


# What nights can't add up to ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        ("average_precision >= 0.5", {}, "average_precision is no mean over rows"),
        ("recall at fpr=0.1 >= 0.5", {}, "has a threshold that is chosen by fpr on each night's rows"),
        ("f1 at threshold=0.5 >= 0.5", {}, "is no mean over rows"),
        ("predicted/observed within 0.9 .. 1.1", {}, "is a ratio of sums"),
        ("ece <= 0.1", {}, "is no mean over rows"),
        ("roc_auc >= 0.7 by y", {}, "nightly judges all rows of a night, not segments: leave out 'by y'"),
        ("roc_auc >= 0.7", {"groups": "y"}, "groups does not go with nightly"),
        ("roc_auc >= 0.7", {"sample_weight": "y"}, "sample_weight does not go with nightly"),
        ("roc_auc >= 0.7", {"night": None}, "night must name the night, because the data are not one file"),
        ("roc_auc >= 0.7", {"night": 3}, "night must be a text such as a date, got 3"),
        ("roc_auc >= 0.7", {"nightly": 3}, "nightly must be the path of a state file, got 3"),
        ("roc_auc >= 0.7", {"nightly": None}, "night needs nightly, the file that keeps the nights"),
    ],
)
def test_what_is_refused(state, rule, options, message):
    with pytest.raises(ValueError, match=message):
        ask(state, night(0), **{"name": "a", "rules": rule, **options})
    assert not state.exists()


# Late labels -------------------------------------------------------------------------------------------------------


def late(columns, labelled, seed=0):
    """Return columns in which some rows have no label yet."""
    known = np.random.default_rng(seed).random(columns["y"].size) < labelled
    return {**columns, "y": np.where(known, columns["y"], math.nan)}


@pytest.mark.parametrize("labelled", [0.0, 0.5, 0.8])
def test_a_night_with_late_labels_is_undecided_and_not_recorded(state, labelled):
    options = {"on_missing_label": "drop", "min_labelled": 0.9}
    columns = late(night(9), labelled)
    first = ask(state, columns, "late", **options)
    assert (first.outcome, first.exit_status, first.nights.change, state.exists()) == ("undecided", 4, "late", False)
    assert asked(state, range(3), **options).outcome == "pass"
    before = state.read_bytes()
    found = ask(state, columns, "late", **options)
    assert (found.outcome, state.read_bytes()) == ("undecided", before)
    assert found.nights == (str(state), "late", "late", 3, 0, None)
    share = np.mean(~np.isnan(columns["y"]))
    assert found.labelled == pytest.approx(share)
    flat = " ".join(found.to_text().split())
    assert "'late' is not recorded, because its labels are late" in flat
    shown = f"{math.floor(1000 * share) / 10:g} %"
    assert flat.count(f"{shown} of the rows have a label, 90 % are needed.") == 3
    assert f"labelled {shown} of the rows" in flat
    values = found.to_dict()
    assert (values["labelled"], values["min_labelled"], values["nightly"]["change"]) == (share, 0.9, "late")
    assert all(math.isnan(each.worst.decision.interval.low) for each in found.results)
    assert ask(state, late(night(9), 0.97), "late", **options).nights.change == "added"
    assert ask(state, night(9), "late", **options).nights.change == "replaced"


def test_a_gate_without_nights_waits_for_labels_too(tmp_path, capsys):
    rule, roles = "accuracy >= 0.6", {"label": "y", "pred": "new", "on_missing_label": "drop"}
    columns = late({"y": night(0)["y"], "new": (night(0)["new"] > 0.5).astype(int)}, 0.5)
    assert fastevals.gate(columns, rule, **roles).outcome == "pass"
    assert fastevals.gate(columns, rule, min_labelled=0.4, **roles).outcome == "pass"
    found = fastevals.gate(columns, rule, min_labelled=0.9, undecided="fail", **roles)
    assert (found.outcome, found.exit_status, found.nights) == ("undecided", 3, None)
    file = write(tmp_path / "n.csv", {name: ["" if value != value else value for value in each.tolist()]
                                      for name, each in late(night(0), 0.5).items()})  # fmt: skip
    arguments = ["gate", str(file), "--label", "y", "--score", "new", "--rule", "roc_auc >= 0.7"]
    assert main([*arguments, "--on-missing-label", "drop", "--min-labelled", "0.9"]) == 4
    assert main([*arguments, "--min-labelled", "0.9"]) == 2  # rows without a label are an error, unless dropped
    capsys.readouterr()


def test_all_rows_have_labels():
    found = fastevals.gate(night(0), "roc_auc >= 0.7", **ROLES, min_labelled=1)
    assert (found.outcome, found.labelled) == ("pass", 1.0)
    assert "labelled" not in found.to_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_labelled": 1.5}, r"min_labelled must be in \[0, 1\], got 1.5"),
        ({"min_labelled": "many"}, "min_labelled must be a number"),
        ({"min_labelled": 0.9, "plan": True}, "plan does not go with min_labelled: a plan decides nothing"),
    ],
)
def test_shares_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fastevals.gate(night(0), "roc_auc >= 0.7", **ROLES, **options)


# Error rates -------------------------------------------------------------------------------------------------------

TRUE_AUC, TRUE_RECALL = (NormalDist().cdf(shift) for shift in (math.sqrt(0.5), 0.5))
AT_THE_MARGIN = [f"roc_auc >= {TRUE_AUC!r}", f"recall at threshold=0.5 >= {TRUE_RECALL!r}", "roc_auc better than old"]
N_PATHS, N_LOOKS, N_POSITIVES = 40, 30, 250  # positives and negatives of a night: from 50 on, AUCs have fixed bounds
PASS_BY_CHANCE, FAIL_BY_CHANCE = 0.05, 0.05 / len(AT_THE_MARGIN)
RARE = 0.001  # probability that a sound gate is outside a limit of the test


def decided_by_exact_bounds():
    """Return the probability that the Clopper-Pearson bounds of one night decide on a recall at its margin."""
    successes = np.arange(N_POSITIVES + 1)
    of_recall = scipy.stats.binom(N_POSITIVES, TRUE_RECALL)
    passes = of_recall.sf(successes - 1) < PASS_BY_CHANCE
    fails = of_recall.cdf(successes) < FAIL_BY_CHANCE
    return of_recall.pmf(successes)[passes | fails].sum()


def paths(share, probability):
    return scipy.stats.binom.ppf(probability, N_PATHS, share)


def paths_with_a_decision(share_of_nights, probability):
    return paths(1 - (1 - share_of_nights) ** N_LOOKS, probability)


@pytest.mark.slow
def test_rules_at_their_margin_are_rarely_decided_in_any_of_many_looks(state):
    rng = np.random.default_rng(0)
    passed, failed, fixed = np.zeros(3), np.zeros(3), np.zeros(3)
    y = np.repeat([0, 1], N_POSITIVES)
    for _ in range(N_PATHS):
        state.unlink(missing_ok=True)
        outcomes, of_tonight = [], []
        for look in range(N_LOOKS):
            both = y + math.sqrt(0.8) * rng.normal(size=y.size)
            columns = {"y": y, **{m: both + math.sqrt(0.2) * rng.normal(size=y.size) for m in ("new", "old")}}
            found = ask(state, columns, str(look), rules=AT_THE_MARGIN)
            outcomes.append([each.outcome for each in found.results])
            of_tonight.append([each.worst.tonight.outcome != "undecided" for each in found.results])
        passed += (np.array(outcomes) == "pass").any(axis=0)
        failed += (np.array(outcomes) == "fail").any(axis=0)
        fixed += np.any(of_tonight, axis=0)
    assert max(passed) <= paths(PASS_BY_CHANCE, 1 - RARE)
    assert max(failed) <= paths(FAIL_BY_CHANCE, 1 - RARE)
    exact = decided_by_exact_bounds()
    assert paths_with_a_decision(exact, RARE) <= fixed[1] <= paths_with_a_decision(exact, 1 - RARE)
    normal = (PASS_BY_CHANCE + FAIL_BY_CHANCE) / 2  # bounds of AUCs may be as conservative as this
    assert min(fixed[[0, 2]]) >= paths_with_a_decision(normal, RARE) > paths(PASS_BY_CHANCE, 1 - RARE)
