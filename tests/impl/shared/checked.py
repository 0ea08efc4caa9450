"""A checker as its tests call it: of a source, of a file that was written again, without torch."""

import json

from rnnbounds.impl.checker.truncated import check_certificate, check_truncated
from rnnbounds.impl.checker.unitary import Source
from rnnbounds.impl.checker.unitary import check as check_unitary
from rnnbounds.impl.convert.files import load_truncated
from rnnbounds.impl.errors import InputError

CHECKS = {"truncated": check_truncated, "unitary": check_unitary}


def source(loaded):
    """The weights as the checkers take them."""
    weights = {role: part.double().numpy() for role, part in loaded.weights.items()}
    return Source(loaded.name, loaded.dtype, weights)


def fallen(kind, path, of=None):
    """The names of the findings that do not hold."""
    return {found.name for found in CHECKS[kind](path, of)[1] if not found.holds}


def fallen_of_document(path, document, of):
    """The names of the findings about a certificate's document that do not hold."""
    path.write_text(json.dumps(document))
    return {found.name for found in check_certificate(path, of)[1] if not found.holds}


def verdict(kind, path, data, of=None):
    """True if the certificate in these bytes holds, False if a part falls, None if refused."""
    path.write_bytes(data)
    try:
        return not fallen(kind, path, of)
    except InputError:
        return None


def loads(path):
    """True if torch's reader takes the file of a truncated model."""
    try:
        load_truncated(path)
    except InputError:
        return False
    return True
