"""Commands known by name and first words: what they do is imported when they are called.

The help comes from the source of the command's module, which is read and not run.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

HOME = "rnnbounds.commands"


class LazyCommand(TyperCommand):
    """The command that a function of a module of the commands is, named as in "claims:prove"."""

    def __init__(self, name: str, place: str) -> None:
        self.module, _, self.function = place.partition(":")
        super().__init__(name, help=docstring(self.module, self.function), rich_markup_mode=None)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The call, which is that of the command itself."""
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command(self.name)(getattr(import_module(f"{HOME}.{self.module}"), self.function))
        return typer.main.get_command(app).make_context(info_name, args, parent, **extra)


def group(name: str, help: str, places: Mapping[str, str]) -> TyperGroup:
    """The commands of these places, in that order."""
    commands = {command: LazyCommand(command, place) for command, place in places.items()}
    return TyperGroup(name=name, help=help, commands=cast(Any, commands), rich_markup_mode=None)


def docstring(module: str, function: str) -> str | None:
    """A function's docstring, from its module's source."""
    source = (files(HOME) / f"{module}.py").read_text(encoding="utf-8")
    defined = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return next((ast.get_docstring(node) for node in defined if node.name == function), None)
