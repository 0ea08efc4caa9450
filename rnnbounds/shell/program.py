"""The program behind the command line: a thin face over the rooms, which its commands import."""

from __future__ import annotations

import sys

import typer

from rnnbounds.shell.imports import import_message
from rnnbounds.shell.lazy import command_group
from rnnbounds.shell.logs import log_to_stderr
from rnnbounds.shell.retired import RetiredError, option_message
from rnnbounds.shell.terminal import fail_with, flush

COMMANDS = {
    "claims": "proofs.claims:claims",
    "prove": "proofs.prove:prove",
    "verify": "attacks:verify",
    "attack": "statements:attack",
    "replay": "statements:replay",
    "certify": "models.certify:certify_model",
    "measure": "models.measure:measure_model",
    "truncate": "models.truncate:truncate_model",
    "unitary": "models.unitary:unitary_model",
    "check": "check:check_file",
    "report": "compare:report",
    "guard": "models.guard:guard",
    "compare": "compare:compare",
    "experiment": "experiments:experiment",
}
ROOMS = ("theory", "impl", "properties", "reports")
PURPOSE = "Verification and property testing of bounds on stable recurrent networks."
EPILOG = """
\b
Exit codes:
  0         all holds
  1         a claim, a certificate or a comparison fails
  2         the call or the input is wrong; one line says why
  130, 143  SIGINT or SIGTERM ended it
"""


def run_command(arguments: list[str] | None) -> int:
    """Run a command and return its exit code."""
    command = command_group("rnnbounds", PURPOSE, EPILOG, COMMANDS)
    try:
        with log_to_stderr():
            result = command.main(args=arguments, prog_name="rnnbounds", standalone_mode=False)
        flush()
    except input_errors() as error:
        return fail_with(str(error))
    except typer.TyperException as error:
        return fail_with(usage_message(error))
    except typer.Abort:
        return fail_with("interrupted; run it again")
    except OSError as error:
        return fail_with(f"{error.filename or 'a file'}: {error.strerror}; choose another path")
    except UnicodeDecodeError:
        return fail_with("a file is not UTF-8; save it as UTF-8, or name another file")
    except UnicodeError:
        return fail_with("a name is not valid text here; rename the file or set PYTHONUTF8=1")
    except MemoryError:
        return fail_with("there is not enough memory for this; take a smaller system")
    except ImportError as error:
        return fail_with(import_message(error))
    return int(result or 0)


def input_errors() -> tuple[type[Exception], ...]:
    """The errors of rooms for what they were given, of those that are loaded, and RetiredError."""
    loaded = [sys.modules.get(f"rnnbounds.{room}.errors") for room in ROOMS]
    return RetiredError, *(module.InputError for module in loaded if module is not None)


def usage_message(error: typer.TyperException) -> str:
    """Message of a call that is wrong, in one line that ends with its --help command."""
    context = getattr(error, "ctx", None)
    command_path = "rnnbounds" if context is None else context.command_path
    option = str(getattr(error, "option_name", ""))
    gone = option_message(command_path.removeprefix("rnnbounds").strip(), option)
    if gone is not None:
        return gone
    message = error.format_message().rstrip(".").replace("Value error, ", "")  # pydantic's
    return f"{message}; see '{command_path} --help'"
