"""Help as wide as the terminal: no summary is cut, and no word is broken at its hyphen.

Names and options can be copied from it, and the exit code that ends a summary is always there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from rnnbounds.shell.retired import RetiredError, command_message

if TYPE_CHECKING:
    from typer._click.formatting import HelpFormatter
else:
    HelpFormatter = typer.Context.formatter_class  # wherever typer keeps it

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": sys.maxsize}
NO_BREAK = "\N{NON-BREAKING HYPHEN}"  # stands for each hyphen while lines are filled
_KIND = re.compile(r"<(?:list\[)?(\w+)(?:\]| range)>")  # Python's name of what is typed


class HelpText(HelpFormatter):
    """Fills lines at spaces alone."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The line that begins the help."""
        super().write_usage(_unbroken(prog), _unbroken(args), prefix)

    def write_text(self, text: str) -> None:
        """Paragraphs."""
        super().write_text(_unbroken(text))

    def write_dl(self, rows: Sequence[tuple[str, str]], *spacing: Any, **named: Any) -> None:
        """Options, or commands, each with what it is."""
        entries = [(_unbroken(_KIND.sub(r"<\1>", name)), _unbroken(text)) for name, text in rows]
        super().write_dl(entries, *spacing, **named)

    def getvalue(self) -> str:
        """All that was written."""
        return super().getvalue().replace(NO_BREAK, "-")


class HelpContext(typer.Context):
    """A call whose help is formatted so."""

    formatter_class = HelpText


class HelpCommand(TyperCommand):
    """A command with such a help."""

    context_class = HelpContext


class CommandGroup(TyperGroup):
    """Commands with such a help, of which the first paragraph stands in the list, whole."""

    context_class = HelpContext

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([
                (name, " ".join((command.help or "").partition("\n\n")[0].split()))
                for name, command in self.commands.items()
            ])  # fmt: skip

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named; raises RetiredError for one that is gone."""
        if args and args[0] not in self.commands and (gone := command_message(args[0])):
            raise RetiredError(gone)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command the help goes to standard error, with exit code 2: a script whose
        command got lost has shown nothing."""
        if args or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if sys.stderr is not None:
            with suppress(OSError):
                print(ctx.get_help(), file=sys.stderr, flush=True)
        raise typer.Exit(2)


def _unbroken(text: str) -> str:
    return text.replace("-", NO_BREAK)
