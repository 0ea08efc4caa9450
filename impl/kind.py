"""What the house must know of a kind of cell; everything else asks this record.

A cell is one file that ends in its `Kind`, and one line in `impl.cells`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from impl.certified_training import Task, TrainingCertificate
from impl.model import Cell, LoadedModel
from impl.norms import StateNorm
from impl.refute import Witness


class Analysis(Protocol):
    """All that can be certified about one model under inputs ‖x_t‖₂ ≤ B."""

    def norm(self, name: str) -> StateNorm:
        """The norm of that name, one of its kind's, with its constants for the model."""

    def states(self, norm: StateNorm) -> float:
        """B_h ≥ ‖h_t‖₂ for every t."""

    def constants(self, norm: StateNorm) -> dict[str, float]:
        """All constants by name, infinite where nothing is known."""

    def rounding(self, norm: StateNorm) -> float | None:
        """A bound on ‖fl(h_t) − h_t‖₂ in the model's own dtype, None where none is known."""

    def refute(self) -> Witness | None:
        """A certified witness that the model is no contraction; None says nothing."""

    def training(
        self, epsilons: Sequence[float], task: Task, norm: StateNorm
    ) -> TrainingCertificate | None:
        """What is certified about training; None for kinds of which nothing is."""


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of cell.

    name: that of `--cell`. gates: g, as torch stacks the weights of g gates, (g n, n). width: the
    size of its state is width·n, and its output h is the last n of it. mode: torch's word for the
    modules that compute it, None if none does. default: whether a file of g gates is one of these
    unless something else is said. norms: those in which it may contract, in order of trying.
    build: the float64 cell of W (B, g n, n), U (B, g n, d), b_ih and b_hh (B, g n). step: one step
    in rows, in any dtype: of W, b_hh, U x + b_ih (…, M, g n) and states (…, M, width·n). analyse:
    what is certified about a model for an input bound. remedy: what to do about a model that is not
    certified. trains: whether anything is certified about training.
    """

    name: str
    gates: int
    width: int
    mode: str | None
    default: bool
    norms: tuple[str, ...]
    build: Callable[[Tensor, Tensor, Tensor, Tensor], Cell]
    step: Callable[[Tensor, Tensor | float, Tensor, Tensor], Tensor]
    analyse: Callable[[LoadedModel[Any], float], Analysis]
    remedy: str = "shrink its recurrent weights, or its inputs"
    trains: bool = False
