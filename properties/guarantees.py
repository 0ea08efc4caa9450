"""Four guarantees of a certificate, which random models attack: attacked, not proved.

A search in floats proposes inputs and states; both sides are compared as squares, in balls of
rising precision, or in rationals where all is exact. Most models have units that are all alike and
inputs so small that they are nearly linear: they come near their bounds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from flint import arb, ctx, fmpq
from torch import Tensor

from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.arithmetic.inputs.maximisers import Inputs, input_set_of
from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.cells.refutation.refute import ALL
from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.unitary import NoUnitaryError, unitary
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.metric import available_norms
from rnnbounds.impl.numbers.rationals import rational
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.reports.records.checks import Tally
from rnnbounds.reports.records.record import Guarantee

COMMON = (
    "linear", "rnn-tanh", "rnn-relu", "lstm", "lstm-projected", "gru", "gru-cho", "leaky-identity",
    "leaky-tanh", "deep-tanh", "stacked-linear", "stacked-lstm", "stacked-gru",
)  # fmt: skip
OTHERS = "others"  # one model of each cell beside these and their kin
GROUPS = (*COMMON, OTHERS)
DTYPES = ("float32", "float32", "float64", "bfloat16", "float16")
DEEP = ("transition_1_weight", "transition_2_weight")  # the layers of a deep cell
EPSILONS, MOST_UNITS = (0.3, 0.03), 3  # shares of the bound on inputs
PRECISIONS, COLUMNS, CLIMBS = (192, 1024, 8192), 8, 4  # bits
PAST, LONGEST, NEAR = 16, 256, 2.0**-10  # steps, steps, a share of the room of states
Vector = Sequence[Any]


class Part(NamedTuple):
    """‖Q s‖_p/w of some of the states; a norm is the largest of its parts."""

    states: slice
    Q: Tensor
    w: fmpq = fmpq(1)
    p: int = 2


class Check(NamedTuple):
    """‖end_1 − end_2‖ in a norm, and the square of its bound."""

    ends: tuple[Callable[[], Vector], Callable[[], Vector]]
    square: fmpq
    norm: Sequence[Part]


@dataclass(frozen=True, eq=False)
class Subject:
    """A certified model under attack; `name` says it in words."""

    name: str
    model: LoadedModel[Any]
    told: Certificate

    @cached_property
    def inputs(self) -> Inputs:
        """The set of inputs."""
        return input_set_of(self.told.asked_inputs)

    @cached_property
    def balls(self) -> Balls:
        """Ball arithmetic over the weights as stored."""
        return Balls({name: part.double() for name, part in self.model.weights.items()})

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The sizes of the states of the layers."""
        sizes = kind_of(self.model.name).layout(self.model.weights).sizes(self.model.weights)
        return tuple(getattr(self.model.cell, "widths", (sizes.state,)))

    @property
    def box(self) -> Tensor:
        """The stated states, |s_i| ≤ box_i: infinite for all, NaN where that is not written."""
        boxes = [layer.box for layer in self.told.layers or ()] or [self.told.box]
        sides: list[float] = [side for box in boxes for side in box or ()]
        if len(sides) != sum(self.widths):
            sides = [np.inf if self.told.states.startswith(ALL) else np.nan] * sum(self.widths)
        return torch.tensor(sides, dtype=torch.float64)

    @property
    def norm(self) -> list[Part]:
        """The parts of the printed norm; none of a cascade, whose weights are not printed.

        spectral: ‖s‖₂, or max ‖s_b‖₂/w_b over blocks; infinity: max |s_i|; one: Σ |s_i|; perron and
        comparison: max |s_i|/v_i; diagonal: ‖(d_i s_i)‖₂; quadratic and quadratic-sdp: ‖Qs‖₂; of a
        stack max ‖s^l‖/t_l over the layers, each in the norm of that name.
        """
        told, parts, start = self.told, list[Part](), 0
        rows: Vector = [(1.0, *(told.weights or ()))]
        if told.cell.startswith(PREFIX):
            each = zip(told.weights or (), told.layers or (), strict=False)
            rows = [(t, *(layer.norm.weights or ())) for t, layer in each]
        for n, (t, *weights) in zip(
            self.widths, rows if told.norm != "cascade" else (), strict=False
        ):
            flat = [q for row in weights for q in (row if isinstance(row, list) else (row,))]
            values = torch.tensor(flat or [1.0] * n, dtype=torch.float64)
            if told.norm.startswith("quadratic"):  # after the rows of Q stand multipliers
                found = [(values[: n * n].reshape(n, n), 1.0)]
            elif told.norm in ("diagonal", "one"):
                found = [(torch.diag(values), 1.0)]
            else:  # blocks of a spectral norm, single states of all others
                divisors = flat or [1.0] * (1 if told.norm == "spectral" else n)
                found = [(torch.eye(n // len(divisors)).double(), w) for w in divisors]
            for Q, w in found:
                at, scale = slice(start, start + len(Q)), rational(w) * rational(t)
                parts.append(Part(at, Q, scale, 1 if told.norm == "one" else 2))
                start += len(Q)
        return parts

    def allows(self, x: Tensor) -> bool:
        """True if all inputs (T, d) are of the certificate's set."""
        given, B = self.told.input_set, rational(self.told.input_bound)
        inside = all(square(euclidean(len(one)), moves(one, 0 * one)) <= B**2 for one in x)
        return inside and (given is None or all(map(given.holds, x.tolist())))

    def run(self, x: Tensor, s: Tensor | None = None) -> Tensor:
        """The last states (N, M) of a run in float64 under inputs (M, T, d)."""
        s = x.new_zeros(sum(self.widths), len(x)) if s is None else s
        for one in x.unbind(1):
            s = self.model.cell.step(s[None], one.mT[None])[0]
        return s

    def exact(self, x: Tensor, s: Vector = (), *, outputs: bool = False) -> Vector:
        """The end in balls of a run under inputs (T, d), from zero for no s: state or output."""
        state = Columns([[arb(a)] for a in s or [0.0] * sum(self.widths)])
        for row in x.tolist():
            state = self.model.cell.program(self.balls, state, Columns([[arb(a)] for a in row]))
        return [unit[0] for unit in state.units[-self.model.n if outputs else 0 :]]

    def starts(self, T: int) -> Tensor:
        """Inputs (M, T, d) at ends of their set: constant, alternating, and at random."""
        by = torch.Generator().manual_seed(1)
        noise = torch.randn(COLUMNS, T, self.model.d, generator=by).double()
        noise[:2] = torch.tensor([1.0, -1.0])[:, None, None]
        noise[: COLUMNS // 2] = noise[: COLUMNS // 2, :1]
        noise[3, 1::2] *= -1
        return self.inputs.maximiser(noise)

    def climb(self, x: Tensor, ends: Callable[[Tensor], Sequence[Tensor]]) -> Tensor:
        """The inputs (T, d) of the largest gap between two ends, on the way up its gradient from
        (M, T, d), from end to end of their set (Frank & Wolfe, 1956)."""
        found, top = x[0], -1.0
        for left in reversed(range(CLIMBS)):
            one, other = (s[-self.model.n :] for s in ends(x.requires_grad_(left > 0)))
            gap = torch.linalg.vector_norm(one - other, 2, 0)
            sizes = gap.detach().nan_to_num(-1.0)
            if float(sizes.max()) > top:
                top, found = float(sizes.max()), x.detach()[int(sizes.argmax())]
            before = x
            x = self.inputs.maximiser(torch.autograd.grad(gap.sum(), x)[0]) if left else x
            if torch.equal(before, x):  # the last, or no end leads further
                break
        return found

    def two_runs(self, x: Tensor, y: Tensor, bound: fmpq) -> Iterator[Check]:
        """Outputs of two runs from zero, if all inputs are of the certificate's set."""
        if self.allows(x) and self.allows(y):
            ends = partial(self.exact, x, outputs=True), partial(self.exact, y, outputs=True)
            yield Check(ends, bound, euclidean(self.model.n))


def window_checks(subject: Subject) -> Iterator[Check]:
    """The last k inputs, and no others, against all of them."""

    def ends(x: Tensor) -> Sequence[Tensor]:
        s = subject.run(x[:, :PAST])
        both = torch.cat([s, 0 * s], 1)
        return subject.run(x[:, PAST:].repeat(2, 1, 1), both).chunk(2, 1)

    for epsilon, k in subject.told.windows:
        if k is not None and k <= LONGEST:
            x = subject.climb(subject.starts(PAST + k), ends)
            yield from subject.two_runs(x, x[PAST:], rational(epsilon) ** 2)


def gain_checks(subject: Subject) -> Iterator[Check]:
    """Two sequences of inputs from one state."""
    first = subject.starts(PAST)
    both = torch.cat([first, subject.inputs.maximiser(-first)], 1)
    found = subject.climb(both, lambda z: [subject.run(x) for x in z.chunk(2, 1)])
    x, y = found.chunk(2)
    far = max(square(euclidean(len(p)), moves(p, q)) for p, q in zip(x, y, strict=True))
    if far > 0:
        yield from subject.two_runs(x, y, rational(subject.told.constants["gain"]) ** 2 * far)


def contraction_checks(subject: Subject) -> Iterator[Check]:
    """Two states near one another, in a direction in which a step's derivative is the largest."""
    norm, box, step = subject.norm, subject.box, subject.model.cell.step
    room, by = box.clamp(max=1.0)[:, None], torch.Generator().manual_seed(2)
    s = (2 * torch.rand(len(box), COLUMNS, generator=by).double() - 1) * room * (1 - 2 * NEAR)
    s[:, ::3] = 0
    v, x, top, found = torch.ones_like(s), subject.starts(1)[:, 0], -1.0, (s[:, 0],) * 3
    for _ in range(CLIMBS if norm else 0):
        move, x = (NEAR * room.min() / v.abs().amax(0) * v).requires_grad_(), x.requires_grad_()
        one, other = (step((s + m)[None], x.mT[None])[0] for m in (move, -move))
        ratio = float_norm(norm, one - other) / float_norm(norm, 2 * move)
        slope, aim = torch.autograd.grad(ratio.sum(), (move, x))
        best, ratio = int(ratio.argmax()), ratio.detach()
        if float(ratio[best]) > top:
            top, found = float(ratio[best]), (s[:, best], move.detach()[:, best], x.detach()[best])
        v, x = towards(norm, slope), subject.inputs.maximiser(aim)
    states, x = (found[0] + found[1], found[0] - found[1]), found[2][None]
    if top >= 0 and all(bool((a.abs() <= box).all()) for a in states) and subject.allows(x):
        far = rational(subject.told.lam) ** 2 * square(norm, moves(*states))
        first, second = (partial(subject.exact, x, state.tolist()) for state in states)
        yield Check((first, second), far, norm)


def rounding_checks(subject: Subject) -> Iterator[Check]:
    """Runs in the model's own dtype against exact ones; of its unitary network, against its own."""
    model, kind = subject.model, kind_of(subject.model.name)
    dtype, bound = getattr(torch, model.dtype), subject.told.rounding.state
    shrink = 1.0 if subject.told.inputs is not None else 1 - 4 * torch.finfo(dtype).eps
    x = (subject.starts(PAST) * shrink).to(dtype)
    s = torch.zeros(COLUMNS, sum(subject.widths), dtype=dtype)
    for driven in kind.drive(model.weights, x).unbind(1):
        s = kind.step(model.weights, driven, s)
    x, own, norm = x.double(), s[:, -model.n :].tolist(), euclidean(model.n)
    columns = [c for c in range(0, COLUMNS, 2) if subject.allows(x[c])]
    if bound < np.inf:
        for c in columns:
            exact = partial(subject.exact, x[c], outputs=True)
            yield Check((exact, partial(list, own[c])), rational(bound) ** 2, norm)
    try:
        made = unitary(model, inputs=subject.told.input_bound) if model.name == "rnn-relu" else None
    except NoUnitaryError:
        made = None
    if made is not None and (told := made.certificate["difference"]["own_dtype"]) is not None:
        start = made.initial.expand(1, COLUMNS, -1).contiguous()
        seen = made.original(made.rnn(batch_first=True)(x, start)[0][:, -1]).tolist()
        for c in columns:
            yield Check((partial(list, seen[c]), partial(list, own[c])), rational(told) ** 2, norm)


GUARANTEES: dict[str, tuple[str, Callable[[Subject], Iterator[Check]]]] = {
    "window": ("after k inputs the output is within ε of the truncated model's", window_checks),
    "λ": ("a step brings two stated states together by λ in the printed norm", contraction_checks),
    "gain": ("inputs within δ of one another move the output by at most G δ", gain_checks),
    "rounding": (
        "a run in the model's own dtype ends within the printed bound of the exact one, and its "
        "unitary network within the printed difference of it",
        rounding_checks,
    ),
}


def attack_group(group: str, rounds: int, seed: int) -> tuple[Guarantee, ...]:
    """One record a guarantee, of the certified models of a group."""
    seen: dict[str, list[tuple[str, str, float]]] = {name: [] for name in GUARANTEES}
    for subject in subjects(group, rounds, seed):
        for name, (_, checks) in GUARANTEES.items():
            seen[name] += [(subject.name, *decide(check)) for check in checks(subject)]
    return tuple(
        Guarantee(
            name=name, text=GUARANTEES[name][0], models=len({who for who, _, _ in told}),
            tally=Tally(**Counter(verdict for _, verdict, _ in told)),
            used=max((share for *_, share in told), default=0.0),
            failing=tuple(f"{who}: {share:.6g} of the bound, {verdict}"
            for who, verdict, share in told if verdict != "holds"),
        )
        for name, told in seen.items()
    )  # fmt: skip


def decide(check: Check) -> tuple[str, float]:
    """The verdict, and which share of the bound was used."""
    share = 0.0
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            seen = square(check.norm, apart(*(end() for end in check.ends)))
            share = 0.0 if seen == 0 else float((arb(seen) / arb(check.square)).sqrt().mid())
            if seen <= check.square:
                return "holds", share
            if seen > check.square:
                return "violated", share
    return "undecided", share


def square(norm: Sequence[Part], s: Vector) -> Any:
    """‖s‖² of balls, or of rationals."""
    found: Any = None
    for part in norm:
        pairs = [zip(map(rational, row), s[part.states], strict=True) for row in part.Q.tolist()]
        image = [sum((q * a for q, a in row), 0 * s[0]) for row in pairs]
        squares = sum((a * a for a in image), 0 * s[0])
        size = (squares if part.p == 2 else sum(map(abs, image), 0 * s[0]) ** 2) / part.w**2
        larger = max if isinstance(size, fmpq) else arb.max
        found = size if found is None else larger(found, size)
    return found


def float_norm(norm: Sequence[Part], s: Tensor) -> Tensor:
    """‖s‖ of states (N, M) in floats, differentiable."""
    images = [(part.Q @ s[part.states] / float(part.w), part.p) for part in norm]
    return torch.stack([torch.linalg.vector_norm(v, p, 0) for v, p in images]).amax(0)


def towards(norm: Sequence[Part], slope: Tensor) -> Tensor:
    """v (N, M) that makes ⟨slope, v⟩/‖v‖ the largest: Q⁻¹Q⁻ᵀ of it, part by part."""
    v = torch.zeros_like(slope)
    for part in norm:
        pulled = torch.linalg.solve(part.Q.mT, slope[part.states])
        if part.p == 1:
            pulled = pulled * (pulled.abs() == pulled.abs().amax(0))
        size = torch.linalg.vector_norm(pulled, 2, 0).clamp(min=1e-300)
        v[part.states] = torch.linalg.solve(part.Q, pulled / size) * float(part.w)
    return torch.where(v.abs().amax(0) > 0, v, 1.0)


def apart(p: Vector, q: Vector) -> Vector:
    """p − q, as rationals where all of it is exact."""
    found = [arb(a) - arb(b) for a, b in zip(p, q, strict=True)]
    if not all(a.is_exact() for a in found):
        return found
    return [fmpq(mantissa) * fmpq(2) ** int(e) for mantissa, e in (a.man_exp() for a in found)]


def moves(p: Tensor, q: Tensor) -> list[fmpq]:
    """p − q of floats."""
    return [rational(a) - rational(b) for a, b in zip(p.tolist(), q.tolist(), strict=True)]


def euclidean(n: int) -> list[Part]:
    """‖·‖₂ of n numbers."""
    return [Part(slice(None), torch.eye(n, dtype=torch.float64))]


def subjects(group: str, rounds: int, seed: int) -> Iterator[Subject]:
    """The models of a group that are certified: in every round of a common cell one in each of its
    norms, of a stack in the best and in a cascade's, with units that are alike, and one at random.
    """
    kin = tuple(cell for cell in CELLS if cell.startswith(("leaky-", "deep-")))
    wanted = [(cell, "auto", True) for cell in CELLS if cell not in (*COMMON, *kin)]
    if group != OTHERS:
        norms = ("auto", *available_norms(kind_of(group).norms, MOST_UNITS))
        norms = ("auto", "cascade") if group.startswith(PREFIX) else norms
        wanted = [*((group, norm, True) for norm in norms), (group, "auto", False)]
    for number, (cell, norm, alike) in enumerate(rounds * wanted):
        rng = np.random.default_rng((seed, number, *group.encode()))
        n, d = int(rng.integers(1, MOST_UNITS + 1)), int(rng.integers(1, 3))
        B = float(2.0 ** -int(rng.integers(4, 12))) if alike else 1.0
        dtype, suffix = getattr(torch, str(rng.choice(DTYPES))), kind_of(cell).suffix
        weights = draw_weights(cell, n, d, alike, rng).items()
        model = load_model({k + suffix: torch.from_numpy(a).to(dtype) for k, a in weights}, cell)
        table = torch.from_numpy(rng.integers(-8, 9, (3, d)) / 8 * B)
        box = input_box(table[:2].amin(0), table[:2].amax(0))
        bound = (B, input_rows(table), box)[number % 3]
        told = certify(model, inputs=bound, eps=[B * share for share in EPSILONS], norm=norm)
        if told.verdict == "certified":
            yield Subject(f"{cell}, {norm}, model {number} under seed {seed}", model, told)


def draw_weights(
    cell: str, n: int, d: int, alike: bool, rng: np.random.Generator
) -> dict[str, Any]:
    """Weights by the names of their layout, of a stack of two layers: recurrent matrices of row
    sums λ, leaks of at least 1/2, and biases unless units are alike."""
    base, arrays, lam = cell.removeprefix(PREFIX), {}, float(rng.choice((0.5, 0.25, 0.375)))
    layout = kind_of(base).layout(DEEP if base.startswith("deep-") else ())
    for suffix, fed in (("", d),) if base == cell else (("_l0", d), ("_l1", n)):
        sizes = defaultdict(lambda: max(1, n - 1), n=n, d=fed)
        for name, shape in layout.shapes_for(sizes).items():
            draws = rng.normal(size=shape)
            if name == "leak":
                draws = np.full(shape, 0.5) if alike else rng.integers(4, 9, shape) / 8
            elif len(shape) == 1:
                draws = draws * (0.0 if alike else 0.5)
            elif layout.shapes[name].endswith(" d"):
                draws = np.abs(draws[:1]).repeat(len(draws), 0) if alike else draws / 2
            else:
                draws = np.ones(shape) if alike else draws
                draws = draws * (lam / np.abs(draws).sum(1).max())
            arrays[name + suffix] = draws
    return arrays
