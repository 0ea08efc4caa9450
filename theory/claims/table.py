"""The table of claims: those of all modules beside this one, so that a new one is found.

They are read in the order of `ORDER`; what is not in it comes last, in the order of the modules.
"""

from importlib import import_module
from pkgutil import walk_packages

import theory.claims
from theory.proof import Claim

ORDER = (
    "contraction-linear",
    "contraction-rnn",
    "contraction-weighted",
    "contraction-lstm",
    "contraction-gru",
    "contraction-deep",
    "contraction-stacked",
    "state-bound",
    "truncation",
    "prediction",
    "input-robustness",
    "certificate",
    "linear-memory",
    "scan-memory",
    "vanishing-gradient",
    "deep-gradient",
    "instability",
    "receptive-field",
    "certified-norm",
    "rounding-state",
    "cell-constants",
    "loss-constants",
    "gradient-gap",
    "tbptt-gap",
    "gradient-lipschitz",
    "projection",
    "weight-gap",
    "end-to-end",
    "urnn-equivalence",
    "urnn-defect",
    "urnn-tight",
    "urnn-sigmoid",
    "urnn-gradient",
)


def found() -> tuple[Claim, ...]:
    """Every claim that a module holds, each once."""
    package = theory.claims
    names = (entry.name for entry in walk_packages(package.__path__, f"{package.__name__}."))
    modules = (import_module(name) for name in names if name != __name__)
    values = (value for module in modules for value in vars(module).values())
    claims = {id(value): value for value in values if isinstance(value, Claim)}
    return tuple(sorted(claims.values(), key=place))


def place(claim: Claim) -> int:
    """Where the claim is read."""
    return ORDER.index(claim.id) if claim.id in ORDER else len(ORDER)


CLAIMS = found()
