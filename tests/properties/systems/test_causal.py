"""Causal models: how they are drawn, the fields that they state, and what their outputs hear."""

import numpy as np
import pytest
import torch
from any_kind import as_kind
from msgspec.structs import replace
from torch import Tensor

from rnnbounds.impl.models.causal.attention import Attention
from rnnbounds.impl.models.causal.base import Convolution
from rnnbounds.impl.models.causal.convolution import TCN
from rnnbounds.properties.attacks.extremal import extremal_specs
from rnnbounds.properties.attacks.search import visit_random_specs
from rnnbounds.properties.attacks.simplify import simpler_specs
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.runs.replay import dump_system, replay
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.causal.fields import layer_shapes, receptive_fields
from rnnbounds.properties.systems.causal.model import batch_modules
from rnnbounds.properties.systems.spec import SystemSpec, check_spec
from rnnbounds.properties.systems.table import KINDS as ALL
from rnnbounds.properties.systems.table import make_spec, parse_spec
from rnnbounds.theory import claim

CLAIM = claim("receptive-field")
KINDS: tuple[str, ...] = ("tcn", "gated-conv", "wavenet", "attention")
BASE = make_spec(
    kind="gated-conv", regime="gaussian", inputs="gaussian", n=2, d=2, T=12, K=12,
    layers=2, taps=3, dilation=2, bias=0.5, batch=2, sequences=2,
)  # fmt: skip
FORMS = {form.about: form for form in CLAIM.forms}


def drawn(kind: str, examples: int = 12) -> list[SystemSpec]:
    """Specs of the random and of the extremal attack."""
    found = list(extremal_specs(kind))
    visit_random_specs(kind, found.append, examples=examples, batch=2, sequences=2, seed=1)
    return found


@pytest.mark.parametrize("kind", [kind.name for kind in ALL.values() if kind.route.causal])
def test_what_is_drawn_can_be_built(kind: str) -> None:
    """Every spec is valid, its sequences are longer than the field that the module states, and the
    formula of the claim gives the same number."""
    for spec in drawn(kind):
        check_spec(spec)
        batch = build_batch(spec)
        (stated,) = {module.field for module in batch_modules(batch)}
        assert (
            stated
            == receptive_fields(spec)["R"]
            == 1 + sum((K - 1) * d for K, d in layer_shapes(spec))
        )
        assert batch.parameters["R"].item() == stated < spec.T
        assert all(p.dtype == torch.float64 for p in batch_modules(batch)[0].parameters())


def test_fields_by_hand() -> None:
    """Two layers of three taps, dilations 1 and 2; a TCN has each twice, WaveNet one more."""
    table = {kind: receptive_fields(as_kind(BASE, kind)) for kind in KINDS}
    assert [table[kind]["R"] for kind in KINDS] == [13, 7, 9, 5]
    assert [table[kind]["R_undilated"] for kind in KINDS] == [9, 5, 7, 5]
    assert [table[kind]["R_widest"] for kind in KINDS] == [5, 5, 5, 3]
    assert [table[kind]["R_overlap"] for kind in KINDS] == [18, 9, 12, 6]
    assert table["tcn"]["R_halved"] == 7
    assert np.isnan(table["wavenet"]["R_halved"])


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_by_window(kind: str) -> None:
    """Zero from the field on, and seen in every shorter window; the oldest input inside is seen."""
    spec = as_kind(BASE, kind, n=4, T=15, K=15, batch=4)
    batch, R = build_batch(spec), int(receptive_fields(spec)["R"])
    gap, edge = (MEASURES[name].enclose(batch) for name in ("causal_gap", "causal_edge_gap"))
    assert (gap.lo[..., :R] > 0).mean() > 0.75
    assert not gap.hi[..., R:].any()
    assert np.isnan(edge.lo[..., 0]).all()
    assert (edge.lo[..., R] > 0).any()
    assert not edge.hi[..., R + 1 :].any()


def test_building_draws_nothing_of_torchs() -> None:
    """torch's own random numbers go on as if no model had been built."""
    torch.manual_seed(0)
    before = torch.get_rng_state()
    batch_modules(build_batch(BASE))
    assert torch.equal(torch.get_rng_state(), before)


def convicted(kind: str) -> bool:
    """True if the claim is refuted on a batch of this kind."""
    form = FORMS[kind]
    batch = build_batch(as_kind(BASE, kind, n=4, T=16, K=16, batch=4))
    return bool((judge(form.statement, form.assumptions, batch).verdicts == Verdict.VIOLATED).any())


def test_a_centred_kernel_is_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A TCN that pads on both sides hears of the inputs after time T."""
    forward = Convolution.forward

    def centred(self: Convolution, x: Tensor) -> Tensor:
        ahead = (self.field - 1) // 2
        later = torch.cat([x[:, ahead:], torch.zeros_like(x[:, :ahead])], dim=1)
        return forward(self, later)

    assert not convicted("tcn")
    monkeypatch.setattr(Convolution, "forward", centred)
    assert convicted("tcn")


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_one_too_small_is_convicted(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that states one input less than it sees does not get away with it."""
    owner = type(batch_modules(build_batch(as_kind(BASE, kind)))[0])
    stated = owner.field.fget
    assert not convicted(kind)
    monkeypatch.setattr(owner, "field", property(lambda self: stated(self) - 1))
    assert convicted(kind)


def test_an_overflow_in_the_mask_is_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attention that multiplies what is outside by zero hears huge inputs as NaN: no pass."""
    forward = Attention.forward

    def masked(self: Attention, x: Tensor) -> Tensor:
        return forward(self, x) + 0.0 * (x * 1e10).sum(1, keepdim=True)

    monkeypatch.setattr(Attention, "forward", masked)
    form = FORMS["attention"]
    batch = build_batch(as_kind(BASE, "attention"))
    assert Verdict.UNDECIDED in judge(form.statement, form.assumptions, batch).verdicts


def test_shrinking_keeps_to_the_kind() -> None:
    """Layers, taps and dilation shrink where there are any, and nowhere else."""
    shapes = {
        (s.layers, s.taps, s.dilation) for s in simpler_specs(replace(BASE, batch=1, sequences=1))
    }
    assert shapes == {(2, 3, 2), (1, 3, 2), (2, 1, 2), (2, 2, 2), (2, 3, 1)}
    plain = simpler_specs(make_spec(n=2, T=3))
    assert {(s.layers, s.taps, s.dilation) for s in plain} == {(1, 2, 1)}


def test_replay_and_dump(tmp_path) -> None:
    """A pair is judged again from its text; the dump has the module's parameters and inputs."""
    variant = CLAIM.variant("dilation-forgotten")
    spec = parse_spec(replace(BASE, batch=1, sequences=1).text)
    found = replay(spec, variant.statement, variant.assumptions)
    assert {check.verdict for check in found.checks} == {"HOLDS", "VIOLATED", "VACUOUS"}
    dump_system(found, tmp_path / "found.npz")
    with np.load(tmp_path / "found.npz") as arrays:
        assert arrays["layers.1.gate.weight"].shape == (2, 2, 3)
        assert arrays["x"].shape == (12, 2)
        assert "W" not in arrays
        assert arrays["lhs"].shape == (13,)


def test_a_tcn_of_the_house_is_drawn() -> None:
    """The drawn module is the reference model itself."""
    (module, _) = batch_modules(build_batch(as_kind(BASE, "tcn")))
    assert isinstance(module, TCN)
