"""Which models are measured as they are run, and which are read."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.blackbox.gaps import NORM
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.opened import Function, Module, Opened, Runnable


class OtherKindError(InputError):
    """An option of models that are read for one that is run as it is, or the other way round."""

    def __init__(self, names: Sequence[str], as_is: bool) -> None:
        be = "is" if len(names) == 1 else "are"
        kind, remedy = (
            ("a recurrent layer that is read", "leave it out, or name the layer")
            if as_is
            else ("a model that is run as it is", "leave it out, or say as_is (--as-is)")
        )
        super().__init__(f"{' and '.join(names)} {be} of {kind}; {remedy}")


def run_as_is(
    opened: Opened | LoadedModel[Any], as_is: bool, reading: Collection[str]
) -> Runnable | None:
    """The model, if it is measured as it is run: where that is asked for, or where nothing in a
    module or function is recurrent and no option (`reading`) of a layer was given; else None.

    Raises InputError for weights alone, which cannot be run as they are, and for such options.
    """
    if as_is and not isinstance(opened, Runnable):
        where = opened.where if isinstance(opened, Opened) else opened.source
        what = f"{where} holds weights, which cannot be run as they are"
        raise InputError(f"{what}; pass a module, a function or package.module:factory")
    if as_is and reading:
        raise OtherKindError(sorted(reading), as_is=True)
    wanted = as_is or (isinstance(opened, Module | Function) and opened.layers() == [])
    return opened if wanted and not reading and isinstance(opened, Runnable) else None


def require_read(of_running: Mapping[str, object]) -> None:
    """Raise OtherKindError for an option, by its name, of models that are run as they are."""
    given = [name for name, value in of_running.items() if value not in (None, NORM)]
    if given:
        raise OtherKindError(given, as_is=False)
