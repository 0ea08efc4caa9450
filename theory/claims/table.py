"""The table of claims: those of all modules beside this one, so that a new one is found.

They are read in the order of `ORDER`; what is not in it comes last, in the order of the modules.
`CLAIMS` loads them all when it is first asked for; one claim by its id loads what it needs alone.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from traceback import extract_tb

from rnnbounds.theory import claims as package
from rnnbounds.theory.errors import InputError
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
    return {name: claims_in(name) for name in module_names()}


def module_names() -> list[str]:
    """The modules beside this one, by what their names have after this package's."""
    prefix = f"{package.__name__}."
    names = (entry.name for entry in walk_packages(package.__path__, prefix))
    return [name.removeprefix(prefix) for name in names if name != __name__]


def claims_in(module: str) -> tuple[Claim, ...]:
    """The claims of a module, which is imported.

    Raises:
        InputError: its file has a mistake, or a claim's forms or variants are no tuple.
    """
    name = f"{package.__name__}.{module}"
    try:
        values = vars(import_module(name)).values()
    except (InputError, ImportError, OSError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"{fault_place(error)}: {type(error).__name__}: {error}") from error
    for claim in values:
        if isinstance(claim, Claim) and not isinstance(claim.forms, tuple | list):
            fault = f"the forms of {claim.id} are a {type(claim.forms).__name__}"
            raise InputError(f"{name}: {fault}; write (form,)")
    return tuple(value for value in values if isinstance(value, Claim))


def fault_place(error: Exception) -> str:
    """file:line of a mistake in a claim's file: the last line there that led to the error."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = extract_tb(error.__traceback__)
    folder = Path(__file__).parent
    places = [f for f in frames if folder in Path(f.filename).parents and f.filename != __file__]
    place = (places or frames)[-1]
    return f"{place.filename}:{place.lineno}"


@cache
def claim_of_module(id: str) -> Claim | None:
    """The claim of that id where a module, or its folder and it, are called so; else None."""
    for name in module_names():
        if id.replace("-", "_") in (name.rpartition(".")[2], name.replace(".", "_")):
            return next((claim for claim in claims_in(name) if claim.id == id), None)
    return None


def place(claim: Claim) -> int:
    """Position of the claim in reading order; claims without one come last."""
    return ORDER.index(claim.id) if claim.id in ORDER else len(ORDER)


CLAIMS: tuple[Claim, ...]


def __getattr__(name: str) -> tuple[Claim, ...]:
    if name != "CLAIMS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = claims = discover_claims()
    return claims
