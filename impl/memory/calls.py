"""The public `measure`: of a recurrent layer that is read, or of any causal model as it is run."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.certificate.certify import absolute
from rnnbounds.impl.certificate.epsilons import EPSILONS, Epsilons
from rnnbounds.impl.certificate.inputs import input_data
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.causal import CausalMeasurement, measure_causal
from rnnbounds.impl.memory.gaps import NORM
from rnnbounds.impl.memory.measure import Measurement, measure_cell
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.near.near import ZERO
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.data.sequences import Data, DataSource, read_data
from rnnbounds.impl.reading.opened import Opened
from rnnbounds.impl.reading.sources import AnySource, open_source

AnyMeasurement = Measurement | CausalMeasurement


@isolated()
def measure(
    model: AnySource | LoadedModel[Any],
    data: DataSource | Data,
    *,
    window: int | None = None,
    eps: Epsilons = EPSILONS,
    confidence: float = 0.99,
    share: float | None = None,
    inputs: float | InputSet | None = None,
    cell: str | None = None,
    ignore: Collection[str] = (),
    layer: str | None = None,
    readout: str | None = None,
    direction: str | None = None,
    near: float | None = None,
    states: str = ZERO,
    as_is: bool = False,
    gap: str = NORM,
    batch: int | None = None,
    device: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AnyMeasurement:
    """Run a model on data, in full and truncated, and state what follows for data drawn alike.

    `data` are a file (.npy, .npz, .csv, .safetensors), an array or a tensor, (T,), (T, d) or
    (N, T, d). A window is a sequence of the data, or `window` inputs of it; one long series is cut
    into windows of 64, or of its eighth part if that is shorter. With a `share`, data that cannot
    reach it at that `confidence` for all ε (`eps`) together are refused; without, the statement
    says which share they reach. `progress` is called with how many windows were run, and of how
    many.

    A recurrent layer is read from `model` as in `load_model`, with `cell`, `ignore`, `layer`,
    `readout` and `direction`, and measured in float64: a `Measurement`, by default at ε = 1e-2,
    1e-4 and 1e-6; "5%" is of the certified bound on the output. With a readout all answers are
    about its predictions; `near`: what is certified of all inputs within that of these, number by
    number, from the zero state, or with `states` "recorded" from near 20 recorded end states;
    inputs beyond `inputs` (a bound or a set) are refused.

    A function, a module without recurrent layers, and with `as_is` any module, is measured as it is
    run, whole: a `CausalMeasurement`. It maps windows (N, T, d), or tokens (N, T) where data are
    integers (N, T) or (T,), to outputs (N, T, p), or (N, p) after the last input; of a tuple the
    first counts, of other objects `.logits` or `.last_hidden_state`. `gap`: "norm", ‖y_T − y_T^k‖₂;
    "tv", total variation of the softmax; "argmax", 1 where the largest entry is another, else 0.
    By default ε is 0.1 and 0.01 for tv, and 0 for argmax. `batch`: windows that are run at once,
    by default at most 64; `device`: where a module is moved to and inputs go.

    Raises an InputError of one line for what is no model, an option of the other kind, data of
    another width, shorter than the window or beyond the bound, a model that overflows or raises,
    and one run as it is that is not causal, not deterministic, or mixes the windows of a batch.
    Source: Clopper & Pearson; Miller & Hardt, section 4.

    >>> rnnbounds.measure("model.safetensors", "data.npy", eps=0.1, share=0.95)
    >>> rnnbounds.measure(transformer.eval(), tokens, gap="tv", eps=0.1, share=0.9)
    """
    options: dict[str, Any] = {"window": window, "confidence": confidence, "share": share}
    of_reading = {
        "inputs": inputs is not None, "cell": cell is not None,
        "ignore": ignore not in ((), []), "layer": layer is not None,
        "readout": readout is not None, "direction": direction is not None,
        "near": near is not None, "states": states != ZERO,
    }  # fmt: skip
    of_running = {"gap": gap, "batch": batch, "device": device}
    given = [name for name, is_given in of_reading.items() if is_given]
    opened = model if isinstance(model, LoadedModel) else open_source(model)
    if (whole := run_as_is(opened, as_is, given)) is not None:
        own = None if eps is EPSILONS else eps  # a gap has ε of its own by default
        return measure_causal(whole, data, eps=own, progress=progress, **of_running, **options)  # type: ignore[arg-type]
    require_read(of_running)
    loaded = load_model(
        opened, cell, ignore=ignore, layer=layer, readout=readout, direction=direction
    )
    read = read_data(data)
    told = absolute(eps, loaded, lambda: input_data(read) if inputs is None else inputs)
    options |= {"eps": [number for number, _ in told], "inputs": inputs}
    options |= {"near": near, "states": states}
    return measure_cell(loaded, read, **options, progress=progress)


def run_as_is(
    opened: Opened | LoadedModel[Any], as_is: bool, reading: Collection[str]
) -> Opened | None:
    """The model, if it is measured as it is run: where that is asked for, or where nothing in a
    module or function is recurrent and no option (`reading`) of a layer was given; else None.

    Raises InputError for weights alone, which cannot be run as they are, and for such options.
    """
    runs = isinstance(opened, Opened) and opened.runs is not None
    if as_is and not runs:
        where = opened.where if isinstance(opened, Opened) else opened.source
        what = f"{where} holds weights, which cannot be run as they are"
        raise InputError(f"{what}; pass a module, a function or package.module:factory")
    if as_is and reading:
        options = _named(sorted(reading))
        raise InputError(
            f"{options} of a recurrent layer that is read; leave it out, or name the layer"
        )
    if not isinstance(opened, Opened) or not runs or reading:
        return None
    return opened if as_is or opened.parts == () else None


def require_read(of_running: Mapping[str, object]) -> None:
    """Raise InputError for an option, by its name, of models that are run as they are."""
    given = [name for name, value in of_running.items() if value not in (None, NORM)]
    if given:
        remedy = "leave it out, or say as_is (--as-is)"
        raise InputError(f"{_named(given)} of a model that is run as it is; {remedy}")


def _named(names: Sequence[str]) -> str:
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
