"""Names of cells in certificates: activations that are none, or that no gate may have."""

import pytest
from cell_systems import good, system, verdict
from checked import source
from flint import arb

from rnnbounds.impl.cells.gated.activations import check_activation
from rnnbounds.impl.checker.cells.claimed import cell_of
from rnnbounds.impl.checker.cells.layouts import LayoutError, activation_form, known
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.tensors import digest

NONE = (
    "gru+relu+tanh", "gru+sigmoid", "gru+sigmoid+tanh+tanh", "gru+sigmoid+tnah", "mgu+sigmoid+tanh",
    "gru+sigmoid+affine-1", "gru+hard-sigmoid-0.2+tanh", "gru+sigmoid+affine-1e9-0", "gru++tanh",
    "gru+sigmoid+leaky-relu-" + "9" * 40, "li-gru-sin", "lstm-projected+sigmoid+tanh+tanh",
)  # fmt: skip


@pytest.mark.parametrize("name", NONE)
def test_cells_that_are_none(name):
    """Neither alone nor in a stack is it a cell whose layout is known."""
    assert not known(name)
    assert not known("stacked-" + name)


@pytest.mark.parametrize(
    "name", ["gru+relu+tanh", "gru+sigmoid+tnah", "gru+hard-sigmoid+affine-9-9"]
)
def test_a_forged_name(tmp_path, name):
    """A certificate of a GRU is not believed under another name, with all digests in order."""
    path, (held, _) = tmp_path / "t", system("hard gru")
    file = good(path, "hard gru")
    roles = {full.removesuffix("_l0"): part for full, part in file.parts.items()}
    told = file.certificate | {"cell": name, "sha256": digest(name, roles)}
    forged = file.stating(told).with_told(cell=name)
    assert not verdict(path, forged, source(held))
    assert not verdict(path, forged)


@pytest.mark.parametrize(
    "name",
    ["tanh", "softsign", "hard-sigmoid", "hard-sigmoid-0.2-0.5", "affine--1.5-0.25", "leaky-relu-2",
     "scaled-tanh-0.5-1", "softplus-torch", "sigmoids", "hard-sigmoid-0.5", "leaky-relu-inf",
     "affine-" + "9" * 40 + "-0", "tanh-1", "affine-1-", "Affine-1-0"],
)  # fmt: skip
def test_maker_and_checker_know_the_same_activations(name):
    """A name is an activation to both, or to neither."""

    def accepted(call, error):
        try:
            call(name)
        except error:
            return False
        return True

    assert accepted(activation_form, LayoutError) == accepted(check_activation, InputError)


def test_variances_below_zero():
    """A light GRU whose normalisation has a variance below 0 is no cell, even near 0."""
    held, told = system("light")
    weights = dict(source(held).weights)
    weights["norm_running_var"] = weights["norm_running_var"] * 0 - 1e-6
    with pytest.raises(RecordError, match="a variance below 0"):
        cell_of(held.name, weights, arb(1), None, told.to_json()["box"])
