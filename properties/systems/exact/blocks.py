"""Orthogonal matrices with a leading block, in rationals. Source: Emami et al., Theorem 3.1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from flint import fmpq_mat
from hypothesis import strategies as st

from rnnbounds.impl.numbers.rationals import RationalContraction, cayley, identity, pythagorean
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.exact.members import (
    EXACT_LIMITS,
    ExactMember,
    Table,
    check_exact,
    member_random,
    recurrence_tables,
)
from rnnbounds.properties.systems.exact.networks import exact_networks
from rnnbounds.properties.systems.exact.rational_draws import (
    ONE,
    ZERO,
    block_diagonal,
    orthogonal_matrix,
    submatrix,
)
from rnnbounds.properties.systems.kind import (
    NO_CELL,
    DrawRequest,
    Kind,
    cell_named,
    pick,
    seeds,
    spec_grid,
)
from rnnbounds.properties.systems.spec import SystemSpec, spec_of


@dataclass(frozen=True, eq=False)
class OrthogonalBlock(ExactMember):
    """An orthogonal V (m, m) and its leading block W (n, n)."""

    spec: SystemSpec
    V: fmpq_mat

    @cached_property
    def W(self) -> fmpq_mat:
        """The leading block."""
        n = range(self.spec.n)
        return submatrix(self.V, n, n)

    @property
    def parts(self) -> dict[str, fmpq_mat]:
        """W and V, by their names in theory."""
        return {"W": self.W, "V": self.V}

    def tables(self) -> dict[str, Table]:
        """W and V; there are no inputs."""
        spec, n, m = self.spec, self.spec.n, self.V.nrows()
        x, rest = (
            [row] * len(spec.sequence_range) for row in ([[ZERO] * spec.d] * spec.T, [ZERO] * n)
        )
        U, b = [[ZERO] * spec.d] * n, [ZERO] * n
        return recurrence_tables(self.W.tolist(), U, b, x, rest, rest) | {
            "W2": self.V.tolist(), "U2": [[ZERO] * spec.d] * m, "b2": [ZERO] * m,
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """A block of an orthogonal matrix has a norm of at most 1."""
        return {"lam": 1.0, "W_norm": 1.0, "L_rho": 1.0}

    def parameters(self) -> dict[str, float]:
        """The rows of V."""
        return {"states": float(self.V.nrows())}


def block_member(spec: SystemSpec, member: int) -> OrthogonalBlock:
    """The member of a ``block`` spec: V with ``states`` rows; of a ``dilation`` the block has at
    least ``units`` singular values 1, and as many below as the added rows have room for."""
    draw, n, m = member_random(spec, member, "system"), spec.n, spec.states
    if spec.regime != "dilation":
        return OrthogonalBlock(spec, orthogonal_matrix(spec.regime, m, draw))
    contracted = min(n - spec.units, m - n)
    pairs = [(ONE, ZERO)] * (n - contracted) + [pythagorean(draw) for _ in range(contracted)]
    sigma, kappa = zip(*pairs, strict=True)
    V = RationalContraction(cayley(n, draw), sigma, kappa, cayley(n, draw)).dilation()
    if m > V.nrows():
        V = block_diagonal(V, identity(m - V.nrows()))
    if m > n:
        # Rotating the added rows, and then the added columns, leaves the block as it is.
        left, right = (block_diagonal(identity(n), cayley(m - n, draw)) for _ in range(2))
        V = left * V * right
    return OrthogonalBlock(spec, V)


def check_block(spec: SystemSpec) -> None:
    """Raise SpecError unless the block is part of a matrix that can be made."""
    check_exact(spec)
    if spec.states < spec.n:
        raise SpecError(f"a block of n = {spec.n} rows needs states ≥ n")


Block = spec_of(
    "block", "n regime states units", activation="identity", inputs="zero", limits=EXACT_LIMITS,
    regimes=("identity", "signed", "cayley", "dilation"), check=check_block,
    floors={"states": "n"},
)  # fmt: skip


def worst_blocks() -> Iterator[SystemSpec]:
    """Every construction in every number of rows, and whole matrices."""
    sizes = {"n": (1, 1, 2, 2, 2, 3, 3, 2), "states": (1, 2, 2, 3, 4, 4, 6, 6)}
    yield from spec_grid(Block(batch=4), {"regime": Block.regimes}, sizes)


@st.composite
def draw_block_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A leading block of an orthogonal matrix with up to two added rows for each of its own."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    regime = draw(pick(("dilation", *Block.regimes)))
    states, units = n + draw(pick((n, 1, 0, 2, 3, 2 * n))), draw(pick((0, 0, 0, 1)))
    return Block(
        regime=regime, n=n, states=states, units=units, seed=draw(seeds()), batch=wanted.batch
    )  # fmt: skip


KINDS = (
    Kind(
        Block, draw_block_spec, partial(exact_networks, block_member), cell_named(NO_CELL),
        worst_blocks, family="exact",
    ),
)  # fmt: skip
