"""Blocks of orthogonal matrices, and derivatives of networks that one drives: decided exactly."""

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from msgspec.structs import replace
from seen import verdicts

from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.attacks.extremal import NAMED_SPECS
from rnnbounds.properties.measures.table import MEASURES
from rnnbounds.properties.read.numbers.sizes import Size, spectral_size
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.table import KINDS, make_spec
from rnnbounds.properties.systems.unitary.blocks import eigenvalue_multiplicity
from rnnbounds.properties.systems.unitary.orthogonal import ONE
from rnnbounds.theory.language.parse import parse_statement
from rnnbounds.theory.proof.claim import Assumption

NETWORK = make_spec(
    kind="unitary", regime="pythagorean", inputs="gaussian", n=2, d=2, T=3, K=3,
    bias=0.5, start=2.0, batch=6, sequences=2,
)  # fmt: skip
URNN = make_spec(
    kind="urnn", activation="relu", regime="cayley", inputs="gaussian", n=3, d=2, T=4, K=4,
    bias=0.5, batch=4, sequences=2,
)  # fmt: skip
BLOCK = make_spec(kind="block", regime="dilation", n=2, states=3, batch=4)
CONTRACTIVE = Assumption("contractive", "λ < 1", parse_statement("lam < 1"))
LAGGED = Assumption("lagged", "k ≥ 1", parse_statement("1 <= k"))


@pytest.mark.parametrize("regime", KINDS["block"].regimes)
def test_blocks_are_blocks_of_orthogonal_matrices(regime: str) -> None:
    """V is orthogonal, W its leading block, and n + rank(I − WᵀW) is at most its rows."""
    for n, m, units in ((1, 1, 0), (2, 2, 1), (2, 3, 0), (3, 5, 1), (2, 6, 0), (3, 6, 3)):
        spec = replace(BLOCK, regime=regime, n=n, states=m, units=units)
        batch = build_batch(spec)
        assert (batch.parameters["states"] == m).all()
        for member in batch.exact:
            assert member.V.transpose() * member.V == identity(m)
            assert [row[:n] for row in member.V.tolist()[:n]] == member.W.tolist()
        assert verdicts("n + defect_rank <= states", spec) == {"HOLDS"}
        assert verdicts("multiplicity <= states - n", spec) == {"HOLDS"}


def test_multiplicities_by_hand() -> None:
    """Geometric, not algebraic; of eigenvalues inside the circle, or on it."""
    third = fmpq(1, 3)
    W = fmpq_mat([[third, 1, 0, 0], [0, third, 0, 0], [0, 0, third, 0], [0, 0, 0, -1]])
    assert eigenvalue_multiplicity(W, units=False) == 2
    assert eigenvalue_multiplicity(fmpq_mat([[third, 1], [0, third]]), units=False) == 1
    assert eigenvalue_multiplicity(identity(3), units=False) == 0
    assert eigenvalue_multiplicity(identity(3), units=True) == 3
    assert eigenvalue_multiplicity(-identity(3), units=True) == 3
    assert eigenvalue_multiplicity(fmpq_mat([[0, third], [1, 0]]), units=True) == 1


def test_all_active_products_have_norm_one() -> None:
    """Exactly 1 at every window: `== 1` and `<= 1` hold, `< 1` does not."""
    spec = NAMED_SPECS["all-active"]
    assert verdicts("dh_dh <= 1", spec) == {"HOLDS"}
    assert verdicts("dh_dh < 1", spec) == {"VIOLATED"}
    found = MEASURES["dh_dh"].enclose(build_batch(spec))
    assert (found.lo == 1).all()
    assert (found.hi == 1).all()


@pytest.mark.parametrize("activation", ["relu", "leaky-relu", "tanh", "elu", "softplus", "gelu"])
def test_derivatives_against_numpy(activation: str) -> None:
    """The enclosure holds numpy's norm of the product of diag(ρ′) V, and the ball at 200 bits."""
    spec = replace(URNN, activation=activation)
    batch = build_batch(spec)
    found = MEASURES["dh_dh"].enclose(batch)
    rho = batch.cell.activation
    for i in range(spec.batch):
        for s in range(spec.sequences):
            h, J = batch.h[i, :, s], [np.eye(spec.n)]
            for t in range(spec.T):
                z = batch.cell.W[i] @ h + batch.cell.U[i] @ batch.x[i, t, :, s] + batch.cell.b[i]
                h = rho(z)
                step = rho.derivative(z)[:, None].numpy() * batch.cell.W[i].numpy()
                J = [np.eye(spec.n), *(step @ A for A in J)]
            pair = build_batch(spec.select_pair(i, s))
            for k in range(spec.K + 1):
                norm = np.linalg.norm(J[k], 2)
                assert found.lo[i, s, k] - 1e-9 <= norm <= found.hi[i, s, k] + 1e-9
                with ctx.workprec(200):
                    ball = MEASURES["dh_dh"].ball(pair, k, 200)
                    assert not ball < arb(found.lo[i, s, k])
                    assert not ball > arb(found.hi[i, s, k])


def test_slopes_at_rest_are_recognised() -> None:
    """tanh at rest has slope 1: the product is exactly orthogonal, whatever the precision."""
    rest = replace(URNN, activation="tanh", inputs="zero", bias=0.0)
    assert verdicts("dh_dh <= 1", rest) == {"HOLDS"}
    assert verdicts("dh_dh < 1", rest) == {"VIOLATED"}
    # One unit is driven, the others rest: the norm is 1, but not in rationals.
    mixed = replace(rest, inputs="impulse", regime="signed", d=1, T=1, K=1)
    assert verdicts("dh_dh <= 1", mixed) == {"HOLDS"}
    assert "VIOLATED" in verdicts(
        "dh_dh <= 1",
        replace(
            mixed, activation="gelu", inputs="constant", T=3, K=3, scale=4.0, bias=4.0, batch=16
        ),
    )


def test_norms_are_decided_in_rationals() -> None:
    """‖diag(1, 1/2)‖ = 1 and not less; one 10⁻⁴⁰ above 1 is seen; irrational norms are enclosed."""

    def norm(A: fmpq_mat) -> Size:
        return spectral_size(A.tolist())

    turned = fmpq_mat([[fmpq(3, 5), fmpq(-4, 5)], [fmpq(4, 5), fmpq(3, 5)]])
    A, tiny = turned * fmpq_mat([[1, 0], [0, fmpq(1, 2)]]) * turned, fmpq(1, 10**40)
    with ctx.workprec(128):
        assert norm(A).is_at_most(ONE)
        assert not norm(A).is_at_most(1 - tiny)
        assert not norm(A).is_at_most(fmpq(-1))
        assert norm(A).square == 1
        more = norm(turned * fmpq_mat([[1 + tiny, 0], [0, fmpq(1, 2)]]) * turned)
        assert not more.is_at_most(ONE)
        assert more.square is None
        assert norm(fmpq_mat(2, 2)).square == 0
        assert norm(fmpq_mat([[3, 4], [0, 0]])).square == 25
        golden = norm(fmpq_mat([[1, 1], [1, 0]]))
        assert golden.square is None
        assert golden.ball.overlaps((1 + arb(5).sqrt()) / 2)
        assert norm(turned * 3).square == 9


def test_vanishing_along_the_equivalent() -> None:
    """The equivalent's derivative obeys λ^(k−1), and λ^k it does not; W = 0 forgets at k = 2."""
    for regime in KINDS["unitary"].regimes:
        spec = replace(NETWORK, regime=regime)
        given = (CONTRACTIVE, LAGGED)
        assert verdicts("dh_dh <= lam**(k - 1)", spec, *given) <= {"HOLDS", "VACUOUS"}
        assert "VIOLATED" in verdicts("dh_dh <= lam**k", spec, *given)
    zero = build_batch(replace(NETWORK, regime="zero", bias=2.0))
    found = MEASURES["dh_dh"].enclose(zero)
    assert (found.hi[:, :, 2:] == 0).all()
    assert (found.lo[:, :, 0] == 1).all()
