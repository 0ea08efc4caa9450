"""The command line: a thin face over the rooms.

Exit codes: 0 all holds; 1 a claim, a certificate or a comparison fails; 2 the call or the input is
wrong, said in one line. (An interrupt is the shell's 130.)
"""

from __future__ import annotations

import sys

import typer

from rnnbounds.shadow import check_rooms

check_rooms()  # before anything that is shadowed is used

from impl.errors import InputError as ImplError  # noqa: E402
from properties.errors import InputError as PropertiesError  # noqa: E402
from reports.errors import InputError as ReportsError  # noqa: E402
from rnnbounds.commands import (  # noqa: E402
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
from theory.errors import InputError as TheoryError  # noqa: E402

INPUT_ERRORS = (ImplError, PropertiesError, ReportsError, TheoryError)
LONGEST = 2_000  # characters of the one line; hostile input can be longer

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


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    command = typer.main.get_command(app)
    try:
        result = command.main(args=arguments, prog_name="rnnbounds", standalone_mode=False)
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


def wrong(message: str) -> int:
    """One line on standard error; exit code 2."""
    line = " ".join(message.split())
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    print(f"rnnbounds: {line}", file=sys.stderr)
    return 2
