"""Commands known by name and first words: what they do is imported when they are called.

The help comes from the source of the command's module, which is read and not run.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from types import ModuleType
from typing import Annotated, Any, cast

import typer

from rnnbounds import __version__
from rnnbounds.shell.help import CONTEXT_SETTINGS, CommandGroup, HelpCommand
from rnnbounds.shell.logs import set_verbosity
from rnnbounds.shell.terminal import echo

COMMANDS_PACKAGE = "rnnbounds.commands"
# Modules whose work is shared among processes, and those that do it again, to the same bits.
PARALLEL_MODULES = ("attacks", "statements")


class LazyCommand(HelpCommand):
    """The command that a function of a module of the commands is, named as in "claims:prove"."""

    def __init__(self, name: str, place: str) -> None:
        self.module, _, self.function = place.partition(":")
        help_text = read_docstring(self.module, self.function)
        super().__init__(
            name, help=help_text, rich_markup_mode=None, context_settings=CONTEXT_SETTINGS
        )

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The call, which is that of the command itself."""
        if self.module in PARALLEL_MODULES:
            from rnnbounds.properties.runs.executors import limit_library_threads

            limit_library_threads()
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        module = import_without_gc(f"{COMMANDS_PACKAGE}.{self.module}")
        epilog = getattr(module, "EPILOG", None)
        app.command(self.name, cls=HelpCommand, context_settings=CONTEXT_SETTINGS, epilog=epilog)(
            getattr(module, self.function)
        )
        return typer.main.get_command(app).make_context(info_name, args, parent, **extra)


def import_without_gc(name: str) -> ModuleType:
    """The module, while no garbage is looked for: what modules make, they keep."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if collects:
            gc.enable()


def command_group(name: str, help: str, epilog: str, places: Mapping[str, str]) -> CommandGroup:
    """The commands of these places, in that order."""
    commands = {command: LazyCommand(command, place) for command, place in places.items()}
    return CommandGroup(
        name=name, help=help, epilog=epilog, commands=cast(Any, commands), rich_markup_mode=None,
        params=_root_options(), context_settings=CONTEXT_SETTINGS,
    )  # fmt: skip


def _root_options() -> list[Any]:
    """Options before any command: the version, completion for the shell, the log."""
    app = typer.Typer(rich_markup_mode=None)

    @app.callback()
    def asked(
        version: Annotated[
            bool,
            typer.Option(
                "--version", is_eager=True, callback=_print_version, help="Print the version."
            ),
        ] = False,
        verbose: Annotated[
            int,
            typer.Option(
                "--verbose",
                "-v",
                count=True,
                callback=_set_verbosity,
                help="Log what is done on standard error; -vv each detail.",
            ),
        ] = 0,
    ) -> None:
        """Nothing by itself."""

    return list(typer.main.get_command(app).params)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        echo(f"rnnbounds {__version__}")
        raise typer.Exit


def _set_verbosity(count: int) -> None:
    set_verbosity(count)


def read_docstring(module: str, function: str) -> str | None:
    """A function's docstring, from its module's source."""
    source = (files(COMMANDS_PACKAGE) / f"{module.replace('.', '/')}.py").read_text(
        encoding="utf-8"
    )
    defined = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return next((ast.get_docstring(node) for node in defined if node.name == function), None)
