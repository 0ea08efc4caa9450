"""Assertions for a user's own tests; each says what was found and how to mend it."""

from __future__ import annotations

import torch

from impl.adapters import LoadedModel, Source, load_model
from impl.certificate import Certificate, certify
from impl.truncate import truncate


def assert_contractive(
    model: Source | LoadedModel,
    *,
    lam: float = 1.0,
    input_bound: float = 1.0,
    norm: str = "auto",
    cell: str | None = None,
) -> Certificate:
    """Assert that a model is certified λ-contractive with a factor below ``lam``.

    The factor is a rigorous upper bound, in the norm that the returned certificate names. Fails for
    a model that no norm certifies, even if nothing refutes it. Source: Miller & Hardt, section 2.
    """
    certificate = certify(model, input_bound, norm=norm, cell=cell)
    tried = ", ".join(f"{name} {factor:.6g}" for name, factor, _ in certificate.tried)
    assert certificate.verdict == "certified", (
        f"the model is {certificate.verdict}: the factors found are {tried}; "
        "project its recurrent matrix after each step with rnnbounds.stable"
    )
    assert certificate.lam < lam, (
        f"λ = {certificate.lam:.6g} in the {certificate.norm} norm, which is not below {lam:g}; "
        "project to a smaller norm"
    )
    return certificate


def assert_remembers(
    model: Source | LoadedModel,
    *,
    at_most: int,
    epsilon: float,
    input_bound: float,
    cell: str | None = None,
) -> Certificate:
    """Assert that the last ``at_most`` inputs fix the state to within ε in the Euclidean norm.

    k ≥ ln(C S/((1 − λ) ε))/ln(1/λ) (Miller & Hardt, Lemma 1).
    """
    certificate = certify(model, input_bound, (epsilon,), cell=cell)
    k = certificate.window(epsilon)
    assert certificate.verdict == "certified" and k is not None, (
        f"the model is {certificate.verdict}; no window is certified"
    )
    assert k <= at_most, f"ε = {epsilon:g} needs the last {k} inputs, more than {at_most}"
    return certificate


def assert_truncation(
    model: torch.nn.Module, inputs: torch.Tensor, *, epsilon: float, cell: str | None = None
) -> None:
    """Assert, on inputs (N, T, d), that the certified feed-forward model is within ε of the recurrent one.

    Both are run in float64, so that what is compared is the models and not their rounding.
    """
    x = inputs.detach().double()
    bound = float(torch.linalg.vector_norm(x, dim=2).max()) * (1 + 2.0**-40)
    loaded = load_model(model, cell)
    feed_forward, _ = truncate(loaded, epsilon, bound)
    full = type(feed_forward)(
        feed_forward.weight_ih_l0,
        feed_forward.weight_hh_l0,
        feed_forward.bias_ih_l0,
        feed_forward.bias_hh_l0,
        activation=feed_forward.activation,
        k=x.shape[1],
    )
    with torch.no_grad():
        gap = torch.linalg.vector_norm(full.double()(x) - feed_forward.double()(x), dim=2).max()
    assert float(gap) <= epsilon, (
        f"the truncated model is {float(gap):.3g} away, more than {epsilon:g}; this contradicts its "
        "certificate: report it with the model"
    )
