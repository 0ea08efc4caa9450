"""Random cells of today's kinds, as stored weights: one sample of each convention."""

import torch
from torch import Tensor

from rnnbounds.impl.cells.table import kind_of

SAMPLES = (
    "leaky-tanh", "leaky-relu", "deep-tanh", "deep-softplus", "real", "complex", "lru", "s4d",
    "s5", "rwkv", "min-gru", "min-lstm", "selective", "gated-scan", "capped", "rg-lru",
)  # fmt: skip
KIND = dict.fromkeys(("real", "complex", "lru", "s4d", "s5", "rwkv"), "diagonal")
KIND["capped"] = "gated-scan"


def weights(name: str, n: int = 4, d: int = 2, *, seed: int = 0, systems: int = 0, scale=0.2):
    """Weights of that sample in float64, with a leading axis if `systems` says so."""
    by = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        lead = (systems,) if systems else ()
        return torch.randn(*lead, *shape, generator=by, dtype=torch.float64)

    if name.startswith("leaky"):
        leak = 0.1 + 0.9 * torch.sigmoid(normal(n))
        return {"W": scale * normal(n, n), "W_in": normal(n, d), "leak": leak, "b": normal(n)}
    if name.startswith("deep"):
        return {
            "transition_1_weight": 2 * scale * normal(n + 1, n), "input_weight": normal(n + 1, d),
            "transition_2_weight": 2 * scale * normal(n, n + 1), "transition_2_bias": normal(n),
        }  # fmt: skip
    fed = {"B_re": normal(n, d), "B_im": normal(n, d)}
    if name == "real":
        return {"lambda_re": torch.tanh(normal(n)) * 0.95, "B_re": normal(n, d), "b": normal(n)}
    if name == "complex":
        size, angle = 0.9 * torch.sigmoid(normal(n)), 3 * normal(n)
        return {"lambda_re": size * angle.cos(), "lambda_im": size * angle.sin(), **fed}
    if name == "lru":
        logs = {"nu_log": normal(n) - 1, "theta_log": normal(n), "gamma_log": normal(n) - 1}
        return {**logs, **fed, "b": normal(2 * n)}
    if name == "s4d":
        return {"log_A_real": normal(n), "A_imag": 3 * normal(n), "log_dt": normal(n) - 2, **fed}
    if name == "s5":
        rates = {"Lambda_re": -2 - normal(n).exp(), "Lambda_im": 3 * normal(n)}
        return {**rates, "log_step": normal(n) - 2, **fed}
    if name == "rwkv":
        return {"time_decay": normal(n) - 1, "B_re": normal(n, d)}
    if name in ("gated-scan", "capped"):
        gate = {"weight_f": normal(n, d), "weight_v": normal(n, d), "bias_f": normal(n)}
        return gate if name == "gated-scan" else {**gate, "cap": 1 + normal(n).exp()}
    if name == "rg-lru":
        gates = {f"weight_{gate}": normal(n, d) for gate in "aix"}
        return {**gates, "recurrent_param": normal(n) - 1, "bias_a": normal(n)}
    if name == "min-gru":
        return {f"weight_{gate}": normal(n, d) for gate in "zh"} | {"bias_z": normal(n)}
    if name == "min-lstm":
        return {f"weight_{gate}": normal(n, d) for gate in "fih"} | {"bias_i": normal(n)}
    told = {"weight_delta": normal(n, d), "weight_B": normal(n, d), "A_log": normal(n)}
    return {**told, "bias_delta": normal(n)}


def cells(name: str, systems: int, **options):
    """So many cells of that sample."""
    return kind_of(KIND.get(name, name)).build(weights(name, systems=systems, **options))


def inputs(N: int, T: int, d: int, bound: float, seed: int = 1) -> Tensor:
    """Sequences at the bound, half of them constant: (N, T, d)."""
    by = torch.Generator().manual_seed(seed)
    x = torch.randn(N, T, d, generator=by, dtype=torch.float64)
    x[: N // 2] = x[: N // 2, :1]
    return bound * (1 - 1e-12) * x / x.norm(dim=2, keepdim=True)
