"""Reads a statement with side conditions: `h_gap <= S_0*lam**k, k >= 1, k < T`.

A side condition compares k, T and lam with numbers or with one another; it is read by the same
whitelist as the statement.
"""

from __future__ import annotations

from dataclasses import dataclass

from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.language.parse import MAX_LENGTH, parse_statement
from rnnbounds.theory.language.printing import statement_text
from rnnbounds.theory.language.statement import Statement
from rnnbounds.theory.language.vocabulary import VOCABULARY

NAMES = ("k", "T", "lam")
MAX_CONDITIONS = 8


@dataclass(frozen=True)
class ConditionalStatement:
    """A statement, and conditions on k, T and lam: only checks that meet all of them count."""

    statement: Statement
    conditions: tuple[Statement, ...] = ()

    @property
    def text(self) -> str:
        """Statement and conditions by the vocabulary's names; reads back as the same."""
        return ", ".join(map(statement_text, (self.statement, *self.conditions)))


def parse_conditional(text: str) -> ConditionalStatement:
    """The statement before the first comma outside of brackets, with the conditions behind it.

    Raises:
        StatementError: the statement or a condition cannot be read, a condition names something
            other than k, T and lam, or nothing, or k where the statement has no windows, or there
            are more than MAX_CONDITIONS of them.
    """
    statement_text, *condition_texts = split_at_commas(text) if len(text) <= MAX_LENGTH else [text]
    if len(condition_texts) > MAX_CONDITIONS:
        raise StatementError(
            f"{len(condition_texts)} side conditions; at most {MAX_CONDITIONS} are read"
        )
    statement = parse_statement(statement_text)
    return ConditionalStatement(
        statement,
        tuple(parse_condition(condition_text, statement) for condition_text in condition_texts),
    )


def split_at_commas(text: str) -> list[str]:
    """Split the text at commas that are outside of brackets."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces


def parse_condition(text: str, statement: Statement) -> Statement:
    """Parse one side condition, which may name k, T and lam alone."""
    compared = parse_statement(text)
    names = {symbol.name for symbol in compared.symbols}
    if not names or not names <= set(NAMES):
        raise StatementError(
            f"the side condition {text.strip()[:60]!r} may compare {', '.join(NAMES)} with numbers "
            "or with one another, and nothing else"
        )
    if "k" in names and not any(VOCABULARY[s.name].windowed for s in statement.symbols):
        raise StatementError(
            f"the side condition {text.strip()[:60]!r} names k, and the statement has no windows; "
            "leave it out"
        )
    return compared
