"""Gains unit by unit: no run is driven further apart, no norm says less, and files prove them."""

import json
import math

import pytest
import torch
from checked import source
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.truncated import check_certificate
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.reading.adapters import load_model

MADE = {
    "LSTM": (torch.nn.LSTM, {}),
    "LSTM with a projection": (torch.nn.LSTM, {"proj_size": 1}),
    "GRU": (torch.nn.GRU, {}),
    "RNN": (torch.nn.RNN, {}),
}


def stack(what: str, d: int, n: int, layers: int, seed: int, scale: float = 0.25):
    """torch's module in float64, its recurrent weights times the scale."""
    make, more = MADE[what]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = make(d, n, layers, batch_first=True, **more).double()
    with torch.no_grad():
        for role, part in module.named_parameters():
            part.mul_(scale if "weight_hh" in role else 1.0)
    return module


def seen(module, B: float) -> float:
    """The most that is seen of ‖h_T − h′_T‖₂ for ‖x_t − x′_t‖₂ ≤ 1, going up the gradient."""
    draw, most = torch.Generator().manual_seed(0), 0.0
    x, y = torch.randn(2, 16, 12, module.input_size, generator=draw).double().unbind()
    y[8:] = x[8:] + y[8:] / 8
    for _ in range(8):
        x, y = (B * z.detach() / z.norm(dim=2, keepdim=True).clamp(min=1e-9) for z in (x, y))
        x, y = x.requires_grad_(), y.requires_grad_()
        gap = (module(x)[0] - module(y)[0])[:, -1].norm(dim=1)
        ratio = gap / (x - y).norm(dim=2).amax(1).clamp(min=1e-9)
        most = max(most, float(ratio.detach().max()))
        slopes = torch.autograd.grad(ratio.sum(), (x, y))
        x, y = (z + s / s.norm(dim=2, keepdim=True).clamp(min=1e-9)
                for z, s in zip((x.detach(), y.detach()), slopes, strict=True))  # fmt: skip
    return most


def test_a_stack_of_two_lstms() -> None:
    """Norms lose most of it between the layers: the least of theirs is 3.2e3."""
    module = stack("LSTM", 3, 5, 2, 1)
    assert seen(module, 1.0) <= certify(module, inputs=1.0).constants["gain"] < 25


@settings(max_examples=6)
@given(st.sampled_from(sorted(MADE)), st.tuples(*[st.integers(1, 2)] * 3), st.integers(0, 99),
       st.sampled_from((0.05, 0.25, 0.5)), st.sampled_from((0.25, 1.0)))  # fmt: skip
def test_no_run_is_driven_further_apart(what, sizes, seed, scale, B) -> None:
    """Of one layer or of two, whether the gain is that of a norm or of the units."""
    d, n, layers = sizes
    module = stack(what, d, n + 1, layers, seed, scale)
    assert seen(module, B) <= certify(module, inputs=B).constants["gain"]


@pytest.fixture(
    params=[pytest.param(n, marks=pytest.mark.slow if n in ("GRU", "LSTM") else ()) for n in MADE]
)
def told(request, tmp_path):
    """A certificate by units of a stack of that kind, with a check of what it is changed to."""
    held = load_model(stack(request.param, 2, 2, 2, 0))
    document = certify(held, inputs=1.0).to_json()

    def check(**changes: object) -> set[str] | None:
        """The names of what falls; None for what is refused in a line."""
        path, changed = tmp_path / "c.json", document | changes
        path.write_text(
            json.dumps({k: v for k, v in changed.items() if (k, v) != ("unit_gains", None)})
        )
        try:
            return {one.name for one in check_certificate(path, source(held))[1] if not one.holds}
        except FileError:
            return None

    return held, document, check


def test_files_prove_them(told) -> None:
    """Each unit's, and their norm: less of any falls, and what are no gains is refused."""
    held, document, check = told
    g, named = document["unit_gains"], document["constants"]
    assert check() == set()
    assert named["gain"] == pytest.approx(math.hypot(*g[-held.n :]))
    for i in (0, len(g) - 1):  # in either layer
        less = [*g[:i], g[i] * (1 - 1e-4), *g[i + 1 :]]
        assert check(unit_gains=less, constants=named | {"gain": 2 * named["gain"]}) == {"gain"}
    assert check(constants=named | {"gain": named["gain"] * (1 - 1e-9)}) == {"gain"}
    others = [-g[0], *g[1:]], [math.nan, *g[1:]], [math.inf, *g[1:]], [None, *g[1:]], {}, 1
    for other in ([], g[:-1], [*g, 0.0], *others):
        assert check(unit_gains=other) is None, other
        assert check(unit_gains=other, constants=named | {"gain": None}) is None, other


def test_files_without_them_hold_by_their_norm(told) -> None:
    """As those of earlier versions; the lesser gain then falls."""
    held, document, check = told
    norm = kind_of(held.name).analyse(held, 1.0).norm(document["norm"])
    named, others = document["constants"], document.get("other_norms", {})
    assert "gain" not in others
    assert check(unit_gains=None) == {"gain"}
    assert check(unit_gains=None, constants=named | {"gain": norm.gain * (1 + 1e-9)}) == set()
