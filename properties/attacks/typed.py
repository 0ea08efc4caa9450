"""A bound that the user types: attacked like a claim, over certainly contractive systems."""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy

from properties.attacks.budget import ATTACKS, Budget
from properties.attacks.registry import UnsuppliedError, missing
from properties.attacks.sabotage import hunt
from properties.attacks.shrink import shrink
from properties.errors import InputError
from properties.judging.equivalent import plainer, positive
from properties.judging.judge import Patience, free_names
from properties.systems.kinds import FAMILIES
from properties.systems.spec import Kind
from reports.records.record import Check
from theory.language.claim import Assumption, Form, Statement
from theory.language.printing import statement_text
from theory.language.quantities.causal import CAUSAL
from theory.language.quantities.cells import CELLS
from theory.language.quantities.gates import GATES
from theory.language.quantities.layers import LAYERS
from theory.language.quantities.memory import MEMORY
from theory.language.quantities.stacks import STACKS
from theory.language.quantities.unitary import UNITARY
from theory.language.vocabulary import VOCABULARY
from theory.proof.proof import Proof

PLAIN: tuple[Kind, ...] = ("linear", "rnn")
LEARNING: tuple[Kind, ...] = ("gradient", "smooth", "training")
EXACT: tuple[Kind, ...] = ("unitary", "urnn", "block", "candidate", "sigmoid", "planted")
LAYERED: tuple[Kind, ...] = ("layered", "cascade", "modes", "jordan", "scan")
GATED: tuple[Kind, ...] = ("lstm", "gru", "gru-cho")
OF_CELLS: tuple[Kind, ...] = FAMILIES["cell"]
FEED_FORWARD: tuple[Kind, ...] = ("tcn", "gated-conv", "wavenet", "attention", "monotone")
ORDER: tuple[Kind, ...] = (
    *PLAIN,
    *LEARNING,
    "projection",
    "matrix",
    "descent",
    *EXACT,
    *LAYERED,
    *GATED,
    *FEED_FORWARD,
)
KINDS: dict[str, tuple[Kind, ...]] = {
    "W_norm_exact": ("matrix",),
    "descent_growth": ("descent",),
    "step_gap_P": ("linear",),
    "state_gap_P": ("linear",),
    **dict.fromkeys(("grad_gap", "grad_gap_mean", "tbptt_gap", "tb_gap"), ("gradient",)),
    **dict.fromkeys(("dphi_w", "dphi_w_gap", "dphi_h_gap", "dp", "dp_gap"), ("gradient",)),
    **dict.fromkeys(("grad_gap_weights", "weight_distance"), ("smooth",)),
    **dict.fromkeys(("w_gap", "w_gap_before", "trained_gap"), ("training",)),
    **dict.fromkeys(("proj_gap", "rescaled_gap", "matrix_gap"), ("projection",)),
    **dict.fromkeys(("proj_distance", "feasible_distance"), ("projection",)),
    **{q.name: ("unitary",) for q in UNITARY if q.name.startswith("unitary_")},
    **dict.fromkeys(("defect_rank", "multiplicity", "multiplicity_any"), ("block",)),
    "W_rank": ("block", "candidate"),
    **dict.fromkeys(("separation", "active", "pattern_constant", "scalar_W"), ("candidate",)),
    "sigmoid_gap": ("sigmoid",),
    **dict.fromkeys(("sample_rank", "sign_classes", "equal_classes", "unit_count"), ("planted",)),
    **dict.fromkeys(("analytic_rank", "analytic_classes"), ("planted",)),
    "dh_dh": ("urnn", "unitary"),
    **dict.fromkeys(("deep_gap", "deep_state_gap", "dh_dh_deep"), ("layered",)),
    **{q.name: ("cascade",) for q in STACKS if q.role == "measured"},
    **dict.fromkeys(("mode_gap", "mode_start"), ("modes",)),
    "power_norm": ("jordan",),
    **{q.name: ("scan",) for q in MEMORY if q.name.startswith(("scan_", "decay_"))},
    **{q.name: GATED for q in GATES if q.role == "measured"},
    **{q.name: OF_CELLS for q in CELLS if q.role == "measured"},
    **dict.fromkeys(("c_size", "wide_gap", "wide_state_gap"), ("lstm",)),
    **dict.fromkeys(("causal_gap", "causal_edge_gap"), FEED_FORWARD),
}
# What the referee may do for each random example of a budget, in rough multiplications.
PATIENCE = 1_200_000
OF_LSTM = (
    "i_bar", "f_bar", "g_bar", "o_bar", "B_c", "tau", "theta", "theta_plain", "omega",
    *(f"W_{gate}_inf" for gate in "ifgo"),
)  # fmt: skip
OF_GRU = ("r_bar", "z_bar", "z_low", "c_n_inf", *(f"W_{gate}_inf" for gate in "rzn"))
# Parameters and constants that only some kinds have.
PARAMETERS: dict[str, tuple[Kind, ...]] = {
    "states": ("unitary", "urnn", "block", "candidate", "sigmoid"),
    **{q.name: ("layered",) for q in LAYERS if q.role != "measured"},
    **{q.name: ("cascade",) for q in STACKS if q.role != "measured"},
    **dict.fromkeys(("decay_max", "log_concave"), ("scan",)),
    "mode_radius": ("modes", "jordan"),
    "mode_real": ("modes",),
    "nilpotency": ("jordan",),
    **dict.fromkeys(OF_LSTM, ("lstm",)),
    **dict.fromkeys(OF_GRU, ("gru", "gru-cho")),
    **{q.name: FEED_FORWARD for q in CAUSAL if q.role == "parameter"},
    **dict.fromkeys(("w_abs", "same_activation", "sigmoidal", "driven"), ("sigmoid",)),
}


@dataclass(frozen=True)
class TypedResult:
    """What became of a typed bound."""

    statement: Statement
    systems: int
    holds: int
    undecided: int
    attack: str | None = None
    counterexample: Check | None = None
    skipped: int = 0

    @property
    def stands(self) -> bool:
        """Whether every check was decided, for the statement, and there were some."""
        return self.attack is None and self.holds > 0 and not self.undecided


def contractive() -> Assumption:
    """λ < 1, as certified."""
    return Assumption(
        "contractive", "the certified λ is below 1", Statement(lam(), "<", sympy.Integer(1))
    )


def typed_assumptions(statement: Statement) -> tuple[Assumption, ...]:
    """What a typed statement presupposes of the systems that it is tested on."""
    given = {*PLAIN, *LEARNING, "unitary"} & set(kinds_of(statement))
    contracts = (contractive(),) if given and "urnn" not in kinds_of(statement) else ()
    return (*contracts, *positive(statement))


def lam() -> sympy.Symbol:
    """The symbol λ."""
    symbol = VOCABULARY["lam"].symbol
    assert isinstance(symbol, sympy.Symbol)
    return symbol


def kinds_of(statement: Statement) -> tuple[Kind, ...]:
    """Which systems a statement can be tested on.

    Raises:
        InputError: it measures nothing, or things that no one system has together.
    """
    names = free_names(statement)
    measured = [name for name in names if VOCABULARY[name].role == "measured"]
    if not measured:
        raise InputError(
            "the statement measures nothing; name a measured quantity, h_gap or h_norm say"
        )
    choices = {KINDS.get(name, (*PLAIN, "gradient")) for name in sorted(measured)}
    choices |= {PARAMETERS[name] for name in names & set(PARAMETERS)}
    kinds = set.intersection(*(set(choice) for choice in choices))
    if {*PLAIN} <= kinds:
        kinds = {*PLAIN}  # a loss adds nothing
    if not kinds:
        asked = ", ".join(sorted({*measured, *names & set(PARAMETERS)}))
        raise InputError(f"no one system has all of {asked}; test them apart")
    return tuple(kind for kind in ORDER if kind in kinds)


def attack_typed(
    statement: Statement,
    *,
    budget: Budget,
    seed: int,
    attacks: tuple[str, ...] = ATTACKS,
    device: str = "cpu",
) -> TypedResult:
    """Attack a typed statement; a counter-example comes back shrunk and explained."""
    kinds = kinds_of(statement)
    lacking = [missing(kind, statement) for kind in kinds]
    if all(lacking):
        raise UnsuppliedError(statement_text(statement), lacking[0][0], kinds)
    assumptions, judged = typed_assumptions(statement), plainer(statement)
    form = Form("typed", statement, assumptions, kinds[0], Proof(()))
    patience = Patience(PATIENCE * budget.random)
    found = hunt(
        judged, assumptions, kinds, [form], budget=budget, seed=seed,
        attacks=[(attack, 1.0) for attack in attacks], label=statement_text(statement),
        device=device, patience=patience,
    )  # fmt: skip
    seen = TypedResult(
        statement, found.systems, found.holds, found.undecided, skipped=patience.skipped
    )
    if found.spec is None:
        return seen
    check = shrink("typed", "typed", judged, assumptions, found.spec)
    return replace(seen, attack=found.attack, counterexample=check)
