"""Counter-models that tell more: lengths are numbers in them, and so powers are powers."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

from rnnbounds.theory.kernel import smt
from rnnbounds.theory.kernel.statements import Clause, Statement
from rnnbounds.theory.kernel.terms import Gap, number
from rnnbounds.theory.kernel.translate import Translation

LENGTHS = (3, 2, 1, 0, 8, 16)  # where counter-models are looked for
MOST = 3


@smt.explains
def at_small_lengths(goal: Statement, facts: tuple[Clause, ...]) -> str:
    """A counter-model in which lengths are integers and so powers are powers; empty if none."""
    variables = goal.variables.union(*(s.variables for s in smt.statements(facts)))
    lengths = sorted((one for one in variables if one.whole), key=lambda one: one.key)
    undecided = 0
    for numbers in product(LENGTHS, repeat=len(lengths)) if len(lengths) <= MOST else ():
        values = {one: number(n) for one, n in zip(lengths, numbers, strict=True)}
        with suppress(Gap):
            instance = goal.replace(values)
            known = tuple(fact.replace(values) for fact in facts)
            query = Translation([instance, *smt.statements(known)])
            stated, negated = smt.formulas(query, instance, known)
            formulas = [*stated, *query.told, *smt.meanings(query, stated), negated]
            found = smt.decide(query, formulas, "a counter-model at small lengths", True)
            if found.verdict == "sat":
                at = [f"{one} = {n}" for one, n in values.items()]
                return ", ".join([*at, smt.values(query, found)])
            undecided += found.verdict == "unknown"
            if undecided >= MOST:
                break  # others may take as long
    return ""
