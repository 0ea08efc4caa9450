"""What a record need not tell of the machine it was made on: folders, and the machine's name."""

import os
import re
import socket

KEEP = "RNNBOUNDS_KEEP_PATHS"
"""The environment variable that, set to 1, leaves paths and the machine's name as they are."""
_PATH = re.compile(r"(?<![\w./\\])(?:~|[A-Za-z]:|file:/)?[/\\](?:[^\s/\\'\"]+[/\\])+([^\s/\\'\"]*)")


def redacted(text: str, host: str | None = None) -> str:
    """The text with each absolute path's folders as "…", and this machine's name as "host"."""
    if os.environ.get(KEEP) == "1":
        return text
    name = socket.gethostname() if host is None else host
    shown = _PATH.sub(r"…/\1", text)
    return re.sub(rf"\b{re.escape(name)}\b", "host", shown) if len(name) > 2 else shown
