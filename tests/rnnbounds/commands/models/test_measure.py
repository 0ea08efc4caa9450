"""``rnnbounds measure`` and ``certify --data``: kinds of answers, each named, never mixed."""

import json
from fractions import Fraction

import numpy as np
import pytest
import torch

import rnnbounds
from rnnbounds.impl.arithmetic.running import RunningError
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory import exact
from rnnbounds.impl.memory import measure as measured
from rnnbounds.impl.memory.calls import measure


@pytest.fixture
def data(tmp_path):
    """40 normal sequences of 12 inputs, the seed's own."""
    x = np.random.default_rng(0).normal(size=(40, 12, 1))
    np.save(tmp_path / "x.npy", x)
    return tmp_path / "x.npy"


@pytest.fixture
def asked(stable_model, data):
    """What both commands are told."""
    return (stable_model, "--data", data, "--cell", "rnn-tanh", "--eps", 0.1)


class TestMeasure:
    def test_json_is_what_python_gives(self, call, asked, data, stable_model):
        told = call("measure", *asked, "--format", "json").json
        assert told == measure(stable_model, data, cell="rnn-tanh", eps=(0.1,)).to_dict()
        assert told["schema"] == "rnnbounds/measurement/1"
        curve, products = told["forgetting"]["curve"], told["steps"]["products"]
        assert [row["k"] for row in products] == list(range(13))
        assert products[0]["median"] == 1
        assert [row["k"] for row in curve] == list(range(13))
        assert curve[-1]["worst"] == 0
        assert told["stability"]["contracts"]
        assert told["steps"]["lyapunov"]["largest"] < np.log(0.5)

    @pytest.mark.parametrize("size", [-1.0, np.nan, 10**400, "0.1", [0.1], 1j, True])
    def test_sizes_near_the_data_that_are_none(self, data, stable_model, size):
        """Refused from Python as on the command line, as are states that are not named."""
        with pytest.raises(InputError, match="non-negative and finite"):
            measure(stable_model, data, cell="rnn-tanh", near=size)
        with pytest.raises(InputError, match="zero or recorded"):
            measure(stable_model, data, cell="rnn-tanh", near=0.1, states=size)

    @pytest.mark.parametrize("size", [np.float32(0.125), Fraction(1, 8), np.array(0.125)[()]])
    def test_sizes_near_the_data_are_told_as_floats(self, data, stable_model, size):
        told = measure(stable_model, data, cell="rnn-tanh", eps=0.1, near=size)
        near = json.loads(json.dumps(told.to_dict(), allow_nan=False))["near"]
        assert (near["delta"], near["states"]) == (0.125, "zero")


class TestText:
    """What a newcomer misread."""

    def test_a_grid_of_k(self, call, stable_model, tmp_path):
        """Nothing is seen at a k that was not run."""
        np.save(tmp_path / "long.npy", np.random.default_rng(0).normal(size=(6, 40, 1)))
        long = call("measure", stable_model, "--data", tmp_path / "long.npy", "--cell", "rnn-tanh")
        assert "and after the last k, at 37 of the k from 0 to 40\n" in long.out

    def test_which_windows_are_certified(self, call, asked, monkeypatch):
        """All of them, or as many as the work pays for, which is said before it is done."""
        all_text = "Certified of 40 of the 40 windows, of all inputs"
        every = call("measure", *asked, "--near", 0.01)
        assert (all_text in every.out, every.err) == (True, "")
        monkeypatch.setattr("rnnbounds.impl.near.near.WORK", 1e5)
        few = call("measure", *asked, "--near", 0.01)
        assert "Certified of 1 of the 40 windows, the first, of all inputs" in few.out
        assert few.err == "rnnbounds: certifying k near 1 of the 40 windows\n"
        monkeypatch.setattr("rnnbounds.impl.near.near.WORK", 2e7)
        few = call("measure", *asked, "--near", 0.01).out
        assert " of the 40 windows, evenly spaced in the data, of all inputs" in few

    def test_windows_that_are_not_used(self, call, asked, data, monkeypatch):
        """How many, and why: k is chosen on some, or fewer held out are enough."""
        monkeypatch.setattr(measured, "CURVE", 6)
        monkeypatch.setattr(measured, "HELD_WORK", 1)
        told = call("measure", *asked, "--share", 0.5, "--confidence", 0.9).out
        assert "Not used: 26 windows, as to choose k on more takes too much work and a" in told
        assert "of 0.5 takes 4 held out, and at least twice as many are run.\n" in told


class TestPython:
    @pytest.mark.parametrize("window", ["3", 2.0, True])
    def test_windows_are_whole_numbers(self, window):
        with pytest.raises(InputError, match="the window"):
            rnnbounds.measure(torch.nn.RNN(1, 2), torch.zeros(1, 5, 1), window=window)

    @pytest.mark.parametrize("eps", ["0.1", ["a"], 0.0, [], None])
    def test_targets_are_numbers(self, eps):
        with pytest.raises(InputError, match="ε"):
            rnnbounds.measure(torch.nn.RNN(1, 2), torch.zeros(1, 5, 1), eps=eps)

    def test_overlapping_windows_state_nothing(self):
        series = torch.randn(60, generator=torch.Generator().manual_seed(0))
        slid = series.unfold(0, 20, 1)[:, :, None]
        told = rnnbounds.measure(torch.nn.RNN(1, 2), slid)
        assert "overlap by 19 of 20 inputs" in told.unstated

    def test_k_is_chosen_on_the_first_half_alone(self):
        """The second half forgets more slowly: it is counted, and moves no k."""
        state = {"weight_hh_l0": torch.full((1, 1), 0.5), "weight_ih_l0": torch.ones(1, 1)}
        small, large = torch.ones(10, 8, 1), torch.full((10, 8, 1), 64.0)
        told = [
            rnnbounds.measure(state, torch.cat([small, rest]), cell="linear", eps=(0.3,)).statement
            for rest in (small, large)
        ]
        assert told[0].lines[0].k == told[1].lines[0].k == 3
        assert (told[0].lines[0].beyond, told[1].lines[0].beyond) == (0, 10)
        assert told[1].lines[0].share == 0

    def test_windows_left_open_are_told(self, monkeypatch, call, asked):
        """Where no balls are afforded and float64 decides nothing, none counts as within ε."""
        monkeypatch.setattr(exact, "WORK", 0)
        monkeypatch.setattr(
            RunningError, "exactly", lambda v: RunningError(v, torch.full_like(v, torch.inf))
        )
        assert "20 windows were left undecided" in call("measure", *asked).out

    def test_a_stack_of_dead_units_has_no_exponent(self):
        state = {"weight_hh_l0": torch.zeros(1, 1), "weight_ih_l0": torch.ones(1, 1)}
        told = rnnbounds.measure(state, torch.ones(4, 6, 1), cell="linear").to_dict()
        assert told["steps"]["lyapunov"]["mean"] is None
