"""Eigenvalues that are stored as a modulus and an angle: |Λ| depends on no angle."""

import math

import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.certificate.certify import certify


def lru(nu: float, theta: float, dtype: torch.dtype = torch.float64) -> dict[str, torch.Tensor]:
    """One unit of an LRU."""
    held = {"nu_log": [nu], "theta_log": [theta], "B_re": [[1.0]], "B_im": [[0.0]]}
    return {name: torch.tensor(part, dtype=torch.float64).to(dtype) for name, part in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.1, 40.0, 80.0, 88.0, 88.5])
def test_the_factor_does_not_depend_on_the_angle(theta):
    """λ = exp(−exp ν) to the last digits, certified, as at an angle of 1."""
    for dtype in (torch.float32, torch.float64):
        told, small = certify(lru(-3.0, theta, dtype), 1.0), certify(lru(-3.0, 0.0, dtype), 1.0)
        assert told.verdict == "certified"
        assert told.lam == small.lam
        with ctx.workprec(200):
            exact = (-arb(-3.0).exp()).exp()
            assert exact <= arb(told.lam) <= exact * (1 + 1e-15)


def test_angles_up_to_the_largest_float():
    """Certified as long as the angle is a number in the model's own dtype; else undecided."""
    assert certify(lru(-3.0, 700.0), 1.0).verdict == "certified"
    for theta, dtype in ((720.0, torch.float64), (89.0, torch.float32)):
        told = certify(lru(-3.0, theta, dtype), 1.0)
        assert told.verdict == "undecided"
        assert "or overflow" in told.reason
        assert told.lam == certify(lru(-3.0, 0.0), 1.0).lam


@pytest.mark.parametrize(("nu", "lam"), [(-20.0, 1 - math.exp(-20)), (5.0, math.exp(-math.exp(5)))])
def test_moduli_near_one_and_zero(nu, lam):
    """ν of either sign, far out."""
    told = certify(lru(nu, 0.3), 1.0)
    assert (told.verdict, told.lam) == ("certified", pytest.approx(lam, rel=1e-12))


@pytest.mark.parametrize("nu", [800.0, 1e30])
def test_a_modulus_that_underflows(nu):
    """exp(−exp 800) is 0 as run: nothing is kept."""
    told = certify(lru(nu, 0.3), 1.0)
    assert (told.verdict, told.window(1e-2)) == ("certified", 1)


@pytest.mark.parametrize("nu", [-40.0, -800.0])
def test_a_modulus_that_is_one_to_all_digits(nu):
    """1 − e⁻⁴⁰ has no float below 1: λ is 1, and nothing is certified."""
    told = certify(lru(nu, 0.3), 1.0)
    assert (told.verdict, told.stable) == ("undecided", None)
    assert told.lam >= 1


def test_s4d_with_fast_angles():
    """The same of Λ = exp(Δ A): |Λ| = exp(−Δ exp(log_A_real)), whatever A_imag is."""
    found = []
    for turn in (1.0, 1e20, 1e38):
        held = {
            "log_A_real": torch.tensor([0.5]), "A_imag": torch.tensor([turn]),
            "log_dt": torch.tensor([-2.0]), "B_re": torch.ones(1, 1),
        }  # fmt: skip
        told = certify({name: part.double() for name, part in held.items()}, 1.0)
        assert told.verdict == "certified"
        found.append(told.lam)
    assert len(set(found)) == 1
    assert found[0] == pytest.approx(math.exp(-math.exp(-1.5)), rel=1e-14)
