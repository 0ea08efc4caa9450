"""rnnbounds: bounds on stable recurrent networks, stated, proved, attacked and certified.

>>> certificate = rnnbounds.certify(torch.nn.RNN(4, 16), input_bound=1.0)
>>> certificate.verdict, certificate.lam, certificate.windows
"""

from rnnbounds.shadow import check_rooms

check_rooms()

from impl.certificate import Certificate, certify
from impl.projection import stable
from impl.truncate import load_certificate, load_truncated, save_truncated, truncate
from rnnbounds.assertions import assert_contractive, assert_remembers, assert_truncation
from theory import CLAIMS

__all__ = [
    "CLAIMS",
    "Certificate",
    "assert_contractive",
    "assert_remembers",
    "assert_truncation",
    "certify",
    "load_certificate",
    "load_truncated",
    "save_truncated",
    "stable",
    "truncate",
]
