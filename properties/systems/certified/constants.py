"""The constants of models with certificates: the numbers that are printed there, and no others."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import ClassVar

import numpy as np

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.cells.stacks.layer_analysis import CASCADE
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.cells.route import BoxRoute
from rnnbounds.properties.systems.certified.batch import Certified, certified_parts
from rnnbounds.properties.systems.certified.fields import CertifiedRelu
from rnnbounds.properties.systems.certified.models import chosen, equivalent
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.supply.route import Parts

Read = Callable[[Certificate, int], float]


def constant(name: str) -> Read:
    """One of the constants by its name there, infinite where it is not stated."""
    return lambda certificate, place: certificate.constants.get(name, inf)


def known(value: float | None) -> float:
    """A number that may not be known; infinite then."""
    return inf if value is None else float(value)


def steps(certificate: Certificate, place: int) -> float:
    """How many steps the norm looks ahead: 1 but for iterated norms, also of the layers; infinite
    for a cascade, whose norms in the layers are not printed."""
    if certificate.norm == CASCADE:
        return inf
    told = [v for name, v in certificate.constants.items() if name.startswith("steps")]
    return max(told, default=1.0)


def curvature(certificate: Certificate) -> float:
    """sup |ρ″|, of the library's activation."""
    name = certificate.cell.partition("-")[2]
    return activation(name or "identity").curvature


READ: dict[str, Read] = {
    "lam_told": lambda certificate, place: certificate.lam,
    "eps_told": lambda certificate, place: certificate.windows[place][0],
    "k_told": lambda certificate, place: known(certificate.windows[place][1]),
    "C_told": constant("equivalence"),
    "c_told": constant("reach"),
    "S_told": constant("drive"),
    "R_told": constant("radius"),
    "S_0_told": constant("S_0"),
    "B_h_told": constant("B_h"),
    "gain_told": constant("gain"),
    "rounding_told": lambda c, place: known(c.rounding),
    "steps_told": steps,
    "two_norm_steps_told": constant("two_norm_steps"),
    "two_norm_told": constant("two_norm_factor"),
    "lam": lambda c, place: inf if c.training is None else c.training.constants.lam,
    "beta_rho": lambda c, place: inf if c.training is None else curvature(c),
    "G_0": constant("G_0"),
    "G_1": constant("G_1"),
    "gamma_told": constant("gamma"),
    "beta_told": constant("beta"),
}


def told(name: str) -> Callable[[Certified, SystemSpec], list[float]]:
    """A printed number of each member; infinite where the certificate says that the box of the cell
    is not proved."""
    read = READ[name]

    def of_all(cells: Certified, spec: SystemSpec) -> list[float]:
        return [
            inf if one.refused is not None else read(one, chosen(spec, member))
            for member, one in zip(spec.members, cells.certificates, strict=True)
        ]

    return of_all


UNITARY: dict[str, Callable[[UnitaryModel], float | None]] = {
    "B_u_told": lambda made: made.certificate["constants"]["B_h"],
    "B_computed_told": lambda made: made.certificate["constants"]["B_h_computed"],
    "defect_told": lambda made: made.certificate["orthogonality_defect"],
    "drift_told": lambda made: made.certificate["difference"]["float64"],
    "drift_own_told": lambda made: made.certificate["difference"]["own_dtype"],
    "exact_told": lambda made: made.certificate["difference"]["exact"],
}


def of_unitary(name: str) -> Callable[[Certified, SystemSpec], list[float]]:
    """A number that is printed of the unitary network of each ReLU model; infinite of others."""

    def of_all(cells: Certified, spec: SystemSpec) -> list[float]:
        if spec.kind != CertifiedRelu.kind:
            return [inf] * len(spec.members)
        networks = (equivalent(spec, member) for member in spec.members)
        return [inf if made is None else known(UNITARY[name](made)) for made in networks]

    return of_all


PRINTED = {name: of_unitary(name) for name in UNITARY} | {name: told(name) for name in READ}


class CertifiedRoute(BoxRoute):
    """Real models with their certificates, whose printed numbers are their constants; a certificate
    costs more than what runs on its model."""

    most: ClassVar[tuple[int, int]] = (2, 6)

    def parts(self, spec: SystemSpec, device: str) -> Parts:
        """The models as they are read."""
        return certified_parts(spec)

    def constant(self, batch: Batch, name: str) -> Array:
        """Read each member's constant: the printed number, (B, 1, 1), or that of any cells."""
        if name not in PRINTED:
            return super().constant(batch, name)
        assert isinstance(batch.systems, Certified)
        return np.array(PRINTED[name](batch.systems, batch.spec)).reshape(-1, 1, 1)
