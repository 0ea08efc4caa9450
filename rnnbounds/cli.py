"""The command line: a thin face over the rooms.

Exit codes: 0 all holds; 1 a claim, a certificate or a comparison fails; 2 the call or the input is
wrong, said in one line.
"""

from __future__ import annotations

import sys

import typer

from impl.errors import InputError as ImplError
from properties.errors import InputError as PropertiesError
from reports.errors import InputError as ReportsError
from rnnbounds.commands import attacks, claims, experiments, machine, models, pages
from theory.errors import InputError as TheoryError

INPUT_ERRORS = (ImplError, PropertiesError, ReportsError, TheoryError)

app = typer.Typer(
    name="rnnbounds",
    help="Verification and property testing of bounds on stable recurrent networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)
for commands in (claims, attacks, models, pages, experiments, machine):
    commands.register(app)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    command = typer.main.get_command(app)
    try:
        result = command.main(args=arguments, prog_name="rnnbounds", standalone_mode=False)
    except INPUT_ERRORS as error:
        return wrong(str(error))
    except typer.TyperException as error:
        return wrong(error.format_message())
    except typer.Abort:
        return wrong("interrupted")
    except OSError as error:
        return wrong(f"{error.filename or 'a file'}: {error.strerror}; choose another path")
    return int(result or 0)


def wrong(message: str) -> int:
    """One line on standard error; exit code 2."""
    print(f"rnnbounds: {' '.join(message.split())}", file=sys.stderr)
    return 2
