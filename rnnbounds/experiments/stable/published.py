"""Conditions of the control literature on a recurrent network, in plain floats, beside `certify`.

Each condition is re-derived here from one step of two runs under the same inputs with |u|_∞ ≤ 1;
none of them is one of the norms of `certify`. With σ̄ = σ(‖[W U b]‖_∞) for the gates
and φ̄ = tanh(‖[W U b]‖_∞) for a candidate:

- Terzi, Bonassi, Farina & Scattolini (2021), Learning model predictive control with long short-term
  memory networks, where |c| ≤ C̄ = σ̄_i φ̄_c/(1 − σ̄_f):

      ‖Δc⁺‖₂ ≤ σ̄_f ‖Δc‖₂ + α ‖Δh‖₂,    ‖Δh⁺‖₂ ≤ σ̄_o ‖Δc⁺‖₂ + ¼ tanh C̄ ‖U_o‖₂ ‖Δh‖₂,
      α = ¼‖U_f‖₂ C̄ + σ̄_i ‖U_c‖₂ + ¼‖U_i‖₂ φ̄_c;

  δISS if the matrix of these is Schur, which is −1 + σ̄_f + ασ̄_o + u < σ̄_f u < 1 for
  u = ¼ tanh C̄ ‖U_o‖₂. It was compared with the residuals in `ssnet`, by one of the authors. The
  same holds in ∞-norms, and on the smaller sets that follow when |h| ≤ σ̄_o tanh C̄ is put back for
  |h| ≤ 1: both are re-derived. Yoshihara et al. (2025), on the recovery time of LSTMs, refine δISS;
  only the abstract and a part of the appendix could be had, so nothing here is theirs.
- Bonassi, Farina & Scattolini (2021), On the stability properties of gated recurrent units, of
  Cho's: with κ = ‖U_r‖_∞ (¼‖U_f‖_∞ + σ̄_f), as |x| ≤ 1 and |x − ν| ≤ 1 + φ̄_r,

      ‖Δx⁺‖_∞ ≤ (z + (1 − z) κ + ¼ (1 + φ̄_r) ‖U_z‖_∞) ‖Δx‖_∞,    1 − σ̄_z ≤ z ≤ σ̄_z,

  below 1 if κ < 1 − ¼ (1 + φ̄_r) ‖U_z‖_∞/(1 − σ̄_z), as in `ssnet`. Of torch's GRU, whose bias c
  within the reset gate adds ¼‖U_f‖_∞ ‖c‖_∞ to κ, it is re-derived.
- D'Amico, La Bella & Farina (2022), a generic x⁺ = f(Ax + Bu): for slopes at most 1 a diagonal P
  with AᵀPA ≺ P makes Δᵀ E P E Δ ≤ ΔᵀPΔ for each diagonal |E| ≤ 1, so that ‖P^½ ·‖₂ contracts: our
  diagonal norm. Only the abstract could be had.
- De Carli et al. (2025), Infinity-norm-based input-to-state-stable LSTM networks: σ̄_f + σ̄_i‖U_c‖_∞
  < 1, as in a public loss function for MATLAB that promotes it. As |h| ≤ |c| it gives
  ‖c⁺‖_∞ ≤ (σ̄_f + σ̄_i‖U_c‖_∞)‖c‖_∞ + σ̄_i‖W_c u + b_c‖_∞: how large states are. Of two runs it says
  nothing: an LSTM that satisfies it may have two stable states.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rnnbounds.impl.norms.window import least_window

Weights = Mapping[str, np.ndarray]
SETS = 32  # how often a smaller set is put back


@dataclass(frozen=True)
class ConditionAnswer:
    """A factor, below 1 if the condition holds, and the k that follows for an ε."""

    lam: float
    k: int | None = None


@dataclass(frozen=True)
class Condition:
    """One condition on the weights of a cell, by torch's names, as float64."""

    name: str
    evaluate: Callable[[Weights, float], ConditionAnswer]


def sigmoid(z: float) -> float:
    """σ."""
    return 1 / (1 + math.exp(-z))


def split_gates(weights: Weights, count: int) -> list[tuple[np.ndarray, ...]]:
    """U, W and both biases of each gate."""
    matrices = [weights[role] for role in ("weight_hh", "weight_ih", "bias_ih", "bias_hh")]
    return list(zip(*(np.split(part, count) for part in matrices), strict=True))


def largest_preactivation(
    gate: tuple[np.ndarray, ...], h: float = 1.0, biases: bool = True
) -> float:
    """max_j Σ|W_j| + h Σ|U_j| + |b_j|, of both biases added, or each by itself."""
    U, W, b, c = gate
    offset = np.abs(b + c) if biases else np.abs(b) + np.abs(c)
    return float((np.abs(W).sum(1) + h * np.abs(U).sum(1) + offset).max())


def terzi_condition(order: float, sets: int = 0) -> Callable[[Weights, float], ConditionAnswer]:
    """The Schur matrix, in Euclidean or ∞-norms of c and h, after putting so many sets back."""

    def told(weights: Weights, epsilon: float) -> ConditionAnswer:
        gate_weights, h = split_gates(weights, 4), 1.0
        n = len(gate_weights[0][0])
        for _ in range(1 + sets):
            i, f, o = (sigmoid(largest_preactivation(gate_weights[j], h)) for j in (0, 1, 3))
            c = math.tanh(largest_preactivation(gate_weights[2], h))
            if f == 1:
                return ConditionAnswer(math.inf)
            C = i * c / (1 - f)
            h = min(h, o * math.tanh(C))
        size = [float(np.linalg.norm(gate[0], order)) for gate in gate_weights]
        alpha = size[1] * C / 4 + i * size[2] + size[0] * c / 4
        A = np.array([[f, alpha], [o * f, o * alpha + math.tanh(C) * size[3] / 4]])
        lams, vectors = np.linalg.eig(A)
        best = int(lams.real.argmax())
        w, lam = np.abs(vectors[:, best].real), float(lams.real[best])
        if not w.min() > 0:
            return ConditionAnswer(lam)
        root = math.sqrt(n)
        norm_factor = root if order == 2 else 1.0
        scale = norm_factor * max(i * c / w[0], o * math.tanh(i * c) / w[1])
        radius = norm_factor * max(C / w[0], o * math.tanh(C) / w[1])
        output_factor = float(w[1]) * (1.0 if order == 2 else root)
        return ConditionAnswer(
            lam, least_window(output_factor * scale, lam, epsilon, output_factor * radius)
        )

    return told


def bonassi_condition(cho: bool) -> Callable[[Weights, float], ConditionAnswer]:
    """Of a GRU in Cho's convention or in torch's; r, z, n are f, z, r of the paper."""

    def told(weights: Weights, epsilon: float) -> ConditionAnswer:
        reset, update, candidate = split_gates(weights, 3)
        n, f, z = (
            len(reset[0]),
            sigmoid(largest_preactivation(reset)),
            sigmoid(largest_preactivation(update)),
        )
        phi = math.tanh(largest_preactivation(candidate, biases=cho))
        F, Z, R = (float(np.linalg.norm(gate[0], math.inf)) for gate in (reset, update, candidate))
        kappa = R * (F / 4 + f) + (0.0 if cho else F / 4 * float(np.abs(candidate[3]).max()))
        lam = max(a + (1 - a) * kappa for a in (1 - z, z)) + (1 + phi) * Z / 4
        root = math.sqrt(n)
        return ConditionAnswer(lam, least_window(root * z * phi, lam, epsilon, root))

    return told


def damico_condition(
    W: np.ndarray, U: np.ndarray, d: np.ndarray, B: float, epsilon: float
) -> ConditionAnswer:
    """Of h⁺ = tanh(Wh + Ux), ‖x‖₂ ≤ B, for P = D²: the factor is ‖DWD⁻¹‖₂."""
    lam = float(np.linalg.norm(d[:, None] * W / d, 2))
    output_factor = float(1 / d.min())
    drive, radius = np.linalg.norm(d[:, None] * U, 2) * B, np.linalg.norm(d)
    return ConditionAnswer(
        lam, least_window(output_factor * float(drive), lam, epsilon, output_factor * float(radius))
    )


def state_bound_factor(weights: Weights) -> float:
    """σ̄_f + σ̄_i‖U_c‖_∞ of De Carli et al., below 1 where it holds; of memory it says nothing."""
    i, f, c, _ = split_gates(weights, 4)
    size = float(np.linalg.norm(c[0], math.inf))
    return sigmoid(largest_preactivation(f)) + sigmoid(largest_preactivation(i)) * size


CONDITIONS: Mapping[str, tuple[Condition, ...]] = {
    "lstm": (
        Condition("Terzi et al. 2021", terzi_condition(2)),
        Condition("Terzi et al. 2021 in ∞-norms, re-derived", terzi_condition(math.inf)),
        Condition("Terzi et al. 2021 on smaller sets, re-derived", terzi_condition(2, SETS)),
        Condition(
            "Terzi et al. 2021 in ∞-norms on smaller sets, re-derived",
            terzi_condition(math.inf, SETS),
        ),
    ),
    "gru-cho": (Condition("Bonassi et al. 2021", bonassi_condition(cho=True)),),
    "gru": (
        Condition("Bonassi et al. 2021 for torch’s GRU, re-derived", bonassi_condition(cho=False)),
    ),
}
"""The conditions on memory, by the cell of which they speak."""
DIAGONAL, BOUNDED = "D’Amico et al. 2022", "De Carli et al. 2025"
