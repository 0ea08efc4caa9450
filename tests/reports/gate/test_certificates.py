"""The gate over certificates of a model, and over files whatever they are."""

import json

import pytest

from rnnbounds.reports.errors import InputError, RecordError
from rnnbounds.reports.gate.certificates import baseline_standing, compare_files, load_certificate
from rnnbounds.reports.gate.settings import Thresholds
from rnnbounds.reports.records.changes import compare_bounds
from rnnbounds.reports.records.codec import encode

CERTIFICATE = {
    "schema": "rnnbounds/certificate/1", "model": "m.safetensors", "cell": "rnn-tanh",
    "dtype": "float32", "sha256": "ab" * 32, "norm": "perron", "lambda": 0.5,
    "verdict": "certified", "input_bound": 1.0, "constants": {"gain": 2.0, "B_h": 1.0},
    "inputs": {"set": "box", "what": "[0.0, 1.0]", "low": [0.0], "high": [1.0], "rows": None},
    "truncation": [{"eps": 0.01, "k": 8}, {"eps": 1e-6, "k": 20}],
    "rounding": {"dtype": "float32", "state": 1e-5, "reason": None},
    "states": "all states (ℝⁿ)", "rounds_to_one": {"float16": 0},
    "tensors": {"weight_hh": "rnn.weight_hh_l0"}, "unread": ["top.weight_hh_l0"],
    "shape": {"n": 4, "d": 2}, "ignored": [],
}  # fmt: skip
UNITARY = {
    "schema": "rnnbounds/unitary-certificate/3", "cell": "rnn-relu", "dtype": "float32",
    "sha256": "cd" * 32, "verdict": "certified", "states": 8, "input_bound": 1.0,
    "initial_state": [0.0], "constants": {}, "orthogonality_defect": 2e-15,
    "difference": {"own_dtype": 4e-6},
}  # fmt: skip
TABLE = CERTIFICATE["inputs"] | {"set": "rows", "what": "the rows of a table", "rows": 9}
EMBEDDED = TABLE | {"what": "the rows of embed.weight"}
WORSE = {
    "verdict": ({"verdict": "undecided"}, "verdict"),
    "refuted": ({"verdict": "refuted", "lambda": None}, "verdict"),
    "λ": ({"lambda": 0.6}, "λ"),
    "k": ({"truncation": [{"eps": 0.01, "k": 9}, {"eps": 1e-6, "k": 20}]}, "k for ε = 0.01"),
    "no k": (
        {"truncation": [{"eps": 0.01}, {"eps": 1e-6}], "verdict": "undecided"},
        "k for ε = 0.01",
    ),
    "gain": ({"constants": {"gain": 2.5}}, "gain"),
    "no gain": ({"constants": {"gain": None}}, "gain"),
    "rounding": ({"rounding": {"state": 1e-4}}, "rounding"),
}
BALL = "‖x_t‖₂ ≤ 1.0"
BOX = f"box, {BALL}, from 0.0 to 1.0"
OTHERS = {
    "cells, 'rnn-tanh' and '<lstm>'": {"cell": "<lstm>"},
    "shapes, 'd = 2, n = 4' and 'd = 2, n = 5'": {"shape": {"n": 5, "d": 2}},
    "dtypes, 'float32' and 'float64'": {"dtype": "float64"},
    f"inputs, '{BOX}' and '{BALL}'": {"inputs": None},
    "1.0000000000000002'": {"inputs": CERTIFICATE["inputs"] | {"high": [1.0000000000000002]}},
    "1.0000000000000002, from": {"input_bound": 1.0000000000000002},
    f"inputs, '{BOX}' and '9 rows, the rows of embed.weight'": {"inputs": EMBEDDED},
    "readouts, 'none, but the state itself' and 'head.weight, 1 outputs'": {
        "readout": {"tensor": "head.weight", "outputs": 1, "norm": 0.1, "sha256": ""}
    },
    "ε, '1e-06, 0.01' and '1e-06, 0.0100000001'": {
        "truncation": [{"eps": 0.0100000001, "k": 8}, {"eps": 1e-6, "k": 20}]
    },
    "ε, '1e-06, 0.01' and '0.01'": {"truncation": [{"eps": 0.01, "k": 8}]},
    "tensors left out, 'none' and 'layers.1.weight'": {"ignored": ["layers.1.weight"]},
    "tensors left out, 'none' and 'weight_hr'": {"information": {"ignored": ["weight_hr"]}},
    "layers, 'rnn.weight_hh_l0' and 'top.weight_hh_l0'": {
        "tensors": {"weight_hh": "top.weight_hh_l0"}, "unread": ["rnn.weight_hh_l0"]
    },
    "sorts, 'certificate' and 'unitary-certificate'": UNITARY,
}  # fmt: skip


@pytest.fixture
def save(tmp_path):
    """Write a certificate with other fields: its path."""

    def write(name, **fields):
        (tmp_path / name).write_text(json.dumps(fields))
        return tmp_path / name

    return write


@pytest.mark.parametrize("name", WORSE)
def test_each_regression_is_caught(save, name):
    """By its row; the way back is none."""
    fields, what = WORSE[name]
    paths = save("old.json", **CERTIFICATE), save("new.json", **CERTIFICATE | fields)
    assert what in {row.what for row in compare_files(*paths, Thresholds()).failing}
    back = compare_files(*reversed(paths), Thresholds())
    assert back.rows
    assert not back.failing


def test_nothing_else_is_compared(save):
    """What bounds nothing that was asked may change."""
    other = {"norm": "spectral", "states": "the box |h| ≤ 1", "rounds_to_one": {"float16": 1},
             "constants": {"gain": 2.0, "B_h": 9.0, "W_f_norm": 3.0}}  # fmt: skip
    paths = save("old.json", **CERTIFICATE), save("new.json", **CERTIFICATE | other)
    assert compare_files(*paths, Thresholds()).rows == ()


@pytest.mark.parametrize("what", OTHERS)
def test_two_questions_are_no_comparison(save, what):
    """One line says what differs, to the last bit; whatever the answers are, none is better."""
    fields = {"lambda": 0.1, **OTHERS[what]}
    paths = save("old.json", **CERTIFICATE), save("new.json", **CERTIFICATE | fields)
    with pytest.raises(InputError, match="certificates of different ") as caught:
        compare_files(*paths, Thresholds())
    assert what in str(caught.value)
    assert str(caught.value).endswith("; certify both models with the same options")
    with pytest.raises(InputError, match="certificates of different "):
        compare_files(*reversed(paths), Thresholds())


def test_the_same_question_in_other_words(save):
    """A file that names its tensors anew, a trained embedding, another order of ε."""
    old = save("old.json", **CERTIFICATE | {"inputs": EMBEDDED})
    new = CERTIFICATE | {
        "inputs": EMBEDDED | {"low": [-3.0], "high": [3.0]}, "input_bound": 3.0,
        "truncation": CERTIFICATE["truncation"][::-1],
        "tensors": {"weight_hh": "lstm.weight_hh_l0"}, "unread": [],
    }  # fmt: skip
    assert compare_files(old, save("new.json", **new), Thresholds()).rows == ()
    nameless = save("table.json", **CERTIFICATE | {"inputs": TABLE})
    moved = save("moved.json", **CERTIFICATE | {"inputs": TABLE | {"low": [0.5]}})
    with pytest.raises(InputError, match="different inputs"):
        compare_files(nameless, moved, Thresholds())


def test_windows_are_compared_exactly(save):
    """A k beyond what floats tell apart, two ε that look alike, and one ε with two k."""
    pairs = [{"eps": 0.01, "k": 2**53 - 1}, {"eps": 0.0100000001, "k": 5}]
    worse = [{"eps": 0.01, "k": 2**53}, {"eps": 0.0100000001, "k": 5}]
    old = save("old.json", **CERTIFICATE | {"truncation": pairs})
    new = save("new.json", **CERTIFICATE | {"truncation": worse})
    (row,) = compare_files(old, new, Thresholds()).rows
    assert row.line.endswith("k for ε = 0.01: 9007199254740991 → 9007199254740992")
    twice = [{"eps": 0.01, "k": 8}, {"eps": 0.010, "k": 9}]
    with pytest.raises(RecordError, match="one ε has two different k"):
        load_certificate(save("twice.json", **CERTIFICATE | {"truncation": twice}))


@pytest.mark.parametrize("fields", [{"states": 10}, {"difference": {"own_dtype": 1}}])
def test_unitary_certificates(save, fields):
    """States and rounding; the version before is read too."""
    old = save("old.json", **UNITARY | {"schema": "rnnbounds/unitary-certificate/1"})
    assert compare_files(old, save("same.json", **UNITARY), Thresholds()).rows == ()
    assert compare_files(old, save("new.json", **UNITARY | fields), Thresholds()).failing
    zero = save("zero.json", **UNITARY | {"initial_state": [-0.0]})
    assert compare_files(old, zero, Thresholds()).rows == ()
    with pytest.raises(InputError, match="different initial states"):
        compare_files(old, save("start.json", **UNITARY | {"initial_state": [0.5]}), Thresholds())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (0.87592807569189, 0.9744464695056939, "0.875929 → 0.974447"),
        (1 / 3, 1 / 3 + 1e-8, "0.333333334 → 0.333333344"),
        (0.1 + 0.2, 0.3 + 1.2e-16, "0.30000000000000004 → 0.3000000000000001"),
        (1e-5, 1e-4, "1e-05 → 0.0001"),
    ],
)
def test_bounds_in_few_digits(old, new, told):
    """Rounded up, and in as many as tell them apart."""
    assert [row.line for row in compare_bounds("rnn", "λ", old, new)] == [f"rnn: λ: {told}"]


def test_certificates_of_truncated_files(save):
    """Rounding that `check` does not prove is compared; what `check` prints is read if it holds."""
    names = ("cell", "verdict", "input_bound", "truncation", "sha256")
    told = {name: CERTIFICATE[name] for name in names}
    told |= {"schema": "rnnbounds/truncated-certificate/2", "rounding": {"state": None}}
    old = save("old.json", **told, information={"rounding": 1e-5})
    new = save("new.json", **told, information={"rounding": 1e-4})
    (row,) = compare_files(old, new, Thresholds()).failing
    assert row.line == "rnn-tanh: rounding: 1e-05 → 0.0001"
    checked = {"file": "t.safetensors", "findings": [], "certificate": json.loads(new.read_text())}
    held = save("held.json", **checked, holds=True)
    assert compare_files(old, held, Thresholds()).failing == (row,)
    with pytest.raises(RecordError, match=r"fails\.json: the certificate in it fails, as 'check'"):
        compare_files(old, save("fails.json", **checked, holds=False), Thresholds())


OTHER_HEAD = {"readout": {"tensor": "head.weight", "outputs": 1, "sha256": "ef" * 32}}
HEAD = {"readout": OTHER_HEAD["readout"] | {"sha256": "ab" * 32}}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({}, {}, "of these weights: its verdict, λ, k, gain and rounding are proved anew"),
        ({"lambda": 0.5 + 1e-8}, {}, "and rounding are proved anew"),
        ({"lambda": 0.4}, {}, "of these weights, is not what is certified now"),
        ({"truncation": [{"eps": 0.01, "k": 900}, {"eps": 1e-6, "k": 900}]}, {}, "it was edited"),
        ({"sha256": "cd" * 32, "lambda": 0.4}, {}, "of other weights, is bel"),
        (OTHER_HEAD, HEAD, "of other weights, is bel"),
        ({"inputs": EMBEDDED, "lambda": 0.4}, {"inputs": EMBEDDED}, "of other weights, is bel"),
    ],
)
def test_how_far_a_baseline_is_proved(save, old, new, told):
    """Derived anew where it is of the weights at hand, and else said to be believed."""
    paths = save("old.json", **CERTIFICATE | old), save("new.json", **CERTIFICATE | new)
    found = baseline_standing("main.json", *map(load_certificate, paths))
    assert found.startswith("main.json, ")
    assert told in found


def test_thresholds(save):
    """What the settings let pass."""
    longer = [{"eps": 0.01, "k": 10}, {"eps": 1e-6, "k": 21}]
    old = save("old.json", **CERTIFICATE)
    new = save("new.json", **CERTIFICATE | {"lambda": 0.52, "truncation": longer})
    assert compare_files(old, new, Thresholds(factor=0.05, window=2)).failing == ()
    assert len(compare_files(old, new, Thresholds(factor=0.03, window=1)).failing) == 2


def test_what_says_nothing_of_one_another(save, tmp_path, run):
    """Another sort, a run: one line each."""
    old, other = save("old.json", **CERTIFICATE), save("u.json", **UNITARY)
    record = tmp_path / "run.json"
    record.write_bytes(encode(run))
    for new, words in ((other, "of different sorts,"), (record, "are a run and a certificate")):
        with pytest.raises(InputError, match=words):
            compare_files(old, new, Thresholds())
    assert compare_files(record, record, Thresholds()).rows == ()


TEXT = json.dumps(CERTIFICATE)
HOSTILE = {
    "empty": "",
    "deep": TEXT.replace('"B_h": 1.0', '"B_h": ' + "[" * 10**5 + "]" * 10**5),
    "NaN": TEXT.replace('"lambda": 0.5', '"lambda": NaN'),
    "a huge exponent": TEXT.replace('"lambda": 0.5', '"lambda": 1e999'),
    "negative": TEXT.replace('"lambda": 0.5', '"lambda": -0.5'),
    "twice": TEXT.replace('"lambda": 0.5', '"lambda": 0.9, "lambda": 0.5'),
    "twice below": TEXT.replace('"gain": 2.0', '"gain": 9.0, "gain": 2.0'),
    "another version": TEXT.replace("certificate/1", "certificate/3"),
    "another schema": TEXT.replace("rnnbounds/certificate/1", "\u001b[31m<script>/certificate"),
    "a verdict that is none": TEXT.replace('"certified"', "7"),
    "another verdict": TEXT.replace('"certified"', '"\\u001b[2Jproved"'),
    "no digest": TEXT.replace('"sha256"', '"sha"'),
    "another digest": TEXT.replace("abab", "ABAB"),
    "a gain below 0": TEXT.replace('"gain": 2.0', '"gain": -2.0'),
    "λ = 1 of a certified model": TEXT.replace('"lambda": 0.5', '"lambda": 1.0'),
    "no λ of a certified model": TEXT.replace('"lambda": 0.5', '"lambda": null'),
    "no k of a certified model": TEXT.replace('"k": 8', '"k": null'),
    "no text": TEXT.replace("rnn-tanh", "\ud800"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_certificate(tmp_path, name):
    """One short line that names the file, and the remedy."""
    path = tmp_path / "c.json"
    path.write_bytes(HOSTILE[name].encode(errors="surrogatepass"))
    with pytest.raises(RecordError) as caught:
        compare_files(path, path, Thresholds())
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert line.isprintable()
    assert len(line) < 700
    assert "again" in line


def test_a_file_that_is_none(tmp_path):
    """It is named."""
    with pytest.raises(RecordError, match=r"c\.json: it does not exist; give"):
        load_certificate(tmp_path / "c.json")
    with pytest.raises(RecordError, match=r"c\.json: it does not exist; give"):
        compare_files(tmp_path / "c.json", tmp_path / "c.json", Thresholds())


def test_hostile_names_are_inert(save):
    """A cell that is markup and moves the cursor stays text, and is cut."""
    cell = "<script>alert(1)</script>\u001b[31m" + "x" * 10**6
    old = save("old.json", **CERTIFICATE | {"cell": cell})
    new = save("new.json", **CERTIFICATE | {"cell": cell, "verdict": "undecided"})
    found = compare_files(old, new, Thresholds())
    assert len(found.failing) == 1
    assert all(line.isprintable() for line in found.text)
    assert "<" not in found.markdown
    assert len(found.markdown) < 10_000
