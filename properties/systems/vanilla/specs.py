"""Specs of vanilla networks, and of those with a loss."""

from __future__ import annotations

from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.spec import SpecType, SystemSpec, spec_of

PLAIN = "n d T K regime inputs lam scale bias epsilon distance values"
LOSS = f"activation {PLAIN} trained loss target"
DESCENT = "alpha steps"


def check_one_sequence(spec: SystemSpec) -> None:
    """Raise SpecError for several sequences."""
    if spec.sequences != 1:
        raise SpecError(f"{spec.kind} goes along one sequence")


Linear = spec_of("linear", PLAIN, activation="identity")
Rnn = spec_of("rnn", f"activation {PLAIN}")
Unstable = spec_of(
    "unstable", "T K lam scale", activation="identity", regime="diagonal", inputs="impulse",
)  # fmt: skip
Descent = spec_of("descent", "T lam alpha", regime="diagonal")
Gradient = spec_of("gradient", LOSS)
Smooth = spec_of("smooth", LOSS, paired=True)
Training = spec_of("training", f"{LOSS} {DESCENT}", check=check_one_sequence)
Quadratic = spec_of("quadratic", f"K lam epsilon {DESCENT}", activation="identity")
Projection = spec_of(
    "projection", "n regime lam scale distance ball values", activation="identity", paired=True
)


def convert_spec(make: SpecType, spec: SystemSpec) -> SystemSpec:
    """Convert a spec to another kind by copying that kind's fields."""
    return make(**{name: getattr(spec, name) for name in make.__struct_fields__})
