"""rnnbounds: bounds on stable recurrent networks, stated, proved, attacked and certified.

>>> certificate = rnnbounds.certify(torch.nn.RNN(4, 16), input_bound=1.0)
>>> certificate.verdict, certificate.lam, certificate.windows

The public names are imported when first used: pytest loads the plugin of this package in every
session, which must neither pay for torch nor fail where a project has a `reports` of its own.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from impl.arithmetic.base import Arithmetic
    from impl.arithmetic.inputs.sets import InputSet, input_box, input_rows
    from impl.cells.kind import Kind, fixed
    from impl.cells.program import ProgramCell, program_kind
    from impl.cells.table import register
    from impl.certificate.certify import certify
    from impl.certificate.contraction import contraction
    from impl.certificate.inputs import input_data
    from impl.certificate.monitor import Monitored, monitor
    from impl.certificate.record import Certificate
    from impl.certificate.stable_module import stable_
    from impl.convert.export import export_truncated
    from impl.convert.truncate import load_certificate, load_truncated, save_truncated, truncate
    from impl.memory.adversary.attack import Attacked, attack
    from impl.memory.measure import Measurement, measure
    from impl.reading.layers import layers
    from impl.training.certificate import Task
    from impl.training.projection import stable
    from impl.training.stable_lstm import stable_lstm_
    from rnnbounds.assertions import (
        assert_contractive,
        assert_measured,
        assert_receptive_field,
        assert_remembers,
        assert_truncation,
    )
    from theory import CLAIMS

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
    "CLAIMS": "theory",
    "Attacked": "impl.memory.adversary.attack",
    "Certificate": "impl.certificate.record",
    "Measurement": "impl.memory.measure",
    "Monitored": "impl.certificate.monitor",
    "InputSet": "impl.arithmetic.inputs.sets",
    "Task": "impl.training.certificate",
    "assert_contractive": "rnnbounds.assertions",
    "assert_measured": "rnnbounds.assertions",
    "assert_receptive_field": "rnnbounds.assertions",
    "assert_remembers": "rnnbounds.assertions",
    "assert_truncation": "rnnbounds.assertions",
    "attack": "impl.memory.adversary.attack",
    "certify": "impl.certificate.certify",
    "Arithmetic": "impl.arithmetic.base",
    "Kind": "impl.cells.kind",
    "ProgramCell": "impl.cells.program",
    "fixed": "impl.cells.kind",
    "contraction": "impl.certificate.contraction",
    "input_box": "impl.arithmetic.inputs.sets",
    "input_data": "impl.certificate.inputs",
    "input_rows": "impl.arithmetic.inputs.sets",
    "layers": "impl.reading.layers",
    "program_kind": "impl.cells.program",
    "register": "impl.cells.table",
    "export_truncated": "impl.convert.export",
    "load_certificate": "impl.convert.truncate",
    "load_truncated": "impl.convert.truncate",
    "measure": "impl.memory.measure",
    "monitor": "impl.certificate.monitor",
    "save_truncated": "impl.convert.truncate",
    "stable": "impl.training.projection",
    "stable_": "impl.certificate.stable_module",
    "stable_lstm_": "impl.training.stable_lstm",
    "truncate": "impl.convert.truncate",
}


def __getattr__(name: str) -> object:
    """A public name, from a room that is imported by the name that is free for it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rnnbounds.shadow import room_module, settle

    settle()
    globals()[name] = found = getattr(import_module(room_module(_HOMES[name])), name)
    return found


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
