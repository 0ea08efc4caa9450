"""rnnbounds: bounds on stable recurrent networks, stated, proved, attacked and certified.

>>> certificate = rnnbounds.certify(torch.nn.RNN(4, 16), input_bound=1.0)
>>> certificate.verdict, certificate.lam, certificate.windows
"""

from rnnbounds.shadow import check_rooms

check_rooms()  # before anything that is shadowed is used

from impl.certificate import Certificate, certify  # noqa: E402
from impl.projection import stable  # noqa: E402
from impl.truncate import load_certificate, load_truncated, save_truncated, truncate  # noqa: E402
from rnnbounds.assertions import assert_contractive, assert_remembers, assert_truncation  # noqa: E402
from theory import CLAIMS  # noqa: E402

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
