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
from rnnbounds.shell.help import SETTINGS, Command, Group
from rnnbounds.shell.logs import verbosity
from rnnbounds.shell.terminal import echo

HOME = "rnnbounds.commands"
# Modules whose work is shared among processes, and those that do it again, to the same bits.
SHARED = ("attacks", "statements")


class LazyCommand(Command):
    """The command that a function of a module of the commands is, named as in "claims:prove"."""

    def __init__(self, name: str, place: str) -> None:
        self.module, _, self.function = place.partition(":")
        about = docstring(self.module, self.function)
        super().__init__(name, help=about, rich_markup_mode=None, context_settings=SETTINGS)

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The call, which is that of the command itself."""
        if self.module in SHARED:
            from rnnbounds.properties.runs.executors.processes import limit_library_threads

            limit_library_threads()
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        module = imported(f"{HOME}.{self.module}")
        epilog = getattr(module, "EPILOG", None)
        app.command(self.name, cls=Command, context_settings=SETTINGS, epilog=epilog)(
            getattr(module, self.function)
        )
        return typer.main.get_command(app).make_context(info_name, args, parent, **extra)


def imported(name: str) -> ModuleType:
    """The module, while no garbage is looked for: what modules make, they keep."""
    looking = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if looking:
            gc.enable()


def group(name: str, help: str, epilog: str, places: Mapping[str, str]) -> Group:
    """The commands of these places, in that order."""
    commands = {command: LazyCommand(command, place) for command, place in places.items()}
    return Group(
        name=name, help=help, epilog=epilog, commands=cast(Any, commands), rich_markup_mode=None,
        params=_options(), context_settings=SETTINGS,
    )  # fmt: skip


def _options() -> list[Any]:
    """Options before any command: the version, completion for the shell, the log."""
    app = typer.Typer(rich_markup_mode=None)

    @app.callback()
    def asked(
        version: Annotated[
            bool,
            typer.Option("--version", is_eager=True, callback=_version, help="Print the version."),
        ] = False,
        verbose: Annotated[
            int,
            typer.Option(
                "--verbose",
                "-v",
                count=True,
                callback=_verbose,
                help="Log what is done on standard error; -vv each detail.",
            ),
        ] = 0,
    ) -> None:
        """Nothing by itself."""

    return list(typer.main.get_command(app).params)


def _version(asked: bool) -> None:
    if asked:
        echo(f"rnnbounds {__version__}")
        raise typer.Exit


def _verbose(count: int) -> None:
    verbosity(count)


def docstring(module: str, function: str) -> str | None:
    """A function's docstring, from its module's source."""
    source = (files(HOME) / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    defined = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return next((ast.get_docstring(node) for node in defined if node.name == function), None)
