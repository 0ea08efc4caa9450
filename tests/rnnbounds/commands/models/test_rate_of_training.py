"""What is printed of gradients names the λ that it is true with: that of the Euclidean norm.

A nilpotent W has a λ near 0 in diagonal norms, but gradients are certified in the Euclidean one.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

from impl.certificate.certify import certify
from rnnbounds.commands.models import factor

SHIFT = {
    "weight_hh_l0": torch.tensor([[0.0, 0.0], [0.75, 0.0]]),
    "weight_ih_l0": torch.tensor([[1.0], [0.5]]),
}


def test_the_rate_is_printed_beside_the_constant(tmp_path: Path, call) -> None:
    """γ k λ^k is false with the λ of the norm that has the shortest memory."""
    path = tmp_path / "shift.safetensors"
    save_file(SHIFT, path)
    found = certify(path, 1.0, cell="linear")
    assert found.training is not None
    rate = found.training.constants.lam
    assert found.lam < 0.5 < rate < 1
    outcome = call("certify", str(path), "--cell", "linear", "--input-bound", "1")
    assert f"γ k λ^k, λ = {factor(rate)} in the Euclidean norm, γ = " in outcome.out
    document = call(
        "certify", str(path), "--cell", "linear", "--input-bound", "1", "--format", "json"
    ).json
    assert document["training"]["lambda"] == rate
    assert document["lambda"] == found.lam
