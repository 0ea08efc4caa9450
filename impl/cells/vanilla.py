"""Certified bounds on vanilla recurrent cells and linear systems.

Sources: Miller & Hardt, section 2, Lemma 1; Rump and Higham for the rounding.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from flint import arb, ctx
from torch import Tensor
from torch.nn.functional import linear, pad

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.inputs.images import image_of_set
from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.arithmetic.intervals import Interval, function_bounds
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.cells.kind import (
    SUFFIX,
    CellAnalysis,
    Kind,
    Weights,
    input_drive,
    torch_layout,
    with_zero_biases,
)
from rnnbounds.impl.cells.refutation.refute import (
    ALL,
    reason_too_large,
    refute_vanilla,
)
from rnnbounds.impl.cells.rounding import HEADROOMS, LayerInputs, Rounding, dtype_of
from rnnbounds.impl.format.record import Witness
from rnnbounds.impl.gradients.rounding import absolute_norms
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.models.torch_machine import keeps_to_its_model
from rnnbounds.impl.norms.differences import certified_point
from rnnbounds.impl.norms.norm_data import NormData, StateNorm
from rnnbounds.impl.norms.state_norms import NORMS, dense_norms, state_norm
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import (
    add_up,
    div_up,
    mul_up,
    norm_up,
    subtract_down,
    sum_up,
    underflow,
)
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

_PRECISION = 128


@dataclass(frozen=True, eq=False)
class VanillaAnalysis(CellAnalysis):
    """Certified bounds on one vanilla cell; `inputs_asked` are B or the set of its inputs."""

    model: LoadedModel[RNN]
    parts: NormData
    inputs_asked: InputBound
    region: str = ALL

    @property
    def reason_for_no_search(self) -> str | None:
        """Reason why no witness is sought, None if one is."""
        return reason_too_large(self.model.n, linear=self.model.cell.activation.name == "identity")

    def norm(self, name: str) -> StateNorm:
        """The norm of that name, one of NORMS."""
        if name not in self._known:
            self._known[name] = state_norm(name, self.parts)
        return self._known[name]

    @cached_property
    def _known(self) -> dict[str, StateNorm]:
        return {}

    def states(self, norm: StateNorm) -> float:
        """B_h ≥ ‖h_t‖₂: the least of C S/(1 − λ) and M_ρ√n."""
        return min(self.parts.box_radius(norm_up), norm.states)

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """All constants of states: the cell's in the Euclidean norm, then those of the norm."""
        parts, U_norm = self.parts, float(certified_norm(self.model.cell.U))
        return {
            "L_rho": parts.slope,
            "M_rho": self.model.cell.activation.bound,
            "W_norm": float(certified_norm(parts.W)),
            "U_norm": U_norm,
            "L_x": float(mul_up(parts.slope, U_norm)),
            "B_x": parts.B,
            "S_0": self.norm("spectral").drive,
            **norm.constants(self.states(norm)),
        }

    @property
    def slopes(self) -> Tensor:
        """L_ρ(|W|, |U|), how far each unit and each input moves each unit: (1, n, n + d)."""
        weights = torch.cat([self.parts.W, self.parts.U[None]], 2)
        return mul_up(self.parts.slope, weights.detach().abs())

    @property
    def box(self) -> None:
        """None: what is certified holds on all states."""

    def rounding(self, norm: StateNorm, fed: LayerInputs | None = None) -> Rounding:
        """Higham's bound in the model's own dtype, carried through the norm: C c ε_1/(1 − λ)."""
        fed = fed or LayerInputs(0.0, self.parts.B)
        return _run_rounding(self.model, norm, fed, self.states(norm))

    def refute(self) -> Witness | None:
        """Two orbits that do not meet, an eigenvalue, a repeller or growth; see
        `impl.cells.refutation.refute`.
        """
        return refute_vanilla(self.model, self.inputs_asked)


def norm_data_of(model: LoadedModel[RNN], input_bound: InputBound) -> NormData:
    """The parts of a model; b_ih + b_hh is added in balls, so its rounding is covered."""
    cell, biases = model.cell, zip(model.bias("bias_ih"), model.bias("bias_hh"), strict=True)
    with ctx.workprec(_PRECISION):
        sums = [arb(first_states) + arb(second) for first_states, second in biases]
        offset = [float_above(abs(cell.activation.ball(b))) for b in sums]
    rho, offsets = cell.activation, cell.W.new_tensor(offset)
    box, first_states = torch.full_like(offsets, rho.bound), None
    if isinstance(input_bound, InputSet):
        image, bias = (
            image_of_set(input_bound, cell.U.detach(), Interval),
            _enclose_balls(sums, cell.W),
        )
        first_states = function_bounds(rho.name).image(image + bias).magnitude[0]
    B = float(input_bound)
    return NormData(
        cell.W, cell.U[0], offsets, rho.slope, B, rho.least, box=box, first_states=first_states
    )


def _enclose_balls(sums: list[arb], like: Tensor) -> Interval:
    """Floats around balls, (1, n), where another tensor lies."""
    lower, upper = (like.new_tensor([[float_above(sign * b) for b in sums]]) for sign in (-1, 1))
    return Interval(-lower, upper)


def vanilla_kind(name: str, rho: Activation) -> Kind:
    """The kind h = ρ(Wh + Ux + b)."""

    def build(weights: Weights) -> RNN:
        weights_with_biases = with_zero_biases(weights)
        b = weights_with_biases["bias_ih"] + weights_with_biases["bias_hh"]
        return RNN(weights_with_biases["weight_hh"], weights_with_biases["weight_ih"], b, rho)

    def step(weights: Weights, pre_activation: Tensor, h: Tensor) -> Tensor:
        if (bias := weights.get("bias_hh")) is not None:
            pre_activation = pre_activation + bias
        return rho(pre_activation + linear(h, weights["weight_hh"]))

    def analyse(model: LoadedModel[RNN], input_bound: InputBound) -> VanillaAnalysis:
        return VanillaAnalysis(model, norm_data_of(model, input_bound), input_bound)

    return Kind(
        name=name,
        layout=lambda names: torch_layout(1),
        drive=input_drive,
        suffix=SUFFIX,
        gates=1,
        width=1,
        mode={"tanh": "RNN_TANH", "relu": "RNN_RELU"}.get(rho.name),
        default=False,
        norms=dense_norms(NORMS, rho.least, rho.slope),
        build=build,
        step=step,
        analyse=analyse,
        remedy="train it with rnnbounds.stable",
        projects=True,
    )


def _run_rounding(
    model: LoadedModel[RNN], norm: StateNorm, fed: LayerInputs, states: float
) -> Rounding:
    """Higham's bound in the model's own dtype: the least of that of the norm and that by units.

    As long as the computed states stay below q B_h, a step is off by ρ unit by unit and by ε_1 in
    the Euclidean norm, so by c ε_1 in ‖·‖_*: the states by at most C c ε_1/(1 − λ), C L e/(1 − λ)
    more where inputs are off by e, and by v ≥ ρ + L_ρ|W|v. Which has to leave them below q B_h, by
    induction over the steps. The least q that does is taken. Nothing is known where the dtype may
    overflow.
    """
    if not norm.lam < 1:
        return Rounding(reason="no norm certifies the model")
    info = torch.finfo(getattr(torch, model.dtype))
    N = model.n + model.d + 3  # one more than with a single bias
    if N * info.eps / 2 >= 0.5:
        return Rounding(reason=f"sums of {N} terms may have a relative error of 1/2 or more")
    name = model.cell.activation.name
    if not keeps_to_its_model(name, dtype=model.dtype):
        return Rounding(reason=f"{name} in {model.dtype} has a larger error here than is assumed")
    sums = _StepErrors(model, float(fed.inputs))
    for headroom in HEADROOMS:
        reached = mul_up(headroom, torch.tensor(states, dtype=torch.float64))
        step, units, largest = sums.errors(reached, add_up(sums.bound, add_up(reached, -states)))
        if not max(2 * largest, float(reached)) < info.max:  # GELU takes 2z on its way
            return Rounding(reason=f"{model.dtype} may overflow")
        step = mul_up(norm.reach, step)
        if fed.input_error:
            step = add_up(step, mul_up(norm.input_lipschitz, fed.input_error))
            slopes = mul_up(model.cell.activation.slope, model.cell.U.detach().abs())
            units = add_up(units, fed.moved(slopes)[0])
        carried = div_up(mul_up(norm.equivalence, step), subtract_down(1.0, norm.lam))
        by_units = norm_up(certified_point(sums.steepened[None], units))
        error = min(float(carried), float(by_units))
        if error <= 0.99 * (headroom - 1) * states < math.inf or error == 0:
            return Rounding(error)
    return Rounding(
        reason=f"computed states may be over {HEADROOMS[-1]:g} times as large as exact ones"
    )


class _StepErrors:
    """The rounding errors of one step of a vanilla cell under ‖x‖₂ ≤ B in its dtype."""

    def __init__(self, model: LoadedModel[RNN], B: InputBound) -> None:
        cell, self.model, self.B = model.cell, model, float(B)
        W = cell.W[0].detach().abs()
        biases = [*zip(model.bias("bias_ih"), model.bias("bias_hh"), strict=True)]
        b = torch.tensor(biases, dtype=torch.float64).abs().to(W)
        fed = mul_up(norm_up(cell.U[0].detach()), self.B)
        none = torch.zeros_like(cell.U[0].detach())[:, 1:]
        self.others = torch.cat([fed[:, None], none, b], 1)
        self.rows, self.bound = W.sort(1, descending=True).values, cell.activation.bound
        self.steepened = mul_up(cell.activation.slope, W)
        self.norms = absolute_norms(cell)
        self.driven = add_up(mul_up(self.norms[1][0], self.B), norm_up(sum_up(b)))

    def errors(self, reached: Tensor, side: Tensor) -> tuple[Tensor, Tensor, float]:
        """ε_1 and ρ (n,) for ‖h‖₂ ≤ reached and |h_i| ≤ side, and at least what the sums are of.

        The m largest |W_ij||h_j| add up to the least of side Σ |W_ij| and reached ‖W_i‖₂ of the m
        largest |W_ij|; all of them to no more than ‖|W|‖₂ reached, as a vector.
        """
        rho, rows = self.model.cell.activation, self.rows
        run = DtypeRun(dtype_of(self.model.dtype))
        scale = torch.where(rows[:, :1] > 0, rows[:, :1], 1.0)
        room = 1 + rows.shape[1] * 2.0**-51
        euclidean = mul_up(scale, div_up(rows, scale).square().cumsum(1).sqrt() * room)
        most = torch.minimum(mul_up(reached, euclidean), mul_up(side, rows.cumsum(1) * room))
        more = add_up(most, -pad(most, (1, 0))[:, :-1]).clamp(min=0.0)
        sizes = torch.cat([more, self.others], 1)
        terms = sizes.shape[1] + 1
        relative = terms * run.unit / (1 - terms * run.unit) * (1 + 2.0**-50)
        each, summed = sum_up(sizes), run.terms_error(sizes[None])[0]
        Z = torch.minimum(add_up(mul_up(self.norms[0][0], reached), self.driven), norm_up(each))
        summed_norm = torch.minimum(norm_up(summed), mul_up(relative, Z))
        computed = mul_up(1 + 2 * relative, torch.cat([Z[None], each]))  # and all partial sums
        library = rho.dtype_error(run.unit, 1, computed[1:])
        library_norm = rho.dtype_error(run.unit, rows.shape[0], computed[:1])[0]
        library_norm = torch.minimum(library_norm, norm_up(library))
        lost, largest = torch.full_like(Z, rows.shape[0] * terms * run.tiny), computed[0]
        lost = underflow(Z, lost)
        step = add_up(add_up(mul_up(rho.slope, summed_norm), library_norm), lost)
        units = add_up(add_up(mul_up(rho.slope, summed), library), lost)
        return step, units, float(largest)
