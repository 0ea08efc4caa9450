"""Certificates of half precision: gates that round to 1 as run, and what rounding adds."""

import math

import pytest
import torch
from min_gru import MIN_GRU, known
from program_draws import SAMPLES, weights

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify

HALVES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])


def stored(held, dtype):
    """The weights in that dtype."""
    return {name: torch.as_tensor(part).to(dtype) for name, part in held.items()}


def test_the_rounding_of_a_gate_counts(monkeypatch):
    """1 − z is exactly 1 at x = −1 in bfloat16, and 0.998 in real numbers: not certified."""
    held = {"weight_z": [[0.015625]], "bias_z": [-6.21875], "weight_h": [[1.0]]}
    held = stored({name: torch.tensor(part) for name, part in held.items()}, torch.bfloat16)
    kind, s = MIN_GRU, torch.tensor([[0.9], [-0.9]]).bfloat16()
    start = float(s[0] - s[1])
    for _ in range(500):
        s = kind.step(held, torch.full((2, 1), -1.0).bfloat16(), s)
    assert float(s[0] - s[1]) == start > 1.79
    known(monkeypatch)
    told = certify(held, inputs=1.0)
    assert (told.verdict, told.window(1e-2)) == ("undecided", None)
    assert told.lam < 1 - 2.0**-9
    assert "1 decay may round to 1 in bfloat16" in told.reason
    wider = certify({name: part.float() for name, part in held.items()}, inputs=1.0)
    assert (wider.verdict, wider.rounds_to_one) == ("certified", {"float32": 0})


def latching(cell: str, open_: float) -> dict[str, torch.Tensor]:
    """One unit whose forget or update gate is held open by its bias."""
    gates, at = {"lstm": (4, 1), "gru": (3, 1), "gru-cho": (3, 1)}[cell]
    b = torch.zeros(gates)
    b[at] = open_
    return {"weight_hh": torch.zeros(gates, 1), "weight_ih": torch.ones(gates, 1) / 8, "bias_ih": b}


SCAN = {"weight_z": torch.zeros(2, 1), "weight_h": torch.ones(2, 1)}
ONES = {
    "a leak": (
        "leaky-tanh", 1, {"W": torch.zeros(2, 2), "W_in": torch.ones(2, 1),
                          "leak": torch.tensor([0.5, 0.001])},
    ),
    "a gate": (None, 1, SCAN | {"bias_z": torch.tensor([0.0, -8.0])}),
    "two gates": (None, 2, SCAN | {"bias_z": torch.tensor([-8.0, -8.0])}),
    "gates of two layers": (
        "stacked-min-gru", 2,
        {f"{name}_l{l}": part for name, part in SCAN.items() for l in (0, 1)}
        | {"weight_z_l1": torch.zeros(2, 2), "weight_h_l1": torch.ones(2, 2)}
        | {f"bias_z_l{l}": torch.tensor([0.0, -8.0]) for l in (0, 1)},
    ),
    "a gate of the upper layer": (
        "stacked-lstm", 1,
        {f"{n}_l{l}": p for l in (0, 1) for n, p in latching("lstm", 7.0 * l).items()},
    ),
    # f, or z, that rounds to 1 never forgets; open and shut.
    **{
        f"{cell} in {dtype}, {open_}": (cell, int(open_ > 1), latching(cell, open_), dtype)
        for cell, dtype in (
            ("lstm", torch.bfloat16), ("gru", torch.float16), ("gru-cho", torch.bfloat16)
        )
        for open_ in (-math.log(torch.finfo(dtype).eps) + 1.75, 1.0)
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", ONES)
def test_what_rounds_to_one_is_reported(what, monkeypatch):
    """Certified in float32; undecided in half precision where it is."""
    known(monkeypatch)
    cell, ones, held, dtype = (*ONES[what], torch.bfloat16)[:4]
    told = certify(held, inputs=1.0, cell=cell)
    assert (told.verdict, told.to_dict()["reason"]) == ("certified", None)
    assert told.rounds_to_one == {"float32": 0}
    assert told.to_dict()["rounds_to_one"] == dict(told.rounds_to_one)
    short = certify(stored(held, dtype), inputs=1.0, cell=cell)
    assert short.lam < 1
    assert short.verdict == ("undecided" if ones else "certified")
    assert short.rounds_to_one[short.dtype] == ones
    if ones:
        words = f"{ones} decay{'s' if ones > 1 else ''} may round to 1 in {short.dtype}"
        assert words in str(short.to_dict()["reason"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SAMPLES if not name.startswith("deep")])
@HALVES
def test_decays_as_run_are_within_their_count(name, dtype):
    """If no decay may round to 1, none does on inputs at the bound."""
    kind = kind_of(name)
    for seed in range(2):
        held = stored(weights(name, seed=seed), dtype)
        told = certify(held, inputs=1.0, cell=kind.name)
        if told.rounds_to_one[told.dtype]:
            continue
        sizes = kind.layout(held).sizes(held)
        x = torch.nn.functional.normalize(torch.randn(64, sizes.d), dim=1).to(dtype)
        s = torch.ones(64, sizes.state, dtype=dtype)
        moved = kind.step(held, x, s) - kind.step(held, x, -s)
        assert not bool((moved.double() == 2.0).all(0).any())
