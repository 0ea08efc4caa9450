"""The doctor: all well here, and each ailment is seen."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.properties import doctor
from rnnbounds.properties.doctor import activation_error, examine_device, library_enclosure
from rnnbounds.theory.numbers.interval import Interval


def test_all_is_well() -> None:
    """Every check on this machine's processor is ok, one for each activation among them."""
    findings = examine_device("cpu")
    assert [f.check for f in findings if not f.ok] == []
    assert len(findings) == 5 + len(ACTIVATIONS)
    assert all(f.found for f in findings)


@pytest.mark.parametrize("name", ["tanh", "gelu", "identity", "softplus"])
def test_a_broken_activation_is_seen(name: str) -> None:
    """A function that is off by one part in 10⁹ is not ok, with its error far above the model's."""
    rho = ACTIVATIONS[name]
    broken = replace(rho, function=lambda z: rho(z) * (1 + 1e-9))
    assert not activation_error(broken, "cpu").ok
    assert activation_error(rho, "cpu").ok


def test_nan_is_not_ok() -> None:
    """A function that returns NaN is not within any model."""
    broken = replace(ACTIVATIONS["tanh"], function=lambda z: torch.full_like(z, float("nan")))
    assert not activation_error(broken, "cpu").ok


@pytest.mark.parametrize("name", ["exp", "log"])
def test_a_broken_library_function_is_seen(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An enclosure that misses the truth is not ok."""
    true = getattr(doctor, name)

    def shifted(x: Interval) -> Interval:
        found = true(x)
        return Interval(found.lo * (1 + 1e-9), found.hi * (1 + 1e-9))

    points = np.linspace(1.5, 3, 20)
    assert library_enclosure(name, points).ok
    monkeypatch.setattr(doctor, name, shifted)
    assert not library_enclosure(name, points).ok


def test_flushed_subnormals_are_seen() -> None:
    """With subnormals flushed the check says so."""
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor does not flush subnormals")
    try:
        assert not doctor.subnormals_kept("cpu").ok
    finally:
        torch.set_flush_denormal(False)
    assert doctor.subnormals_kept("cpu").ok
