"""Diagonal linear recurrences with complex eigenvalues, kept as pairs of reals.

    h⁺ = Λ∘h + B̄ x + b,    ℂⁿ as the state (Re h, Im h) of 2n reals, all of which are the output.

The names of the weights say how Λ and B̄ come from them:

- plain: Λ = lambda_re + i lambda_im, B̄ = B_re + i B_im. Without lambda_im all is real, of n reals.
- LRU: Λ = exp(−exp(nu_log) + i exp(theta_log)), B̄ = exp(gamma_log)∘(B_re + i B_im), gamma_log = 0
  where it is absent. Source: Orvieto et al., Resurrecting recurrent neural networks (2023), App. A.
- S4D: A = −exp(log_A_real) + i A_imag, Λ = exp(Δ A), B̄ = (Λ − 1)/A∘(B_re + i B_im) with
  Δ = exp(log_dt), the zero-order hold. S5: the same with A = Lambda_re + i Lambda_im and
  Δ = exp(log_step). Sources: Gu et al., On the parameterization and initialization of diagonal
  state space models (2022); Smith et al., S5 (2023).
- RWKV-4: Λ = exp(−exp(time_decay)), real, B̄ = B_re. Source: Peng et al., RWKV (2023), section 3.

A unit keeps exactly |Λ_j|ᵏ of its past over k steps; λ = max |Λ_j| in the Euclidean norm is exact.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.entries.balls import Balls
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic
from rnnbounds.impl.arithmetic.roundings import DtypeRuns
from rnnbounds.impl.arithmetic.saturation import DTypes, repeat_parameters
from rnnbounds.impl.arithmetic.slopes import step_lipschitz
from rnnbounds.impl.cells.layout import Layout
from rnnbounds.impl.cells.program import ProgramCell, program_kind
from rnnbounds.impl.cells.refutation.constants import CandidateInputs
from rnnbounds.impl.cells.refutation.refute import Witness
from rnnbounds.impl.errors import InputError, ShapeError, at_most, shown
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import UNIT, div_up, norm_up, subtract_down

_PRECISION = 128

_INPUT_SHAPES = {"B_re": "n d", "B_im": "n d"}
_PLAIN = Layout({"lambda_re": "n", "B_re": "n d", "b": "n"}, ("b",))
_COMPLEX = Layout(
    {"lambda_re": "n", "lambda_im": "n", **_INPUT_SHAPES, "b": "2n"}, ("B_im", "b"), "2n", "2n"
)
_LRU = Layout(
    {"nu_log": "n", "theta_log": "n", **_INPUT_SHAPES, "gamma_log": "n", "b": "2n"},
    ("gamma_log", "b"), "2n", "2n",
)  # fmt: skip
_S4D = Layout(
    {"log_A_real": "n", "A_imag": "n", "log_dt": "n", **_INPUT_SHAPES, "b": "2n"},
    ("B_im", "b"), "2n", "2n",
)  # fmt: skip
_S5 = Layout(
    {"Lambda_re": "n", "Lambda_im": "n", "log_step": "n", **_INPUT_SHAPES, "b": "2n"},
    ("B_im", "b"), "2n", "2n",
)  # fmt: skip
_RWKV = Layout({"time_decay": "n", "B_re": "n d", "b": "n"}, ("b",))
_CONVENTIONS = {  # by a name that no other convention has
    "nu_log": _LRU, "log_A_real": _S4D, "log_step": _S5, "lambda_im": _COMPLEX, "time_decay": _RWKV,
}  # fmt: skip


def diagonal_layout(names: Collection[str]) -> Layout:
    """The layout of the convention that the names speak of, the plain real one for any others."""
    return next((_CONVENTIONS[name] for name in _CONVENTIONS if name in names), _PLAIN)


@dataclass(frozen=True, eq=False)
class Diagonal(ProgramCell):
    """B diagonal recurrences, of parameters (B, n) and (B, n, d) in one of the conventions."""

    reads = "B_re"

    def program(self, m: Arithmetic[V], s: V, x: V) -> V:
        """One step over any arithmetic."""
        if self.is_real:
            return self.eigenvalues(m)[0] * s + m.affine("B_re", "b", x)
        (a, w), (p, q) = self.eigenvalues(m), self.input_part(m, x)
        re, im = s.chunk(2)
        rotated = m.join(a * re - w * im + p, w * re + a * im + q)
        return rotated + m.vector("b") if "b" in self.parameters else rotated

    def polar(self, m: Arithmetic[V]) -> tuple[V, V] | None:
        """|Λ| and the angle over any arithmetic, in the conventions that store these."""
        if "nu_log" in self.parameters:
            return (-m.vector("nu_log").exp()).exp(), m.vector("theta_log").exp()
        if "time_decay" in self.parameters:
            decay = m.vector("time_decay")
            return (-decay.exp()).exp(), decay - decay
        if self.is_held:
            dt, (a, w) = self.duration(m), self.rates(m)
            return (dt * a).exp(), dt * w
        return None

    def eigenvalues(self, m: Arithmetic[V]) -> tuple[V, V]:
        """Re Λ and Im Λ over any arithmetic."""
        if (polar := self.polar(m)) is not None:
            size, angle = polar
            return polar if self.is_real else (size * angle.cos(), size * angle.sin())
        re = m.vector("lambda_re")
        return re, re - re if self.is_real else m.vector("lambda_im")

    def rates(self, m: Arithmetic[V]) -> tuple[V, V]:
        """Re A and Im A in continuous time."""
        if "log_step" in self.parameters:
            return m.vector("Lambda_re"), m.vector("Lambda_im")
        return -m.vector("log_A_real").exp(), m.vector("A_imag")

    def duration(self, m: Arithmetic[V]) -> V:
        """The step Δ of the zero-order hold."""
        return m.vector("log_step" if "log_step" in self.parameters else "log_dt").exp()

    def input_part(self, m: Arithmetic[V], x: V) -> tuple[V, V]:
        """Re B̄ x and Im B̄ x over any arithmetic."""
        p = m.affine("B_re", None, x)
        q = m.affine("B_im", None, x) if "B_im" in self.parameters else p - p
        if "gamma_log" in self.parameters:
            scale = m.vector("gamma_log").exp()
            return scale * p, scale * q
        if self.is_held:
            (re, im), (a, w) = self.eigenvalues(m), self.rates(m)
            ones = (a - a).exp()
            u, v = re - ones, im
            square = (a * a + w * w).reciprocal()
            g, h = (u * a + v * w) * square, (v * a - u * w) * square
            return g * p - h * q, g * q + h * p
        return p, q

    @property
    def is_real(self) -> bool:
        """True if a state is n real numbers, False if it is n complex pairs."""
        names = self.parameters
        return "time_decay" in names or ("lambda_re" in names and "lambda_im" not in names)

    @property
    def is_held(self) -> bool:
        """True if Λ and B̄ are those of the zero-order hold of a system in continuous time."""
        return "log_A_real" in self.parameters or "log_step" in self.parameters

    @property
    def n(self) -> int:
        """The size of the state, all of which is the output."""
        return self.eigenvalue_count if self.is_real else 2 * self.eigenvalue_count

    @property
    def eigenvalue_count(self) -> int:
        """How many eigenvalues."""
        return self.U.shape[-2]

    def moduli(self) -> Tensor:
        """At least |Λ_j|, from the parameters as stored: (B, n)."""
        return self.decay_powers(1)

    def decay_powers(self, k: int) -> Tensor:
        """At least |Λ_j|ᵏ, what is left of a unit after k steps, to the last bit: (B, n)."""
        powers = []
        with ctx.workprec(_PRECISION):
            for i in range(self.batch):
                powers.append([float_above(size**k) for size in self._ball_moduli(i)])
        return torch.tensor(powers, dtype=torch.float64, device=self.U.device)

    def _ball_moduli(self, i: int) -> list[arb]:
        """|Λ| of one system in balls, from no angle where it is stored apart from that."""
        balls = Balls({name: part[i] for name, part in self.parameters.items()})
        if (polar := self.polar(balls)) is not None:
            return [size[0] for size in polar[0].units]
        re, im = self.eigenvalues(balls)
        return [_ball_modulus(a[0], w[0]) for a, w in zip(re.units, im.units, strict=True)]

    def box(self, B: float | Tensor) -> Tensor:
        """u/(1 − |Λ|) for |B̄ x + b| ≤ u, infinite where |Λ| is not below 1."""
        zeros = self.U.new_zeros(self.batch, self.n)
        drive = step_lipschitz(self.program, self.parameters, zeros, B, self.d).range.magnitude
        if not self.is_real:
            drive = norm_up(torch.stack(drive.chunk(2, dim=1), dim=2)).repeat(1, 2)
        margin = subtract_down(1.0, self.moduli()).clamp(min=0.0)
        margin = margin if self.is_real else margin.repeat(1, 2)
        return torch.where(margin > 0, div_up(drive, margin), torch.inf)

    @property
    def is_affine(self) -> bool:
        """True always."""
        return True

    @property
    def paired(self) -> bool:
        """Rotations move a box of pairs out of itself, but not their discs."""
        return not self.is_real

    def euclidean(self, box: Tensor) -> Tensor:
        """max |Λ_j|."""
        return self.moduli().amax(1)[:, None, None]

    def constants(self, box: Tensor, B: float) -> dict[str, float]:
        """The largest and the least modulus."""
        moduli = self.moduli()
        return {"decay_high": float(moduli.amax()), "decay_low": float(moduli.amin())}

    def refute(self, box: Tensor, B: float, given: CandidateInputs = None) -> Witness | None:
        """An eigenvalue of modulus ≥ 1, for certain."""
        with ctx.workprec(_PRECISION):
            outside = [-float_above(-size) for size in self._ball_moduli(0) if size >= 1]
        if not outside:
            return None
        text = f"an eigenvalue has a modulus that is certified to be ≥ {at_most(max(outside))}"
        return Witness("eigenvalue", text, modulus=max(outside), bound=float(B))

    def saturating_gates(self, dtypes: DTypes, box: Tensor, B: float) -> Tensor:
        """Which |Λ_j| round to 1 or above, or are no number, as each dtype computes both parts.

        A sine and a cosine of one angle, however large, have squares that add up to 1.
        """
        run = DtypeRuns(tuple(dtypes))
        m = IntervalArithmetic(repeat_parameters(self.parameters, len(dtypes)), run)
        re, im = (part.range.magnitude for part in self.eigenvalues(m))
        size = norm_up(torch.stack([re, im], dim=2))
        if (polar := self.polar(m)) is not None:
            modulus, angle = (part.range.magnitude for part in polar)
            factor = (1 + run.unit) * (1 + run.unit) * (1 + run.function_error) * (1 + 4 * UNIT)
            rounded = torch.minimum(size, modulus * factor.to(modulus))
            size = torch.where(modulus < 1, rounded, torch.inf)
            size = torch.where(torch.isfinite(angle), size, torch.inf)
        return ~(size < 1)


def from_s4d(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of S4D's kernel, log_dt (H,), log_A_real and A_imag (H, N), as one recurrence.

    Unit h N + i is the i-th state of channel h, which input h alone feeds, with B = 1. Exact.
    Raises ShapeError.
    """
    names = ("log_dt", "log_A_real", "A_imag")
    if unknown := sorted(tensors.keys() - {*names, "C", "D"}):  # what reads the states is no part
        raise InputError(f"S4D's kernel has no {shown(unknown[0])}; leave it out, if it is unused")
    log_dt, log_A, A_imag = (tensors[name] for name in names)
    if log_A.ndim != 2 or A_imag.shape != log_A.shape:
        raise ShapeError("A_imag", f"the shape of log_A_real, {tuple(log_A.shape)}", A_imag)
    H, N = log_A.shape
    if log_dt.shape != (H,):
        raise ShapeError("log_dt", f"({H},)", log_dt)
    eye = torch.eye(H, dtype=log_A.dtype, device=log_A.device)
    return {
        "log_A_real": log_A.flatten(),
        "A_imag": A_imag.flatten(),
        "log_dt": log_dt.repeat_interleave(N),
        "B_re": eye.repeat_interleave(N, dim=0),
    }


def _ball_modulus(re: arb, im: arb) -> arb:
    """|re + i im|, exactly |re| where im is 0."""
    return abs(re) if im.is_zero() else (re * re + im * im).sqrt()


DIAGONAL_KIND = program_kind(
    "diagonal",
    Diagonal,
    diagonal_layout,
    norms=("spectral", "infinity", "perron"),
    remedy="move its eigenvalues into the unit circle",
)
