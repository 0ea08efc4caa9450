"""Witnesses as files: they replay, and none that was changed passes."""

import json

import pytest
import torch
from draws import doubles
from tampering import NEVER, changed, leaves, values, without

from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.certificate.inputs import input_tensor
from rnnbounds.impl.format.witnesses import begins_as_attacked
from rnnbounds.impl.memory.adversary.attack import attack
from rnnbounds.impl.memory.adversary.check import WitnessFileError, check_attacked, save_attacked
from rnnbounds.impl.reading.adapters import load_model

HELD = {"weight_hh": doubles([[0.5]]), "weight_ih": doubles([[1.0]])}


@pytest.fixture(scope="module")
def found():
    """What is found against h = h/2 + x."""
    return attack(HELD, 1.0, (1e-2, 1e-4), cell="linear", work=2**32)


@pytest.fixture
def written(tmp_path, found):
    """Its witnesses."""
    path = tmp_path / "witness.json"
    save_attacked(found, path)
    return path


@pytest.fixture(scope="module")
def found_in_box():
    """What is found in a box."""
    return attack(HELD, input_box(-0.5, 1.0, 1), (1e-2,), cell="linear", work=2**28)


@pytest.fixture
def boxed(tmp_path, found_in_box):
    """Its witnesses."""
    path = tmp_path / "witness.json"
    save_attacked(found_in_box, path)
    return path


def holds(path, held=HELD, cell="linear"):
    """True if all is proved."""
    return all(one.holds for one in check_attacked(path, load_model(held, cell))[1])


def test_what_is_written_holds(written):
    """And is told without its inputs."""
    told, found = check_attacked(written, load_model(HELD, "linear"))
    assert begins_as_attacked(written)
    assert all(one.holds for one in found)
    assert [one.name for one in found] == ["model", *["witness"] * 2, *["no k below"] * 2]
    assert [one["k"] for one in told["no_k_below"]] == [8, 15]
    assert "inputs" not in told["witnesses"][0]


def test_other_models(written):
    """Of other weights, of another dtype or another cell: nothing stands."""
    assert not holds(written, HELD | {"weight_hh": doubles([[0.75]])})
    assert not holds(written, {name: part.float() for name, part in HELD.items()})
    assert not holds(written, cell="rnn-tanh")


def test_a_box_replays(boxed):
    """Its ends are checked."""
    assert holds(boxed)
    changed = json.loads(boxed.read_text())
    changed["inputs"] |= {"low": [0.25], "high": [0.375]}
    boxed.write_text(json.dumps(changed))
    assert not holds(boxed)


def test_rows_replay_beside_their_table(tmp_path):
    """Without it the box around them is checked alone, which is not called enough."""
    path, source = tmp_path / "witness.json", tmp_path / "m.pt"
    torch.save(HELD | {"embed.weight": doubles([[0.5], [-1.0], [0.5]])}, source)
    given = input_tensor(source, "embed.weight")
    save_attacked(attack(HELD, given, (1e-2,), cell="linear", work=2**28), path)
    model = load_model(HELD, "linear")

    def told(table):
        return {one.name: one for one in check_attacked(path, model, table)[1]}

    for table in (None, tmp_path / "none.pt"):
        assert [name for name, one in told(table).items() if not one.holds] == ["inputs"]
        assert "the box around the table alone" in told(table)["inputs"].detail
    assert all(one.holds for one in told(source).values())
    changed = json.loads(path.read_text())
    changed["witnesses"][0]["inputs"][0] = [0.25]
    changed["witnesses"][0]["gap"] = 0.011
    path.write_text(json.dumps(changed))
    assert told(None)["witness"].holds
    assert not told(source)["witness"].holds
    torch.save(HELD | {"embed.weight": doubles([[0.5], [-1.0], [0.25]])}, source)
    assert told(source)["witness"].holds
    assert not told(source)["inputs"].holds


def test_a_witness_that_takes_many_bits_replays(tmp_path):
    """Whatever precision it was found at, on more inputs than it holds: no gap but its own."""
    path = tmp_path / "witness.json"
    sine = {"weight_hh": doubles([[3.0, -3.0], [3.0, 3.0]]), "weight_ih": doubles([[1], [0]])}
    save_attacked(attack(sine, 1.0, (1e-2,), cell="rnn-sin", work=2**27), path)
    assert holds(path, sine, "rnn-sin")
    told = json.loads(path.read_text())
    assert told["witnesses"][0]["k"] > 40
    told["witnesses"][0]["gap"] *= 1 + 1e-15
    path.write_text(json.dumps(told))
    assert not holds(path, sine, "rnn-sin")


CHANGES = {
    "k": lambda one: one | {"k": one["k"] + 1},
    "shorter": lambda one: one | {"k": one["k"] - 1},
    "gap": lambda one: one | {"gap": one["gap"] * (1 + 1e-12)},
    "eps": lambda one: one | {"eps": one["eps"] * 2},
    "inputs": lambda one: one | {"inputs": [[1.0]] * one["length"]},
    "none": lambda one: one | {"inputs": [[0.0]] * one["length"]},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_witness_that_was_changed_falls(written, what):
    """Each number of it; of the inputs also the bound that they keep."""
    told = json.loads(written.read_text())
    told["witnesses"][0] = CHANGES[what](told["witnesses"][0])
    if what == "inputs":
        told["witnesses"][0]["inputs"][0] = [1 + 2.0**-52]
    written.write_text(json.dumps(told))
    assert not holds(written)


@pytest.mark.parametrize("k", [9, 7, 0])
def test_a_window_without_its_witness_falls(written, k):
    """What is stated is what was proved, no more and no less."""
    told = json.loads(written.read_text())
    told["no_k_below"][0]["k"] = k
    written.write_text(json.dumps(told))
    assert not holds(written)


def falls(path, told):
    """True if such a record is refused in a line, or does not hold."""
    path.write_text(json.dumps(told))
    try:
        return not holds(path)
    except WitnessFileError as error:
        return "--witness" in str(error)


@pytest.mark.parametrize("of", ["ball", "box"])
def test_every_part_counts(of, tmp_path, found, found_in_box):
    """None may be left out, be of another kind, or stand beside one that is unknown."""
    path, record = tmp_path / "w.json", (found if of == "ball" else found_in_box).to_json()
    record["witnesses"], looked = record["witnesses"][:1], 0
    for where, value in leaves(record):
        if where[:1] == ("skipped",) or len(where) > 4:  # what is not looked at; one input of many
            continue
        for name, other in values(where, value):
            same = json.dumps(other) == json.dumps(value)
            same = same or (where, name) == (("inputs",), "null")  # then it is of the ball
            text = where[-1:] == ("what",) and isinstance(other, str)
            if name in NEVER | {"null", "empty"} and not (same or text):
                assert falls(path, changed(record, where, other)), (where, name)
                looked += 1
        if where and isinstance(where[-1], str):
            assert falls(path, without(record, where)), where
    assert looked > 100


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("witnesses", 0, "length"), 3), (("witnesses", 0, "k"), 10**6),
        (("witnesses", 0, "eps"), 0.0), (("no_k_below", 0, "k"), 8.9), (("inputs", "rows"), 2),
        (("inputs", "set"), "rows"), (("inputs", "low"), [2.0]), (("inputs", "low"), [-1.0] * 7),
    ],
)  # fmt: skip
def test_numbers_that_do_not_fit_are_refused(where, value, tmp_path, found_in_box):
    """A window within its inputs, a box with two ends of as many channels as the model reads."""
    assert falls(tmp_path / "w.json", changed(found_in_box.to_json(), where, value))


def test_text_that_is_not_plain_is_refused(written):
    """A key that comes twice, and NaN."""
    text = written.read_text()
    twice, nan = text.replace('"k": ', '"k": 3, "k": ', 1), text.replace("0.01", "NaN", 1)
    for other in (twice, nan, text[:-9]):
        written.write_text(other)
        with pytest.raises(WitnessFileError):
            holds(written)
    assert not begins_as_attacked(written.with_name("missing.json"))


def test_inputs_that_are_no_numbers_prove_nothing(written):
    """JSON has floats beyond the largest one."""
    told = json.loads(written.read_text())
    told["witnesses"][0]["inputs"][0] = [torch.inf]
    written.write_text(json.dumps(told).replace("Infinity", "1e999"))
    with pytest.raises(WitnessFileError):
        holds(written)
