"""Impossible systems are refused in one line; statements find the systems that they are of."""

import math

import pytest
from any_kind import changed
from msgspec import to_builtins
from msgspec.structs import replace

from rnnbounds.properties.attacks.typed_statement import kinds_to_test
from rnnbounds.properties.errors import InputError, SpecError
from rnnbounds.properties.systems.cells.gated import GATED_SPECIAL
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import FAMILIES, make_spec, parse_spec
from rnnbounds.properties.systems.vanilla.learning import worst_projections
from rnnbounds.properties.systems.vanilla.plain import NAMED_SPECS
from rnnbounds.theory.language.parse import parse_statement

CAUSAL = make_spec(kind="causal", regime="gated-conv", n=2, d=2, T=12, K=12)
WRITTEN = GATED_SPECIAL["full-cell"]
SCALAR = replace(NAMED_SPECS["memoryless"], K=0)
VALUES = to_builtins(SCALAR.values)
PROJECTED = next(worst_projections())
# A spec, what is said of it instead, and what the refusal speaks of.
IMPOSSIBLE = [
    *((make_spec("training"), fields, "from the page") for fields in (
        {"n": math.nan}, {"lam": math.inf}, {"lam": None}, {"lam": -0.5}, {"scale": "1"},
        {"unknown": 1}, {"activation": "swish"}, {"activation": "__import__"}, {"regime": "tame"},
        {"inputs": "none"}, {"n": 0}, {"n": 513}, {"n": 1.5}, {"n": 10**400}, {"T": 100_001},
        {"batch": 65_537}, {"sequences": 0}, {"K": -1}, {"T": 2, "K": 3}, {"seed": -1},
        {"seed": 2**64}, {"member": 1}, {"member": -1}, {"sequence": 1}, {"alpha": -1},
        {"values": {}}, {"values": {"W": [[None]]}}, {"n": 512, "batch": 65_536},
        {"T": 100_000, "d": 512, "n": 512, "steps": 1000, "K": 4096},
    )),
    (CAUSAL, {"activation": "relu"}, "unknown field `activation`"),
    (CAUSAL, {"regime": "zero"}, "unknown regime"),
    (CAUSAL, {"inputs": "resonant"}, "no resonant inputs"),
    (CAUSAL, {"layers": 9}, "layers = 9 must lie between 1 and 8"),
    (CAUSAL, {"layers": 0}, "layers = 0 must lie between"),
    (CAUSAL, {"layers": 8, "taps": 3, "dilation": 4}, "receptive field .* exceeds 512"),
    (WRITTEN, {"activation": "relu"}, "unknown field `activation`"),
    (WRITTEN, {"regime": "orthogonal"}, "unknown regime"),
    (WRITTEN, {"n": 2}, "shapes"),
    *((SCALAR, {"values": VALUES | change}, "shapes") for change in (
        {"W": [[1.0, 2.0]]}, {"W": []}, {"U": [[1.0, 1.0]]}, {"C": []}, {"C": [[1.0, 2.0]]},
        {"x": [[1.0], [1.0]]}, {"b": []}, {"h": [1.0, 1.0]}, {"h_other": []},
    )),
    *((SCALAR, {size: 2}, "one system") for size in ("batch", "sequences")),
    (WRITTEN, {"kind": "gru"}, "shapes"),
    (WRITTEN, {"kind": "rnn", "regime": "zero"}, "second bias"),
    (make_spec("leaky"), {"activation": "softplus-torch"}, "one of the activations"),
    (make_spec("gru-cho"), {"activation": "relu"}, "unknown field `activation`"),
    (make_spec("deep"), {"regime": "steep"}, "unknown regime"),
    (make_spec("leaky"), {"values": {}}, "unknown field `values`"),
    (make_spec("unitary"), {"regime": "orthogonal"}, "unknown regime"),
    (make_spec("unitary"), {"values": {}}, "unknown field `values`"),
    (make_spec("unitary"), {"activation": "tanh"}, "unknown field `activation`"),
    (make_spec("unitary"), {"n": 2, "units": 3}, "units = 3 exceeds n = 2"),
    (make_spec("unitary"), {"units": -1}, "units = -1"),
    (make_spec("unitary"), {"n": 33}, "n = 33"),
    (make_spec("unitary"), {"T": 257}, "T = 257"),
    (make_spec("unitary"), {"n": 32, "T": 65}, "n T = 2080"),
    (make_spec("unitary"), {"start": -1.0}, "non-negative"),
    (make_spec("unitary"), {"start": 1e999}, "not a system spec|out of range"),
    (make_spec("block"), {"n": 2, "states": 1}, "needs states"),
    (make_spec("block"), {"states": 65}, "states = 65"),
    (make_spec(), {"regime": "cayley"}, "unknown regime"),
    (make_spec("cascade", activation="relu"), {"activation": "tanh"}, "one of the activations"),
    (make_spec("layered"), {"layers": 9}, "layers = 9"),
    (make_spec("candidate"), {"T": 33}, "T = 33"),
    (make_spec("candidate"), {"states": 25}, "states = 25"),
    (make_spec("sigmoid"), {"n": 4}, "n = 4"),
    (make_spec("training"), {"sequences": 2}, "one sequence"),
    (PROJECTED, {"values": to_builtins(replace(PROJECTED.values, W2=None))}, "other weights"),
    (PROJECTED, {"values": to_builtins(replace(PROJECTED.values, b2=[1.0] * 3))}, "shapes"),
    (make_spec("gradient"), {"loss": "absolute"}, "unknown loss"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "fields", "message"), IMPOSSIBLE)
def test_what_cannot_be_is_named(spec: SystemSpec, fields: dict[str, object], message: str) -> None:
    """Fields, choices and sizes that the kind does not have."""
    with pytest.raises(SpecError, match=message) as caught:
        parse_spec(changed(spec, **fields))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("h_gap <= 1", ("linear", "rnn")),
        ("grad_gap <= h_gap", ("gradient",)),
        ("h_norm_box <= S_0_box", tuple(FAMILIES["cell"].members)),
        ("h_size <= 1", ("lstm", "gru", "gru-cho")),
        ("c_size <= 1", ("lstm",)),
        ("gate_gap <= f_bar*gate_state_gap", ("lstm",)),
        ("gate_gap <= r_bar*gate_state_gap", ("gru", "gru-cho")),
        ("deep_gap <= lam_deep*deep_state_gap", ("layered",)),
        ("top_gap <= mu*low_start", ("cascade",)),
        ("unitary_gap <= 0", ("unitary",)),
        ("dh_dh <= 1", ("urnn",)),
        ("sigmoid_gap <= w_abs", ("sigmoid",)),
        ("W_rank <= states", ("block", "candidate")),
    ],
)
def test_statements_find_their_kinds(text: str, kinds: tuple[str, ...]) -> None:
    """By what is measured, and by constants and parameters that few systems have."""
    assert set(kinds_to_test(parse_statement(text))) == set(kinds)


def test_what_no_system_has_together_is_refused() -> None:
    """A network's state and a candidate's number of states."""
    with pytest.raises(InputError, match="all of h_norm, states"):
        kinds_to_test(parse_statement("h_norm <= states"))
