"""The table of claims: those of all modules beside this one, so that a new one is found.

They are read in the order of `ORDER`; what is not in it comes last, in the order of the modules.
"""

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from rnnbounds.theory import claims as package
from rnnbounds.theory.proof import Claim

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
    "vanishing-gradient",
    "deep-gradient",
    "instability",
    "receptive-field",
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


def discover_claims() -> tuple[Claim, ...]:
    """All claims of the modules of this package, each once, in reading order."""
    claims = {id(claim): claim for claims in claims_by_module().values() for claim in claims}
    return tuple(sorted(claims.values(), key=place))


@cache
def claims_by_module() -> dict[str, tuple[Claim, ...]]:
    """The claims of each module, by what its name has after this package's."""
    names = (entry.name for entry in walk_packages(package.__path__, f"{package.__name__}."))
    modules = {name: import_module(name) for name in names if name != __name__}
    return {
        name.removeprefix(f"{package.__name__}."): tuple(
            value for value in vars(module).values() if isinstance(value, Claim)
        )
        for name, module in modules.items()
    }


def module_of(claim: Claim) -> str:
    """The module that holds a claim, by what its name has after this package's."""
    at = (name for name, claims in claims_by_module().items() if claim in claims and "." in name)
    return next(at, "")


def group_of(claim: Claim) -> str:
    """The folder of the module that holds a claim: its place in the theory."""
    return module_of(claim).partition(".")[0]


def place(claim: Claim) -> int:
    """Position of the claim in reading order; claims without one come last."""
    return ORDER.index(claim.id) if claim.id in ORDER else len(ORDER)


CLAIMS = discover_claims()
