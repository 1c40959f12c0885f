"""`fastevals bias-variance` from end to end: its output, its files, and its errors."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fastevals.measure.bias_variance.bias_variance import bias_variance
from fastevals.show import cli
from fastevals.show.bias_variance import predictions as texts
from fastevals.show.bias_variance.embedded import decompose_polynomials

RNG = np.random.default_rng(4)
TRUTH = RNG.normal(size=40)
PREDICTIONS = (0.6 * TRUTH + RNG.normal(scale=0.5, size=(12, 40))).astype(np.float32)
OBSERVED = TRUTH + RNG.normal(scale=0.2, size=40)
WEIGHT = RNG.random(40)
CLASSES = RNG.integers(0, 3, 40)
VOTES = {f"m{k}": np.where(RNG.random(40) < 0.7, CLASSES, RNG.integers(0, 4, 40)) for k in range(10)}


def printed(capsys, *arguments):
    """Run a command that must succeed; return its output."""
    status = cli.main(["bias-variance", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


def printed_json(capsys, *arguments):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(printed(capsys, *arguments, "--format", "json"), parse_constant=refuse)


def error(capsys, *arguments):
    """Run a command that must fail; return its one line."""
    status = cli.main(["bias-variance", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("fastevals bias-variance: error: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture(scope="module")
def embedded():
    """Return the decomposition of the embedded data."""
    return decompose_polynomials()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with arrays and tables, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    pairs = OBSERVED + np.random.default_rng(5).normal(scale=0.1, size=(12, 40))
    arrays = {"p": PREDICTIONS, "pt": np.asfortranarray(PREDICTIONS.T), "y": TRUTH, "o": OBSERVED, "oo": pairs}
    for name, array in {**arrays, "w": WEIGHT, "cube": np.zeros((2, 2, 2)), "none": np.zeros((0, 3))}.items():
        np.save(f"{name}.npy", array)
    columns = {f"a{k}": row for k, row in enumerate(PREDICTIONS)}
    parquet.write_table(pa.table({"y": TRUTH, "o": OBSERVED, "w": WEIGHT, **columns}), "numbers.parquet")
    parquet.write_table(pa.table({"y": CLASSES, **VOTES}), "votes.parquet")
    names = np.array(["ape", "bat", "cat", "dog"])
    text = {name: names[codes] for name, codes in {"y": CLASSES, **VOTES}.items()}
    (tmp_path / "alone.csv").write_text("y,name\n1,a\n2,b\n")
    rows = [",".join(text), *(",".join(row) for row in zip(*text.values(), strict=True))]
    (tmp_path / "names.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def check_numbers(found, expected):
    assert found["expected_loss"] == expected.expected_loss
    assert found["parts"] == expected.parts()
    assert (found["n_models"], found["n_samples"]) == (expected.n_models, expected.n_samples)
    assert (found["loss"], found["decomposition"]) == (expected.loss, expected.decomposition)


# Numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_arrays(capsys, folder):
    expected = bias_variance(TRUTH, PREDICTIONS)
    check_numbers(printed_json(capsys, "p.npy", "--truth", "y.npy"), expected)
    turned = printed_json(capsys, "pt.npy", "--truth", "y.npy", "--models-are", "columns")
    assert turned["expected_loss"] == pytest.approx(expected.expected_loss, rel=1e-12)
    beside = ("--truth", "y.npy", "--observed", "o.npy", "--weight", "w.npy")
    expected = bias_variance(TRUTH, PREDICTIONS, y_observed=OBSERVED, sample_weight=WEIGHT)
    check_numbers(printed_json(capsys, "p.npy", *beside), expected)
    each = bias_variance(TRUTH, PREDICTIONS, y_observed=np.load("oo.npy"))
    check_numbers(printed_json(capsys, "p.npy", "--truth", "y.npy", "--observed", "oo.npy"), each)


def test_a_table_of_numbers(capsys, folder):
    beside = ("--truth", "y", "--observed", "o", "--weight", "w")
    found = printed_json(capsys, "numbers.parquet", *beside)
    expected = bias_variance(TRUTH, PREDICTIONS, y_observed=OBSERVED, sample_weight=WEIGHT)
    assert found["parts"] == pytest.approx(expected.parts(), rel=1e-12)
    assert found["models"] == [f"a{k}" for k in range(12)]
    some = printed_json(capsys, "numbers.parquet", "--truth", "y", "--pred", "a3", "--pred", "a1")
    assert some["models"] == ["a3", "a1"]
    assert some["expected_loss"] == pytest.approx(bias_variance(TRUTH, PREDICTIONS[[3, 1]]).expected_loss, rel=1e-12)


@pytest.mark.parametrize("decomposition", ["domingos", "kohavi-wolpert", "james"])
@pytest.mark.parametrize("file", ["votes.parquet", "names.csv"])
def test_classes(capsys, folder, file, decomposition):
    found = printed_json(capsys, file, "--truth", "y", "--loss", "zero-one", "--decomposition", decomposition)
    votes = np.array(list(VOTES.values()))
    options = {"loss": "zero_one", "decomposition": decomposition}
    expected = bias_variance(CLASSES, votes, labels=range(4), **options)  # 3 is predicted, but never true
    check_numbers(found, expected)
    assert found["beside"] == expected.beside()


def test_classes_that_were_only_observed(capsys, folder):
    np.save("votes.npy", np.array([[0, 1], [0, 0]]))
    np.save("truth.npy", np.array([0, 1]))
    for observed in ([0, 7], [[0, 1], [8, 1]]):
        np.save("seen.npy", np.array(observed))
        found = printed_json(
            capsys, "votes.npy", "--truth", "truth.npy", "--observed", "seen.npy", "--loss", "zero-one"
        )
        assert found["beside"]["noise"] == np.mean(np.array(observed) != [0, 1])


@pytest.mark.parametrize("options", [(), ("--pred", "a", "--pred", "b")])
@pytest.mark.parametrize(
    ("rows", "loss", "truths"),
    [
        (["007,7,007", "7,007,7", "01234,01234,1234"], 1 / 2, ["007", "7", "01234"]),
        (["1,1,1", "2,2,x"], 1 / 4, ["1", "2"]),  # text in one column makes text of all columns with its classes
        (["1,1,1.0", "2,1.0,2"], 1 / 4, [1, 2]),  # plain numbers, by value
        (["True,true,False"], 1 / 2, [True]),
    ],
)
def test_classes_of_a_csv_file_are_as_they_are_written(capsys, folder, options, rows, loss, truths):
    lines = ["y,a,b,w", *(f"{row},1" for row in rows)]
    (folder / "codes.csv").write_text("\n".join(lines) + "\n")
    found = printed_json(capsys, "codes.csv", "--truth", "y", "--weight", "w", "--loss", "zero-one", *options)
    assert found["expected_loss"] == loss
    samples = sorted(found["largest_losses"], key=lambda each: each["sample"])
    assert [each["truth"] for each in samples] == truths


def test_samples_of_the_largest_loss(capsys, folder):
    found = printed_json(capsys, "p.npy", "--truth", "y.npy")["largest_losses"]
    each = bias_variance(TRUTH, PREDICTIONS, per_sample=True).per_sample
    order = np.argsort(-each.expected_loss, kind="stable")[:5]
    assert [sample["sample"] for sample in found] == order.tolist()
    assert [sample["variance"] for sample in found] == each.variance[order].tolist()
    assert [sample["truth"] for sample in found] == TRUTH[order].tolist()
    np.save("two.npy", np.array([[1.0, 4.0], [2.0, 6.0]]))
    np.save("y2.npy", np.array([1.0, 4.0]))
    two = printed_json(capsys, "two.npy", "--truth", "y2.npy")["largest_losses"]
    assert [sample["sample"] for sample in two] == [1, 0]
    votes = printed_json(capsys, "votes.parquet", "--truth", "y", "--loss", "zero-one")["largest_losses"]
    lost = np.mean(np.array(list(VOTES.values())) != CLASSES, axis=0)
    assert [sample["sample"] for sample in votes] == np.argsort(-lost, kind="stable")[:5].tolist()


def test_embedded_polynomials(embedded):
    found = json.loads(embedded.to_json())
    assert (found["parameter"], found["values"]) == ("degree", list(range(1, 9)))
    loss, parts = np.array(found["expected_loss"]), {name: np.array(each) for name, each in found["parts"].items()}
    np.testing.assert_allclose(parts["bias_squared"] + parts["variance"], loss, rtol=1e-12)
    assert found["best"] in (2, 3)
    best = found["best"] - 1
    assert parts["bias_squared"][0] > 1.2 * parts["bias_squared"][best]  # both sides of the chapter's trade-off
    assert parts["variance"][-1] > 10 * parts["variance"][best]
    assert (found["n_models"], found["n_samples"]) == (200, 196)


# Text -------------------------------------------------------------------------------------------------------------


def test_text_of_the_embedded_polynomials(embedded):
    text = embedded.to_text()
    assert text.startswith("fastevals bias-variance: auto (embedded)\npolynomials predict miles per gallon from")
    assert "Degree 1 underfits: its squared bias is 5.5306 higher and its variance 0.0392 higher\n" in text
    assert "Degree 8 overfits: its squared bias is 0.3175 lower and its variance 111.3972 higher\n" in text
    assert "the observed value is used as the truth" in text
    assert max(map(len, text.splitlines())) <= 120


def test_text_of_predictions(capsys, folder):
    text = printed(capsys, "p.npy", "--truth", "y.npy")
    expected = bias_variance(TRUTH, PREDICTIONS)
    assert "12 models, 40 samples; --truth 'y.npy'\nexpected squared loss\n" in text
    share = f"{100 * expected.variance / expected.expected_loss:.1f} %"
    (line,) = (line for line in text.splitlines() if line.startswith("  variance"))
    assert line.split() == ["variance", f"{expected.variance:.4f}", *share.split()]
    assert "Most of the loss is variance" in text
    assert "12 models (a0, a1, a2" in printed(
        capsys, "numbers.parquet", "--truth", "y", "--observed", "o", "--weight", "w"
    )
    votes = printed(capsys, "names.csv", "--truth", "y", "--loss", "zero-one")
    assert "expected 0-1 loss, parts of Domingos" in votes
    assert "(biased variance)" in votes
    assert max(map(len, votes.splitlines())) <= 120


@pytest.mark.parametrize(
    ("predictions", "sentence"),
    [
        ([[2.0, 3.0], [2.1, 3.1]], "Most of the loss is bias"),
        ([[1.0, -1.0], [-1.0, 1.0]], "Most of the loss is variance"),
        ([[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]], "Most of the loss is bias"),
        ([[2.0, 2.0], [0.0, 0.0]], "Neither bias nor variance is most of the loss."),
        ([[0.0, 0.0], [0.0, 0.0]], "No model is ever wrong."),
    ],
)
def test_interpretation(capsys, folder, predictions, sentence):
    np.save("q.npy", np.array(predictions))
    np.save("zero.npy", np.zeros(2))
    text = printed(capsys, "q.npy", "--truth", "zero.npy")
    assert sentence in text
    assert ("Noise in the truth" in text) == (sentence == "Most of the loss is bias")


SQUARED = {"loss": "squared"}
DOMINGOS, KOHAVI_WOLPERT, JAMES = (
    {"loss": "zero_one", "decomposition": name, "labels": [0, 1]} for name in ("domingos", "kohavi-wolpert", "james")
)


@pytest.mark.parametrize(
    ("options", "predictions", "observed", "sentences"),
    [
        (SQUARED, [[0, 0], [0, 0]], None, [texts.NEVER]),
        (SQUARED, [[1, 2], [1, 2]], [1, 2], [texts.AS_OBSERVED]),
        (JAMES, [[1, 0], [1, 1]], [[1, 0], [1, 1]], [texts.AS_OBSERVED]),
        (SQUARED, [[1e200, 0], [0, 0]], None, [texts.INFINITE]),
        (SQUARED, [[2, 3]], None, [texts.ONE_MODEL]),
        (SQUARED, [[2, 3], [2.1, 3.1]], None, [texts.BIAS, texts.UNKNOWN]),
        (SQUARED, [[2, 2], [2, 2]], None, [texts.BIAS, texts.UNKNOWN]),
        (SQUARED, [[2, 3], [2.1, 3.1]], [0.1, -0.1], [texts.BIAS]),
        (SQUARED, [[1.7, 1.7]] * 3, [[0, 0]] * 3, [texts.BIAS]),  # the entire loss, plus a rounding error
        (SQUARED, [[1, -1], [-1, 1]], None, [texts.VARIANCE]),
        (SQUARED, [[2, 2], [0, 0]], None, [texts.NEITHER]),
        (SQUARED, [[1, 1], [1, 1]], [-1, -1], [texts.NEITHER]),  # half is the cross term
        (SQUARED, [[0.1, 0.1], [-0.1, -0.1]], [3, -3], [texts.NOISE]),
        (DOMINGOS, [[0, 0], [0, 0]], [0, 1], [texts.NOISE]),
        (JAMES, [[0, 0], [0, 0]], [0, 1], [texts.NOISE]),
        (SQUARED, [[1, 1], [3, 3]], [[1, 1], [2.5, 2.5]], [texts.CANCEL]),  # parts 4, 1, 3.625 and -8.5, sum 0.125
        (SQUARED, [[4, 4], [4, 4]], [3, 1], [texts.CANCEL]),
        (SQUARED, [[2, 2], [0, 0]], [0.4, 0.4], [texts.CANCEL]),  # bias and variance 74 % each
        (DOMINGOS, [[1, 1], [1, 1], [1, 0]], None, [texts.BIAS, texts.HELPS, texts.UNKNOWN]),
        (DOMINGOS, [[1, 1], [1, 1], [1, 0]], [1, 0], [texts.BIAS, texts.HELPS]),
        (KOHAVI_WOLPERT, [[1, 1], [1, 1]], [0, 0], [texts.BIAS, texts.ONE_LABEL]),
        (KOHAVI_WOLPERT, [[1, 0], [1, 1]], [[1, 0], [0, 0]], [texts.NEITHER]),
        (KOHAVI_WOLPERT, [[1, 1], [1, 1]], None, [texts.BIAS, texts.UNKNOWN]),
    ],
)
def test_each_sentence(options, predictions, observed, sentences):
    """Interpret models where all true values are zero."""
    found = bias_variance([0, 0], predictions, y_observed=observed, **options)
    assert texts.what_dominates(found) == " ".join(sentences)


def test_an_infinite_loss_has_a_sentence_and_no_picture(capsys, folder):
    np.save("huge.npy", 1e200 * np.array([[1.0, 2.0], [3.0, 5.0]]))
    np.save("zero.npy", np.zeros(2))
    text = printed(capsys, "huge.npy", "--truth", "zero.npy", "--out", "out")
    assert "The loss is not finite" in text
    assert "Neither" not in text
    assert text.endswith("0 pictures\n")


def test_small_losses_have_digits(capsys, folder):
    for scale in (1e-2, 1e-12):
        np.save("small.npy", scale * PREDICTIONS.astype(float))
        np.save("truth.npy", scale * TRUTH)
        expected = bias_variance(scale * TRUTH, scale * PREDICTIONS.astype(float), per_sample=True)
        lines = printed(capsys, "small.npy", "--truth", "truth.npy").splitlines()
        values = {line[:14].strip(): float(line[14:].split()[0]) for line in lines[5:8]}
        assert values == pytest.approx(
            {"expected loss": expected.expected_loss, "bias squared": expected.bias_squared}
            | {"variance": expected.variance},
            abs=5e-4 * expected.expected_loss,
        )
        largest = expected.per_sample.expected_loss.max()
        assert float(lines[-5].split()[3]) == pytest.approx(largest, rel=5e-4)


def test_columns_that_hold_no_numbers_are_left_out(capsys, folder):
    notes = {"note": ["a", None, "b"], "lists": [[1], [2, 3], []], "m": [1.0, 2.0, 4.0], "n": [1, 2, 3]}
    parquet.write_table(pa.table({"y": [1.0, 2.0, 3.0], **notes}), "notes.parquet")
    found = printed_json(capsys, "notes.parquet", "--truth", "y")
    assert (found["models"], found["left_out"]) == (["m", "n"], ["note", "lists"])
    assert "2 models (m, n), 3 samples; --truth 'y'\ncolumns without numbers, left out: note, lists\n" in printed(
        capsys, "notes.parquet", "--truth", "y"
    )
    all_named = ("notes.parquet", "--truth", "y", "--pred", "m", "--pred", "n")
    assert "left out" not in printed(capsys, *all_named)
    assert printed_json(capsys, *all_named)["left_out"] == []
    assert "--truth 'note' has 1 missing value, the first at row 1" in error(capsys, "notes.parquet", "--truth", "note")
    parquet.write_table(pa.table({"y": [1.0, 2.0], "m": [1.0, None]}), "gap.parquet")
    assert "column 'm' has 1 missing value" in error(capsys, "gap.parquet", "--truth", "y")


def test_a_cell_of_text_leaves_its_column_out(capsys, folder):
    (folder / "cell.csv").write_text('y,m1,m2,m3\n1,1,2,1\n2,2,2,"5,5"\n')
    text = printed(capsys, "cell.csv", "--truth", "y")
    assert "2 models (m1, m2), 2 samples; --truth 'y'\ncolumns without numbers, left out: m3\n" in text
    assert "--truth 'm3' must hold numbers, but has '5,5' at line 3; classes go" in error(
        capsys, "cell.csv", "--truth", "m3"
    )


def test_many_names(capsys, folder):
    models, notes = {f"m{k}": [1, 2] for k in range(9)}, {f"n{k}": ["a", "b"] for k in range(9)}
    parquet.write_table(pa.table({"y": [1, 1], **models, **notes}), "many.parquet")
    text = printed(capsys, "many.parquet", "--truth", "y")
    assert "9 models (m0, m1, m2, m3, m4, m5, m6, m7, ...; --pred chooses), 2 samples" in text
    assert "columns without numbers, left out: n0, n1, n2, n3, n4, n5, n6, n7, ...\n" in text


# Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_out(capsys, folder, embedded):
    text = printed(capsys, "--out", "out")
    assert text.endswith("written to out: bias-variance.json, bias-variance.txt, 1 picture\n")
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "bias-variance.json", "bias-variance.txt", "bias_variance.png"
    ]  # fmt: skip
    assert (folder / "out" / "bias-variance.txt").read_text() == embedded.to_text()
    assert (folder / "out" / "bias-variance.json").read_text() == embedded.to_json()
    printed(capsys, "p.npy", "--truth", "y.npy", "--observed", "o.npy", "--out", "out")
    assert "p.npy" in (folder / "out" / "bias-variance.txt").read_text()


def test_out_needs_matplotlib(capsys, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in error(capsys, "--out", "out")


def test_predictions_stay_on_disk(capsys, folder, monkeypatch):
    seen = {}
    load = np.lib.format.open_memmap

    def noted(path, mode):
        seen[path] = mode
        return load(path, mode)

    monkeypatch.setattr(np.lib.format, "open_memmap", noted)
    printed(capsys, "p.npy", "--truth", "y.npy")
    assert seen == {"p.npy": "r", "y.npy": "r"}


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["p.npy"], "--truth is missing: it names the file or column of the truth that 'p.npy' predicts"),
        (["--truth", "y"], "--truth goes with a FILE of predictions"),
        (["--models-are", "rows"], "--models-are goes with a FILE of predictions"),
        (["p.npy", "--truth", "y.npy", "--pred", "a"], "--pred goes with a table"),
        (["votes.parquet", "--truth", "y", "--models-are", "rows"], "--models-are goes with a .npy array"),
        (["p.npy", "--truth", "y.npy", "--decomposition", "james"], "--decomposition goes with --loss zero-one"),
        (["p.npy", "--truth", "y.npy", "--loss", "absolute"], "invalid choice: 'absolute'"),
        (["p.npy", "--truth", "y"], "--truth 'y' must be a .npy file, as 'p.npy' is"),
        (["no.npy", "--truth", "y.npy"], "'no.npy': no such file"),
        (["cube.npy", "--truth", "y.npy"], "must be an array of shape (models x samples), got shape (2, 2, 2)"),
        (["none.npy", "--truth", "y.npy"], "'none.npy' is empty, of shape (0, 3)"),
        (["pt.npy", "--truth", "y.npy"], "got (40,); --models-are columns takes the other axis for models"),
        (["p.npy", "--truth", "y.npy", "--models-are", "columns"], "--models-are rows takes the other axis"),
        (["p.npy", "--truth", "cube.npy"], "must have shape (40,) to match predictions of 12 models and 40 samples"),
        (["p.npy", "--truth", "y.npy", "--observed", "pt.npy"], "must have shape (40,) or (12, 40)"),
        (["votes.parquet", "--truth", "q"], "--truth 'q': 'votes.parquet' has no such column"),
        (["votes.parquet", "--truth", "y", "--pred", "y"], "--pred 'y' is given already, as --truth 'y'"),
        (
            ["alone.csv", "--truth", "y"],
            "'alone.csv' has no column of numbers for a model's predictions besides --truth",
        ),
        (["names.csv", "--truth", "y"], "must hold numbers, but has 'cat' at line 2; classes go with --loss zero-one"),
        (["names.csv", "--truth", "y", "--pred", "m1"], "--truth 'y' must hold numbers"),
        (["numbers.parquet", "--truth", "y", "--loss", "zero-one"], "--truth 'y' must hold class labels"),
        (["z.npz", "--truth", "y"], "'z.npz' is of no known format: its name must end with .npy, .csv"),
        (["p.npy", "--truth", "y.npy", "q.npy"], "unexpected argument 'q.npy'"),
    ],
)
def test_errors(capsys, folder, arguments, message):
    assert message in error(capsys, *arguments)


def test_damaged_arrays(capsys, folder):
    (folder / "text.npy").write_text("hello")
    (folder / "empty.npy").write_bytes(b"")
    assert "'empty.npy' is empty" in error(capsys, "empty.npy", "--truth", "y.npy")
    (folder / "short.npy").write_bytes((folder / "p.npy").read_bytes()[:500])
    np.save("objects.npy", np.array([["a", 1]], dtype=object), allow_pickle=True)
    for name in ("text", "short", "objects"):
        reason = f"'{name}.npy' can't be read as NumPy's .npy: it is damaged, of another kind, or holds Python objects"
        assert reason in error(capsys, f"{name}.npy", "--truth", "y.npy")
    with open("several.npy", "wb") as file:
        np.savez(file, a=TRUTH)
    assert "'several.npy' holds several arrays" in error(capsys, "several.npy", "--truth", "y.npy")


@pytest.mark.filterwarnings("ignore")  # Python warns about the header's contents
def test_any_byte_of_a_header_may_be_damaged(capsys, folder):
    whole = (folder / "p.npy").read_bytes()
    rng = np.random.default_rng(0)
    for at in range(10, whole.index(b"\n")):
        damaged = bytearray(whole)
        damaged[at] = int(rng.choice([0, 39, 40, 41, 92, 123, 125, 255]))  # a quote, parentheses, a backslash, braces
        (folder / "p.npy").write_bytes(damaged)
        status = cli.main(["bias-variance", "p.npy", "--truth", "y.npy"])
        assert (status, capsys.readouterr().err.count("\n")) in ((0, 0), (2, 1))


def test_values_that_are_not_finite_are_named(capsys, folder):
    odd, truth = PREDICTIONS.copy(), TRUTH.copy()
    odd[3, 7], truth[5] = np.nan, np.inf
    np.save("odd.npy", odd)
    np.save("bad.npy", truth)
    assert "model 3 of 'odd.npy' must be finite, but has 1 NaN value, the first at row 7" in error(
        capsys, "odd.npy", "--truth", "y.npy"
    )
    np.save("oo.npy", odd)
    assert "model 3 of --observed 'oo.npy' must be finite, but has 1 NaN value, the first at row 7" in error(
        capsys, "p.npy", "--truth", "y.npy", "--observed", "oo.npy"
    )
    assert "--truth 'bad.npy' must be finite" in error(capsys, "p.npy", "--truth", "bad.npy")
    np.save("minus.npy", -WEIGHT)
    assert "--weight 'minus.npy' must not be negative" in error(
        capsys, "p.npy", "--truth", "y.npy", "--weight", "minus.npy"
    )


def test_arguments_in_messages_are_those_of_the_command(capsys, folder):
    n = 10_001
    np.save("ids.npy", np.arange(2 * n).reshape(2, n))
    np.save("yids.npy", np.arange(n))
    np.save("zeros.npy", np.zeros(n, dtype=int))
    for name, beside in (("yids", ()), ("zeros", ("--observed", "yids.npy"))):
        shown = " and ".join(["'ids.npy'", f"--truth '{name}.npy'", *(f"--observed {path!r}" for path in beside[1:])])
        assert f"error: {shown} must have at most 10000 labels, got 0, 1, 2" in error(
            capsys, "ids.npy", "--truth", f"{name}.npy", *beside, "--loss", "zero-one"
        )
    np.save("dates.npy", np.zeros((12, 40), dtype="datetime64[s]"))
    assert "error: 'dates.npy' must hold numbers, got dtype datetime64" in error(
        capsys, "dates.npy", "--truth", "y.npy"
    )
    assert "error: --observed 'dates.npy' must hold numbers" in error(
        capsys, "p.npy", "--truth", "y.npy", "--observed", "dates.npy"
    )
    parquet.write_table(pa.table({"y": [1.0, 2.0], "m": [1.0, float("nan")]}), "nan.parquet")
    assert "column 'm' must be finite, but has 1 NaN value" in error(capsys, "nan.parquet", "--truth", "y")


NUMPY_HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': %s}"


@pytest.mark.parametrize("shape", [f"({10**23},)", f"(0, {10**23})", "(True, 2)", "(-5, 2)", "(1000, 2)", "(2.5,)"])
def test_an_array_whose_header_is_crafted_is_no_traceback(capsys, folder, shape):
    header = (NUMPY_HEADER % shape).encode().ljust(117) + b"\n"
    (folder / "crafted.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
    assert "'crafted.npy' can't be read as NumPy's .npy" in error(capsys, "crafted.npy", "--truth", "y.npy")


@pytest.mark.parametrize("content", [b"PK\x03\x04 garbage", b"PK\x05\x06"])
def test_an_array_that_is_a_zip_is_no_traceback(capsys, folder, content):
    (folder / "crafted.npy").write_bytes(content)
    assert "'crafted.npy' holds several arrays (.npz)" in error(capsys, "crafted.npy", "--truth", "y.npy")
