"""A batch of real models with their certificates, and pairs of states of their stated sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.invariance import InvariantBox
from rnnbounds.impl.arithmetic.slopes import compare_runs
from rnnbounds.impl.cells.refutation.refute import ALL
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.properties.systems.cells.batch import INWARD
from rnnbounds.properties.systems.certified.models import (
    Stored,
    anywhere,
    certified,
    certified_whole,
    held,
    parts_of,
)
from rnnbounds.properties.systems.drawing.regimes import (
    Array,
    generator,
    input_draws,
    input_sequences,
    lengths,
    loss_draws,
    normal,
)
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import Parts, on, stacked

Tensor = torch.Tensor
TINY = 2.0**-16  # of states about which a cell is nearly linear
REACHED = 6  # steps from zero


@dataclass(frozen=True, eq=False)
class Certified(Stored):
    """Cells that are the models of these certificates.

    boxes: what is proved of each, under inputs of its own set; none of cells that have no box.
    """

    models: tuple[LoadedModel[Any], ...] = ()
    certificates: tuple[Certificate, ...] = ()
    boxes: tuple[InvariantBox, ...] = ()

    @cached_property
    def proved_box(self) -> InvariantBox:
        """The box, infinite where the certificate speaks of all states."""
        if self.boxes:
            each = ((one.box, one.proposed, one.moved, one.refused) for one in self.boxes)
            told = InvariantBox(*map(torch.cat, zip(*each, strict=True)))
        else:
            told = anywhere(self.raw)
        everywhere = torch.tensor([c.states.startswith(ALL) for c in self.certificates])
        return InvariantBox(
            torch.where(everywhere[:, None], torch.inf, told.box),
            torch.where(everywhere[:, None], torch.inf, told.proposed),
            told.moved,
            told.refused,
        )

    @property
    def sets(self) -> list[InputSet | None]:
        """The inputs of each member, None for the ball."""
        return [one.inputs for one in self.certificates]

    def within(self, x: Tensor) -> Tensor:
        """Inputs (B, T, d, S) moved into the sets, a little inside of boxes."""
        return into(x, self.sets, INWARD)

    def allows(self, x: Tensor) -> Tensor:
        """True where all inputs (B, T, d, S) of a sequence are of the sets, (B, S)."""
        found = []
        for part, inputs in zip(x, self.sets, strict=True):
            if inputs is None:
                found.append(torch.ones_like(part[0, 0], dtype=torch.bool))
            elif inputs.rows is None:
                inside = (part >= inputs.low[:, None]) & (part <= inputs.high[:, None])
                found.append(inside.all(0).all(0))
            else:
                same = part[:, None] == inputs.rows[None, :, :, None]
                found.append(same.all(2).any(1).all(0))
        return super().allows(x) & torch.stack(found)

    def member(self, index: int) -> Self:
        """One model, as a batch of one."""
        one = slice(index, index + 1)
        own = {name: getattr(self, name)[one] for name in ("models", "certificates", "boxes")}
        return replaced(super().member(index), **own)

    def near(self, share: float) -> dict[str, Tensor]:
        """Other weights whose norms are no larger: of those alone training is certified."""
        found = {}
        for name, part in self.parameters.items():
            places = torch.arange(part[0].numel(), dtype=part.dtype).reshape(part.shape[1:])
            wave = torch.ones_like(part[0]) if name == "weight_hh" else (5 * places % 9) / 8
            found[name] = part - part * (share * wave)
        return found

    @cached_property
    def comparison(self) -> Comparison:
        """How far inputs move each unit, of vanilla cells too."""
        if hasattr(self.cell, "compare_on"):
            found: Comparison = self.cell.compare_on(self.box, self.B_x[:, None])
            return found
        return compare_runs(
            self.cell.program, self.parameters, self.box, self.B_x[:, None], self.cell.d
        )


def certified_parts(spec: SystemSpec) -> Parts:
    """A batch of models of one kind, with inputs that reach the bound but for what
    rounding them to the model's dtype takes; of a layer, those that the layers below make."""
    pairs = [certified(spec, member) for member in spec.members]
    models, certificates = (tuple(one) for one in zip(*pairs, strict=True))
    parts = parts_of(models)
    everything = [certified_whole(spec, member) for member in spec.members]
    whole = [model for model, _ in everything]
    drawn = stacked([numbers(spec, *one) for one in zip(spec.members, whole, strict=True)])
    n = drawn["C"].shape[2]
    W = np.broadcast_to(np.eye(n) / 2, (len(models), n, n))
    given = input_sequences(spec, drawn["x"], W, np.ones((len(models), n, spec.d)), drawn["C"])
    here = slice(None) if spec.sequence is None else slice(spec.sequence, spec.sequence + 1)

    dtype = getattr(torch, spec.dtype)
    shrink = INWARD if spec.dtype == "float64" else 1 - 2 * torch.finfo(dtype).eps
    x = (on("cpu", given[:, here], 2, 3, 1) * shrink).to(dtype).double()
    x = into(x, [told.inputs for _, told in everything])
    h, h_other = (on("cpu", drawn[name][:, here], 2, 1) for name in ("h", "h_other"))
    if hasattr(whole[0].cell, "layers"):
        h, h_other = (reached(whole, part, spec) for part in (h, h_other))
    if spec.layer:
        start, end, x = below(whole, x, spec.layer - 1)
        h, h_other = h[:, start:end], h_other[:, start:end]
    cells = Certified(
        kind_of(models[0].name).build(parts),
        models[0].name,
        torch.tensor([one.input_bound for one in certificates], dtype=torch.float64),
        h,
        h_other,
        parts,
        models,
        certificates,
        tuple(filter(None, (held(spec, member) for member in spec.members))),
    )
    return Parts(cells, on("cpu", drawn["C"], 1, 2), x, on("cpu", drawn["y"], 1))


def into(x: Tensor, sets: Sequence[InputSet | None], share: float = 1.0) -> Tensor:
    """Inputs (B, T, d, S) moved into the sets of their systems: into that share of a box, and to
    the row that has the largest product with an input."""
    if all(inputs is None for inputs in sets):
        return x
    found = []
    for part, inputs in zip(x, sets, strict=True):
        if inputs is None:
            found.append(part)
        elif inputs.rows is not None:
            chosen = torch.einsum("md,tds->tms", inputs.rows, part).argmax(1)
            found.append(inputs.rows[chosen].transpose(1, 2))
        else:
            middle, half = (inputs.low + inputs.high) / 2, (inputs.high - inputs.low) / 2 * share
            found.append(part.clamp((middle - half)[:, None], (middle + half)[:, None]))
    return torch.stack(found)


def reached(models: Sequence[LoadedModel[Any]], raw: Tensor, spec: SystemSpec) -> Tensor:
    """States (B, N, S) that stacks come to from zero, under inputs of the ball around those of a
    set: what their norms rest on are states of the boxes of all layers together, which are not
    printed. What a certificate says of a smaller set is asked of states that are cut to it."""
    rows = []
    for i, model in enumerate(models):
        s = torch.zeros_like(raw[i : i + 1])
        push = raw[i : i + 1, : model.d].repeat(1, model.d, 1)[:, : model.d]
        push = push / torch.linalg.vector_norm(push, dim=1, keepdim=True).clamp(min=TINY)
        for _ in range(REACHED):
            s = model.cell.step(s, push * (spec.scale * INWARD))
        rows.append(s * INWARD)
    return torch.cat(rows)


def below(models: Sequence[LoadedModel[Any]], x: Tensor, layer: int) -> tuple[int, int, Tensor]:
    """Return start and end of a layer within the stack's state, and its inputs (B, T, d, S), the
    outputs of the layers below from zero."""
    widths = models[0].cell.widths
    start = sum(widths[:layer])
    made = []
    for i, model in enumerate(models):
        inputs = x[i : i + 1]
        for cell, width in zip(model.cell.layers[:layer], widths, strict=False):
            s, seen = x.new_zeros(1, width, x.shape[3]), []
            for one in inputs.unbind(1):
                s = cell.step(s, one)
                seen.append(s[:, -cell.n :] * INWARD)
            inputs = torch.stack(seen, dim=1)
        made.append(inputs)
    return start, start + widths[layer], torch.cat(made)


def numbers(spec: SystemSpec, member: int, model: LoadedModel[Any]) -> dict[str, Array]:
    """The readout, the target, what is random in the inputs, and pairs of states (S, N): at random,
    along the diagonal near zero, and at corners of any box."""
    kind = kind_of(spec.cell)
    states = kind.layout(model.weights).sizes(model.weights).state
    readout = normal(generator(spec, member, stream=1), min(model.n, 2), model.n)
    found = within(loss_draws(spec, member, readout), certified(spec, member)[1])
    rng = generator(spec, member, stream=2)
    found["x"] = input_draws(spec, rng, len(found["C"]))
    h, h_other = normal(rng, spec.sequences, states), normal(rng, spec.sequences, states)
    h[1::3] = TINY
    h_other[1::3] = -TINY
    h[2::3], h_other[2::3] = 64 * np.sign(h[2::3]), -64 * np.sign(h[2::3])
    return found | {"h": h, "h_other": h_other}


def within(found: dict[str, Array], certificate: Certificate) -> dict[str, Array]:
    """A readout of norm 1 at most, and a target within the bound that its certificate states."""
    training = certificate.training
    if training is None:
        return found
    C, y = found["C"], found["y"]
    size, longest = lengths(C.reshape(1, -1))[0], lengths(y[None])[0]
    bound = training.target if np.isfinite(training.target) else longest
    C = C / size * INWARD if size else C
    return found | {"C": C, "y": y / longest * bound * INWARD if longest > bound else y}
