"""Which form of fused inference, and how long its chunks are, by size.

A sequence of T is cut into M = ⌈T/C⌉ chunks, which take C + k steps together. A step of r = N M
rows costs a time that a model gives, and C is what makes (C + k)·step(r) least. There are two forms:

resident: one kernel, 16 rows a program and one program a multiprocessor, so a step costs
s·⌈r/(16 · multiprocessors)⌉; s depends on the gates and on n, padded to a power of two.

steps: two kernels a step, so 7 µs, and 2 g n² operations a row at 25 a picosecond.

The constants are read off times measured on one NVIDIA H200 with a prototype of both forms
(float32, d = 8, k = 21), at one sequence of 4096 and 64 of 512; the rate and the 7 µs under the
assumption that its chunks had C = k. These kernels themselves were not run on a GPU.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch

ROWS = 16  # chunks a program
PRODUCTS = ("ieee", "tf32x3")
Products = Literal["ieee", "tf32x3"]
GATES = {"linear": 1, "rnn-tanh": 1, "rnn-relu": 1, "gru": 3, "gru-cho": 3, "lstm": 4}
# µs a step by gates and padded units; of 64 exact products, a GRU's registers spill. That of a GRU
# of 32 is between its neighbours, not measured.
_STEP_US = {
    "ieee": {(1, 16): 0.6, (1, 64): 1.5, (3, 16): 0.9, (3, 32): 1.8, (3, 64): 29.0,
             (4, 16): 1.4, (4, 64): 4.5},
    "tf32x3": {(1, 128): 3.2, (3, 64): 3.4},
}  # fmt: skip
_STEP_OF_TWO_KERNELS_US, _OPERATIONS_PER_US = 7.0, 25e6
_WIDTH = {torch.float64: 2}  # in float32's


@dataclass(frozen=True)
class Plan:
    """How a batch is run: the form, C outputs a chunk, and the products of float32.

    products: "ieee", or "tf32x3" (each factor as two of TensorFloat-32, three products), which the
    resident form alone takes.
    """

    form: Literal["resident", "steps"]
    C: int
    products: Products = "ieee"


@dataclass(frozen=True)
class Size:
    """The size of a task: N sequences of T, windows of k, layers of n units of one cell."""

    cell: str
    n: int
    N: int
    T: int
    k: int
    dtype: torch.dtype
    latest: bool = False


def padded(n: int) -> int:
    """The power of two, at least 16, that a program computes with."""
    return max(16, 1 << (n - 1).bit_length())


def plan_for(size: Size, multiprocessors: int, products: Products = "ieee") -> Plan | None:
    """The plan whose modelled time is least; None for cells that have no fused form."""
    if size.cell not in GATES:
        return None
    best: tuple[float, Plan] | None = None
    for C in _lengths(size):
        M = -(-size.T // C)
        steps = C + (size.k if M > 1 else 0)
        for form, step_us in _step_times(size, size.N * M, multiprocessors, products):
            if best is None or steps * step_us < best[0]:
                best = steps * step_us, Plan(form, C, products if form == "resident" else "ieee")
    return best and best[1]


def _lengths(size: Size) -> Iterator[int]:
    """Candidates of C: all of T for the latest output alone, else lengths a tenth apart."""
    C = 1
    while C < size.T and not size.latest:
        yield C
        C = max(C + 1, C * 11 // 10)
    yield size.T


def _step_times(
    size: Size, rows: int, multiprocessors: int, products: Products
) -> Iterator[tuple[Literal["resident", "steps"], float]]:
    gates = GATES[size.cell]
    waves = math.ceil(rows / (ROWS * multiprocessors))
    if (one := resident_step_us(size, products)) is not None:
        yield "resident", waves * one
    if size.cell != "gru-cho":  # its candidate needs a second product
        width = _WIDTH.get(size.dtype, 1)
        work = 2 * gates * size.n**2 * width * rows / _OPERATIONS_PER_US
        yield "steps", _STEP_OF_TWO_KERNELS_US + work


def resident_step_us(size: Size, products: Products) -> float | None:
    """µs of a step of one program, None where its matrices were not seen to fit."""
    P = padded(size.n) * _WIDTH.get(size.dtype, 1)
    known = _STEP_US["ieee"]
    if products == "tf32x3" or size.dtype.itemsize == 2:
        known = known | _STEP_US["tf32x3"]
    fits = sorted((p, us) for (g, p), us in known.items() if g == GATES[size.cell] and p >= P)
    return fits[0][1] if fits else None
