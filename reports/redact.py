"""Redaction of records: folders in paths, and the name of the machine."""

import os
import re
import shlex
import socket
from collections.abc import Sequence

KEEP = "RNNBOUNDS_KEEP_PATHS"
"""The environment variable that, set to 1, leaves paths and the machine's name as they are."""
_PATH = re.compile(r"(?<![\w./\\])(?:~|[A-Za-z]:|file:/)?[/\\](?:[^\s/\\'\"]+[/\\])+([^\s/\\'\"]*)")

# A word that is one path, or an option that is given one: to its last slash, blanks and all.
_ALONE = re.compile(r"^(-[\w-]+=)?(?:~|[A-Za-z]:|file:/)?[/\\](?:.*[/\\])?([^/\\]*)$", re.DOTALL)


def redact_command(words: Sequence[str]) -> str:
    """The words of a command in one line of a shell, each redacted; a path may have blanks."""
    return shlex.join(map(_redact_word, words))


def redact_call(call: str) -> str:
    """A command line as `redacted_command` has it; what is no command, a call in Python say, as
    `redacted` has it."""
    command = call.startswith("rnnbounds ")
    return redact_command(shlex.split(call)) if command else redact(call)


def _redact_word(word: str) -> str:
    if os.environ.get(KEEP) != "1":
        word = _ALONE.sub(r"\1…/\2", word)
    return redact(word)


def redact(text: str, host: str | None = None) -> str:
    """The text with each absolute path's folders as "…", and this machine's name as "host"."""
    if os.environ.get(KEEP) == "1":
        return text
    name = socket.gethostname() if host is None else host
    folded = _PATH.sub(r"…/\1", text)
    return re.sub(rf"\b{re.escape(name)}\b", "host", folded) if len(name) > 2 else folded
