"""Witnesses as files: they replay, and none that was changed passes."""

import json

import pytest
import torch
from draws import doubles

from impl.arithmetic.inputs.sets import input_box, input_rows
from impl.checker.witnesses import begins_as_attacked
from impl.memory.adversary.attack import attack
from impl.memory.adversary.check import WitnessFileError, check_attacked, save_attacked
from impl.reading.adapters import load_model

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


def holds(path, held=HELD, cell="linear"):
    """Whether all is proved."""
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


@pytest.mark.parametrize("given", [input_box(-0.5, 1.0, 1), input_rows(doubles([[0.5], [-1.0]]))])
def test_sets_replay(tmp_path, given):
    """Of a box its ends are checked; of rows the box, and that is said."""
    path = tmp_path / "witness.json"
    save_attacked(attack(HELD, given, (1e-2,), cell="linear", work=2**32), path)
    found = check_attacked(path, load_model(HELD, "linear"))[1]
    assert all(one.holds for one in found)
    assert ("inputs" in [one.name for one in found]) == (given.rows is not None)
    changed = json.loads(path.read_text())
    changed["inputs"] |= {"low": [0.25], "high": [0.375]}
    path.write_text(json.dumps(changed))
    assert not holds(path)


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


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["witnesses"][0].pop("gap"),
        lambda told: told["witnesses"][0].update(length=3),
        lambda told: told["witnesses"][0].update(k=1e9),
        lambda told: told["witnesses"][0].update(k=10**6),
        lambda told: told["witnesses"][0].update(eps=-1.0),
        lambda told: told["witnesses"][0].update(inputs=[[1.0, 2.0]] * 3),
        lambda told: told.update(input_bound=-1.0),
        lambda told: told.update(witnesses=3),
        lambda told: told.pop("no_k_below"),
    ],
)
def test_what_is_no_witness_is_refused(written, change):
    """In a line."""
    told = json.loads(written.read_text())
    change(told)
    written.write_text(json.dumps(told))
    with pytest.raises(WitnessFileError, match="--witness"):
        holds(written)


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
