"""The public calls: each takes a model in one direction or in both, or the file of one.

A cell, or a stack in one direction, goes to the rooms below; what reads its inputs in both, such as
a torch module with `bidirectional=True` or its weights, goes to `impl.bidirectional`.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from rnnbounds.impl.bidirectional.attack import AttackedBoth, attack_both
from rnnbounds.impl.bidirectional.certify import certify_both
from rnnbounds.impl.bidirectional.files import (
    TruncatedBoth,
    truncate_both,
)
from rnnbounds.impl.bidirectional.measure import MeasuredBoth, measure_both
from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.certificate.certify import certify as certify_cell
from rnnbounds.impl.certificate.record import EPSILONS, Certificate
from rnnbounds.impl.convert.truncate import Truncated
from rnnbounds.impl.convert.truncate import truncate as truncate_cell
from rnnbounds.impl.errors import InputError, renamed
from rnnbounds.impl.memory.adversary.attack import Attacked
from rnnbounds.impl.memory.adversary.attack import attack as attack_cell
from rnnbounds.impl.memory.adversary.search import WORK
from rnnbounds.impl.memory.blackbox.as_is import require_read, run_as_is
from rnnbounds.impl.memory.blackbox.causal_measurement import CausalMeasurement
from rnnbounds.impl.memory.blackbox.gaps import NORM
from rnnbounds.impl.memory.blackbox.measuring import measure_causal
from rnnbounds.impl.memory.measure import Measurement
from rnnbounds.impl.memory.measure import measure as measure_cell
from rnnbounds.impl.models.bidirectional import LoadedBidirectional
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.impl.reading.adapters import Source, load_both
from rnnbounds.impl.reading.data.sequences import Data, DataSource
from rnnbounds.impl.reading.sources import AnySource, open_source

Model = Source | LoadedModel[Any] | LoadedBidirectional
AnyCertificate = Certificate | BidirectionalCertificate
AnyMeasurement = Measurement | MeasuredBoth | CausalMeasurement


class OneDirectionError(InputError):
    """A question that only models in one direction have an answer to."""

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(f"{what} is for models in one direction; {instead}")


@renamed("0.3", epsilons="eps", epsilon="eps")
@isolated()
def certify(
    model: Model,
    input_bound: float,
    eps: float | Sequence[float] = EPSILONS,
    norm: str = "auto",
    *,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
    device: str = "cpu",
) -> AnyCertificate:
    """Certify, refute or leave undecided that a model is stable under inputs ‖x_t‖₂ ≤ B.

    Certified means λ < 1 and, for each ε, a k with ‖h_T − h_T^k‖₂ ≤ ε for every T, h^k from the
    zero state on the last k inputs; of a model in both directions a window (k₁, k₂) with
    ‖y_t − y_t^{[t−k₁, t+k₂]}‖₂ ≤ ε for every t: the result is then a `BidirectionalCertificate`,
    else a `Certificate`.

    `model` is a `torch.nn.RNN`, `LSTM` or `GRU` of any number of layers, in one direction or in
    both, a module that holds one, a state dict, a file of weights, or `package.module:factory`,
    whose code is run. `cell` names the cell where the weights do not tell it; `layer` the part of a
    bigger model, as "encoder.rnn"; `ignore` the tensors to leave out; `readout` the linear layer
    after the cell, of whose outputs ε and `gain` then speak; `direction`, "forward" or "reverse",
    the one direction of a layer in both that is asked about. `eps` is one ε or several; `norm` one
    of the cell's, or "auto", which keeps the one with the least k at the smallest ε, and the least
    gain and rounding of all that certify. An
    `InputSet` in place of B says which inputs there are. The model is the cell in real arithmetic
    with the weights as stored and both biases added unrounded; both runs of a gap start from the
    zero state. `device` is where boxes, norms and constants are bounded, "cpu" or a CUDA device.
    Raises an InputError for what is no model, for B < 0, ε ≤ 0, NaN, norms that the
    cell has not, a device that is not there.
    Sources: Miller & Hardt, section 2, Lemma 1; Rump and Higham for the rounding.

    >>> rnnbounds.certify(torch.nn.LSTM(1, 16), rnnbounds.input_box(-1, 1, 1), eps=0.1)
    """
    loaded = load_both(
        model, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
    )
    if isinstance(loaded, LoadedModel):
        return certify_cell(loaded, input_bound, eps, norm, device=device)
    require_sound()
    return certify_both(loaded, input_bound, eps, norm, device=device)


@renamed("0.3", epsilon="eps", epsilons="eps")
@isolated()
def truncate(
    model: Model,
    eps: float,
    input_bound: float,
    *,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    direction: str | None = None,
    latest: bool = False,
) -> Truncated | TruncatedBoth:
    """The equivalent of a model within ε on windows of its inputs, and its certificate: of what
    `certify` says, that which `rnnbounds check` proves again.

    ‖h_T − H_T^k‖₂ ≤ ε for every T and all inputs with ‖x_t‖₂ ≤ B, in real arithmetic; of a model in
    both directions ‖y_t − Y_t^{[t−k₁, t+k₂]}‖₂ ≤ ε for every t. The module has the model's own
    dtype; with `latest` it gives the last output alone, of one direction. Of an `InputSet` the
    inputs are those of its box, since a file keeps no rows. Other arguments as in `certify`. Raises
    an InputError if no window is certified, RangeError for one too long to be built, and what
    `certify` raises. Source: Miller & Hardt, Lemma 1.

    >>> module, certificate = rnnbounds.truncate(torch.nn.RNN(1, 4), 0.1, 1.0)
    """
    loaded = load_both(model, cell, ignore=ignore, layer=layer, direction=direction)
    if isinstance(loaded, LoadedModel):
        return truncate_cell(loaded, eps, input_bound, latest=latest)
    if latest:
        raise OneDirectionError("the last output alone", "leave out latest")
    require_sound()
    return truncate_both(loaded, eps, input_bound)


@isolated()
def measure(
    model: AnySource | LoadedModel[Any] | LoadedBidirectional,
    data: DataSource | Data,
    *,
    window: int | None = None,
    eps: float | Sequence[float] = EPSILONS,
    confidence: float = 0.99,
    share: float | None = None,
    input_bound: float | None = None,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
    near: float | None = None,
    states: float | str = 0.0,
    pasts: int = 0,
    as_is: bool = False,
    gap: str = NORM,
    batch: int | None = None,
    device: str | None = None,
    resume: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AnyMeasurement:
    """Run a model on data, in full and truncated, and state what follows for data drawn alike.

    `data` as in `read_data`. A window is a sequence of the data, or `window` inputs of it; one long
    series is cut into windows of 64, or of its eighth part if that is shorter. With a `share`, data
    that cannot reach it at that `confidence` for all ε (`eps`) together are refused; without, the
    statement says which share they reach. `progress` is called with how many windows were run, and
    of how many.

    A recurrent layer is read from `model` as in `load_model`, with `cell`, `ignore`, `layer` and
    `readout`, and measured in float64: a `Measurement`, by default at ε = 1e-2, 1e-4 and 1e-6. With
    a readout all answers are about its predictions; `near`: what is certified of all inputs within
    that of these, number by number, from states with no entry above `states`, and
    with `pasts`, or `states` "recorded", from that near so many recorded end states; inputs beyond
    `input_bound` (or a set of inputs) are refused.

    A function, a module without recurrent layers, and with `as_is` any module, is measured as it is
    run, whole: a `CausalMeasurement`. It maps windows (N, T, d), or tokens (N, T) where data are
    integers (N, T) or (T,), to outputs (N, T, p), or (N, p) after the last input; of a tuple the
    first counts, of other objects `.logits` or `.last_hidden_state`. `gap`: "norm", ‖y_T − y_T^k‖₂;
    "tv", total variation of the softmax; "argmax", 1 where the largest entry is another, else 0.
    By default ε is 0.1 and 0.01 for tv, and 0 for argmax. With a share, half of what may lie beyond
    ε is spared when k is chosen. `batch`: windows that are run at once, by default at most 64,
    halved where memory runs out; `device`: where a module is moved to and inputs go; `resume`: a
    file that keeps results of windows, from which a stopped run goes on.

    Raises an InputError of one line for what is no model, an option of the other kind, data of
    another width, shorter than the window or beyond the bound, a model that overflows or raises,
    and one run as it is that is not causal, not deterministic, or mixes the windows of a batch.
    Source: Clopper & Pearson; Miller & Hardt, section 4.

    >>> rnnbounds.measure("model.safetensors", "data.npy", eps=0.1, share=0.95)
    >>> rnnbounds.measure(transformer.eval(), tokens, gap="tv", eps=0.1, share=0.9)
    """
    options: dict[str, Any] = {"window": window, "confidence": confidence, "share": share}
    of_reading = {
        "input_bound": input_bound is not None, "cell": cell is not None,
        "ignore": ignore not in ((), []), "layer": layer is not None,
        "readout": readout is not None, "direction": direction is not None,
        "near": near is not None, "states": states != 0.0, "pasts": pasts != 0,
    }  # fmt: skip
    of_running = {"gap": gap, "batch": batch, "device": device, "resume": resume}
    given = [name for name, is_given in of_reading.items() if is_given]
    opened = model if isinstance(model, LoadedModel | LoadedBidirectional) else open_source(model)
    if (whole := run_as_is(opened, as_is, given)) is not None:
        own = None if eps is EPSILONS else eps  # a gap has ε of its own by default
        return measure_causal(whole, data, eps=own, progress=progress, **of_running, **options)  # type: ignore[arg-type]
    require_read(of_running)
    loaded = load_both(
        opened, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
    )
    options |= {"eps": eps, "input_bound": input_bound}
    if isinstance(loaded, LoadedModel):
        return measure_cell(
            loaded, data, **options, near=near, states=states, pasts=pasts, progress=progress
        )
    if near is not None or states or pasts:
        raise OneDirectionError("near", "leave out near, states and pasts")
    return measure_both(loaded, data, **options)


@isolated()
def attack(
    model: Model,
    input_bound: float,
    eps: float | Sequence[float] = EPSILONS,
    *,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
    work: int = WORK,
) -> Attacked | AttackedBoth:
    """Seek inputs ‖x_t‖₂ ≤ B that show how long a model remembers, and prove what was found.

    An `InputSet` in place of B says which inputs there are; other arguments as in `certify`; `eps`
    is one ε or several. The search is in floats and the same each time; its limits are counted, not
    timed: `work` is a number of products. Every witness is proved in balls, for the weights as
    stored in real arithmetic. A low k says nothing: more may be remembered than was found. Of a
    layer in both directions each cell is attacked, of more layers nothing.
    Raises an InputError for what is no model, for B < 0, ε ≤ 0 and NaN.

    >>> rnnbounds.attack("model.safetensors", rnnbounds.input_box(-1, 1, 1), eps=0.1)
    """
    loaded = load_both(
        model, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
    )
    if isinstance(loaded, LoadedModel):
        return attack_cell(loaded, input_bound, eps, work=work)
    return attack_both(loaded, input_bound, eps, work=work)
