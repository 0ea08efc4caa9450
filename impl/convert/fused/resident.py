"""Whole chunks in one kernel: states in registers, recurrent matrices resident, C + k steps.

A program runs ROWS chunks. Chunk m of sequence b computes the outputs m C, …, m C + C − 1 and
starts `early` inputs before them, from the zero state; before input 0 the state stays zero.
"""

import triton
import triton.language as tl

from rnnbounds.impl.convert.fused.cells import gru, lstm, product, rnn, sigmoid


@triton.jit
def _matrix(W, gate, n, P: tl.constexpr):
    """The transpose of a gate's matrix, (P, P) with zeros beyond n."""
    unit = tl.arange(0, P)
    entry = (gate * n + unit)[None, :] * n + unit[:, None]
    return tl.load(W + entry, (unit < n)[None, :] & (unit < n)[:, None], other=0.0)


@triton.jit
def _drive(at, gate, n, here, P: tl.constexpr, WIDE: tl.constexpr):
    """u of a gate at one time, (ROWS, P)."""
    return tl.load(at[:, None] + (gate * n + tl.arange(0, P))[None, :], here, other=0.0).to(WIDE)


@triton.jit
def _bias(b, gate, n, P: tl.constexpr, WIDE: tl.constexpr):
    """b_hh of a gate, (1, P)."""
    unit = tl.arange(0, P)
    return tl.load(b + gate * n + unit, unit < n, other=0.0).to(WIDE)[None, :]


@triton.jit
def run_chunks(
    drives, W, b, out,
    count, T, M, C, early, stored, n,
    u_b, u_m, u_t, u_shift,
    o_b, o_m, o_t, o_shift,
    CELL: tl.constexpr, P: tl.constexpr, ROWS: tl.constexpr,
    NARROW: tl.constexpr, WIDE: tl.constexpr, PRODUCTS: tl.constexpr,
):  # fmt: skip
    """Steps j = 0, …, early + C − 1 of `count` chunks, M a sequence of T inputs.

    At step j chunk (b, m) reads its drive at b u_b + m u_m + (j − u_shift) u_t and writes h to
    b o_b + m o_m + (j − o_shift) o_t if j ≥ stored. States are rounded to NARROW, the dtype of the
    tensors; sums are in WIDE.
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
        b_i, b_f = _bias(b, 0, n, P, WIDE), _bias(b, 1, n, P, WIDE)
        b_z, b_o = _bias(b, 2, n, P, WIDE), _bias(b, 3, n, P, WIDE)
    elif CELL == "gru" or CELL == "gru-cho":
        W_r, W_z, W_n = _matrix(W, 0, n, P), _matrix(W, 1, n, P), _matrix(W, 2, n, P)
        b_r, b_z, b_n = _bias(b, 0, n, P, WIDE), _bias(b, 1, n, P, WIDE), _bias(b, 2, n, P, WIDE)
    else:
        W_h, b_h = _matrix(W, 0, n, P), _bias(b, 0, n, P, WIDE)
    h, c = tl.full((ROWS, P), 0.0, WIDE), tl.full((ROWS, P), 0.0, WIDE)
    for j in range(early + C):
        t = first + j
        here = ((t >= 0) & (t < T))[:, None] & inside
        at, s = read + (j - u_shift) * u_t, h.to(NARROW)
        if CELL == "lstm":
            i, f = _drive(at, 0, n, here, P, WIDE), _drive(at, 1, n, here, P, WIDE)
            z, o = _drive(at, 2, n, here, P, WIDE), _drive(at, 3, n, here, P, WIDE)
            i += product(s, W_i, PRODUCTS, WIDE) + b_i
            f += product(s, W_f, PRODUCTS, WIDE) + b_f
            z += product(s, W_z, PRODUCTS, WIDE) + b_z
            o += product(s, W_o, PRODUCTS, WIDE) + b_o
            h, c = lstm(i, f, z, o, c)
        elif CELL == "gru" or CELL == "gru-cho":
            r, z = _drive(at, 0, n, here, P, WIDE), _drive(at, 1, n, here, P, WIDE)
            nu = _drive(at, 2, n, here, P, WIDE)
            r += product(s, W_r, PRODUCTS, WIDE) + b_r
            z += product(s, W_z, PRODUCTS, WIDE) + b_z
            r = sigmoid(r)
            if CELL == "gru":
                nu += r * (product(s, W_n, PRODUCTS, WIDE) + b_n)
            else:
                v = (r * h).to(NARROW)
                nu += product(v, W_n, PRODUCTS, WIDE) + b_n
            h = gru(sigmoid(z), nu, h)
        else:
            a = _drive(at, 0, n, here, P, WIDE)
            h = rnn(a + (product(s, W_h, PRODUCTS, WIDE) + b_h), CELL)
        h = tl.where(here, h.to(NARROW).to(WIDE), 0.0)
        c = tl.where(here, c, 0.0)
        to = (write + (j - o_shift) * o_t)[:, None] + unit[None, :]
        tl.store(to, h.to(NARROW), here & (t >= first + stored)[:, None])
