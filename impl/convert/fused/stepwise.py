"""One step of all chunks in two kernels, a product of cuBLAS's and this one, for units too many to
keep their matrices in one program."""

import triton
import triton.language as tl

from rnnbounds.impl.convert.fused.cells import gru, lstm, rnn, sigmoid


@triton.jit(do_not_specialize=["j"])
def advance(
    drives, product, b, h, c, out,
    count, T, M, C, early, stored, n, j,
    u_b, u_m, u_t, u_shift,
    o_b, o_m, o_t, o_shift,
    CELL: tl.constexpr, GATES: tl.constexpr, P: tl.constexpr, ROWS: tl.constexpr,
    NARROW: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Step j of `impl.convert.fused.resident.run_chunks`, where W h is there: `product`
    (count, g n), h (count, n) in NARROW and c (count, n) in WIDE are contiguous and replaced."""
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
    u_0 = tl.load(u, here, other=0.0).to(WIDE)
    w_0 = tl.load(w, here, other=0.0).to(WIDE) + tl.load(b, known, other=0.0).to(WIDE)
    if GATES > 1:
        u_1 = tl.load(u + n, here, other=0.0).to(WIDE)
        w_1 = tl.load(w + n, here, other=0.0).to(WIDE) + tl.load(b + n, known, other=0.0).to(WIDE)
        u_2, w_2 = tl.load(u + 2 * n, here, other=0.0), tl.load(w + 2 * n, here, other=0.0)
        u_2, w_2 = u_2.to(WIDE), w_2.to(WIDE) + tl.load(b + 2 * n, known, other=0.0).to(WIDE)
    if CELL == "lstm":
        u_3, w_3 = tl.load(u + 3 * n, here, other=0.0), tl.load(w + 3 * n, here, other=0.0)
        u_3, w_3 = u_3.to(WIDE), w_3.to(WIDE) + tl.load(b + 3 * n, known, other=0.0).to(WIDE)
        before = tl.load(c + each, inside, other=0.0)
        new, cell = lstm(u_0 + w_0, u_1 + w_1, u_2 + w_2, u_3 + w_3, before)
        tl.store(c + each, tl.where(here, cell, 0.0), inside)
    elif CELL == "gru":
        before = tl.load(h + each, inside, other=0.0).to(WIDE)
        new = gru(sigmoid(u_1 + w_1), u_2 + sigmoid(u_0 + w_0) * w_2, before)
    else:
        new = rnn(u_0 + w_0, CELL)
    new = tl.where(here, new, 0.0).to(NARROW)
    tl.store(h + each, new, inside)
    to = (out + sequence * o_b + chunk * o_m + (j - o_shift) * o_t)[:, None] + unit[None, :]
    tl.store(to, new, here & (t >= first + stored)[:, None])
