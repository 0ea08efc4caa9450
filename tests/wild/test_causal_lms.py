"""Language models of transformers, with random weights, measured as they are run."""

import numpy as np
import pytest

import rnnbounds

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

TOKENS = np.random.default_rng(0).integers(0, 100, size=(120, 32))
SIZES = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 1}


def model(name, **how):
    """A model of that class, drawn from seed 0."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(bos_token_id=0, eos_token_id=0, **how)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.mark.slow
@pytest.mark.parametrize("window", [5, 9])
def test_a_sliding_window_is_found(window):
    """One layer of Mistral sees its window and no more: k is it, at every ε above rounding."""
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 64}
    mistral = model("Mistral", **SIZES, **heads, sliding_window=window)
    found = rnnbounds.measure(mistral, TOKENS, gap="tv", eps=1e-6)
    assert found.window(1e-6) == window
    assert found.run.causal


@pytest.mark.slow
def test_mamba_forgets():
    """Its gaps fall with k, and the statement holds some k below the window."""
    mamba = model("Mamba", **SIZES, state_size=8)
    found = rnnbounds.measure(mamba, TOKENS, gap="tv", eps=0.01)
    assert found.window(0.01) < 16
    assert found.statement.lines[0].share > 0.9


@pytest.mark.slow
def test_absolute_positions_are_seen():
    """A truncated GPT-2 reads its last k tokens at other positions: no k below the window gives the
    output to within 0.001."""
    found = rnnbounds.measure(
        model("GPT2", vocab_size=100, n_embd=32, n_layer=1, n_head=2), TOKENS, gap="tv", eps=1e-3
    )
    assert found.window(1e-3) is None
