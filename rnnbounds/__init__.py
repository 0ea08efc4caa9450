"""rnnbounds: bounds on stable recurrent networks, stated, proved, attacked and certified.

>>> certificate = rnnbounds.certify(torch.nn.RNN(4, 16), inputs=1.0)
>>> certificate.verdict, certificate.lam, certificate.windows

The public names are imported when first used: pytest loads the plugin of this package in every
session, which must not pay for torch.
"""

import logging
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnbounds import cells as cells
    from rnnbounds import strategies as strategies
    from rnnbounds import theory as theory
    from rnnbounds.assertions import assert_contractive as assert_contractive
    from rnnbounds.assertions import assert_measured as assert_measured
    from rnnbounds.assertions import assert_receptive_field as assert_receptive_field
    from rnnbounds.assertions import assert_remembers as assert_remembers
    from rnnbounds.assertions import assert_truncation as assert_truncation
    from rnnbounds.errors import InputError as InputError
    from rnnbounds.impl.arithmetic.inputs.sets import InputSet as InputSet
    from rnnbounds.impl.arithmetic.inputs.sets import input_box as input_box
    from rnnbounds.impl.arithmetic.inputs.sets import input_rows as input_rows
    from rnnbounds.impl.certificate.certify import certify as certify
    from rnnbounds.impl.certificate.checked import Checked as Checked
    from rnnbounds.impl.certificate.checked import check as check
    from rnnbounds.impl.certificate.contraction import contraction as contraction
    from rnnbounds.impl.certificate.inputs import input_data as input_data
    from rnnbounds.impl.certificate.record import Certificate as Certificate
    from rnnbounds.impl.certificate.stable_module import stable_ as stable_
    from rnnbounds.impl.convert.files import load_certificate as load_certificate
    from rnnbounds.impl.convert.files import load_truncated as load_truncated
    from rnnbounds.impl.convert.files import save_truncated as save_truncated
    from rnnbounds.impl.convert.truncate import truncate as truncate
    from rnnbounds.impl.memory.adversary.attack import Attacked as Attacked
    from rnnbounds.impl.memory.adversary.attack import attack as attack
    from rnnbounds.impl.memory.calls import measure as measure
    from rnnbounds.impl.memory.causal import CausalMeasurement as CausalMeasurement
    from rnnbounds.impl.memory.measure import Measurement as Measurement
    from rnnbounds.impl.reading.live import from_flax as from_flax
    from rnnbounds.impl.reading.live import from_keras as from_keras
    from rnnbounds.impl.training.projection import stable as stable

__version__ = "0.3.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent until a user configures it

_NAMES = {
    "assertions": "assert_contractive assert_measured assert_receptive_field assert_remembers "
    "assert_truncation",
    "errors": "InputError",
    "impl.arithmetic.inputs.sets": "InputSet input_box input_rows",
    "impl.certificate.certify": "certify",
    "impl.certificate.checked": "Checked check",
    "impl.certificate.contraction": "contraction",
    "impl.certificate.inputs": "input_data",
    "impl.certificate.record": "Certificate",
    "impl.certificate.stable_module": "stable_",
    "impl.convert.files": "load_certificate load_truncated save_truncated",
    "impl.convert.truncate": "truncate",
    "impl.memory.adversary.attack": "Attacked attack",
    "impl.memory.causal": "CausalMeasurement",
    "impl.memory.calls": "measure",
    "impl.memory.measure": "Measurement",
    "impl.reading.live": "from_flax from_keras",
    "impl.training.projection": "stable",
}
"""What is public, by its module below this package."""
_HOMES = {name: f"{__name__}.{module}" for module, all in _NAMES.items() for name in all.split()}
_MODULES = ("cells", "strategies", "theory")  # public modules, which name what is theirs
__all__ = sorted(_HOMES)


def guard_bytecode() -> None:
    """Write no bytecode where sums are not rounded to nearest: Python compiles 0.999 to another
    number there. What is computed is refused, but later processes would read that bytecode."""
    quarter = sys.float_info.epsilon / 4
    if not 1.0 + quarter == 1.0 == 1.0 - quarter:
        sys.dont_write_bytecode = True


def __getattr__(name: str) -> object:
    """A public name, from its module, which is imported now."""
    if name in _MODULES:
        guard_bytecode()
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        from rnnbounds.shell.retired import name_message

        if gone := name_message(name):
            raise AttributeError(gone)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    guard_bytecode()
    globals()[name] = value = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """The public names and modules alone."""
    return sorted((*__all__, *_MODULES))
