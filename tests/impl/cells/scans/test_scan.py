import math

import pytest
import torch
from program_draws import cells, inputs, weights

from rnnbounds.impl.cells.programs import jacobian
from rnnbounds.impl.cells.scans.scan import measured_rate
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import NotCertifiedError, truncate
from rnnbounds.impl.errors import ShapeError

SCANS = ("min-gru", "min-lstm", "selective", "gated-scan", "rg-lru")
EACH = pytest.mark.parametrize("name", SCANS)


@EACH
def test_decays_are_the_jacobian(name):
    """The step is linear in the state, with the decays as its Jacobian, below their bound."""
    cell = cells(name, 40, seed=5)
    x = inputs(40, 30, 2, 2.0).mT
    s = torch.randn(40, 4, 30, generator=torch.Generator().manual_seed(1)).double()
    by_state, _ = jacobian(cell.program, cell.parameters, s, x)
    bound = cell.decay_bound(2.0)
    diagonal = by_state.diagonal(dim1=2, dim2=3)
    assert torch.allclose(torch.diag_embed(diagonal), by_state, rtol=0, atol=0)
    assert bool((diagonal.abs() <= bound[:, None] * (1 + 1e-12)).all())
    gate = {"min-gru": "z", "selective": "delta", "gated-scan": "f", "rg-lru": "a"}.get(name)
    if gate is not None:
        steep = cell.parameters[f"weight_{gate}"] * (-1 if name == "gated-scan" else 1)
        way = -2 * (1 - 1e-12) * (steep / steep.norm(dim=2, keepdim=True)).mT
        by_state, _ = jacobian(cell.program, cell.parameters, torch.zeros(40, 4, 4).double(), way)
        reached = by_state.diagonal(dim1=2, dim2=3).diagonal(dim1=1, dim2=2)
        assert bool((reached >= bound * (1 - 1e-9)).all())


@EACH
def test_memory(name):
    """What is left after k steps is at most the k-th power of the certified decay."""
    cell = cells(name, 5, seed=6)
    x = inputs(5, 12, 2, 1.0)
    s, other = torch.ones(5, 4, 1).double(), torch.zeros(5, 4, 1).double()
    for t in range(12):
        s, other = (cell.step(part, x[:, t, :, None]) for part in (s, other))
    left = (s - other).abs()[:, :, 0]
    assert bool((left <= cell.decay_powers(1.0, 12) * (1 + 1e-12) + 1e-15).all())


@EACH
def test_measured_and_certified_rates(name):
    """On data the rate is no larger than the certified one, and the record says what it is."""
    held = weights(name, seed=2)
    told = certify(held, 1.0)
    cell = kind_of(name).build({key: part[None] for key, part in held.items()})
    found = measured_rate(cell, inputs(6, 50, 2, 1.0))
    assert 0 < found.rate <= told.constants["decay_high"]
    record = found.to_json()
    assert (record["kind"], record["certified"]) == ("measurement", False)
    assert (record["sequences"], record["steps"]) == (6, 50)
    assert "rate" not in told.constants
    for bad in (torch.ones(3, 2), torch.ones(2, 0, 2), torch.ones(2, 3, 5)):
        with pytest.raises(ShapeError):
            measured_rate(cell, bad)


def test_measured_rate_of_constant_decays():
    """Weights of zero: the rate is the decay of the bias, exactly certified too."""
    held = {"weight_z": torch.zeros(1, 1), "weight_h": torch.ones(1, 1), "bias_z": torch.zeros(1)}
    cell = kind_of("min-gru").build({name: part[None].double() for name, part in held.items()})
    assert measured_rate(cell, torch.ones(1, 4, 1)).rate == pytest.approx(0.5, rel=1e-15)
    assert float(cell.decay_bound(5.0)) == 0.5
    assert float(cell.decay_powers(5.0, 3)) == 0.125


def test_the_bound_depends_on_the_inputs():
    """Larger inputs may keep a selective state longer: the certified rate grows with B."""
    held = weights("selective", seed=4)
    rates = [certify(held, B).lam for B in (0.0, 1.0, 4.0)]
    assert rates == sorted(rates)
    assert rates[0] < rates[2] < 1


def test_a_step_that_lasts_no_time_is_not_certified():
    """Δ that underflows to nothing leaves a decay of 1, which fails closed."""
    held = {
        "weight_delta": torch.zeros(1, 1), "weight_B": torch.ones(1, 1),
        "A_log": torch.zeros(1), "bias_delta": torch.tensor([-100.0]),
    }  # fmt: skip
    told = certify(held, 1.0)
    assert told.verdict == "undecided"
    assert told.lam >= 1
    assert told.constants["B_h"] == math.inf


def test_what_rounds_to_one_has_no_window():
    """A model that its own dtype keeps from forgetting is not truncated, and the error says why."""
    held = {"weight_z": torch.zeros(1, 1), "weight_h": torch.ones(1, 1)}
    held = {**held, "bias_z": torch.tensor([-8.0])}
    held = {name: part.bfloat16() for name, part in held.items()}
    assert {k for _, k in certify(held, 1.0).windows} == {None}
    with pytest.raises(NotCertifiedError, match="1 decay may round to 1 in bfloat16"):
        truncate(held, 1e-2, 1.0)


def test_a_capped_gate_forgets_whatever_its_inputs():
    """f ≤ σ(c): an mLSTM's decays are below 1 for all inputs."""
    told = certify(weights("gated-scan", seed=1) | {"cap": torch.full((4,), 15.0).double()}, 1e30)
    assert told.lam == pytest.approx(1 / (1 + math.exp(-15)), rel=1e-15)
    assert certify(weights("gated-scan", seed=1), 1e30).verdict == "undecided"


def test_the_first_state_of_an_rg_lru_is_held_by_its_box():
    """Without √(1 − a²) at the first position the run starts from i∘x: in the box, and in the
    ball of the norm."""
    held, B = weights("rg-lru", seed=2), 2.0
    told = certify(held, B)
    cell = kind_of("rg-lru").build({key: part[None] for key, part in held.items()})
    x = inputs(1, 200, 2, B)[0]
    i = torch.sigmoid(x @ held["weight_i"].mT)
    start = i * (x @ held["weight_x"].mT)
    assert bool((start.abs() <= cell.proved_box(B).box).all())
    assert float(start.norm(dim=1).max()) <= told.constants["B_h"]
