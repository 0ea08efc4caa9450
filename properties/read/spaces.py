"""The spaces of vectors and operators, by their terms: which values they have, and of what."""

from __future__ import annotations

from rnnbounds.properties.read.ground_terms import Term, is_number

STATES, SHOWN, NUMBERS = "states", "outputs", "numbers"
WEIGHTS, INPUTS = "weights", "inputs"
Space = tuple[str, str | None]  # of the values, and of the arguments, which vectors do not have
OPERATORS: dict[str, Space] = {
    "d_state": (STATES, STATES), "d_run": (STATES, STATES),
    "d_weights": (STATES, WEIGHTS), "sensitivity": (STATES, WEIGHTS), "recent": (STATES, WEIGHTS),
    "d_input": (STATES, INPUTS), "jacobian": (STATES, INPUTS), "d_loss": (NUMBERS, STATES),
    "W": (STATES, STATES),
    **dict.fromkeys(("P_root", "D", "V", "P_c", "P_h", "V_unit"), (SHOWN, STATES)),
}  # fmt: skip
# Of a boxed state, the joint one of a gated cell, all is measured.
OUTPUT_HEADS = (
    "boxed", "readout", "gradient", "w", "w_other", "project", "vec_A", "vec_B", "vec_Z",
)  # fmt: skip


def term_space(term: Term) -> Space:
    """The space of a term's values and arguments; a state unless listed otherwise."""
    head, *arguments = term
    parts = [argument for argument in arguments if not is_number(argument)]
    if head in ("+", "-"):
        return next(
            filter(lambda one: one[0] == STATES, map(term_space, parts)), term_space(parts[0])
        )
    if head == "gated_run" and parts[0] == ("boxed", *parts[0][1:]):
        return SHOWN, None
    if head == "*":
        return term_space(parts[0])[0], term_space(parts[-1])[1]
    return OPERATORS.get(head, (SHOWN if head in OUTPUT_HEADS else STATES, None))
