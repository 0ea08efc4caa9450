"""The kernels of fused inference: one step of each cell as Triton computes it, in float32, a kernel
of all steps, and one of a step whose product is cuBLAS's.

    RNN    h⁺ = ρ(u + w)
    LSTM   c⁺ = σ(a_f)∘c + σ(a_i)∘tanh(a_z),  h⁺ = σ(a_o)∘tanh(c⁺),  a = u + w
    GRU    h⁺ = z∘h + (1 − z)∘tanh(u_n + r∘w_n),  r, z = σ(u + w)

with the drive u = U x + b_ih and w = W h + b_hh. tanh and exp are libdevice's, quotients are
rounded to nearest; Triton's own exp and division are approximations, and are not used.

A program runs ROWS chunks. Chunk m of sequence b computes the outputs m C, …, m C + C − 1 and
starts `early` inputs before them, from the zero state; before input 0 the state stays zero.
"""

from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice


def _stand_in(function: Any) -> Any:
    """NumPy's function on the arrays of Triton's interpreter, which has no libdevice."""

    def apply(a: Any) -> Any:
        with np.errstate(over="ignore"):
            return tl.tensor(type(a.handle)(function(a.handle.data), a.handle.dtype), a.type)

    return apply


if triton.knobs.runtime.interpret:
    tanh, exp = _stand_in(np.tanh), _stand_in(np.exp)

else:

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
    return tl.div_rn(tl.full(below.shape, 1.0, below.dtype), below)


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


@triton.jit
def _product(s, W):
    """s W, summed in float32."""
    return tl.dot(s, W, input_precision="ieee", out_dtype=tl.float32)


@triton.jit
def _matrix(W, gate, n, P: tl.constexpr):
    """The transpose of a gate's matrix, (P, P) with zeros beyond n."""
    unit = tl.arange(0, P)
    entry = (gate * n + unit)[None, :] * n + unit[:, None]
    return tl.load(W + entry, (unit < n)[None, :] & (unit < n)[:, None], other=0.0)


@triton.jit
def _drive(at, gate, n, here, P: tl.constexpr):
    """u of a gate at one time, (ROWS, P)."""
    return tl.load(at[:, None] + (gate * n + tl.arange(0, P))[None, :], here, other=0.0).to(
        tl.float32
    )


@triton.jit
def _bias(b, gate, n, P: tl.constexpr):
    """b_hh of a gate, (1, P)."""
    unit = tl.arange(0, P)
    return tl.load(b + gate * n + unit, unit < n, other=0.0).to(tl.float32)[None, :]


@triton.jit
def run_chunks(
    drives, W, b, out,
    count, T, M, C, early, stored, n,
    u_b, u_m, u_t, u_shift,
    o_b, o_m, o_t, o_shift,
    CELL: tl.constexpr, P: tl.constexpr, ROWS: tl.constexpr,
    NARROW: tl.constexpr,
):  # fmt: skip
    """Steps j = 0, …, early + C − 1 of `count` chunks, M a sequence of T inputs.

    At step j chunk (b, m) reads its drive at b u_b + m u_m + (j − u_shift) u_t and writes h to
    b o_b + m o_m + (j − o_shift) o_t if j ≥ stored. States are rounded to NARROW, the dtype of the
    tensors; sums are in float32.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    unit = tl.arange(0, P)
    inside = (row < count)[:, None] & (unit < n)[None, :]
    sequence, chunk = (row // M).to(tl.int64), (row % M).to(tl.int64)
    read = drives + sequence * u_b + chunk * u_m
    write = out + sequence * o_b + chunk * o_m
    first = chunk * C - early
    if CELL == "lstm":
        W_i, W_f = _matrix(W, 0, n, P), _matrix(W, 1, n, P)
        W_z, W_o = _matrix(W, 2, n, P), _matrix(W, 3, n, P)
        b_i, b_f = _bias(b, 0, n, P), _bias(b, 1, n, P)
        b_z, b_o = _bias(b, 2, n, P), _bias(b, 3, n, P)
    elif CELL == "gru":
        W_r, W_z, W_n = _matrix(W, 0, n, P), _matrix(W, 1, n, P), _matrix(W, 2, n, P)
        b_r, b_z, b_n = _bias(b, 0, n, P), _bias(b, 1, n, P), _bias(b, 2, n, P)
    else:
        W_h, b_h = _matrix(W, 0, n, P), _bias(b, 0, n, P)
    h, c = tl.full((ROWS, P), 0.0, tl.float32), tl.full((ROWS, P), 0.0, tl.float32)
    for j in range(early + C):
        t = first + j
        here = ((t >= 0) & (t < T))[:, None] & inside
        at, s = read + (j - u_shift) * u_t, h.to(NARROW)
        if CELL == "lstm":
            i, f = _drive(at, 0, n, here, P), _drive(at, 1, n, here, P)
            z, o = _drive(at, 2, n, here, P), _drive(at, 3, n, here, P)
            i += _product(s, W_i) + b_i
            f += _product(s, W_f) + b_f
            z += _product(s, W_z) + b_z
            o += _product(s, W_o) + b_o
            h, c = lstm(i, f, z, o, c)
        elif CELL == "gru":
            r, z = _drive(at, 0, n, here, P), _drive(at, 1, n, here, P)
            nu = _drive(at, 2, n, here, P)
            r += _product(s, W_r) + b_r
            z += _product(s, W_z) + b_z
            nu += sigmoid(r) * (_product(s, W_n) + b_n)
            h = gru(sigmoid(z), nu, h)
        else:
            a = _drive(at, 0, n, here, P)
            h = rnn(a + (_product(s, W_h) + b_h), CELL)
        h = tl.where(here, h.to(NARROW).to(tl.float32), 0.0)
        c = tl.where(here, c, 0.0)
        to = (write + (j - o_shift) * o_t)[:, None] + unit[None, :]
        tl.store(to, h.to(NARROW), here & (t >= first + stored)[:, None])


@triton.jit
def _gate(u, w, b, gate, n, here, known):
    """u and w of a gate, of which `w` has W h alone."""
    drive = tl.load(u + gate * n, here, other=0.0).to(tl.float32)
    recurrent = tl.load(w + gate * n, here, other=0.0).to(tl.float32)
    return drive, recurrent + tl.load(b + gate * n, known, other=0.0).to(tl.float32)


@triton.jit(do_not_specialize=["j"])
def advance(
    drives, product, b, h, c, out,
    count, T, M, C, early, stored, n, j,
    u_b, u_m, u_t, u_shift,
    o_b, o_m, o_t, o_shift,
    CELL: tl.constexpr, GATES: tl.constexpr, P: tl.constexpr, ROWS: tl.constexpr,
    NARROW: tl.constexpr,
):  # fmt: skip
    """Step j of `run_chunks`, for units too many to keep their matrices in one program: `product`
    W h (count, g n), h (count, n) in NARROW and c (count, n) in float32 are contiguous, and h and c
    are replaced."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    unit = tl.program_id(1) * P + tl.arange(0, P)
    sequence, chunk = (row // M).to(tl.int64), (row % M).to(tl.int64)
    first = chunk * C - early
    t = first + j
    inside = (row < count)[:, None] & (unit < n)[None, :]
    here = ((t >= 0) & (t < T))[:, None] & inside
    each = row.to(tl.int64)[:, None] * n + unit[None, :]
    u = (drives + sequence * u_b + chunk * u_m + (j - u_shift) * u_t)[:, None] + unit[None, :]
    w = product + row.to(tl.int64)[:, None] * (GATES * n) + unit[None, :]
    known = (unit < n)[None, :]
    b = b + unit[None, :]
    u_0, w_0 = _gate(u, w, b, 0, n, here, known)
    if GATES > 1:
        u_1, w_1 = _gate(u, w, b, 1, n, here, known)
        u_2, w_2 = _gate(u, w, b, 2, n, here, known)
    if CELL == "lstm":
        u_3, w_3 = _gate(u, w, b, 3, n, here, known)
        before = tl.load(c + each, inside, other=0.0)
        new, cell = lstm(u_0 + w_0, u_1 + w_1, u_2 + w_2, u_3 + w_3, before)
        tl.store(c + each, tl.where(here, cell, 0.0), inside)
    elif CELL == "gru":
        before = tl.load(h + each, inside, other=0.0).to(tl.float32)
        new = gru(sigmoid(u_1 + w_1), u_2 + sigmoid(u_0 + w_0) * w_2, before)
    else:
        new = rnn(u_0 + w_0, CELL)
    new = tl.where(here, new, 0.0).to(NARROW)
    tl.store(h + each, new, inside)
    to = (out + sequence * o_b + chunk * o_m + (j - o_shift) * o_t)[:, None] + unit[None, :]
    tl.store(to, new, here & (t >= first + stored)[:, None])
