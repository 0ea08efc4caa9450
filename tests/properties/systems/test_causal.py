"""Causal models: how they are drawn, the fields that they state, and what their outputs hear."""

import pytest
import torch
from msgspec.structs import replace
from torch import Tensor

from rnnbounds.impl.models.causal import Attention, Convolution
from rnnbounds.properties.attacks.extremal import extremal_specs
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.causal import batch_modules, receptive_field
from rnnbounds.properties.systems.spec import check_spec
from rnnbounds.properties.systems.table import find_kind, make_spec
from rnnbounds.theory import claim

CLAIM = claim("receptive-field")
KINDS = find_kind("causal").regimes
BASE = make_spec(
    kind="causal", regime="gated-conv", inputs="gaussian", n=4, d=2, T=16, K=16,
    layers=2, taps=3, dilation=2, bias=0.5, batch=4, sequences=2,
)  # fmt: skip


def verdicts(regime: str) -> set[Verdict]:
    """The verdicts of the claim on a batch of this architecture."""
    form = CLAIM.form("causal")
    found = judge(form.statement, form.assumptions, build_batch(replace(BASE, regime=regime)))
    return {Verdict(int(v)) for v in found.verdicts.ravel()}


def test_what_is_drawn_can_be_built() -> None:
    """Every spec is valid, its sequences are longer than the field that the module states, and the
    formula of the claim gives the same number; torch's own random numbers go on."""
    specs = list(extremal_specs("causal"))
    visit_random_specs("causal", specs.append, examples=24, batch=2, sequences=2, seed=1)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    for spec in specs:
        check_spec(spec)
        batch = build_batch(spec)
        (stated,) = {module.field for module in batch_modules(batch)}
        assert stated == receptive_field(spec) == batch.parameters["R"].item() < spec.T
        assert all(p.dtype == torch.float64 for p in batch_modules(batch)[0].parameters())
    assert torch.equal(torch.get_rng_state(), before)


def test_gaps_by_window() -> None:
    """Zero from the field on, and seen in every shorter window; two layers of three taps, dilations
    1 and 2: a TCN has each twice, WaveNet one more."""
    for regime, field in zip(KINDS, (13, 7, 9, 5), strict=True):
        gap = MEASURES["causal_gap"].enclose(build_batch(replace(BASE, regime=regime)))
        assert (gap.lo[..., :field] > 0).mean() > 0.75
        assert not gap.hi[..., field:].any()


def test_a_centred_kernel_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A TCN that pads on both sides hears of the inputs after time T."""
    forward = Convolution.forward

    def centred(self: Convolution, x: Tensor) -> Tensor:
        ahead = (self.field - 1) // 2
        later = torch.cat([x[:, ahead:], torch.zeros_like(x[:, :ahead])], dim=1)
        return forward(self, later)

    monkeypatch.setattr(Convolution, "forward", centred)
    assert Verdict.VIOLATED in verdicts("tcn")


@pytest.mark.parametrize("regime", KINDS)
def test_a_field_one_too_small_is_convicted(regime: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that states one input less than it sees does not get away with it."""
    owner = type(batch_modules(build_batch(replace(BASE, regime=regime)))[0])
    stated = owner.field.fget
    assert verdicts(regime) == {Verdict.HOLDS, Verdict.VACUOUS}
    monkeypatch.setattr(owner, "field", property(lambda self: stated(self) - 1))
    assert Verdict.VIOLATED in verdicts(regime)


def test_an_overflow_in_the_mask_is_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention that multiplies what is outside by zero hears huge inputs as NaN: no pass."""
    forward = Attention.forward

    def masked(self: Attention, x: Tensor) -> Tensor:
        return forward(self, x) + 0.0 * (x * 1e60).sum(1, keepdim=True)

    monkeypatch.setattr(Attention, "forward", masked)
    assert Verdict.UNDECIDED in verdicts("attention")
