"""ReLU networks in exact rationals, and their unitary equivalents: equality that is decided.

Source: Emami et al., Theorem 3.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from rnnbounds.impl.errors import InputError, ShapeError, at_least
from rnnbounds.impl.numbers.rationals import Unreduced, root_above

Vector = tuple[fmpq, ...]


@dataclass(frozen=True, eq=False)
class RationalRNN:
    """h_t = ReLU(W h_{t−1} + U x_t + b) from h_{−1}: W (n, n), U (n, d), b and initial (n,)."""

    W: fmpq_mat
    U: fmpq_mat
    b: Vector
    initial: Vector

    def __post_init__(self) -> None:
        n = self.W.nrows()
        if self.W.ncols() != n or self.U.nrows() != n or {len(self.b), len(self.initial)} != {n}:
            raise ShapeError("a weight", f"(n, n), (n, d), (n,) or (n,) with n = {n}", self.b)

    def states(self, inputs: Sequence[Vector], relu: bool = True) -> list[Vector]:
        """h_0, …, h_{T−1} for x_0, …, x_{T−1}, exactly; without ReLU, if asked."""
        return [tuple(h.matrix.entries()) for h in self.run(inputs, relu)]

    def run(self, inputs: Sequence[Vector], relu: bool = True) -> list[Unreduced]:
        """Evaluate h_0, …, h_{T−1} exactly as columns (n, 1); without ReLU, if asked."""
        return self.runs([Unreduced.columns(x, 1) for x in inputs], relu)

    def runs(self, inputs: Sequence[Unreduced], relu: bool = True) -> list[Unreduced]:
        """The states (n, P) of P runs at once, from inputs (d, P) at each time."""
        W, U = Unreduced.of(self.W), Unreduced.of(self.U)
        count = inputs[0].whole.ncols() if inputs else 1
        b, h = (Unreduced.columns(v, count) for v in (self.b, self.initial))
        found = []
        for x in inputs:
            h = W @ h + (U @ x + b)
            h = h.relu() if relu else h
            found.append(h)
        return found


def state_bound(lam: fmpq, drive: fmpq, b: Vector, initial: Vector, input_bound: fmpq) -> fmpq:
    """A rational B_h ≥ max(‖h_{−1}‖, (‖U‖B + ‖b‖)/(1 − λ)) for ‖U‖ ≤ drive; raises
    InputError."""
    if not 0 <= lam < 1:
        known = at_least(float(int(lam.p) / int(lam.q)))
        what = f"‖W‖₂ ≤ {known} is all that is known, but the cell needs ‖W‖₂ < 1"
        raise InputError(f"{what}; project it with rnnbounds.stable")
    pushed = drive * input_bound + norm_above(b)
    return max(norm_above(initial), pushed / (1 - lam))


def to_unitary(rnn: RationalRNN, dilation: fmpq_mat, bound: fmpq) -> RationalRNN:
    """The network of the orthogonal V (m, m) with b₂ = −bound·‖row of W₃‖, rounded away from 0.

    With bound = B_h its state is (h_t, 0) at all times; with less it need not be.
    """
    n, m, d = rnn.W.nrows(), dilation.nrows(), rnn.U.ncols()
    read = [row[:n] for row in dilation.tolist()[n:]]
    b2 = tuple(-bound * norm_above(row) for row in read)
    zero = [fmpq(0)] * (m - n)
    U = fmpq_mat(rnn.U.tolist() + [[fmpq(0)] * d for _ in zero])
    return RationalRNN(dilation, U, rnn.b + b2, (*rnn.initial, *zero))


def norm_above(entries: Sequence[fmpq]) -> fmpq:
    """A rational at least the Euclidean norm, and equal to it where that is rational."""
    return root_above(sum((v * v for v in entries), fmpq(0)))
