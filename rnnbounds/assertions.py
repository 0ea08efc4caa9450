"""Assertions for a user's own tests; each says what was found and how to mend it.

All take the model, then its inputs (a bound B ≥ ‖x_t‖₂, a set of inputs, or data), then what is
asked. They raise AssertionError themselves, so that they hold under ``python -O`` too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch

from rnnbounds.commands.models.questions import measurement_advice, measurement_problems
from rnnbounds.impl import errors
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.truncate import NotCertifiedError, truncate, unrolled
from rnnbounds.impl.memory.calls import AnyMeasurement, measure
from rnnbounds.impl.memory.fields import Probe, TensorFunction
from rnnbounds.impl.memory.gaps import NORM
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.models.surroundings import isolated, untouched
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.reading.adapters import Source, load_model
from rnnbounds.impl.reading.data.recordings import Data
from rnnbounds.impl.reading.data.sequences import DataSource
from rnnbounds.impl.reading.sources import AnySource

P = ParamSpec("P")
R = TypeVar("R")


def hide_frames(function: Callable[P, R]) -> Callable[P, R]:
    """The assertion, whose arguments that make no sense raise the public InputError, without frames
    of ours; where a file is named, with the folder that its path is from."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except errors.InputError as error:
            name = getattr(error, "name", None)  # of a file
            is_relative = isinstance(name, Path) and not name.is_absolute()
            folder = f" (paths are from {Path.cwd()})" if is_relative else ""
            raise errors.InputError(f"{error}{folder}") from None

    return call


@hide_frames
def assert_contractive(
    model: Source | LoadedModel[Any], *, inputs: float | InputSet, lam: float = 1.0,
    norm: str = "auto", cell: str | None = None, ignore: Collection[str] = (),
    layer: str | None = None,
) -> Certificate:  # fmt: skip
    """Assert that a model is certified λ-contractive with a factor below ``lam``.

    The factor is a rigorous upper bound, in the norm that the returned certificate names. Fails for
    a model that no norm certifies, even if nothing refutes it. Source: Miller & Hardt, section 2.

    >>> box = rnnbounds.input_box(-1, 1, 1)
    >>> rnnbounds.assert_contractive("model.safetensors", inputs=box, lam=0.95)

    Raises:
        AssertionError: the model is refuted or undecided, or its factor is not below ``lam``.
        InputError: it is no model, or another argument makes no sense.
    """
    __tracebackhide__ = True
    errors.number("lam", lam, "a number")
    certificate = require_certified(
        certify(model, inputs=inputs, norm=norm, cell=cell, ignore=ignore, layer=layer)
    )
    if not certificate.lam < lam:
        raise AssertionError(
            f"λ = {errors.factor(certificate.lam)} in the {certificate.norm} norm is not below "
            f"{errors.exactly(lam)}; {_remedy(certificate)}"
        )
    return certificate


@errors.refused(epsilon="eps")
@hide_frames
def assert_remembers(
    model: Source | LoadedModel[Any], *, inputs: float | InputSet, at_most: int, eps: float | str,
    cell: str | None = None, ignore: Collection[str] = (), layer: str | None = None,
    readout: str | None = None,
) -> Certificate:  # fmt: skip
    """Assert that the last ``at_most`` inputs fix the output to within ε in the Euclidean norm.

    It is certified for every input within the bound, or of the set. Source: Miller & Hardt,
    Lemma 1.

    >>> rnnbounds.assert_remembers("model.safetensors", inputs=1.0, eps=0.1, at_most=25)

    Raises:
        AssertionError: no window is certified, or the certified one is longer.
        InputError: it is no model, or another argument makes no sense.
    """
    __tracebackhide__ = True
    errors.number("at_most", at_most, "a number of inputs")
    options = {"cell": cell, "ignore": ignore, "layer": layer, "readout": readout}
    certificate = require_certified(certify(model, inputs=inputs, eps=eps, **options))  # type: ignore[arg-type]
    ((epsilon, k),) = certificate.windows
    if k is None or k > at_most:
        needed = "more inputs than can be counted" if k is None else f"the last {k} inputs"
        raise AssertionError(
            f"ε = {errors.exactly(epsilon)} needs {needed}, more than {at_most}; "
            f"allow a larger ε, or {_remedy(certificate)}"
        )
    return certificate


@hide_frames
def assert_measured(
    model: AnySource | LoadedModel[Any], data: DataSource | Data, *, eps: float, share: float,
    at_most: int | None = None, confidence: float = 0.99, window: int | None = None,
    cell: str | None = None, ignore: Collection[str] = (), layer: str | None = None,
    readout: str | None = None, as_is: bool = False, gap: str = NORM,
) -> AnyMeasurement:  # fmt: skip
    """Assert that of windows drawn like the data at least the share is within ε at some k.

    The statement holds with that confidence; with ``at_most`` k is to be no larger. The model is
    read, or run as it is, as in `rnnbounds.measure`. Source: Clopper & Pearson.

    >>> rnnbounds.assert_measured("model.safetensors", "data.npy", eps=0.1, share=0.95, at_most=20)

    Raises:
        AssertionError: less is stated, or a longer k.
        InputError: it is no model, or the data are too few to state so much.
    """
    __tracebackhide__ = True
    measured = measure(
        model, data, window=window, eps=eps, confidence=confidence, share=share, cell=cell,
        ignore=ignore, layer=layer, readout=readout, as_is=as_is, gap=gap,
    )  # fmt: skip
    if problems := measurement_problems(measured, eps, share, at_most):
        lines = (*problems, *measurement_advice(measured, None), measured.line())
        raise AssertionError("; ".join(lines))
    return measured


@errors.refused(epsilon="eps")
@hide_frames
@isolated()
def assert_truncation(
    model: Source | LoadedModel[Any], inputs: torch.Tensor, *, eps: float, cell: str | None = None,
    ignore: Collection[str] = (), layer: str | None = None,
) -> None:  # fmt: skip
    """Assert, on inputs (N, T, d), that the certified feed-forward model is within ε.

    Both models are run in float64, so that what is compared is the models, not their rounding. The
    input bound is the largest ‖x_t‖₂ among the inputs. Source: Miller & Hardt, Lemma 1.

    Raises:
        AssertionError: no window is certified, or the models differ by more than ε.
        InputError: it is no model, or another argument makes no sense.

    >>> rnnbounds.assert_truncation("model.safetensors", torch.randn(8, 100, 3), eps=0.1)
    """
    __tracebackhide__ = True
    loaded = load_model(model, cell, ignore=ignore, layer=layer)
    if not isinstance(inputs, torch.Tensor):
        raise errors.ShapeError("inputs", f"a tensor (N, T, {loaded.d})", type(inputs).__name__)
    x = inputs.detach().double()
    if x.ndim != 3 or x.shape[2] != loaded.d or 0 in x.shape:
        raise errors.ShapeError("inputs", f"(N, T, {loaded.d}) with N, T ≥ 1", x)
    bound = float(norm_up(x).max())
    try:
        short, _ = truncate(loaded, eps=eps, inputs=bound)
    except NotCertifiedError as error:
        raise AssertionError(str(error)) from None
    full = unrolled(loaded, x.shape[1])
    with torch.no_grad():
        gap = float(torch.linalg.vector_norm(full.double()(x) - short.double()(x), dim=2).max())
    if not gap <= eps:
        raise AssertionError(
            f"the truncated model is {errors.exactly(gap)} away, more than {errors.exactly(eps)}; "
            "this contradicts its certificate: report it with the model"
        )


@hide_frames
def assert_receptive_field(
    module: TensorFunction, inputs: torch.Tensor, field: int, *, exact: bool = True,
    largest: float | None = None,
) -> None:  # fmt: skip
    """Assert, on inputs (N, T, d), that y_t depends on its last ``field`` inputs and on no other.

    The module, any causal one x (N, T, d) -> (N, T, …) in evaluation mode, is run again with the
    inputs at times ≤ s replaced by others, by huge ones up to ``largest`` (the largest float), by
    −0 and by subnormal ones: no bit of y_t may change for t ≥ s + field. With those after s
    replaced, none may for t ≤ s. With ``exact``, some change of x_{t−field+1} alone must be seen.
    The module is left as it was, its buffers and torch's generators too.

    What is found is shown; what is not found is not disproved: the probe is of these weights, near
    these inputs, at no more than 32 times s. It is of the program: a convolution by FFT, or a mask
    that adds −∞ to an overflowed score, lets bits through where the formula lets nothing.

    Raises:
        AssertionError: an output depends on more, or (``exact``) on less was all that was seen.
        InputError: the module gives two outputs for the same inputs, or an argument makes no sense.

    >>> rnnbounds.assert_receptive_field(model, torch.randn(2, 64, 3), 29)
    """
    __tracebackhide__ = True
    with untouched(module) if isinstance(module, torch.nn.Module) else nullcontext():
        _check_field(Probe(module, inputs, largest), field, inputs.shape[1], exact)


def _check_field(probe: Probe, field: int, T: int, exact: bool) -> None:
    __tracebackhide__ = True
    if not 1 <= errors.number("field", field, "a number of inputs") < T:
        raise errors.RangeError("field", field, f"at least 1 and below the inputs' length T = {T}")
    leak = next(probe.future_leaks(), None)
    if leak is not None:
        raise AssertionError(
            f"the model is not causal: y_{leak.t} changed from {leak.before!r} to {leak.after!r} "
            f"when the inputs {leak.changed}; pad its inputs on the left alone"
        )
    leak = max(probe.past_leaks(field), key=lambda leak: leak.t - leak.since, default=None)
    if leak is not None:
        raise AssertionError(
            f"the field is at least {leak.t - leak.since + 1}, not {field}: y_{leak.t} changed "
            f"from {leak.before!r} to {leak.after!r} when the inputs {leak.changed}; state that "
            "field, or correct the leak (a mask that adds −∞, an FFT, statistics over time)"
        )
    if exact and not probe.sees_oldest(field):
        raise AssertionError(
            f"no change of the oldest of {field} inputs was seen; state a shorter field, or set "
            "exact=False if only these weights do not see it"
        )


def require_certified(certificate: Certificate) -> Certificate:
    """The certificate, if it certifies; raises AssertionError with what was found instead."""
    __tracebackhide__ = True
    if certificate.verdict == "certified":
        return certificate
    tried = ", ".join(f"{name} {errors.factor(lam)}" for name, lam, _ in certificate.tried)
    reason = certificate.reason if certificate.witness is None else certificate.witness.text
    detail = "" if reason is None else f" ({reason})"
    advice = "".join(f"\n{line}" for line in certificate.next_steps)
    raise AssertionError(
        f"the model is {certificate.verdict}{detail}; λ by norm: {tried}; "
        f"{_remedy(certificate)}{advice}"
    )


def _remedy(certificate: Certificate) -> str:
    """Advice for a model whose λ is too large: project its weights, or its cell type's remedy."""
    kind = kind_of(certificate.cell)
    project = "project its recurrent matrix to a smaller norm after each step with rnnbounds.stable"
    return project if kind.projects else kind.remedy
