"""NumPy's normal draws from its Philox streams, computed by torch on any device, bit for bit.

NumPy walks along a stream of raw 64-bit words: a draw takes one word mostly (ziggurat), two near an
edge of a layer, of which it may draw again, and more in the tail. Here all words are made at once
(Philox is counter-based), what each would give is computed as if a draw began there, and the words
at which one does begin are those reached from the first by steps of the words taken: log₂ rounds of
doubled steps. So a system that is drawn on a device is the one that a replay draws on the CPU.

NumPy's log and exp decide only which of 1.2 % of the draws are kept, and the tail's values: other
last digits there change one draw in 10¹³ or fewer, and then what is judged is another system of the
same kind. Sources: Salmon et al., Parallel random numbers (2011); Marsaglia & Tsang, The ziggurat
method (2000); NumPy's `random_standard_normal`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch

from rnnbounds.properties.systems.drawing.draws import GRID

Tensor = torch.Tensor
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS, WORDS = 10, 4
LOW = 2**32 - 1
TAIL = 3.6541528853610088  # where the ziggurat's tail begins
MARGIN = 1.03, 64  # words a draw, and beyond: those that run short are drawn by NumPy
CHUNK = 2**24  # words that are made at once


class Layers(NamedTuple):
    """The ziggurat: widths of the layers over 2⁵², words below which a draw is kept at once, and
    the density at the widths, (256,) each."""

    widths: Tensor
    limits: Tensor
    heights: Tensor


def signed(word: int) -> int:
    """The 64-bit integer with the bits of an unsigned one."""
    return word - 2**64 if word >= 2**63 else word


def shift_right(words: Tensor, bits: int) -> Tensor:
    """Words shifted as unsigned ones."""
    return (words >> bits) & ((1 << (64 - bits)) - 1)


def multiply_words(words: Tensor, factor: int) -> tuple[Tensor, Tensor]:
    """(high, low) 64 bits of the unsigned product."""
    low, high = words & LOW, shift_right(words, 32)
    f_low, f_high = factor & LOW, factor >> 32
    lows, cross, other, highs = low * f_low, high * f_low, low * f_high, high * f_high
    carry = shift_right(lows, 32) + (cross & LOW) + (other & LOW)
    top = highs + shift_right(cross, 32) + shift_right(other, 32) + (carry >> 32)
    return top, words * signed(factor)


def raw_words(seed: int, members: Tensor, stream: int, count: int) -> Tensor:
    """The first words of each member's stream, (B, count): Philox-4×64-10 of the counters 1, 2, …
    in the first place and the stream in the last, under the key (seed, member)."""
    blocks = torch.arange(1, -(-count // WORDS) + 1, device=members.device)
    a = blocks.expand(len(members), -1)
    b, c, d = (torch.full_like(a, word) for word in (0, 0, stream))
    key, other_key = seed, members[:, None]
    for _ in range(ROUNDS):
        (high, low), (other_high, other_low) = (
            multiply_words(word, factor) for word, factor in zip((a, c), MULTIPLIERS, strict=True)
        )
        a, b, c, d = other_high ^ b ^ signed(key), other_low, high ^ d ^ other_key, low
        key = (key + KEY_STEPS[0]) % 2**64
        other_key = other_key + signed(KEY_STEPS[1])
    return torch.stack([a, b, c, d], dim=2).flatten(1)[:, :count]


def probe(words: Sequence[int]) -> tuple[float, int]:
    """NumPy's normal draw from these four words, and how many of them it takes."""
    generator = np.random.Generator(np.random.Philox(0))
    given = {"buffer": np.array(words, dtype=np.uint64), "buffer_pos": 0}
    generator.bit_generator.state = dict(generator.bit_generator.state) | given
    value = float(generator.standard_normal())
    return value, int(generator.bit_generator.state["buffer_pos"])


def layer_limit(layer: int) -> int:
    """The first 52-bit number of a layer that is not kept at once, by bisection."""
    more = (0, 2**64 - 1, 0)  # with these a draw that is not kept at once is kept later
    low, high = 0, 2**52
    while low < high:
        middle = (low + high) // 2
        if probe((middle << 9 | layer, *more))[1] == 1:
            low = middle + 1
        else:
            high = middle
    return low


@cache
def ziggurat(device: str) -> Layers:
    """NumPy's own tables, read off what it draws from words of our choice."""
    layers = range(256)
    widths = torch.tensor([probe((1 << 9 | i, 0, 0, 0))[0] for i in layers], dtype=torch.float64)
    limits = torch.tensor([layer_limit(i) for i in layers])
    heights = torch.exp(-0.5 * (widths * 2.0**52) ** 2)
    heights[0] = 1.0
    return Layers(*(table.to(device) for table in (widths, limits, heights)))


def unit_doubles(words: Tensor) -> Tensor:
    """Uniform numbers in [0, 1) of words."""
    return shift_right(words, 11).to(torch.float64) * 2.0**-53


def following(values: Tensor, steps: int) -> Tensor:
    """The values so many places on; at the end the last one, which nobody uses."""
    places = torch.arange(values.shape[1], device=values.device) + steps
    return values[:, places.clamp(max=values.shape[1] - 1)]


def tail_draws(words: Tensor, is_tail: Tensor) -> tuple[Tensor, Tensor]:
    """Of draws that begin in the tail: |x|, and how many words they take; 0 elsewhere."""
    sizes = torch.zeros(words.shape, dtype=torch.float64, device=words.device)
    taken, waiting, tries = torch.zeros_like(words), is_tail, 0
    logs = torch.log1p(-unit_doubles(words))
    while tries < 32 and bool(waiting.any()):
        x, y = -following(logs, 2 * tries + 1) / TAIL, -following(logs, 2 * tries + 2)
        accepted = waiting & (y + y > x * x)
        sizes = torch.where(accepted, TAIL + x, sizes)
        tries += 1
        taken = torch.where(accepted, 1 + 2 * tries, taken)
        waiting = waiting & ~accepted
    return sizes, torch.where(waiting, words.shape[1], taken)


def reached(steps: Tensor) -> Tensor:
    """True for each place reached from the first by steps > 0, (B, P)."""
    P = steps.shape[1]
    jumps = (torch.arange(P, device=steps.device) + steps).clamp(max=P)
    jumps = torch.cat([jumps, torch.full_like(jumps[:, :1], P)], dim=1)
    found = torch.zeros_like(jumps, dtype=torch.int32)
    found[:, 0] = 1
    for _ in range(P.bit_length()):
        found = (found + torch.zeros_like(found).scatter_add_(1, jumps, found)).clamp(max=1)
        jumps = jumps.gather(1, jumps)
    return found[:, :P] > 0


def normals_of_words(words: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The first normal draws from words (B, P): (B, count), and how many each row has."""
    table = ziggurat(str(words.device))
    layer, rest = words & 0xFF, shift_right(words, 8)
    number = (rest >> 1) & (2**52 - 1)
    x = number * table.widths[layer]
    at_once = number < table.limits[layer]
    is_tail = ~at_once & (layer == 0)
    below = table.heights[layer]
    above = table.heights[(layer - 1).clamp(min=0)]
    height = (above - below) * unit_doubles(following(words, 1)) + below
    tails, tail_words = tail_draws(words, is_tail)
    sign = torch.where(is_tail, shift_right(number, 8), rest) & 1
    values = torch.where(is_tail, tails, x)
    values = torch.where(sign == 1, -values, values)
    kept = at_once | is_tail | (height < torch.exp(-0.5 * x * x))
    taken = torch.where(at_once, 1, torch.where(is_tail, tail_words, 2))
    places = torch.arange(words.shape[1], device=words.device)
    drawn = reached(taken) & kept & (places + taken <= words.shape[1])
    order = torch.cumsum(drawn, dim=1)
    column = torch.where(drawn & (order <= count), order - 1, count)
    draws = values.new_zeros(len(values), count + 1).scatter_(1, column, values)
    return draws[:, :count], order[:, -1]


def grid_normals(seed: int, members: Sequence[int], stream: int, count: int, device: str) -> Tensor:
    """The draws of `draws.batch_normals` of these members, flat: (B, count), on the device."""
    words = int(count * MARGIN[0]) + MARGIN[1]
    parts = []
    for start in range(0, len(members), max(1, CHUNK // words)):
        part = members[start : start + max(1, CHUNK // words)]
        raw = raw_words(seed, torch.tensor(part, device=device), stream, words)
        draws, found = normals_of_words(raw, count)
        for row in torch.nonzero(found < count)[:, 0].tolist():
            key = np.array([seed, part[row]], dtype=np.uint64)
            rng = np.random.Generator(np.random.Philox(key=key, counter=[0, 0, 0, stream]))
            draws[row] = torch.from_numpy(rng.standard_normal(count)).to(device)
        parts.append(torch.round(draws * GRID) * (1 / GRID))
    return torch.cat(parts)
