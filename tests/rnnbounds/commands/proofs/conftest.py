"""Claims of one step, in place of all others."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from rnnbounds.theory import claim
from rnnbounds.theory.language.statement import lt
from rnnbounds.theory.language.vocabulary import symbols
from rnnbounds.theory.models.system import CONTRACTIVE
from rnnbounds.theory.proof.claim import Assumption, Claim
from rnnbounds.theory.proof.methods import Smt
from rnnbounds.theory.proof.proof import Proof, Step

STATE_BOUND = claim("state-bound")
(lam,) = symbols("lam")


@pytest.fixture
def below() -> Callable[..., Claim]:
    """A claim that λ is below a bound that nobody has proved before: below(3) -> Claim."""

    def made(
        bound: object, use: str = "contractive", *more: Assumption, id: str = STATE_BOUND.id
    ) -> Claim:
        step = Step(f"below {bound}", lt(lam, bound), Smt(use))
        form = replace(
            STATE_BOUND.forms[0], statement=step.conclusion, assumptions=(CONTRACTIVE, *more),
            proof=Proof((step,)),
        )  # fmt: skip
        return replace(STATE_BOUND, id=id, forms=(form,), false_variants=())

    return made


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let these be all claims: entered(*claims)."""

    def enter(*claims: Claim) -> None:
        for module in ("rnnbounds.properties.runs.parts", "rnnbounds.theory"):
            monkeypatch.setattr(f"{module}.CLAIMS", claims)

    return enter
