"""The frozen records of a proof, which the engine reads, and of which it calls nothing.

A subclass of one of them is none: it would answer for itself.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from types import NoneType
from typing import Any

from sympy import Basic, Symbol

from rnnbounds.theory.errors import InputError, StatementError
from rnnbounds.theory.kernel.terms import Gap
from rnnbounds.theory.language import Assumption, Axiom, Clause, Instance, Law, Statement
from rnnbounds.theory.language.definitions import Definition
from rnnbounds.theory.language.printing import plain_text, statement_text
from rnnbounds.theory.language.terms.trees import foreign
from rnnbounds.theory.language.terms.variables import w, w_other
from rnnbounds.theory.language.vocabulary import DEFINITIONS
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.methods import COMPOSITE, DIRECT, Method
from rnnbounds.theory.proof.methods.base import use_name

_ENGINE = Path(__file__).parent
_ROOT = _ENGINE.parents[1]


def _caller_location() -> str:
    """FILE:LINE of what makes a step, beyond the engine; the file from the folder of the rooms."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_engine_file(frame.f_code.co_filename):
        frame = frame.f_back
    path = Path(frame.f_code.co_filename)
    known = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else Path(path.name)
    return f"{known.as_posix()}:{frame.f_lineno}"


@cache
def _is_engine_file(file: str) -> bool:
    """True if the file is the proof engine's, or a dataclass's generated code."""
    return file.startswith("<") or Path(file).is_relative_to(_ENGINE)


@dataclass(frozen=True)
class Step:
    """One conclusion, for all values of the variables `forall` for which `given` holds.

    `location` is the file and the line where the step is written.
    """

    id: str
    conclusion: Statement
    method: Method
    forall: tuple[Symbol, ...] = ()
    given: tuple[Statement, ...] = ()
    location: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.method, Method):
            raise StatementError(f"step {self.id!r} names no method of proof; prose proves nothing")
        if not self.location:
            object.__setattr__(self, "location", _caller_location())

    @cached_property
    def use_names(self) -> tuple[str, ...]:
        """The names of all that the step uses; measured quantities are unfolded to their terms."""
        measured = sorted(s.name for s in self.conclusion.symbols if s in DEFINITIONS)
        return tuple(dict.fromkeys([*map(use_name, self.method.uses), *measured]))

    @cached_property
    def text(self) -> str:
        """The conclusion, in plain text."""
        return statement_text(self.conclusion)

    @cached_property
    def quantifier(self) -> str:
        """For which values it is stated: `for all j, if 0 <= y`; empty for what is closed."""
        variables = f"for all {', '.join(map(plain_text, self.forall))}" if self.forall else ""
        premises = f"if {' and '.join(map(statement_text, self.given))}" if self.given else ""
        return ", ".join(filter(None, (variables, premises)))

    @property
    def law(self) -> Law:
        """Law that later steps may use: conclusion and premises."""
        return Law(self.id, self.forall, (Clause(self.conclusion, self.given),))


@dataclass(frozen=True)
class Proof:
    """Steps in order; the last one concludes the claim."""

    steps: tuple[Step, ...]

    @property
    def conclusion(self) -> Statement:
        """Conclusion of the last step."""
        return self.steps[-1].conclusion


@dataclass(frozen=True)
class Lemma(Law):
    """The proved conclusion of another claim, for all values of the given lengths; it has no
    clauses but those that the kernel makes of what was proved, and its assumptions go with it.

    A law that it assumes is granted, or stated by what the step uses by name.  With `weight_set` it
    is used of all weights of a set, and so is what it assumes.
    """

    assumptions: tuple[Assumption, ...]
    goal: Statement
    proof: Proof
    weight_set: WeightSet | None = None

    @property
    def lengths(self) -> tuple[Symbol, ...]:
        """The law's variables without the weights w and w′: lengths of runs."""
        weights = () if self.weight_set is None else (w, w_other)
        return tuple(variable for variable in self.variables if variable not in weights)


# By identity: a class may say that it equals another one.
RECORDS = frozenset(map(id, (
    Assumption, Axiom, Clause, Definition, Instance, Law, Lemma, Proof, Statement, Step, WeightSet,
    *DIRECT, *COMPOSITE,
)))  # fmt: skip
PLAIN = frozenset(map(id, (str, int, float, NoneType, bool)))


def copied(*values: object, records: frozenset[int] = RECORDS) -> tuple[Any, ...]:
    """The records, at all depths, made anew by their own constructors from their fields.

    Nobody else has the copies, so that what is found out about them stays true. Raises Gap for what
    is no record of the list.
    """
    made: dict[int, Any] = {}
    read = object.__getattribute__  # what the value keeps, of whatever kind its `__dict__` is

    def copy(value: Any) -> Any:
        kind = type(value)
        if id(value) in made or id(kind) in PLAIN:
            return made.get(id(value), value)
        if kind is tuple:
            return tuple(map(copy, value))
        if id(kind) not in records:
            if own := foreign(value) if isinstance(value, Basic) else kind.__name__:
                raise Gap(f"a {own} is no record that the engine knows")
            made[id(value)] = value
        else:
            parts = {one.name: read(value, one.name) for one in fields(kind)}
            if kind is Assumption and type(parts["law"]) not in (Law, NoneType):
                raise Gap(f"{parts['id']!r} assumes what is to be proved; state a law of its own")
            if kind is Lemma and type(parts["proof"]) is not Proof:
                raise Gap(f"{parts['id']!r} has no proof")
            if not all(type(parts[name]) in DIRECT for name in COMPOSITE.get(kind, ())):
                raise Gap(f"a part of an {kind.__name__} is no direct method")
            parts = {name: copy(part) for name, part in parts.items()}
            try:
                made[id(value)] = kind(*parts["hypotheses"]) if kind in DIRECT else kind(**parts)
            except InputError as error:
                raise Gap(str(error)) from error
        return made[id(value)]

    return tuple(map(copy, values))
