"""Which form of fused inference, and how long its chunks are, by size.

A sequence of T is cut into M = ⌈T/C⌉ chunks, which take C + k steps together. A model gives the
time of a step of r = N M rows, and C is what makes (C + k)·step(r) least. There are two forms:

resident: one kernel of 16 rows a program, for at most 16,384 = g P² entries of the matrices of g
gates, n padded to a power of two P. With p programs a multiprocessor a step costs
0.6 + p g P²/4300 µs: their latencies overlap, their work does not.

steps: two kernels a step, 7 µs, and 2 g n² operations a row at 25 a picosecond.

The constants are read off times of a prototype of both forms on one NVIDIA H200 (float32, d = 8,
k = 21; RNN, LSTM and GRU of 16 to 512 units, 1 × 4096 and 64 × 512), taking C to fill its
multiprocessors once, or C = k; how programs share one is assumed. These kernels were compiled for
such a card, where the largest take 8 warps to keep all in registers, and were not run on one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch

Form = Literal["resident", "steps"]
Products = Literal["ieee", "tf32x3"]
PRODUCTS = ("ieee", "tf32x3")
ROWS = 16  # chunks a program
GATES = {"linear": 1, "rnn-tanh": 1, "rnn-relu": 1, "gru": 3, "gru-cho": 3, "lstm": 4}
MOST_ENTRIES, _ENTRIES_OF_FOUR_WARPS = 16384, 8192
_LATENCY_US, _ENTRIES_PER_US = 0.6, 4300.0
_MOST_PROGRAMS = 4  # that share a multiprocessor
_TWO_KERNELS_US, _OPERATIONS_PER_US = 7.0, 25e6
_STEPS_RATIO = 1.1  # between neighbouring candidates of C


@dataclass(frozen=True)
class Plan:
    """How a batch is run: the form, C outputs a chunk, and the products of float32.

    products: "ieee", or "tf32x3" (each factor as two of TensorFloat-32, three products), which the
    resident form alone takes.
    """

    form: Form
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

    @property
    def width(self) -> int:
        """The cost of a number, in those of float32."""
        return 2 if self.dtype == torch.float64 else 1

    @property
    def entries(self) -> int:
        """g P², in numbers of float32."""
        return GATES[self.cell] * padded(self.n) ** 2 * self.width


@dataclass(frozen=True)
class Card:
    """A card: its multiprocessors, and the bytes of shared memory that a program may take."""

    multiprocessors: int
    shared: int


def padded(n: int) -> int:
    """The power of two, at least 16, that a program computes with."""
    return max(16, 1 << (n - 1).bit_length())


def warps(entries: int) -> int:
    """The warps of a program, enough that no register spills."""
    return 4 if entries <= _ENTRIES_OF_FOUR_WARPS else 8


@lru_cache(maxsize=1024)
def plan_for(size: Size, card: Card, products: Products = "ieee") -> Plan | None:
    """The plan whose modelled time is least; None for cells that have no fused form."""
    candidates = ((us, Plan(form, C, p)) for form, C, p, us in _candidates(size, card, products))
    return min(candidates, key=lambda each: each[0], default=(0.0, None))[1]


def _candidates(
    size: Size, card: Card, products: Products
) -> Iterator[tuple[Form, int, Products, float]]:
    """(form, C, products, µs) of all that can run."""
    if size.cell not in GATES:
        return
    products = products if size.dtype == torch.float32 else "ieee"
    for C in _lengths(size):
        M = -(-size.T // C)
        steps, rows = C + (size.k if M > 1 else 0), size.N * M
        if is_resident(size, card, products):
            programs = math.ceil(rows / ROWS)
            yield "resident", C, products, steps * _resident_us(size.entries, programs, card)
        if size.cell != "gru-cho":  # its candidate needs a second product
            work = 2 * GATES[size.cell] * size.n**2 * size.width * rows / _OPERATIONS_PER_US
            yield "steps", C, "ieee", steps * (_TWO_KERNELS_US + work)


def _lengths(size: Size) -> Iterator[int]:
    """Candidates of C: all of T for the latest output alone, else lengths a tenth apart."""
    C = 1
    while C < size.T and not size.latest:
        yield C
        C = max(C + 1, int(C * _STEPS_RATIO))
    yield size.T


def is_resident(size: Size, card: Card, products: Products) -> bool:
    """True if one program keeps the matrices of a layer: as compiled, it has g P² + 48 P numbers in
    shared memory at most, twice as many for tf32x3."""
    staged = 48 * padded(size.n) * size.width
    copies = 2 if products == "tf32x3" else 1
    return size.entries <= MOST_ENTRIES and 4 * copies * (size.entries + staged) <= card.shared


def _resident_us(entries: int, programs: int, card: Card) -> float:
    """µs of a step of all programs."""
    most = max(1, min(_MOST_PROGRAMS, _ENTRIES_OF_FOUR_WARPS // entries))
    together = min(most, math.ceil(programs / card.multiprocessors))
    rounds = math.ceil(programs / (together * card.multiprocessors))
    return rounds * (_LATENCY_US + together * entries / _ENTRIES_PER_US)
