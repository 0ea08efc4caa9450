"""Which commit a run was made of: that of the folder it is run in, a user's or this one's."""

import os
import re
import subprocess

SAID = ("GITHUB_SHA", "CI_COMMIT_SHA")  # where a container has no git


def commit() -> str:
    """The commit's hash, with "-dirty" where files differ from it; empty where there is none."""
    asked = ("git", "describe", "--always", "--exclude=*", "--abbrev=64", "--dirty")
    try:
        ran = subprocess.run(asked, capture_output=True, text=True, check=False)
        told = [ran.stdout.strip()] if ran.returncode == 0 else []
    except OSError:
        told = []
    told += [os.environ.get(name, "") for name in SAID]
    return next((word for word in told if re.fullmatch(r"[0-9a-f]{40,64}(-dirty)?", word)), "")
