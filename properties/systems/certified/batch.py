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
    StoredCells,
    certified_model,
    certified_whole_model,
    proved_box,
    stack_weights,
    unbounded_box,
)
from rnnbounds.properties.systems.drawing.draws import (
    Array,
    draw_inputs,
    draw_loss,
    grid_normals,
    make_inputs,
    member_generator,
)
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import BatchParts, stack_numbers, to_tensor

Tensor = torch.Tensor
NEAR_ZERO = 2.0**-16  # of states about which a cell is nearly linear
RUN_STEPS = 6  # steps from zero


@dataclass(frozen=True, eq=False)
class Certified(StoredCells):
    """Cells that are the models of these certificates.

    boxes: what is proved of each, under inputs of its own set; none of cells that have no box.
    """

    models: tuple[LoadedModel[Any], ...] = ()
    certificates: tuple[Certificate, ...] = ()
    boxes: tuple[InvariantBox, ...] = ()

    @cached_property
    def invariant_box(self) -> InvariantBox:
        """The box, infinite where the certificate speaks of all states."""
        if self.boxes:
            fields = ((one.box, one.proposed, one.moved, one.refused) for one in self.boxes)
            joint_box = InvariantBox(*map(torch.cat, zip(*fields, strict=True)))
        else:
            joint_box = unbounded_box(self.raw)
        is_unbounded = torch.tensor([c.states.startswith(ALL) for c in self.certificates])
        return InvariantBox(
            torch.where(is_unbounded[:, None], torch.inf, joint_box.box),
            torch.where(is_unbounded[:, None], torch.inf, joint_box.proposed),
            joint_box.moved,
            joint_box.refused,
        )

    @property
    def input_sets(self) -> list[InputSet | None]:
        """The inputs of each member, None for the ball."""
        return [one.inputs for one in self.certificates]

    def move_into_set(self, x: Tensor) -> Tensor:
        """Inputs (B, T, d, S) moved into the sets, a little inside of boxes."""
        return move_into_sets(x, self.input_sets, INWARD)

    def is_allowed(self, x: Tensor) -> Tensor:
        """True where all inputs (B, T, d, S) of a sequence are of the sets, (B, S)."""
        masks = []
        for sequence, inputs in zip(x, self.input_sets, strict=True):
            if inputs is None:
                masks.append(torch.ones_like(sequence[0, 0], dtype=torch.bool))
            elif inputs.rows is None:
                is_inside = (sequence >= inputs.low[:, None]) & (sequence <= inputs.high[:, None])
                masks.append(is_inside.all(0).all(0))
            else:
                is_row = sequence[:, None] == inputs.rows[None, :, :, None]
                masks.append(is_row.all(2).any(1).all(0))
        return super().is_allowed(x) & torch.stack(masks)

    def member(self, index: int) -> Self:
        """One model, as a batch of one."""
        rows = slice(index, index + 1)
        own_fields = {
            name: getattr(self, name)[rows] for name in ("models", "certificates", "boxes")
        }
        return replaced(super().member(index), **own_fields)

    @cached_property
    def comparison(self) -> Comparison:
        """How far inputs move each unit, of vanilla cells too."""
        if hasattr(self.cell, "compare_on"):
            found: Comparison = self.cell.compare_on(self.box, self.B_x[:, None])
            return found
        return compare_runs(
            self.cell.program, self.parameters, self.box, self.B_x[:, None], self.cell.d
        )


def build_certified(spec: SystemSpec) -> BatchParts:
    """A batch of models of one kind, with inputs that reach the bound but for what
    rounding them to the model's dtype takes; of a layer, those that the layers below make."""
    pairs = [certified_model(spec, member) for member in spec.members]
    models, certificates = (tuple(one) for one in zip(*pairs, strict=True))
    parts = stack_weights(models)
    whole_pairs = [certified_whole_model(spec, member) for member in spec.members]
    whole_models = [model for model, _ in whole_pairs]
    draws = stack_numbers(
        [draw_numbers(spec, *one) for one in zip(spec.members, whole_models, strict=True)]
    )
    n = draws["C"].shape[2]
    W = np.broadcast_to(np.eye(n) / 2, (len(models), n, n))
    inputs = make_inputs(spec, draws["x"], W, np.ones((len(models), n, spec.d)), draws["C"])
    chosen = slice(None) if spec.sequence is None else slice(spec.sequence, spec.sequence + 1)

    dtype = getattr(torch, spec.dtype)
    shrink = INWARD if spec.dtype == "float64" else 1 - 2 * torch.finfo(dtype).eps
    x = (to_tensor("cpu", inputs[:, chosen], 2, 3, 1) * shrink).to(dtype).double()
    x = move_into_sets(x, [told.inputs for _, told in whole_pairs])
    h, h_other = (to_tensor("cpu", draws[name][:, chosen], 2, 1) for name in ("h", "h_other"))
    if hasattr(whole_models[0].cell, "layers"):
        h, h_other = (reached_states(whole_models, part, spec) for part in (h, h_other))
    if spec.layer:
        start, end, x = layer_inputs(whole_models, x, spec.layer - 1)
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
        tuple(filter(None, (proved_box(spec, member) for member in spec.members))),
    )
    return BatchParts(cells, to_tensor("cpu", draws["C"], 1, 2), x, to_tensor("cpu", draws["y"], 1))


def move_into_sets(x: Tensor, sets: Sequence[InputSet | None], share: float = 1.0) -> Tensor:
    """Inputs (B, T, d, S) moved into the sets of their systems: into that share of a box, and to
    the row that has the largest product with an input."""
    if all(inputs is None for inputs in sets):
        return x
    moved = []
    for part, inputs in zip(x, sets, strict=True):
        if inputs is None:
            moved.append(part)
        elif inputs.rows is not None:
            products = torch.einsum("md,tds->tms", inputs.rows, part)
            moved.append(inputs.rows[products.argmax(1)].transpose(1, 2))
        else:
            middle, half = (inputs.low + inputs.high) / 2, (inputs.high - inputs.low) / 2 * share
            moved.append(part.clamp((middle - half)[:, None], (middle + half)[:, None]))
    return torch.stack(moved)


def reached_states(models: Sequence[LoadedModel[Any]], raw: Tensor, spec: SystemSpec) -> Tensor:
    """States (B, N, S) that stacks come to from zero, under inputs of the ball around those of a
    set: what their norms rest on are states of the boxes of all layers together, which are not
    printed. What a certificate says of a smaller set is asked of states that are cut to it."""
    states = []
    for i, model in enumerate(models):
        s = torch.zeros_like(raw[i : i + 1])
        constant_input = raw[i : i + 1, : model.d].repeat(1, model.d, 1)[:, : model.d]
        constant_input = constant_input / torch.linalg.vector_norm(
            constant_input, dim=1, keepdim=True
        ).clamp(min=NEAR_ZERO)
        for _ in range(RUN_STEPS):
            s = model.cell.step(s, constant_input * (spec.scale * INWARD))
        states.append(s * INWARD)
    return torch.cat(states)


def layer_inputs(
    models: Sequence[LoadedModel[Any]], x: Tensor, layer: int
) -> tuple[int, int, Tensor]:
    """Return start and end of a layer within the stack's state, and its inputs (B, T, d, S), the
    outputs of the layers below from zero."""
    widths = models[0].cell.widths
    start = sum(widths[:layer])
    outputs = []
    for i, model in enumerate(models):
        inputs = x[i : i + 1]
        for cell, width in zip(model.cell.layers[:layer], widths, strict=False):
            s, layer_outputs = x.new_zeros(1, width, x.shape[3]), []
            for one in inputs.unbind(1):
                s = cell.step(s, one)
                layer_outputs.append(s[:, -cell.n :] * INWARD)
            inputs = torch.stack(layer_outputs, dim=1)
        outputs.append(inputs)
    return start, start + widths[layer], torch.cat(outputs)


def draw_numbers(spec: SystemSpec, member: int, model: LoadedModel[Any]) -> dict[str, Array]:
    """The readout, the target, what is random in the inputs, and pairs of states (S, N): at random,
    along the diagonal near zero, and at corners of any box."""
    kind = kind_of(spec.cell)
    states = kind.layout(model.weights).sizes(model.weights).state
    readout = grid_normals(member_generator(spec, member, stream=1), min(model.n, 2), model.n)
    arrays = draw_loss(spec, member, readout)
    rng = member_generator(spec, member, stream=2)
    arrays["x"] = draw_inputs(spec, rng, len(arrays["C"]))
    h, h_other = (
        grid_normals(rng, spec.sequences, states),
        grid_normals(rng, spec.sequences, states),
    )
    h[1::3] = NEAR_ZERO
    h_other[1::3] = -NEAR_ZERO
    h[2::3], h_other[2::3] = 64 * np.sign(h[2::3]), -64 * np.sign(h[2::3])
    return arrays | {"h": h, "h_other": h_other}
