"""Replay: one check again, from the spec that a failure or a page printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from rnnbounds.impl.gradients.windows.rollout import states
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.models.torch_machine import require_sound
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.judging.evidence import check_record
from rnnbounds.properties.judging.judge import (
    Judgement,
    Verdict,
    closeness_note,
    enclose_quantities,
    has_windows,
    judge,
    quantity_names,
)
from rnnbounds.properties.systems.batch import Batch, build_batch
from rnnbounds.properties.systems.causal import batch_modules
from rnnbounds.properties.systems.cells.batch import cells_of
from rnnbounds.properties.systems.draws import Array
from rnnbounds.properties.systems.exact.members import rational_strings
from rnnbounds.properties.systems.exact.networks import exact_members, is_vanilla
from rnnbounds.properties.systems.kind import kind_of_spec
from rnnbounds.properties.systems.other_inputs import other_inputs
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import kinds_about, parse_spec
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.records.checks import Check
from rnnbounds.theory import claim as claim_of
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof.claim import Assumption, Statement

LARGEST_DUMP = 2**24  # numbers: 128 MiB
TYPED = "typed"  # in place of a claim and its form: a statement that the user typed


@dataclass(frozen=True)
class ReplayedPair:
    """The checks of one pair, one for each window.

    constants: the numbers and certified bounds of both sides by the vocabulary's names, one value,
    or one for each window.
    """

    batch: Batch
    checks: tuple[Check, ...]
    constants: Mapping[str, Array]


def find_statement(claim: str, form: str) -> tuple[Statement, tuple[Assumption, ...]]:
    """The statement of a claim's form or of one of its false variants.

    Raises:
        UnknownClaimError: neither is there.
    """
    found_claim = claim_of(claim)
    for variant in found_claim.false_variants:
        if variant.id == form:
            return variant.statement, variant.assumptions
    chosen_form = found_claim.form(form) if form else found_claim.forms[0]
    return chosen_form.statement, chosen_form.assumptions


def require_kind(spec: SystemSpec, claim: str, form: str) -> None:
    """Raise SpecError unless the claim's form, or its false variant, is about systems of the spec's
    kind."""
    found = claim_of(claim)
    variants = {variant.id: variant.form for variant in found.false_variants}
    about = found.form(variants.get(form, form)).about
    if spec.kind not in {kind.name for kind in kinds_about(about)}:
        raise SpecError(f"{claim} ({form}) is about {about} systems, and this one is {spec.kind}")


@isolated()
def replay(
    spec: SystemSpec | str, statement: Statement, assumptions: tuple[Assumption, ...],
    claim: str = TYPED, form: str = TYPED,
) -> ReplayedPair:  # fmt: skip
    """Rebuild one pair and judge it again.

    Raises:
        SpecError: the spec is not one, it names a whole batch, or the form is not about its kind.
    """
    require_sound()
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    if claim != TYPED:
        require_kind(spec, claim, form)
    if spec.values is None:
        spec = spec.select_pair(0 if spec.batch == 1 else -1, 0 if spec.sequences == 1 else -1)
        if -1 in (spec.member, spec.sequence):
            raise SpecError("the spec names a whole batch: give its member and sequence")
    batch = build_batch(spec)
    judgement = judge(statement, assumptions, batch, always_measured=True)
    is_windowed = has_windows(statement)
    checks = tuple(
        check_record(
            claim, form, spec, k if is_windowed else None, Verdict(int(judgement.verdicts[0, 0,
            k])),
            (judgement.lhs.lo[0, 0, k], judgement.lhs.hi[0, 0, k]),
            (judgement.rhs.lo[0, 0, k], judgement.rhs.hi[0, 0, k]),
            verdict_note(statement, assumptions, batch, judgement, k),
        )
        for k in range(judgement.verdicts.shape[2])
    )  # fmt: skip
    return ReplayedPair(batch, checks, statement_constants(statement, batch))


def verdict_note(
    statement: Statement, assumptions: Sequence[Assumption], batch: Batch, judgement: Judgement,
    k: int,
) -> str:  # fmt: skip
    """The assumptions that a VACUOUS check of a pair does not certainly meet, and the constants
    that it lacks; what decided a violation that float64 does not show; else nothing."""
    verdict, lhs, rhs = judgement.entry((0, 0, k))
    if verdict == Verdict.VIOLATED:
        return closeness_note(statement, batch, k, lhs, rhs)
    conditions = {a.id: statement_text(a.condition) for a in assumptions if a.condition is not None}
    missed = (
        conditions.get(name, f"a {name}")
        for name, mask in judgement.unmet.items()
        if np.broadcast_to(mask, judgement.verdicts.shape)[0, 0, k]
    )
    texts = ", ".join(dict.fromkeys(missed))
    return f"not met: {texts}" if texts else ""


def statement_constants(statement: Statement, batch: Batch) -> dict[str, Array]:
    """The parameters and certified constants in a statement, as it is judged on a pair."""
    roles = {name: VOCABULARY[name].role for name in sorted(quantity_names(statement) - {"k"})}
    unmeasured = {name for name, role in roles.items() if role != "measured"}
    return {name: side.hi.squeeze() for name, side in enclose_quantities(batch, unmeasured).items()}


def dump_system(replayed: ReplayedPair, path: Path) -> None:
    """Write the system, x, the constants, the trajectories and both sides by k to an .npz file,
    atomically.

    state_a and state_b are two drawn states, of claims about one step: they are not on a
    trajectory.

    W, U and b of a gated cell are stacked as torch's are, and b_hh is the second bias; of a causal
    model there are the module's own parameters by name.
    Where there are any: the loss's target y, the second weights W_other, U_other and b_other, the
    second inputs x_other, and of training the step size and the radii of the set that it projects
    onto. An exact system comes with every rational as a string p/q too, under exact_W and the like:
    it is what was judged.
    """
    import io

    batch = replayed.batch
    arrays = {
        **replayed.constants,
        **{name: weights[0].numpy() for name, weights in batch.weights.items()},
        "C": batch.C[0].numpy(),
        "x": batch.x[0, :, :, 0].numpy(),
        "state_a": batch.h[0, :, 0].numpy(),
        "state_b": batch.h_other[0, :, 0].numpy(),
        "lhs": np.array([float(check.lhs) for check in replayed.checks]),
        "rhs": np.array([float(check.rhs) for check in replayed.checks]),
        "k": np.array([-1 if check.k is None else check.k for check in replayed.checks]),
    }
    if kind_of_spec(batch.spec).family == "causal":
        (module,) = batch_modules(batch)
        for name in ("C", "state_a", "state_b", *batch.weights):
            del arrays[name]
        arrays |= {name: weights.numpy() for name, weights in module.named_parameters()}
    elif cells_of(batch) is None:
        arrays["activation"] = np.array(batch.spec.activation)
        arrays |= trajectories(batch, any(check.k is not None for check in replayed.checks))
    if batch.y is not None:
        arrays["y"] = batch.y[0].numpy()
    if batch.other is not None:
        others = {"W_other": batch.other.W, "U_other": batch.other.U, "b_other": batch.other.b}
        arrays |= {name: other[0].numpy() for name, other in others.items()}
    if other_inputs in batch.readings:
        arrays["x_other"] = other_inputs(batch)[0, :, :, 0].numpy()
    if batch.spec.kind == "training":
        omega = batch.omega
        arrays["step_size"] = batch.step_size.reshape(-1)
        arrays["radii"] = np.array([float(r[0]) for r in (omega.W, omega.U, omega.b)])
    for member in exact_members(batch):
        tables = member.tables().items()
        arrays |= {f"exact_{name}": np.array(rational_strings(table)) for name, table in tables}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    write_atomic(path, buffer.getvalue())


def trajectories(batch: Batch, windows: bool) -> dict[str, Array]:
    """`states` (T+1, n): h_0 … h_T; with ``windows``, `states_truncated` (K+1, T+1, n): row k is
    zero up to time T − k and then runs on the last k inputs. In float64, from the zero state.

    Nothing of other systems; `states_truncated` is left out where it has more
    than 2^24 numbers.
    """
    if not is_vanilla(batch):
        return {}
    arrays = {"states": states(batch.cell, batch.x)[0, :, :, 0].numpy()}
    if windows and (batch.K + 1) * arrays["states"].size <= LARGEST_DUMP:
        arrays["states_truncated"] = truncated_states(batch)
    return arrays


@torch.no_grad()
def truncated_states(batch: Batch) -> Array:
    """(K+1, T+1, n): all windows as columns, which leave zero one after another."""
    K, T, n = batch.K, batch.spec.T, batch.cell.n
    states_by_window = np.zeros((K + 1, T + 1, n))
    columns = torch.zeros(1, n, K + 1, dtype=torch.float64)
    for t in range(T - K, T):
        after = batch.cell.step(columns, batch.x[:, t].expand(-1, -1, K + 1))
        columns[:, :, T - t :] = after[:, :, T - t :]
        states_by_window[:, t + 1] = columns[0].T.numpy()
    return states_by_window
