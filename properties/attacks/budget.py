"""How much each profile attacks: counts, never seconds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from properties.errors import UnknownChoiceError
from properties.judging.judge import free_names
from properties.systems.kinds import CERTIFIED_KINDS
from theory.language.claim import Form

ATTACKS = ("random", "targeted", "gradient", "extremal")


@dataclass(frozen=True)
class Budget:
    """Examples of each attack; an example is one batch of systems with some sequences each.

    ``minimal`` says that ledgers are searched for hypotheses that they do not need.
    """

    random: int
    targeted: int
    gradient: int
    ascent: int
    batch: int
    sequences: int
    minimal: bool = True


PROFILES: dict[str, Budget] = {
    "quick": Budget(
        random=50, targeted=25, gradient=6, ascent=100, batch=48, sequences=12, minimal=False
    ),
    "ci": Budget(random=120, targeted=50, gradient=8, ascent=150, batch=48, sequences=8),
    "deep": Budget(random=4000, targeted=1000, gradient=60, ascent=400, batch=64, sequences=8),
}

# Quantities that the referee alone can read, or that are read module by module: smaller batches.
COSTLY = {
    "h_rounding": (4, 2),
    "W_norm_exact": (16, 1),
    "forward_gap": (4, 2),
    "field_gap": (4, 2),
    "edge_gap": (4, 2),
    "padding_gap": (4, 2),
    "recurrent_gap": (4, 2),
    "causal_gap": (2, 2),
    "causal_edge_gap": (2, 2),
    "dh_dx": (16, 2),
    "lam_P": (8, 8),
    "kappa": (8, 8),
    "lam_D": (24, 8),
    "lam_v": (24, 8),
    "W_radius": (8, 8),
    "L_w_P": (8, 2),
    "L_w_v": (16, 2),
    "grad_gap_mean": (16, 2),
    "dphi_h_gap": (16, 2),
    "dphi_w_gap": (16, 4),
    "w_gap": (16, 1),
    "trained_gap": (16, 1),
    "beta_ends": (4, 1),
    "proj_gap": (16, 1),
    "proj_distance": (16, 1),
    "rescaled_gap": (16, 1),
    "unitary_gap": (24, 2),
    "unitary_gap_unbiased": (24, 2),
    "unitary_gap_undamped": (24, 2),
    "unitary_gap_unstarted": (24, 2),
    "unitary_gap_scant": (24, 2),
    "unitary_gap_rescaled": (24, 2),
    "dh_dh": (16, 2),
    "separation": (16, 1),
    "sigmoid_gap": (16, 1),
    "sample_rank": (16, 1),
    "gate_gap": (12, 8),
    "gate_gap_w": (12, 8),
    "gate_gap_box": (12, 8),
    "wide_gap": (12, 8),
    "h_size": (12, 8),
    "c_size": (12, 8),
    "run_gap": (12, 8),
    "S_0_box": (16, 2),
    "C_box": (16, 2),
    "L_w_box": (8, 1),
    "L_w_omega": (24, 2),
}
# Readings that cost no less for a few systems than for many: more systems, one sequence each.
ROOMY = {
    "grad_gap": (448, 1), "tbptt_gap": (128, 1), "tb_gap": (128, 1),
    "unitary_gap_beyond": (48, 1), "unitary_defect": (48, 1), "defect_rank": (48, 1),
    "multiplicity": (48, 1),
}  # fmt: skip
# A certificate costs more than what runs on its model.
OF_CERTIFIED = (2, 6)
# Forms that speak of these are attacked apart, so that they do not slow down the claim's others.
APART = {"grad_gap_mean", "L_w_P", "L_w_v"}
# The main claim is attacked on more systems than the others, the costly one on fewer.
EMPHASIS = {
    "truncation": 6.0, "contraction-weighted": 0.4, "gradient-gap": 3, "urnn-equivalence": 2,
    "urnn-gradient": 0.6, "urnn-tight": 2, "contraction-lstm": 0.4, "contraction-gru": 0.4,
    "receptive-field": 0.75, "certificate": 0.6,
}  # fmt: skip


def profile(name: str) -> Budget:
    """The budget of a profile.

    Raises:
        UnknownChoiceError: no such profile.
    """
    if name not in PROFILES:
        raise UnknownChoiceError("profile", name, tuple(PROFILES))
    return PROFILES[name]


def check_attacks(names: Iterable[str]) -> tuple[str, ...]:
    """The attacks in their own order, each once.

    Raises:
        UnknownChoiceError: an unknown attack, or none at all.
    """
    chosen = set(names)
    for name in sorted(chosen - set(ATTACKS)) or ([] if chosen else [""]):
        raise UnknownChoiceError("attack", name, ATTACKS)
    return tuple(name for name in ATTACKS if name in chosen)


def batch_size(budget: Budget, forms: Iterable[Form]) -> tuple[int, int]:
    """(systems, sequences) of one example, as small as the costliest quantity asks."""
    forms = tuple(forms)
    names = set().union(*map(names_of, forms))
    batch, sequences = budget.batch, budget.sequences
    if any(form.about in CERTIFIED_KINDS for form in forms):
        return OF_CERTIFIED
    for name in sorted(names & set(ROOMY)):
        scale = budget.batch / PROFILES["quick"].batch
        batch, sequences = max(1, round(ROOMY[name][0] * scale)), ROOMY[name][1]
    for name in sorted(names & set(COSTLY)):
        batch, sequences = min(batch, COSTLY[name][0]), min(sequences, COSTLY[name][1])
    return batch, sequences


def names_of(form: Form) -> set[str]:
    """What a form and its assumptions speak of."""
    conditions = [a.condition for a in form.assumptions if a.condition is not None]
    return free_names(form.statement, *conditions)


def apart(form: Form) -> bool:
    """Whether a form is attacked apart from its claim's others."""
    return bool(APART & names_of(form))
