"""One step of each cell as Triton computes it, in float32 or float64.

    RNN    h⁺ = ρ(u + w)
    LSTM   c⁺ = σ(a_f)∘c + σ(a_i)∘tanh(a_z),  h⁺ = σ(a_o)∘tanh(c⁺),  a = u + w
    GRU    h⁺ = z∘h + (1 − z)∘tanh(u_n + r∘w_n),  r, z = σ(u + w)

with the drive u = U x + b_ih and w = W h + b_hh. tanh and exp are libdevice's, quotients are
rounded to nearest; Triton's own exp and division are approximations, and are not used.
"""

from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

INTERPRETED = triton.knobs.runtime.interpret


def _stand_in(function: Any) -> Any:
    """NumPy's function on the arrays of Triton's interpreter, which has no libdevice."""

    def apply(a: Any) -> Any:
        with np.errstate(over="ignore"):
            return tl.tensor(type(a.handle)(function(a.handle.data), a.handle.dtype), a.type)

    return apply


if INTERPRETED:
    tanh, exp = _stand_in(np.tanh), _stand_in(np.exp)

    def product(s: Any, W: Any, PRODUCTS: Any, WIDE: Any) -> Any:
        """s W; the interpreter multiplies bfloat16's bits."""
        return tl.dot(s.to(WIDE), W.to(WIDE), input_precision="ieee", out_dtype=WIDE)

else:

    @triton.jit
    def product(s, W, PRODUCTS: tl.constexpr, WIDE: tl.constexpr):
        """s W, summed in WIDE."""
        return tl.dot(s, W, input_precision=PRODUCTS, out_dtype=WIDE)

    @triton.jit
    def tanh(a):
        """libdevice's tanh."""
        return libdevice.tanh(a)

    @triton.jit
    def exp(a):
        """libdevice's exp."""
        return libdevice.exp(a)


@triton.jit
def sigmoid(a):
    """1/(1 + exp(−a)), the quotient rounded to nearest."""
    below = exp(-a) + 1.0
    one = tl.full(below.shape, 1.0, below.dtype)
    if below.dtype == tl.float32:
        return tl.div_rn(one, below)
    else:  # noqa: RET505 - Triton compiles one branch
        return one / below


@triton.jit
def rnn(a, CELL: tl.constexpr):
    """ρ(a)."""
    if CELL == "rnn-tanh":
        a = tanh(a)
    elif CELL == "rnn-relu":
        a = tl.where(a < 0.0, 0.0, a)  # NaN stays
    return a


@triton.jit
def lstm(i, f, z, o, c):
    """(h⁺, c⁺) of the pre-activations of the gates."""
    c = sigmoid(f) * c + sigmoid(i) * tanh(z)
    return sigmoid(o) * tanh(c), c


@triton.jit
def gru(z, nu, h):
    """h⁺ of the update gate z, the candidate's pre-activation and h."""
    return z * h + (1.0 - z) * tanh(nu)
