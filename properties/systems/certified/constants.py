"""The constants of models with certificates: the numbers that are printed there, and no others."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import ClassVar

import numpy as np

from rnnbounds.impl.cells.stacks.layer_analysis import CASCADE
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.route import BoxRoute
from rnnbounds.properties.systems.certified.batch import Certified, build_certified
from rnnbounds.properties.systems.certified.fields import CertifiedRelu
from rnnbounds.properties.systems.certified.models import (
    epsilon_index,
    unitary_network,
)
from rnnbounds.properties.systems.drawing.draws import Array
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import BatchParts

CertificateReader = Callable[[Certificate, int], float]


def constant_reader(name: str) -> CertificateReader:
    """One of the constants by its name there, infinite where it is not stated."""
    return lambda certificate, place: certificate.constants.get(name, inf)


def or_infinite(value: float | None) -> float:
    """A number that may not be known; infinite then."""
    return inf if value is None else float(value)


def hidden_layers(certificate: Certificate, place: int) -> float:
    """The layers of a cascade, whose norms are not printed; 0 of other norms."""
    return certificate.constants["layers"] if certificate.norm == CASCADE else 0.0


CERTIFICATE_READERS: dict[str, CertificateReader] = {
    "lam_told": lambda certificate, place: certificate.lam,
    "eps_told": lambda certificate, place: certificate.windows[place][0],
    "k_told": lambda certificate, place: or_infinite(certificate.windows[place][1]),
    "C_told": constant_reader("equivalence"),
    "c_told": constant_reader("reach"),
    "S_told": constant_reader("drive"),
    "R_told": constant_reader("radius"),
    "S_0_told": constant_reader("S_0"),
    "B_h_told": constant_reader("B_h"),
    "gain_told": constant_reader("gain"),
    "rounding_told": lambda c, place: or_infinite(c.rounding),
    "hidden_told": hidden_layers,
}


def printed_reading(name: str) -> Callable[[Certified, SystemSpec], list[float]]:
    """A printed number of each member; infinite where the certificate says that the box of the cell
    is not proved."""
    reader = CERTIFICATE_READERS[name]

    def of_all(cells: Certified, spec: SystemSpec) -> list[float]:
        return [
            inf if one.refused is not None else reader(one, epsilon_index(spec, member))
            for member, one in zip(spec.members, cells.certificates, strict=True)
        ]

    return of_all


UNITARY_READERS: dict[str, Callable[[UnitaryModel], float | None]] = {
    "lam": lambda made: made.certificate["constants"]["W_norm"],
    "B_u_told": lambda made: made.certificate["constants"]["B_h"],
    "B_computed_told": lambda made: made.certificate["constants"]["B_h_computed"],
    "defect_told": lambda made: made.certificate["orthogonality_defect"],
    "drift_told": lambda made: made.certificate["difference"]["float64"],
    "drift_own_told": lambda made: made.certificate["difference"]["own_dtype"],
    "exact_told": lambda made: made.certificate["difference"]["exact"],
}


def unitary_reading(name: str) -> Callable[[Certified, SystemSpec], list[float]]:
    """A number that is printed of the unitary network of each ReLU model; infinite of others."""

    def of_all(cells: Certified, spec: SystemSpec) -> list[float]:
        if spec.kind != CertifiedRelu.kind:
            return [inf] * len(spec.members)
        networks = (unitary_network(spec, member) for member in spec.members)
        return [
            inf if network is None else or_infinite(UNITARY_READERS[name](network))
            for network in networks
        ]

    return of_all


PRINTED = {
    **{name: unitary_reading(name) for name in UNITARY_READERS},
    **{name: printed_reading(name) for name in CERTIFICATE_READERS},
}


class CertifiedRoute(BoxRoute):
    """Real models with their certificates, whose printed numbers are their constants; a certificate
    costs more than what runs on its model."""

    max_size: ClassVar[tuple[int, int]] = (2, 6)

    def build_parts(self, spec: SystemSpec, device: str) -> BatchParts:
        """The models as they are read."""
        return build_certified(spec)

    def constant(self, batch: Batch, name: str) -> Array:
        """Read each member's constant: the printed number, (B, 1, 1), or that of any cells."""
        if name not in PRINTED:
            return super().constant(batch, name)
        assert isinstance(batch.systems, Certified)
        return np.array(PRINTED[name](batch.systems, batch.spec)).reshape(-1, 1, 1)
