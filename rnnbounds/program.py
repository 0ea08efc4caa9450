"""The program behind the command line: a thin face over the rooms, which it imports."""

from __future__ import annotations

import typer

from impl.errors import InputError as ImplError
from properties.errors import InputError as PropertiesError
from reports.errors import InputError as ReportsError
from rnnbounds.commands import (
    attacks,
    claims,
    experiments,
    machine,
    matrix,
    models,
    pages,
    statements,
    unitary,
)
from rnnbounds.terminal import flush, wrong
from theory.errors import InputError as TheoryError

INPUT_ERRORS = (ImplError, PropertiesError, ReportsError, TheoryError)

app = typer.Typer(
    name="rnnbounds",
    help="Verification and property testing of bounds on stable recurrent networks.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)
FAMILIES = (claims, attacks, statements, models, unitary, pages, matrix, experiments, machine)
for commands in FAMILIES:
    commands.register(app)


def call(arguments: list[str] | None) -> int:
    """Run a command and return its exit code."""
    command = typer.main.get_command(app)
    try:
        result = command.main(args=arguments, prog_name="rnnbounds", standalone_mode=False)
        flush()
    except INPUT_ERRORS as error:
        return wrong(str(error))
    except typer.TyperException as error:
        return wrong(usage(error))
    except typer.Abort:
        return wrong("interrupted; run it again")
    except OSError as error:
        return wrong(f"{error.filename or 'a file'}: {error.strerror}; choose another path")
    except UnicodeError:
        return wrong("a name is not valid text here; rename the file or set PYTHONUTF8=1")
    except MemoryError:
        return wrong("this needs more memory than there is; take a smaller system")
    return int(result or 0)


def usage(error: typer.TyperException) -> str:
    """What is wrong with the call, and where to read how it goes."""
    context = getattr(error, "ctx", None)
    where = "rnnbounds" if context is None else context.command_path
    return f"{error.format_message().rstrip('.')}; see '{where} --help'"
