"""The gate over certificates of a model, and over files whatever they are."""

import json

import pytest

from reports import RecordError, encode
from reports.errors import InputError
from reports.gate.certificates import load_certificate
from reports.gate.files import compare_files
from reports.gate.thresholds import Thresholds

CERTIFICATE = {
    "schema": "rnnbounds/certificate/1", "model": "m.safetensors", "cell": "rnn-tanh",
    "dtype": "float32", "sha256": "ab" * 32, "norm": "iterated", "lambda": 0.5,
    "verdict": "certified", "input_bound": 1.0, "constants": {"gain": 2.0, "B_h": 1.0},
    "truncation": [{"eps": 0.01, "k": 8}, {"eps": 1e-6, "k": 20}],
    "rounding": {"dtype": "float32", "state": 1e-5, "reason": None},
    "states": "all states (ℝⁿ)", "rounds_to_one": {"float16": 0},
    "training": {
        "loss": "squared", "steps": 100, "alpha": 0.1, "length": 1000, "readout_norm": 1.0,
        "windows": [{"eps": 0.01, "k": 18, "largest_alpha": 1.0}],
    },
    "shape": {"n": 4, "d": 2}, "ignored": [],
}  # fmt: skip
UNITARY = {
    "schema": "rnnbounds/unitary-certificate/2", "cell": "rnn-relu", "dtype": "float32",
    "sha256": "cd" * 32, "verdict": "certified", "states": 8, "input_bound": 1.0,
    "constants": {}, "orthogonality_defect": 2e-15, "difference": {"own_dtype": 4e-6},
}  # fmt: skip
WORSE = {
    "verdict": ({"verdict": "undecided"}, "verdict"),
    "refuted": ({"verdict": "refuted", "lambda": None}, "verdict"),
    "λ": ({"lambda": 0.6}, "λ"),
    "no λ": ({"lambda": None}, "λ"),
    "k": ({"truncation": [{"eps": 0.01, "k": 9}, {"eps": 1e-6, "k": 20}]}, "k for ε = 0.01"),
    "no k": ({"truncation": [{"eps": 0.01}, {"eps": 1e-6, "k": 20}]}, "k for ε = 0.01"),
    "an ε gone": ({"truncation": [{"eps": 0.01, "k": 8}]}, "k for ε"),
    "gain": ({"constants": {"gain": 2.5}}, "gain"),
    "rounding": ({"rounding": {"state": 1e-4}}, "rounding"),
    "fewer inputs": ({"input_bound": 0.5}, "inputs"),
    "decays": ({"rounds_to_one": {"float16": 1}}, "decays that may round to 1 in float16"),
    "k after training": (
        {"training": CERTIFICATE["training"] | {"windows": [{"eps": 0.01, "k": None}]}},
        "k after training for ε = 0.01",
    ),
    "a tensor left out": ({"ignored": ["layers.1.weight_hh"]}, "tensors left out"),
    "another left out": ({"information": {"ignored": ["weight_hr"]}}, "tensors left out"),
    "no constant": ({"constants": {"gain": 2.0, "B_h": None}}, "B_h"),
    "a constant gone": ({"constants": {"gain": 2.0}}, "B_h"),
    "a constant grown": ({"constants": {"gain": 2.0, "B_h": 1.5}}, "B_h"),
}


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


@pytest.mark.parametrize(
    ("name", "value"),
    [("steps", 1), ("alpha", 0.01), ("length", 10), ("loss", "logistic"), ("readout_norm", 0.5)],
)
def test_another_training(save, name, value):
    """Its windows say nothing of those of the one before, however small they are."""
    fields = CERTIFICATE["training"] | {name: value, "windows": [{"eps": 0.01, "k": 2}]}
    paths = save("old.json", **CERTIFICATE), save("new.json", **CERTIFICATE | {"training": fields})
    for both in (paths, paths[::-1]):
        (row,) = compare_files(*both, Thresholds()).rows
        assert (row.kind, row.what) == ("regressed", "training")


def test_training_that_is_gone_or_new(save):
    """A certificate without it lacks its windows."""
    one = save("one.json", **CERTIFICATE)
    none = save("none.json", **CERTIFICATE | {"training": None})
    assert [row.kind for row in compare_files(one, none, Thresholds()).rows] == ["gone"]
    assert [row.kind for row in compare_files(none, one, Thresholds()).rows] == ["new"]


@pytest.mark.parametrize("states", ["the box |h| ≤ 1", 4])
def test_other_states(save, states):
    """Any change is for a reader to judge."""
    paths = save("old.json", **CERTIFICATE), save("new.json", **CERTIFICATE | {"states": states})
    for both in (paths, paths[::-1]):
        (row,) = compare_files(*both, Thresholds()).failing
        assert row.what == "states"


@pytest.mark.parametrize(
    "fields", [{"states": 10}, {"orthogonality_defect": 1e-12}, {"difference": {"own_dtype": 1}}]
)
def test_unitary_certificates(save, fields):
    """States, defect and rounding; the version before is read too."""
    old = save("old.json", **UNITARY | {"schema": "rnnbounds/unitary-certificate/1"})
    assert compare_files(old, save("same.json", **UNITARY), Thresholds()).rows == ()
    assert compare_files(old, save("new.json", **UNITARY | fields), Thresholds()).failing


def test_thresholds(save):
    """What the settings let pass."""
    longer = [{"eps": 0.01, "k": 10}, {"eps": 1e-6, "k": 21}]
    old = save("old.json", **CERTIFICATE)
    new = save("new.json", **CERTIFICATE | {"lambda": 0.52, "truncation": longer})
    assert compare_files(old, new, Thresholds(factor=0.05, window=2)).failing == ()
    assert len(compare_files(old, new, Thresholds(factor=0.03, window=1)).failing) == 2


def test_what_says_nothing_of_one_another(save, tmp_path, run):
    """Another cell, another sort, a run: one line each."""
    old, other = save("old.json", **CERTIFICATE), save("u.json", **UNITARY)
    record = tmp_path / "run.json"
    record.write_bytes(encode(run))
    for new, words in (
        (save("c.json", **CERTIFICATE | {"cell": "<lstm>"}), "of different cells, 'rnn-tanh' and"),
        (
            save("n.json", **CERTIFICATE | {"shape": {"n": 5, "d": 2}}),
            "of different shapes",
        ),
        (other, "of different sorts, 'certificate' and 'unitary-certificate'"),
        (record, "are not records of one sort"),
    ):
        with pytest.raises(InputError, match=words):
            compare_files(old, new, Thresholds())
    assert compare_files(record, record, Thresholds()).rows == ()


TEXT = json.dumps(CERTIFICATE)
HOSTILE = {
    "empty": "",
    "a list": "[]",
    "cut off": TEXT[:-40],
    "deep": TEXT.replace('"B_h": 1.0', '"B_h": ' + "[" * 10**5 + "]" * 10**5),
    "NaN": TEXT.replace('"lambda": 0.5', '"lambda": NaN'),
    "a huge exponent": TEXT.replace('"lambda": 0.5', '"lambda": 1e999'),
    "negative": TEXT.replace('"lambda": 0.5', '"lambda": -0.5'),
    "twice": TEXT.replace('"lambda": 0.5', '"lambda": 0.9, "lambda": 0.5'),
    "twice below": TEXT.replace('"gain": 2.0', '"gain": 9.0, "gain": 2.0'),
    "another version": TEXT.replace("certificate/1", "certificate/3"),
    "a longer version": TEXT.replace("certificate/1", "certificate/" + "1" * 5000),
    "another schema": TEXT.replace("rnnbounds/certificate/1", "\u001b[31m<script>/certificate"),
    "a verdict that is none": TEXT.replace('"certified"', "7"),
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
    assert line.endswith("again")


def test_a_file_that_is_none(tmp_path):
    """It is named."""
    with pytest.raises(RecordError, match=r"c\.json: it does not exist; give"):
        load_certificate(tmp_path / "c.json")
    with pytest.raises(RecordError, match=r"c\.json: it does not exist; give"):
        compare_files(tmp_path / "c.json", tmp_path / "c.json", Thresholds())


def test_hostile_names_are_inert(save):
    """A cell that is markup and a verdict that moves the cursor stay text, and are cut."""
    cell = "<script>alert(1)</script>\u001b[31m" + "x" * 10**6
    old = save("old.json", **CERTIFICATE | {"cell": cell})
    new = save("new.json", **CERTIFICATE | {"cell": cell, "verdict": "\u001b[2J|" * 1000})
    found = compare_files(old, new, Thresholds())
    assert len(found.failing) == 1
    assert all(line.isprintable() for line in found.text)
    assert "<" not in found.markdown
    assert len(found.markdown) < 10_000
