"""What is read from the certificates of a batch: the numbers that are printed, and no others."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import torch

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.cells.stacks.layer_analysis import CASCADE
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.convert.unitary import UnitaryModel
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.properties.systems.certified.fields import CertifiedRelu
from rnnbounds.properties.systems.certified.models import chosen, equivalent
from rnnbounds.properties.systems.supply.members import Members

Read = Callable[[Certificate, int], float]


def constant(name: str) -> Read:
    """One of the constants by its name there, infinite where it is not stated."""
    return lambda certificate, place: certificate.constants.get(name, inf)


def window(certificate: Certificate, place: int) -> float:
    """The k of one of the ε."""
    k = certificate.windows[place][1]
    return inf if k is None else float(k)


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
    "k_told": window,
    "C_told": constant("equivalence"),
    "c_told": constant("reach"),
    "S_told": constant("drive"),
    "R_told": constant("radius"),
    "S_0_told": constant("S_0"),
    "B_h_told": constant("B_h"),
    "gain_told": constant("gain"),
    "rounding_told": lambda c, place: inf if c.rounding is None else c.rounding,
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


def told(name: str) -> Callable[[Members], torch.Tensor]:
    """A printed number of each member, (B,); infinite on other systems, and where the certificate
    says that the box of the cell is not proved."""
    read = READ[name]

    def of_batch(batch: Members) -> torch.Tensor:
        cells = batch.cells
        if not isinstance(cells, Certified):
            return torch.full((batch.cell.batch,), inf, dtype=torch.float64)
        values = [
            inf if one.refused is not None else read(one, chosen(batch.spec, member))
            for member, one in zip(batch.spec.members, cells.certificates, strict=True)
        ]
        return torch.tensor(values, dtype=torch.float64)

    return of_batch


UNITARY: dict[str, Callable[[UnitaryModel], float | None]] = {
    "B_u_told": lambda made: made.certificate["constants"]["B_h"],
    "B_computed_told": lambda made: made.certificate["constants"]["B_h_computed"],
    "defect_told": lambda made: made.certificate["orthogonality_defect"],
    "drift_told": lambda made: made.certificate["difference"]["float64"],
    "drift_own_told": lambda made: made.certificate["difference"]["own_dtype"],
    "exact_told": lambda made: made.certificate["difference"]["exact"],
}


def of_unitary(name: str) -> Callable[[Members], torch.Tensor]:
    """A number that is printed of the unitary network of each member, (B,)."""

    def of_batch(batch: Members) -> torch.Tensor:
        blank = torch.full((batch.cell.batch,), inf, dtype=torch.float64)
        if not isinstance(batch.cells, Certified) or batch.spec.kind != CertifiedRelu.kind:
            return blank
        for i, member in enumerate(batch.spec.members):
            made = equivalent(batch.spec, member)
            value = None if made is None else UNITARY[name](made)
            blank[i] = inf if value is None else value
        return blank

    return of_batch


TOLD = {name: of_unitary(name) for name in UNITARY} | {name: told(name) for name in READ}
