import math

import pytest
import torch
from gated_draws import (
    draw,
    lstm,
    scalar,
)
from torch import Tensor

from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.gated.lstm import LSTM
from rnnbounds.impl.norms.comparison import two_norm_steps
from rnnbounds.impl.reading.adapters import load_model


def analysed(B: float = 1.0, **parts: float) -> tuple[LSTM, ProgramAnalysis]:
    """A one-unit LSTM with one input, its parts by name, and what is known of it."""
    cell = scalar(lstm, **parts)
    box = cell.held(B).box
    return cell, ProgramAnalysis(cell, cell.compared(box, B), cell.constants(box, B), B)


def jacobian(cell: LSTM, s: Tensor, x: Tensor) -> Tensor:
    """The Jacobian (2n, 2n) of the one system in the state."""
    step = torch.func.jacrev(
        lambda state: cell.step(state[None, :, None], x[None, :, None])[0, :, 0]
    )
    found: Tensor = step(s)
    return found


@pytest.mark.slow
def test_better_than_the_proposition():
    """λ in the ∞-norm is at most Miller and Hardt's, and Perron's at most either."""
    for seed in range(20):
        cell = draw(lstm, 3, scale=0.5, seed=seed)
        box = cell.box(1.0)
        told, found = cell.constants(box, 1.0), cell.compared(box, 1.0)
        whole = told["a"] + told["f_bar"]
        published = max(whole, told["q"] + told["o_bar"] * whole)
        factors = [float(found.factor(getattr(found, name)())) for name in
                   ("infinity", "comparison", "perron")]  # fmt: skip
        assert factors[0] <= published * (1 + 1e-12)
        assert factors[2] <= min(factors[0], factors[1] * (1 + 1e-6))
        if told["theta"] < 1:
            assert factors[0] <= 1 - (1 - told["theta"]) * (1 - told["f_bar"]) + 1e-12


def test_their_sufficient_condition_is_met():
    """θ < 1 happens, and is certified; the weaker condition ō a < (1 − f̄)(1 − q) is λ < 1."""
    theta = 0
    for seed in range(40):
        told = draw(lstm, 3, scale=0.02, seed=seed)
        box = told.box(1.0)
        named, found = told.constants(box, 1.0), told.compared(box, 1.0)
        theta += named["theta"] < 1
        a, f, o, q = (named[name] for name in ("a", "f_bar", "o_bar", "q"))
        if o * a < (1 - f) * (1 - q):
            assert float(found.factor(found.comparison())) < 1
    assert theta > 5


@pytest.mark.slow
def test_one_step_of_the_euclidean_norm_is_not_enough():
    """One column of W_z: λ = 0.26 in the ∞-norm, yet one Euclidean step stretches by 6.9."""
    n = 400
    W = torch.zeros(1, 4 * n, n).double()
    W[0, 2 * n : 3 * n, 0] = 0.2453
    b = torch.tensor([20.0, -4.0, 0.0, 20.0], dtype=torch.float64).repeat_interleave(n)[None]
    cell = lstm(W, torch.zeros(1, 4 * n, 1).double(), b, torch.zeros_like(b))
    found = cell.comparison(0.0)
    norm = found.norm("infinity")
    assert norm.lam == pytest.approx(0.2633, abs=1e-4)
    s, zero = torch.zeros(1, 2 * n, 1).double(), torch.zeros(1, 1, 1).double()
    s[0, n] = 1e-6
    factors = []
    for _ in range(3):
        s = cell.step(s, zero)
        factors.append(float(s.norm()) / 1e-6)
    assert factors[0] > 6.9
    steps, factor = two_norm_steps(norm, 2 * n)
    assert steps == 3
    assert 0.4 < factors[2] <= factor < 0.52


def test_quarter_of_the_candidate():
    """The candidate's slope is 1, not 1/4: this LSTM, which that would certify, expands."""
    cell, analysis = analysed(
        W_i=0.62819, W_o=0.62819, W_z=0.62819, W_f=0.39502, b_i=5.967, b_f=-0.922, b_o=6.0,
        b_z=-3.848, U_i=9.68, U_z=3.789,
    )  # fmt: skip
    corner = analysis.comparison.box[0]
    steep = jacobian(cell, corner, torch.tensor([0.863], dtype=torch.float64)).abs().sum(1).max()
    told = analysis.named
    a = 0.25 * (0.62819 * told["z_bar"] + told["i_bar"] * 0.62819 + 0.39502 * told["B_c"])
    false = max(
        a + told["f_bar"], 0.25 * 0.62819 * told["tau"] + told["o_bar"] * (a + told["f_bar"])
    )
    assert false < 1 < float(steep)
    assert float(steep) <= analysis.norm("infinity").lam


def test_square_of_the_forget_gate():
    """‖W_f‖ < 1 − f̄ without the square: this LSTM, which that would certify, expands."""
    t = 0.999
    cell, analysis = analysed(
        W_i=t / 8, W_o=t / 8, W_f=t / 8, W_z=t / 32, b_f=math.log(7) - t / 8, U_i=40.0, b_o=20.0,
        b_z=20.0,
    )  # fmt: skip
    corner = analysis.comparison.box[0]
    steep = jacobian(cell, corner, torch.zeros(1).double()).abs().sum(1).max()
    told = analysis.named
    room = 1 - told["f_bar"]
    assert max(t / 8, 4 * t / 32) < room * (1 + 1e-9)  # the false condition holds
    assert told["theta"] > 1
    assert 1 < float(steep) <= analysis.norm("infinity").lam


def test_only_on_the_box():
    """A certified LSTM expands far outside its box: the certificate speaks of the box alone."""
    cell, analysis = analysed(W_f=0.05, W_z=0.1, W_i=0.1, W_o=0.1)
    assert analysis.norm("infinity").lam < 1
    far = torch.tensor([1e3, 0.0], dtype=torch.float64)
    assert float(jacobian(cell, far, torch.zeros(1).double()).abs().sum(1).max()) > 10
    assert float(analysis.comparison.box[0, 0]) < 1e3


def test_without_inputs():
    """B = 0 is a case: the factor is smaller than with inputs, and the drive is the biases'."""
    module = torch.nn.LSTM(2, 3)
    with torch.no_grad():
        module.weight_hh_l0.mul_(0.1)
    quiet, loud = (ProgramAnalysis.of(load_model(module), B).norm("infinity") for B in (0.0, 1.0))
    assert quiet.lam < loud.lam
    assert 0 < quiet.drive < loud.drive
