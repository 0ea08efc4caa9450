"""The program behind the command line: its commands, its help and its log.

Commands are known by name and first words: what they do is imported when they are called, and the
help is read from the source of their modules. It is as wide as the terminal, no summary is cut, and
no word is broken at its hyphen: names and options can be copied from it.
"""

from __future__ import annotations

import gc
import logging
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from rnnbounds import __version__
from rnnbounds.errors import InputError, printable
from rnnbounds.shell.extras import require_extra
from rnnbounds.shell.retired import command_message, option_message
from rnnbounds.shell.terminal import echo, fail_with, flush, import_message, print_error

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)  # without -v, with -v, with -vv


class LineHandler(logging.Handler):
    """Each message is a printable line on standard error, as the program's other messages are."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it."""
        print_error(printable(record.getMessage()))


@contextmanager
def log_to_stderr() -> Iterator[None]:
    """While the block runs, warnings of the library are lines on standard error."""
    logger, handler = logging.getLogger("rnnbounds"), LineHandler()
    before = logger.level
    logger.addHandler(handler)
    _set_verbosity(0)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def _set_verbosity(count: int) -> None:
    """Set what is logged: warnings, with 1 what is done as well, with 2 and more each detail."""
    logging.getLogger("rnnbounds").setLevel(LEVELS[min(count, len(LEVELS) - 1)])


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
        """The command that is named; raises InputError for one that is gone."""
        if args and args[0] not in self.commands and (gone := command_message(args[0])):
            raise InputError(gone)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command three lines go to standard error, with exit code 2: a script whose
        command got lost has shown nothing."""
        if args or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        for line in FIRST_LINES:
            print_error(line)
        raise typer.Exit(2)


def _unbroken(text: str) -> str:
    return text.replace("-", NO_BREAK)


COMMANDS_PACKAGE = "rnnbounds.commands"
COMMANDS_FOLDER = Path(__file__).parents[1] / "commands"
# Modules whose work is shared among processes, and those that do it again, to the same bits.
PARALLEL_MODULES = ("attacks", "statements")
THEORY_COMMANDS = ("prove", "verify", "attack", "replay", "experiment")  # need that extra


GROUPS = ("Model", "Inputs", "Question", "Output")


class HelpCommand(TyperCommand):
    """A command with such a help: its options in groups, and rare ones after ``--help --all``."""

    context_class = HelpContext

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a call; ``--all`` beside ``--help`` lists rare options too."""
        if "--all" in args and {"-h", "--help"} & set(args):
            args = [one for one in args if one != "--all"]
            for parameter in self.params:
                parameter.hidden = False  # type: ignore[attr-defined]  # of options
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, then the options by group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            group = getattr(parameter, "rich_help_panel", None) or "Options"
            if parameter.param_type_name == "argument":
                group = "Arguments"
            if (record := parameter.get_help_record(ctx)) is not None:
                groups.setdefault(group, []).append(record)
        for group in ("Arguments", *GROUPS, "Options"):
            if group in groups:
                with formatter.section(group):
                    formatter.write_dl(groups[group])
        if any(getattr(parameter, "hidden", False) for parameter in self.params):
            with formatter.indentation():
                formatter.write_paragraph()
                formatter.write_text("Rare options: --help --all")


class LazyCommand(HelpCommand):
    """The command that a function of a module of the commands is, named as in "claims:prove"."""

    def __init__(self, name: str, place: str) -> None:
        self.module, _, self.function = place.partition(":")
        path = COMMANDS_FOLDER / f"{self.module.replace('.', '/')}.py"
        pattern = rf'^def {self.function}\(.*?"""(.*?)"""'  # to parse all files takes longer
        (text,) = re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        super().__init__(
            name, help=cleandoc(text), rich_markup_mode=None, context_settings=CONTEXT_SETTINGS
        )

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The call, which is that of the command itself."""
        if self.module in PARALLEL_MODULES:
            from rnnbounds.properties.runs.executors import limit_library_threads

            limit_library_threads()
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        module = _import_without_gc(f"{COMMANDS_PACKAGE}.{self.module}")
        epilog = getattr(module, "EPILOG", None)
        app.command(self.name, cls=HelpCommand, context_settings=CONTEXT_SETTINGS, epilog=epilog)(
            getattr(module, self.function)
        )
        context = typer.main.get_command(app).make_context(info_name, args, parent, **extra)
        if self.name in THEORY_COMMANDS:
            require_extra("theory", f"rnnbounds {self.name}")
        return context


def _import_without_gc(name: str) -> ModuleType:
    """The module, while no garbage is looked for: what modules make, they keep."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if collects:
            gc.enable()


def _root_options() -> list[Any]:
    """Options before any command: the version, completion for the shell, the log."""
    app = typer.Typer(rich_markup_mode=None)

    @app.callback()
    def asked(
        version: Annotated[bool, typer.Option("--version", is_eager=True,
            callback=_print_version, help="Print the version.")] = False,
        verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, callback=_set_verbosity,
            help="Log what is done on standard error; -vv each detail.")] = 0,
    ) -> None:  # fmt: skip
        """Nothing by itself."""

    return list(typer.main.get_command(app).params)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        echo(f"rnnbounds {__version__}")
        raise typer.Exit


COMMANDS = {
    "claims": "proofs.claims:claims",
    "prove": "proofs.prove:prove",
    "verify": "attacks:verify",
    "attack": "statements:attack",
    "replay": "statements:replay",
    "certify": "models.certify:certify_model",
    "measure": "models.measure:measure_model",
    "truncate": "models.convert:truncate_model",
    "unitary": "models.convert:unitary_model",
    "check": "check:check_file",
    "report": "compare:report",
    "guard": "models.guard:guard",
    "compare": "compare:compare",
    "experiment": "experiments:experiment",
}
FIRST_LINES = (
    "certifies how long recurrent models remember; proves and attacks the theorems behind that",
    "begin with: certify MODEL | measure MODEL --data FILE | verify",
    "all commands: rnnbounds --help; documentation: docs/index.md of the source",
)
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
    commands: Any = {name: LazyCommand(name, place) for name, place in COMMANDS.items()}
    command = CommandGroup(
        name="rnnbounds", help=PURPOSE, epilog=EPILOG, commands=commands, rich_markup_mode=None,
        params=_root_options(), context_settings=CONTEXT_SETTINGS,
    )  # fmt: skip
    try:
        with log_to_stderr():
            result = command.main(args=arguments, prog_name="rnnbounds", standalone_mode=False)
        flush()
    except InputError as error:
        return fail_with(str(error))
    except typer.TyperException as error:
        return fail_with(usage_message(error))
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        return 0  # nobody reads the help, from which Click leaves so
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
