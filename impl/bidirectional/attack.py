"""Lower bounds on how far to either side a layer in both directions looks, with witnesses.

In a sequence that ends with input t the reverse cell has seen one input at t, in the whole run and
in every window: so a gap of the forward cell there is the layer's, and inputs that the forward cell
remembers for k steps refute every window with fewer than k inputs before t. Likewise the reverse
cell, in a sequence that begins with t. A readout C (C→ C←) of (h→, h←) is read in halves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.certificate.notebook import Row, Shown
from rnnbounds.impl.certificate.record import EPSILONS
from rnnbounds.impl.errors import InputError, exactly
from rnnbounds.impl.memory.adversary.attack import Attacked, ContradictionError, attack
from rnnbounds.impl.memory.adversary.search import WORK
from rnnbounds.impl.models.bidirectional import DIRECTIONS, LoadedBidirectional
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.readout import Readout

SCHEMA = "rnnbounds/bidirectional-attacked/1"


class LayersError(InputError):
    """An attack on more than one layer in both directions."""

    def __init__(self, layers: int) -> None:
        super().__init__(
            f"the attack takes one layer in both directions, and this has {layers}; "
            f"measure it on data instead"
        )


@dataclass(frozen=True, eq=False, repr=False)
class AttackedBoth(Shown):
    """Lower bounds on the window of a layer, each from witnesses against one of its cells.

    >>> found = rnnbounds.attack(torch.nn.RNN(1, 4, bidirectional=True), 1.0, 0.1)
    >>> found.least(0.1), found.forward.witnesses[0].gap
    """

    forward: Attacked
    reverse: Attacked

    @property
    def windows(self) -> tuple[tuple[float, Around], ...]:
        """(ε, window): no window with fewer inputs on either of its sides will do."""
        return tuple((eps, self.least(eps)) for eps, _ in self.forward.windows)

    def least(self, epsilon: float) -> Around:
        """No window with fewer inputs before t, or after it, will do at ε."""
        cells = (self.forward, self.reverse)
        return Around(*(max(0, one.least(epsilon) - 1) for one in cells))

    def line(self) -> str:
        """Below which window none will do."""
        told = ", ".join(
            f"no fewer than {past} before and {future} after t at ε = {exactly(eps)}"
            for eps, (past, future) in self.windows
        )
        return f"bidirectional {self.forward.cell}: {told}"

    def rows(self) -> list[Row]:
        """The least window that is not refuted at each ε."""
        return [
            {"eps": eps, "no past below": least.past, "no future below": least.future}
            for eps, least in self.windows
        ]

    def draw(self, axes: Any) -> None:
        """Both sides of the least window that is not refuted, against ε."""
        for side in Around._fields:
            sizes = [getattr(least, side) for _, least in self.windows]
            axes.plot([eps for eps, _ in self.windows], sizes, marker="o", label=side)
        axes.set(xscale="log", xlabel="ε", ylabel="no k below", title=self.line())
        axes.legend()

    def to_json(self, *, inputs: bool = True) -> dict[str, Any]:
        """The record as plain JSON data, without the inputs of the witnesses if so asked."""
        cells = zip(DIRECTIONS, (self.forward, self.reverse), strict=True)
        told = {name: one.to_json(inputs=inputs) for name, one in cells}
        windows = [
            {"eps": eps, "past": least.past, "future": least.future} for eps, least in self.windows
        ]
        return {"schema": SCHEMA, "no_window_below": windows, **told}


def attack_both(
    model: LoadedBidirectional,
    input_bound: float,
    eps: float | Sequence[float] = EPSILONS,
    *,
    work: int = WORK,
) -> AttackedBoth:
    """Seek inputs ‖x_t‖₂ ≤ B that each cell of the layer remembers for long, and prove them.

    Arguments and errors as in `impl.memory.adversary.attack`; raises LayersError for several
    layers.
    """
    if len(model.layers) > 1:
        raise LayersError(len(model.layers))
    return AttackedBoth(*(attack(cell, input_bound, eps, work=work) for cell in _cells(model)))


def bracket_both(
    certificate: BidirectionalCertificate, attacked: AttackedBoth
) -> list[tuple[float, Around, Around | None]]:
    """(ε, no window below, the certified window) for each ε of both.

    Raises ContradictionError where a witness refutes a certified window.
    """
    found = []
    for epsilon, window in certificate.windows:
        least = attacked.least(epsilon)
        if window is not None:
            for one, low, high in zip(
                (attacked.forward, attacked.reverse), least, window, strict=True
            ):
                if low > high:
                    witness = next(w for w in one.witnesses if w.epsilon == epsilon)
                    raise ContradictionError(epsilon, high + 1, witness)
        found.append((epsilon, least, window))
    return found


def _cells(model: LoadedBidirectional) -> list[LoadedModel[Any]]:
    """The two cells, each with its half of the readout's columns."""
    forward, reverse = model.layers[0]
    if model.readout is None:
        return [forward, reverse]
    name, C = model.readout.name, model.readout.weight
    halves = (C[:, : forward.n], C[:, forward.n :])
    return [
        replace(cell, readout=Readout(name, half.contiguous()))
        for cell, half in zip((forward, reverse), halves, strict=True)
    ]
