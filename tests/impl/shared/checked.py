"""A checker as its tests call it: of a source, of a file that was written again, without torch."""

import subprocess
import sys
from pathlib import Path

from safetensors.torch import save

from rnnbounds import impl
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.checker.unitary import Source
from rnnbounds.impl.checker.unitary import check as check_unitary
from rnnbounds.impl.convert.files import load_truncated
from rnnbounds.impl.convert.unitary import load_unitary
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.sealed import TRUNCATED
from rnnbounds.impl.format.tensors import contents

CHECKS = {"truncated": check_truncated, "unitary": check_unitary}
LOADS = {"truncated": load_truncated, "unitary": load_unitary}


def seal_of(told, tensors):
    """The seal of a truncated model with this metadata and torch's tensors."""
    return TRUNCATED.seal(told, contents(save(tensors))[0])


def source(loaded):
    """The weights as the checkers take them."""
    weights = {role: part.double().numpy() for role, part in loaded.weights.items()}
    return Source(loaded.name, loaded.dtype, weights)


def fallen(kind, path, of=None):
    """The names of the findings that do not hold."""
    return {found.name for found in CHECKS[kind](path, of)[1] if not found.holds}


def verdict(kind, path, data, of=None):
    """True if the certificate in these bytes holds, False if a part falls, None if refused."""
    path.write_bytes(data)
    try:
        return not fallen(kind, path, of)
    except InputError:
        return None


def loads(kind, path):
    """True if torch's reader takes the file."""
    try:
        LOADS[kind](path)
    except InputError:
        return False
    return True


def holds_without_torch(kind, path):
    """True if the certificate is proved in a process where torch cannot be imported."""
    call = CHECKS[kind]
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"from pathlib import Path; from {call.__module__} import {call.__name__} as check\n"
        f"print(all(found.holds for found in check(Path({str(path)!r}))[1]))"
    )
    house = Path(impl.__file__).parent.parent
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=house, capture_output=True, text=True, check=False
    )
    return (ran.stdout.strip(), ran.stderr) == ("True", "")
