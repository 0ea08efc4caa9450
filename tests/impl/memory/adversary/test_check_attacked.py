"""Witnesses as files: they replay, and none that was changed passes."""

import json

import pytest
import torch
from draws import doubles

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


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told.update(certified=True),
        lambda told: told.pop("skipped"),
        lambda told: told.update(skipped=[{"what": "more"}]),
        lambda told: told.update(skipped=[{"what": 1, "reason": 2}]),
        lambda told: told.update(no_k_below=[], witnesses=[]),
        lambda told: told.update(input_bound="1"),
        lambda told: told.update(dtype=64),
        lambda told: told["no_k_below"][0].update(k=8.9),
        lambda told: told["no_k_below"][0].update(k="8"),
        lambda told: told["no_k_below"][0].update(eps="0.01"),
        lambda told: told["no_k_below"][0].update(why="it is so"),
        lambda told: told["witnesses"][0].update(eps="0.01"),
        lambda told: told["witnesses"][0].update(gap="0.0156"),
        lambda told: told["witnesses"][0].update(eps=0.0),
        lambda told: told["witnesses"][0].update(why="it is so"),
        lambda told: told["witnesses"][0]["inputs"].__setitem__(0, [True]),
        lambda told: told["witnesses"][0]["inputs"].__setitem__(0, 1.0),
        lambda told: told["witnesses"][0]["inputs"].__setitem__(0, []),
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


@pytest.mark.parametrize(
    "change",
    [
        lambda box: box.pop("rows"),
        lambda box: box.update(rows="x"),
        lambda box: box.update(rows=2),
        lambda box: box.update(set="rows"),
        lambda box: box.update(set="rows", rows=True),
        lambda box: box.update(set="ball"),
        lambda box: box.update(what=3),
        lambda box: box.update(low=[[-1.0], [-1.0]]),
        lambda box: box.update(low=[-1.0] * 7),
        lambda box: box.update(low=[], high=[]),
        lambda box: box.update(low=None),
        lambda box: box.update(low=["-1"]),
        lambda box: box.update(low=[2.0]),
    ],
)
def test_what_is_no_set_is_refused(boxed, change):
    """A box has two ends of as many channels as the model reads, and nothing else."""
    told = json.loads(boxed.read_text())
    change(told["inputs"])
    boxed.write_text(json.dumps(told))
    with pytest.raises(WitnessFileError, match="--witness"):
        holds(boxed)


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
