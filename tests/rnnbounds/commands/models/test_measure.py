"""``rnnbounds measure`` and ``certify --data``: kinds of answers, each named, never mixed."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
import torch

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory import exact
from rnnbounds.impl.memory import measure as measured
from rnnbounds.impl.memory.measure import measure
from rnnbounds.impl.memory.running import Near


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
    def test_each_line_says_what_kind_of_answer_it_is(self, call, asked):
        outcome = call("measure", *asked, "--confidence", 0.9)
        assert (outcome.code, outcome.err) == (0, "")
        assert "on your data: 40 windows of 12 inputs" in outcome.out
        assert "seen: within 0.1 from k = " in outcome.out
        assert "in the steps of 40 windows" in outcome.out
        assert "stated with confidence 0.9 (all lines together)" in outcome.out
        assert "this presupposes that the windows are independent draws" in outcome.out
        assert "certified" not in outcome.out

    def test_json_is_what_python_gives(self, call, asked, data, stable_model):
        told = call("measure", *asked, "--format", "json").json
        assert told == measure(stable_model, data, cell="rnn-tanh", eps=(0.1,)).to_json()
        assert told["schema"] == "rnnbounds/measurement/1"
        curve, products = told["forgetting"]["curve"], told["steps"]["products"]
        assert [row["k"] for row in products] == list(range(13))
        assert products[0]["median"] == 1
        assert [row["k"] for row in curve] == list(range(13))
        assert curve[-1]["worst"] == 0
        assert told["stability"]["contracts"]
        assert told["steps"]["lyapunov"]["largest"] < np.log(0.5)

    def test_a_share_that_is_not_stated_is_exit_1(self, call, asked, tmp_path):
        """The page says so, too."""
        assert call("measure", *asked, "--confidence", 0.5, "--share", 0.9).code == 0
        # No k below the length keeps the windows that it is chosen on within 1e-12.
        short = (*asked, "--eps", 1e-12, "--confidence", 0.5, "--share", 0.9, "--out", tmp_path)
        assert call("measure", *short).code == 1
        page = (tmp_path / "index.html").read_text()
        assert "FAILS" in page
        assert "at ε = 1e-12 no share of windows is stated, not 0.9" in page

    def test_too_few_windows_for_the_share(self, refused, asked):
        assert "it takes 459 with none beyond ε" in refused("measure", *asked, "--share", 0.99)

    @pytest.mark.parametrize(
        ("options", "words"),
        [(("--window", 13), "fewer than a window of 13"), (("--window", 0), "at least 1"),
         (("--input-bound", 1), "inputs are beyond"), (("--eps", 0), "a number > 0"),
         (("--confidence", 1), "between 0 and 1"), (("--share", 0), "between 0 and 1"),
         (("--near", -1), "non-negative"), (("--states", 1), "give near")],
    )  # fmt: skip
    def test_bad_input_is_one_line(self, refused, asked, tmp_path, options, words):
        out = tmp_path / "told"
        assert words in refused("measure", *asked, *options, "--out", out)
        assert not out.exists()

    def test_data_of_another_width_and_with_nan(self, refused, stable_model, data):
        for x, words in ((np.zeros((5, 2)), "2 channels"), (np.full((5, 1), np.nan), "5 numbers")):
            np.save(data, x)
            asked = ("measure", stable_model, "--data", data, "--cell", "rnn-tanh")
            assert words in refused(*asked)

    def test_a_model_that_overflows_on_the_data(self, refused, save, data):
        asked = ("--data", data, "--cell", "linear")
        assert "overflows" in refused("measure", save([[1e38]]), *asked)

    def test_the_page_has_all_kinds_apart(self, call, asked, tmp_path):
        out = tmp_path / "told"
        assert call("measure", *asked, "--out", out).code == 0
        page = (out / "index.html").read_text()
        heads = re.findall('<th scope="col"[^>]*>(.*?)</th>', page)[:7]
        of = ["your windows", "windows like these", "share", "every input", "at least"]
        assert heads == ["ε", "ε / largest", *of]
        assert page.count("<svg") == 1
        assert page.index("<svg") < page.index("<table")
        assert all(words in page for words in ("worst of your", "presupposes", "a pair of inputs"))
        assert str(tmp_path) not in page
        told = json.loads((out / "measurement.json").read_text())
        assert told["model"] == "…/model.pt"
        assert told["data"]["source"] == "…/x.npy"
        assert json.loads((out / "certificate.json").read_text())["verdict"] == "certified"

    def test_what_is_certified_near_the_data_is_apart(self, call, asked, tmp_path):
        """Named in text, JSON and page, of these inputs and states, and of no others."""
        out = tmp_path / "told"
        near = ("--near", 0.125, "--states", 0.25, "--confidence", 0.9)
        text = call("measure", *asked, *near, "--out", out).out
        assert call("measure", *asked, *near).out.count("near your data") == 2
        told = json.loads((out / "measurement.json").read_text())["near"]
        assert (told["kind"], told["delta"], told["states"]) == ("near your data", 0.125, 0.25)
        (row,) = told["memory"]
        (gap,) = (one["gap"] for one in told["gaps"] if one["k"] == row["k"])
        assert gap <= row["eps"]
        page = (out / "index.html").read_text()
        assert "Certified near your data" in page
        assert "within 0.125 of the recorded ones" in page
        assert "of each of the first 40 windows" in page
        assert all("computed here in float64" in told for told in (page, text))
        assert "wrote" in text

    @pytest.mark.parametrize("size", [-1.0, np.nan, 10**400, "0.1", [0.1], None, 1j, True])
    def test_sizes_near_the_data_that_are_none(self, data, stable_model, size):
        """Refused from Python as on the command line, and where states start nothing, too."""
        with pytest.raises(InputError, match="non-negative and finite"):
            measure(stable_model, data, cell="rnn-tanh", near=0.1, states=size)
        with pytest.raises(InputError, match="give near, too"):
            measure(stable_model, data, cell="rnn-tanh", states=size)

    @pytest.mark.parametrize("size", [np.float32(0.125), Fraction(1, 8), np.array(0.125)[()]])
    def test_sizes_near_the_data_are_told_as_floats(self, data, stable_model, size):
        told = measure(stable_model, data, cell="rnn-tanh", eps=0.1, near=size, states=size)
        near = json.loads(json.dumps(told.to_json(), allow_nan=False))["near"]
        assert (near["delta"], near["states"]) == (0.125, 0.125)

    def test_what_is_undecided_near_the_data_says_what_to_do(self, call, asked):
        text = call("measure", *asked, "--near", 1e300, "--confidence", 0.9).out
        assert "near your data, within 0.1: undecided" in text
        assert "take a smaller --near" in text

    def test_inputs_are_stated_as_for_certify(self, call, refused, asked, tmp_path):
        """A box, a margin around the data, one of them; the page certifies for what was stated."""
        assert "of 480 inputs leave [-1.0, 1.0]" in refused("measure", *asked, "--inputs=-1:1")
        box, around = (tmp_path / name for name in ("box", "around"))
        call("measure", *asked, "--inputs=-4:4", "--out", box)
        call("measure", *asked, "--input-bound", "from-data", "--margin", 0.5, "--out", around)
        told = [json.loads((out / "certificate.json").read_text()) for out in (box, around)]
        assert told[0]["inputs"]["low"] == [-4.0]
        assert "within 0.5" in told[1]["inputs"]["what"]
        both = ("--input-bound", 4, "--inputs=-4:4")
        assert "state the inputs once" in refused("measure", *asked, *both)
        assert "--margin is for" in refused("measure", *asked, "--margin", 1)

    def test_numbers_are_printed_as_they_were_typed(self, call, refused, asked, tmp_path):
        sure, eps, out = 0.999999999, 0.012345649, tmp_path / "told"
        told = ("--confidence", sure, "--eps", eps, "--out", out)
        text = call("measure", *asked[:-2], *told).out
        page = (out / "index.html").read_text()
        for written in (text, page):
            assert f"confidence {sure}" in written.lower()
            assert str(eps) in written
        assert f"seen: within {eps} " in text
        assert "Attacked" not in page
        line = refused("measure", *asked, "--share", 0.9999999, "--confidence", sure)
        assert f"confidence {sure} in a share of 0.9999999" in line


class TestCertify:
    def test_what_is_certified_stays_as_it_is(self, call, asked):
        bound = ("--input-bound", 4)
        alone = call("certify", asked[0], *asked[3:], *bound)
        both = call("certify", *asked, *bound)
        alone, _, following = alone.out.partition("what to do next:")
        assert both.out.startswith(alone)
        assert both.out.endswith(following)
        assert "on your data" in both.out
        told = call("certify", *asked, *bound, "--format", "json").json
        seen = told.pop("on_your_data")
        assert told == call("certify", asked[0], *asked[3:], *bound, "--format", "json").json
        assert seen["memory"][0]["k"] <= told["truncation"][0]["k"]

    def test_data_beyond_the_bound(self, refused, asked):
        line = refused("certify", *asked, "--input-bound", 1)
        assert "of 480 inputs are beyond ‖x_t‖₂ ≤ 1, by up to" in line

    def test_data_beyond_the_set_of_inputs(self, refused, call, asked, tmp_path):
        line = refused("certify", *asked, "--inputs=-1:1")
        assert "of 480 inputs leave [-1.0, 1.0], by up to" in line
        assert call("certify", *asked, "--inputs=-4:4", "--out", tmp_path / "told").code == 0
        assert "x in [-4.0, 4.0], ‖x‖₂ ≤ 4" in (tmp_path / "told" / "index.html").read_text()

    def test_data_that_are_refused_leave_no_witness(self, refused, asked, tmp_path):
        np.save(tmp_path / "wide.npy", np.zeros((3, 9, 2)))
        path, out = tmp_path / "witness.json", tmp_path / "told"
        told = ("--data", tmp_path / "wide.npy", "--witness", path, "--out", out)
        line = refused("certify", asked[0], *asked[3:], "--input-bound", 4, *told)
        assert "has 2 channels per input" in line
        assert not path.exists()
        assert not out.exists()


class TestPython:
    def test_one_number_is_a_target(self):
        model, x = torch.nn.RNN(1, 2), torch.zeros(1, 5, 1)
        assert rnnbounds.measure(model, x, eps=0.1).eps == (0.1,)

    @pytest.mark.parametrize("window", ["3", 2.0, True])
    def test_windows_are_whole_numbers(self, window):
        with pytest.raises(InputError, match="the window"):
            rnnbounds.measure(torch.nn.RNN(1, 2), torch.zeros(1, 5, 1), window=window)

    @pytest.mark.parametrize("eps", ["0.1", ["a"], 0.0, [], None])
    def test_targets_are_numbers(self, eps):
        with pytest.raises(InputError, match="ε"):
            rnnbounds.measure(torch.nn.RNN(1, 2), torch.zeros(1, 5, 1), eps=eps)

    def test_one_window_states_nothing(self):
        told = rnnbounds.measure(torch.nn.RNN(1, 2), torch.zeros(1, 5, 1))
        assert told.statement is None
        assert told.unstated.startswith("one window")

    def test_overlapping_windows_state_nothing_and_are_refused_if_a_share_is_asked_for(self):
        series = torch.randn(60, generator=torch.Generator().manual_seed(0))
        slid = series.unfold(0, 20, 1)[:, :, None]
        told = rnnbounds.measure(torch.nn.RNN(1, 2), slid)
        assert "overlap by 19 of 20 inputs" in told.unstated
        with pytest.raises(InputError, match="cut them without overlap"):
            rnnbounds.measure(torch.nn.RNN(1, 2), slid, share=0.5, confidence=0.5)

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

    def test_a_curve_of_some_windows_chooses_on_these(self, monkeypatch):
        monkeypatch.setattr(measured, "CURVE", 6)
        x = torch.randn(20, 8, 1, generator=torch.Generator().manual_seed(0))
        told = rnnbounds.measure(torch.nn.RNN(1, 2), x)
        assert len(told.seen.gaps) == 6
        assert (told.statement.chosen, told.statement.held) == (6, 10)

    def test_windows_left_open_are_told(self, monkeypatch, call, asked):
        """Where no balls are afforded and float64 decides nothing, none counts as within ε."""
        monkeypatch.setattr(exact, "WORK", 0)
        monkeypatch.setattr(Near, "exactly", lambda v: Near(v, torch.full_like(v, torch.inf)))
        assert "20 windows were left undecided" in call("measure", *asked).out

    def test_a_stack_of_dead_units_has_no_exponent(self):
        state = {"weight_hh_l0": torch.zeros(1, 1), "weight_ih_l0": torch.ones(1, 1)}
        told = rnnbounds.measure(state, torch.ones(4, 6, 1), cell="linear").to_json()
        assert told["steps"]["lyapunov"]["mean"] is None
