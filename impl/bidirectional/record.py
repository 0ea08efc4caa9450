"""Certificate of a model in both directions, and its JSON record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.certificate.notebook import Row, Shown
from rnnbounds.impl.certificate.record import Certificate, Verdict
from rnnbounds.impl.errors import RangeError, exactly
from rnnbounds.impl.format.bidirectional import WHOLE
from rnnbounds.impl.models.bidirectional import DIRECTIONS
from rnnbounds.impl.numbers.json_values import as_json


@dataclass(frozen=True, repr=False)
class BidirectionalCertificate(Shown):
    """The certificate of a model in both directions: of every cell one, and windows of the whole.

    cell: the cell with its directions and layers, as "bidirectional lstm, 2 layers"; n, digest: the
    size of the output (h→, h←), and SHA-256 of the digests of all cells.
    layers: the certificates of (forward, reverse), the lowest layer first, up to one that is not
    certified; those of a higher layer are about inputs that hold all outputs of the layer below.
    windows: pairs (ε, window): with window (k₁, k₂) output t is fixed to within ε by the inputs
    t − k₁, …, t + k₂ alone, for every length and t; None where nothing is known. gain: G with
    ‖y_t − y′_t‖₂ ≤ G δ for inputs that are at most δ apart. rounding: a bound on ‖fl(y_t) − y_t‖₂,
    or None, for the reason `unrounded`. readout, ignored, unread as in `Certificate`. verdict:
    certified if every cell is and each ε has a window, refuted if a witness shows that a cell of
    the lowest layer does not contract, else undecided. document: of a certificate that was read
    from a file, its JSON data.

    >>> certificate = rnnbounds.certify(torch.nn.GRU(1, 8, bidirectional=True), 1.0, 0.1)
    >>> certificate.verdict, certificate.window(0.1)
    """

    model: str
    cell: str
    n: int
    digest: str
    layers: tuple[tuple[Certificate, Certificate], ...]
    windows: tuple[tuple[float, Around | None], ...]
    gain: float
    rounding: float | None
    unrounded: str | None = None
    ignored: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    readout: Mapping[str, Any] | None = None
    document: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)

    @property
    def first(self) -> Certificate:
        """The forward cell of the lowest layer, which reads what the model reads."""
        return self.layers[0][0]

    @property
    def d(self) -> int:
        """The size of the input."""
        return self.first.d

    @property
    def input_bound(self) -> float:
        """B of inputs ‖x_t‖₂ ≤ B."""
        return self.first.input_bound

    @property
    def inputs(self) -> InputSet | None:
        """The set of all inputs, None for the ball."""
        return self.first.inputs

    @property
    def parts(self) -> list[tuple[str, Certificate]]:
        """Every cell's certificate by what it is called: "layer 2, reverse"."""
        return [
            (f"layer {l + 1}, {direction}", one)
            for l, both in enumerate(self.layers)
            for direction, one in zip(DIRECTIONS, both, strict=True)
        ]

    @property
    def verdict(self) -> Verdict:
        """certified, refuted or undecided."""
        if any(one.verdict == "refuted" for one in self.layers[0]):
            return "refuted"
        known = all(one.verdict == "certified" for _, one in self.parts)
        complete = known and all(window is not None for _, window in self.windows)
        return "certified" if complete else "undecided"

    @property
    def stable(self) -> bool | None:
        """True if certified, False if refuted, None if undecided."""
        return {"certified": True, "refuted": False}.get(self.verdict)

    @property
    def reason(self) -> str | None:
        """Why the model is refuted or undecided, by the first cell that is; None if certified."""
        if self.verdict == "certified":
            return None
        for name, one in self.parts:
            if one.witness is not None and name.startswith("layer 1,"):
                return f"{name}: {one.witness.text}"
            if one.verdict != "certified":
                best = f"no norm that was tried certifies it for {one.speaks_of}"
                return f"{name}: {one.reason or best}"
        return "every cell contracts, but no window of the tried sizes is proved for every ε"

    def window(self, epsilon: float) -> Around | None:
        """The (k₁, k₂) of one of the ε that were asked for; raises RangeError for any other."""
        if epsilon not in dict(self.windows):
            asked = ", ".join(exactly(eps) for eps, _ in self.windows)
            raise RangeError("ε", epsilon, f"one of {asked}")
        return dict(self.windows)[epsilon]

    def line(self) -> str:
        """The verdict, and the windows."""
        what = f"{self.model}: {self.cell}, {self.n} outputs, {self.verdict}"
        if self.verdict != "certified":
            return what
        told = (
            f"inputs t − {w.past} … t + {w.future} at ε = {exactly(eps)}"
            for eps, w in self.windows
            if w is not None
        )
        return f"{what}; output t is fixed by {', '.join(told)}"

    def rows(self) -> list[Row]:
        """The window at each ε."""
        return [
            {"eps": eps, "past": w and w.past, "future": w and w.future} for eps, w in self.windows
        ]

    def draw(self, axes: Any) -> None:
        """Both sides of the certified window against ε."""
        known = [(eps, w) for eps, w in self.windows if w is not None]
        for side in Around._fields:
            sizes = [getattr(w, side) for _, w in known]
            axes.plot([eps for eps, _ in known], sizes, marker="o", label=side)
        axes.set(xscale="log", xlabel="ε", ylabel="certified k", title=self.line())
        axes.legend()

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data; what is infinite is null."""
        if self.document is not None:
            return dict(self.document)
        record: dict[str, Any] = as_json({
            "schema": WHOLE,
            "model": self.model,
            "cell": self.cell,
            "shape": {"n": self.n, "d": self.d},
            "dtype": self.first.dtype,
            "sha256": self.digest,
            "verdict": self.verdict,
            "reason": self.reason,
            "stable": self.stable,
            "input_bound": self.input_bound,
            "inputs": None if self.inputs is None else self.inputs.to_json(),
            "truncation": self.rows(),
            "gain": self.gain,
            "rounding": {
                "dtype": self.first.dtype, "state": self.rounding, "reason": self.unrounded
            },
            "layers": [
                {name: one.to_json() for name, one in zip(DIRECTIONS, both, strict=True)}
                for both in self.layers
            ],
            "ignored": self.ignored,
            "unread": self.unread,
        } | ({} if self.readout is None else {"readout": self.readout}))  # fmt: skip
        return record
