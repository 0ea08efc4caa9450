"""rnnbounds: bounds on stable recurrent networks, stated, proved, attacked and certified.

>>> certificate = rnnbounds.certify(torch.nn.RNN(4, 16), input_bound=1.0)
>>> certificate.verdict, certificate.lam, certificate.windows

The public names are imported when first used: pytest loads the plugin of this package in every
session, which must not pay for torch.
"""

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnbounds.assertions import (
        assert_contractive,
        assert_measured,
        assert_receptive_field,
        assert_remembers,
        assert_truncation,
    )
    from rnnbounds.impl.arithmetic.base import Arithmetic
    from rnnbounds.impl.arithmetic.inputs.sets import InputSet, input_box, input_rows
    from rnnbounds.impl.cells.kind import Kind, fixed
    from rnnbounds.impl.cells.program import ProgramCell, program_kind
    from rnnbounds.impl.cells.table import register
    from rnnbounds.impl.certificate.certify import certify
    from rnnbounds.impl.certificate.contraction import contraction
    from rnnbounds.impl.certificate.inputs import input_data
    from rnnbounds.impl.certificate.monitor import Monitored, monitor
    from rnnbounds.impl.certificate.record import Certificate
    from rnnbounds.impl.certificate.stable_module import stable_
    from rnnbounds.impl.convert.export import export_truncated
    from rnnbounds.impl.convert.truncate import (
        load_certificate,
        load_truncated,
        save_truncated,
        truncate,
    )
    from rnnbounds.impl.memory.adversary.attack import Attacked, attack
    from rnnbounds.impl.memory.measure import Measurement, measure
    from rnnbounds.impl.reading.layers import layers
    from rnnbounds.impl.training.certificate import Task
    from rnnbounds.impl.training.projection import stable
    from rnnbounds.impl.training.stable_lstm import stable_lstm_
    from rnnbounds.theory import CLAIMS

__version__ = "0.2.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent until a user configures it

__all__ = [
    "CLAIMS",
    "Arithmetic",
    "Attacked",
    "Certificate",
    "InputSet",
    "Kind",
    "Measurement",
    "Monitored",
    "ProgramCell",
    "Task",
    "assert_contractive",
    "assert_measured",
    "assert_receptive_field",
    "assert_remembers",
    "assert_truncation",
    "attack",
    "certify",
    "contraction",
    "export_truncated",
    "fixed",
    "input_box",
    "input_data",
    "input_rows",
    "layers",
    "load_certificate",
    "load_truncated",
    "measure",
    "monitor",
    "program_kind",
    "register",
    "save_truncated",
    "stable",
    "stable_",
    "stable_lstm_",
    "truncate",
]

_HOMES = {
    "CLAIMS": "rnnbounds.theory",
    "Attacked": "rnnbounds.impl.memory.adversary.attack",
    "Certificate": "rnnbounds.impl.certificate.record",
    "Measurement": "rnnbounds.impl.memory.measure",
    "Monitored": "rnnbounds.impl.certificate.monitor",
    "InputSet": "rnnbounds.impl.arithmetic.inputs.sets",
    "Task": "rnnbounds.impl.training.certificate",
    "assert_contractive": "rnnbounds.assertions",
    "assert_measured": "rnnbounds.assertions",
    "assert_receptive_field": "rnnbounds.assertions",
    "assert_remembers": "rnnbounds.assertions",
    "assert_truncation": "rnnbounds.assertions",
    "attack": "rnnbounds.impl.memory.adversary.attack",
    "certify": "rnnbounds.impl.certificate.certify",
    "Arithmetic": "rnnbounds.impl.arithmetic.base",
    "Kind": "rnnbounds.impl.cells.kind",
    "ProgramCell": "rnnbounds.impl.cells.program",
    "fixed": "rnnbounds.impl.cells.kind",
    "contraction": "rnnbounds.impl.certificate.contraction",
    "input_box": "rnnbounds.impl.arithmetic.inputs.sets",
    "input_data": "rnnbounds.impl.certificate.inputs",
    "input_rows": "rnnbounds.impl.arithmetic.inputs.sets",
    "layers": "rnnbounds.impl.reading.layers",
    "program_kind": "rnnbounds.impl.cells.program",
    "register": "rnnbounds.impl.cells.table",
    "export_truncated": "rnnbounds.impl.convert.export",
    "load_certificate": "rnnbounds.impl.convert.truncate",
    "load_truncated": "rnnbounds.impl.convert.truncate",
    "measure": "rnnbounds.impl.memory.measure",
    "monitor": "rnnbounds.impl.certificate.monitor",
    "save_truncated": "rnnbounds.impl.convert.truncate",
    "stable": "rnnbounds.impl.training.projection",
    "stable_": "rnnbounds.impl.certificate.stable_module",
    "stable_lstm_": "rnnbounds.impl.training.stable_lstm",
    "truncate": "rnnbounds.impl.convert.truncate",
}


def guard_bytecode() -> None:
    """Write no bytecode where sums are not rounded to nearest: Python compiles 0.999 to another
    number there. What is computed is refused, but later processes would read that bytecode."""
    little = sys.float_info.epsilon / 4
    if not 1.0 + little == 1.0 == 1.0 - little:
        sys.dont_write_bytecode = True


def __getattr__(name: str) -> object:
    """A public name, from its module, which is imported now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    guard_bytecode()
    globals()[name] = found = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
