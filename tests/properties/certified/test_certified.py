"""Real models with their certificates: what is measured on them, and certificates that lie."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from any_kind import as_kind
from flint import fmpq
from msgspec.structs import replace
from seen import readings

from rnnbounds.impl.cells.refutation.refute import ALL
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.norms import solver
from rnnbounds.impl.norms.solver import METRIC_SDP
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.certified import models, specs
from rnnbounds.properties.systems.certified.fields import Certified
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.unitary.exact import rational
from rnnbounds.theory.claims.certificate.certificate import CERTIFICATE

ALIKE = make_spec(
    "certified", cell="linear", norm="spectral", regime="driven", inputs="constant", n=2,
    T=20, K=16, lam=0.5, scale=2.0**-12, epsilon=2.0**-4, seed=6, sequences=3, bias=0.5,
    dtype="float32",
)  # fmt: skip
NAMES = [
    "orbit_start", "orbit_start_told", "orbit_gap", "orbit_gap_told", "state_told",
    "first_norm", "h_rounding_told", "share_used",
]  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "norm"),
    [
        ("linear", "quadratic"), ("rnn-tanh", "one"), ("rnn-relu", "diagonal"),
        ("lstm", "spectral"), ("gru-cho", "perron"), ("leaky-tanh", "infinity"),
        ("stacked-gru", "perron"), ("stacked-lstm", "comparison"),
    ],
)  # fmt: skip
def test_enclosures_hold_the_balls(cell: str, norm: str) -> None:
    """Float64 readings contain the ball readings of the pair alone."""
    spec = replace(
        ALIKE, cell=cell, norm=norm, regime="gaussian", T=4, K=3, layers=2, lam=0.25, scale=1.0
    )
    found = readings(build_batch(spec), NAMES, [(0, 1)], squares=True)
    assert len(found) > len(NAMES)
    for seen in found:
        assert seen.held, seen


def test_an_orbit_is_exact_where_what_is_irrational_cancels() -> None:
    """h⁺ = (1 − a)∘h + a∘tanh(W h + W_in x) keeps differences rational if W = 0, else not."""
    spec = replace(ALIKE, cell="leaky-tanh", regime="gaussian", sequences=1)
    related, alone = (
        build_batch(replace(spec, regime=regime)).pair(0, 0) for regime in ("gaussian", "zero")
    )
    gap = MEASURES["orbit_gap"]
    assert gap.exact_square(related, 0, 4096) is not None
    assert gap.exact_square(related, 1, 4096) is None
    leaks = [1 - rational(a) for a in alone.require_cells.parameters["leak"][0].tolist()]
    apart = [rational(v) / 2 for v in (alone.h - alone.h_other)[0, :, 0].tolist()]
    kept = sum((a**6 * v * v for a, v in zip(leaks, apart, strict=True)), fmpq(0))
    assert kept == gap.exact_square(alone, 3, 4096) > 0


def test_unitary_networks_are_read_exactly() -> None:
    """No gap at all in rationals; the float gap of two machines is small and there."""
    spec = as_kind(ALIKE, "certified-relu", cell="rnn-relu", norm="auto", scale=1.0, T=6, K=4, n=3)
    batch = build_batch(spec)
    gap = MEASURES["unitary_gap"].enclose(batch)
    assert (gap.lo == 0).all()
    assert (gap.hi == 0).all()
    for name in ("unitary_rounding", "unitary_rounding_own", "unitary_computed"):
        assert (MEASURES[name].enclose(batch).hi < 10).all()
    assert (MEASURES["unitary_rounding_own"].enclose(batch).lo > 0).any()


def test_other_systems_have_none() -> None:
    """Quantities of printed numbers are blank elsewhere, their constants infinite."""
    batch = build_batch(make_spec("lstm", regime="driven", n=1, T=2, K=1))
    for name in ("share_used", "h_rounding_told"):
        measure = MEASURES[name]
        assert np.isnan(measure.enclose(batch).hi).all()
        assert measure.exact_square(batch, 0, 64) is None
        assert measure.is_at_most(batch, fmpq(1), 0) is None
    assert np.isinf(batch.constant("gain_told").hi).all()


def scaled(name: str, factor: float) -> Callable[[Certificate], Certificate]:
    """One constant times a factor."""

    def lie(told: Certificate) -> Certificate:
        return dataclasses.replace(
            told, constants={**told.constants, name: told.constants[name] * factor}
        )

    return lie


def sooner(told: Certificate) -> Certificate:
    """Windows one input too short."""
    windows = tuple((eps, None if k is None else max(k - 1, 0)) for eps, k in told.windows)
    return dataclasses.replace(told, windows=windows)


LIES: dict[str, tuple[str, Callable[[Certificate], Certificate], dict[str, Any]]] = {
    "λ": ("contraction", lambda c: dataclasses.replace(c, lam=c.lam * (1 - 2.0**-30)), {}),
    "k": ("window", sooner, {"T": 24}),
    "equivalence": ("output", scaled("equivalence", 0.9), {"norm": "infinity"}),
    "reach": ("forgetting", scaled("reach", 0.99), {}),
    "drive": ("drive", scaled("drive", 0.99), {}),
    "radius": ("radius", scaled("radius", 0.9), {"cell": "gru"}),
    "S_0": ("first", scaled("S_0", 0.99), {}),
    "B_h": ("state", scaled("B_h", 0.99), {}),
    "gain": ("gain", scaled("gain", 0.99), {}),
    "W_norm": ("constants", scaled("W_norm", 1 - 2.0**-30), {}),
    "h_bar": ("constants", scaled("h_bar", 0.99), {"cell": "gru", "norm": "perron"}),
    "rounding": (
        "rounding", lambda c: dataclasses.replace(c, rounding=(c.rounding or 0) / 64), {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_certificate_that_lies_is_convicted(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the form that judges the number; told as it is, it holds."""
    name, told, fields = LIES[lie]
    form, spec = CERTIFICATE.form(name), as_kind(ALIKE, **{"kind": "certified", **fields})
    if lie == "k":  # an ε just below what one input less leaves
        spec = replace(spec, epsilon=0.051)
    honest = judge(form.statement, form.assumptions, build_batch(spec))
    assert (honest.verdicts == Verdict.HOLDS).any()
    assert not (honest.verdicts == Verdict.VIOLATED).any()
    shipped = models.certify
    monkeypatch.setattr(models, "certify", lambda *a, **options: told(shipped(*a, **options)))
    uncached: Any = models.certified_whole_model
    monkeypatch.setattr(models, "certified_whole_model", uncached.__wrapped__)
    found = judge(form.statement, form.assumptions, build_batch(spec))
    assert (found.verdicts == Verdict.VIOLATED).any()


def test_norms_that_cannot_be_had_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver is optional: the main job attacks the other norms without it."""
    assert METRIC_SDP in specs.available_norms("rnn-tanh")
    monkeypatch.setattr(solver, "is_installed", lambda: False)
    assert METRIC_SDP not in specs.available_norms("rnn-tanh")
    instances = list(specs.worst_certified_specs(Certified))
    assert all(spec.norm != METRIC_SDP for spec in instances)
    assert {spec.norm for spec in instances} >= {"spectral", "diagonal"}


@pytest.mark.parametrize(
    ("cell", "layers", "over"),
    [("lstm", 1, "ball"), ("gru", 1, "box"), ("rnn-tanh", 1, "ball"),
     ("stacked-gru", 2, "ball"), ("linear", 1, "rows")],
)  # fmt: skip
def test_boxes_are_those_of_all_members_together(cell: str, layers: int, over: str) -> None:
    """Each is proved once, by itself, under inputs of its own set."""
    spec = replace(
        ALIKE, cell=cell, layers=layers, over=over, batch=2, regime="gaussian", scale=1.0
    )
    cells = build_batch(spec).cells
    assert cells is not None
    if not hasattr(cells.cell, "proved_box"):
        assert cells.invariant_box.box.isinf().all()
        return
    free = torch.tensor([one.states.startswith(ALL) for one in cells.certificates])[:, None]
    for i, (model, told) in enumerate(zip(cells.models, cells.certificates, strict=True)):
        box = model.cell.proved_box(told.input_bound if told.inputs is None else told.inputs).box
        assert torch.equal(cells.box[i : i + 1], torch.where(free[i], torch.inf, box))
    if over == "ball":
        together = torch.where(free, torch.inf, cells.cell.proved_box(cells.B_x[:, None]).box)
        assert torch.equal(cells.box, together)


def test_a_first_layer_reads_the_inputs_of_the_stack() -> None:
    """A first layer's numbers hold under its input set, the next one's under a ball of outputs."""
    spec = replace(ALIKE, cell="stacked-gru", layers=2, over="box", regime="gaussian", scale=1.0)
    first, second = (build_batch(replace(spec, layer=layer)).require_cells for layer in (1, 2))
    for i, (_, told) in enumerate(models.certified_model(spec, m) for m in spec.members):
        assert told.inputs is not None
        assert first.certificates[i].inputs is told.inputs
        assert second.certificates[i].inputs is None
        assert float(first.box[i].amax()) == told.constants["h_bar_l0"]
        assert float(second.box[i].amax()) == told.constants["h_bar_l1"]


@pytest.mark.parametrize("cell", ["gru", "lstm", "leaky-tanh", "rnn-relu"])
def test_no_range_bounds_states_that_are_no_values_of_an_activation(cell: str) -> None:
    """A gated cell has no activation to ask, a leaky one keeps a part, and ReLU has no bound."""
    batch = build_batch(replace(ALIKE, cell=cell, regime="gaussian"))
    assert MEASURES["h_norm"].bound_square(batch, 0) is None
    assert MEASURES["state_told"].bound_square(batch, 0) is None


def test_the_range_of_an_activation_bounds_states() -> None:
    """|tanh| < 1: at most n in all, and (1/v)² in max |s_i|/v_i."""
    batch = build_batch(
        replace(ALIKE, cell="rnn-tanh", norm="perron", regime="gaussian", sequences=1)
    )
    weights = batch.require_cells.certificates[0].weights
    assert MEASURES["h_norm"].bound_square(batch, 0) == 2
    assert MEASURES["state_told"].bound_square(batch, 0) == max(
        1 / rational(v) ** 2 for v in weights or (1.0,)
    )
