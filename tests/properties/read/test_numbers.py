"""Steps of gated cells with what rounding may have done to them."""

import pytest
import torch
from flint import arb, ctx, fmpq, fmpq_mat
from msgspec.structs import replace
from seen import PRECISION, rounded_step

from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual
from rnnbounds.impl.arithmetic.entries import Columns
from rnnbounds.impl.numbers.ball_functions import sigmoid
from rnnbounds.impl.numbers.outward import TINY
from rnnbounds.impl.numbers.rationals import rational, rational_matrix
from rnnbounds.properties.judging.judge import Verdict, judge
from rnnbounds.properties.read.numbers.gaps import Difference, nonzero_if_either, zero_where_equal
from rnnbounds.properties.read.numbers.norms import operator_product, spectral_norm, vector_lengths
from rnnbounds.properties.read.numbers.rounded import NORM_FLOOR, Rounded, RoundedCells
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.cells.gated import GATED_SPECIAL, gated_cells_of
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory.language.parse import parse_statement


@pytest.mark.parametrize("module", [torch.nn.LSTMCell, torch.nn.GRUCell])
def test_steps_are_torch_s(module: type[torch.nn.RNNCellBase]) -> None:
    """torch's own cells take the same steps, within the error that is claimed and theirs."""
    torch.manual_seed(3)
    reference = module(2, 3, dtype=torch.float64)
    held = {name: part.detach()[None] for name, part in reference.named_parameters()}
    lstm = module is torch.nn.LSTMCell
    spec = make_spec(kind="lstm" if lstm else "gru", regime="gaussian", n=3, d=2, bias=0.5)
    batch = build_batch(spec)
    gated = gated_cells_of(batch)
    assert gated is not None
    cell = type(gated.cell)(held)
    s, x = torch.randn(1, 6 if lstm else 3, 1, dtype=torch.float64), torch.randn(1, 2, 1).double()
    moved = rounded_step(cell, Rounded.exact(s), x)
    with torch.no_grad():
        if lstm:
            h, c_next = reference(x[:, :, 0], (s[:, 3:, 0], s[:, :3, 0]))
            true = torch.cat([c_next, h], dim=1)
        else:
            true = reference(x[:, :, 0], s[:, :, 0])
    assert ((moved.value[:, :, 0] - true).abs() <= 2 * moved.error[:, :, 0]).all()
    assert (moved.error < 1e-13).all()


def test_cho_s_step_by_hand() -> None:
    """One unit of Cho's GRU, from its published formula in balls."""
    w, u, b, c, h, x = (0.5, -1.0, 2.0), (0.25, 0.5, 1.0), (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), 0.5, 1
    spec = replace(
        GATED_SPECIAL["steep-reset-cho"],
        values=replace(
            GATED_SPECIAL["steep-reset-cho"].values, W=[[v] for v in w], U=[[v] for v in u],
            b=list(b), b_hh=list(c), x=[[float(x)]], h=[h], h_other=[0.0],
        ),
    )  # fmt: skip
    batch = build_batch(spec)
    gated = gated_cells_of(batch)
    assert gated is not None
    moved = rounded_step(gated.cell, Rounded.exact(batch.h), batch.x[:, 0])
    with ctx.workprec(PRECISION):
        at = arb(batch.h.item())
        reset, update = (sigmoid(w[i] * at + u[i] * x + b[i] + arb(c[i])) for i in (0, 1))
        nu = (w[2] * (reset * at) + u[2] * x + b[2] + arb(c[2])).tanh()
        true = (1 - update) * nu + update * at
        assert abs(true - moved.value.item()) <= moved.error.item()


def test_errors_are_carried() -> None:
    """Errors of operands carry over to results, in every operation."""
    one = Rounded(*(torch.full((1, 2, 1), v, dtype=torch.float64) for v in (0.5, 1e-6)))
    for out in (one + one, one - one, one * one, one.tanh()):
        assert (out.error >= 4e-7).all()
    assert (one.sigmoid().error >= 2.5e-7).all()
    W = torch.ones(1, 3, 2).double()
    assert (one.apply_matrix(W, torch.zeros(1, 3).double()).error >= 2e-6).all()


SMALL = torch.full((1, 2, 1), 1e-200, dtype=torch.float64)


def test_lengths_of_small_numbers() -> None:
    """Their squares are 0, but they are not; what is exactly 0 has no length."""
    value, error = vector_lengths(Rounded.exact(SMALL), 1)
    assert value == 0
    assert error >= NORM_FLOOR
    assert vector_lengths(Rounded.exact(0 * SMALL), 1)[1] == 0


def test_spectral_norms_of_small_errors() -> None:
    """Of a matrix of zeros that are off by less than what has a square."""
    J = torch.zeros(1, 2, 2, dtype=torch.float64)
    assert spectral_norm(J, J + 1e-200)[1] >= NORM_FLOOR
    assert spectral_norm(J, J)[1] == 0


def test_products_of_small_matrices() -> None:
    """A product that underflows is off by something."""
    a = Rounded.exact(SMALL[..., None])
    found = operator_product(a, a[:, :1])
    assert (found.value == 0).all()
    assert (found.error >= TINY).all()


@pytest.mark.parametrize("arrays", [True, False], ids=["arrays", "tensors"])
def test_products_of_small_numbers(arrays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays and tensors on other devices have the same bounds."""
    if not arrays:
        name = "rnnbounds.properties.read.numbers.rounded.as_array"
        monkeypatch.setattr(name, lambda numbers: numbers)
    v, W = Rounded.exact(SMALL), torch.full((1, 1, 2), 1e-200, dtype=torch.float64)
    for found in (v * v, v.apply_matrix(W)):
        assert (found.value == 0).all()
        assert (found.error >= TINY).all()


def test_no_gap_is_lost() -> None:
    """A state that is not 0 under inputs whose squares are 0 is not judged to be 0."""
    spec = make_spec("lstm", n=2, d=1, T=1, K=1, lam=0.5, scale=1e-300, bias=0.0, batch=2)
    statement = parse_statement("h_gap <= 0")
    found = judge(statement, (), build_batch(spec))
    assert (found.verdicts[:, :, 0] == Verdict.VIOLATED).all()


WIDE = arb(0.5, 1e-3)  # a ball whose own difference is no 0
ROUNDED = {True: (0.0, 0.0), False: (0.25, 0.0)}


def balls(*numbers: arb) -> Columns:
    """Units of one column."""
    return Columns([[number] for number in numbers])


def rounded(*pairs: tuple[float, float]) -> Rounded:
    """Units of one system, each with its error."""
    value, error = torch.tensor(pairs, dtype=torch.float64).T
    return Rounded(value.reshape(1, -1, 1), error.reshape(1, -1, 1))


@pytest.mark.parametrize("name", ["softplus", "sin", "cos"])
def test_equal_arguments_have_equal_values(name: str) -> None:
    """f(a) − f(a) is 0, not what two enclosures of f(a) leave; another difference stays."""
    moved = arb(0.25)
    found = getattr(Difference(balls(WIDE, WIDE), balls(arb(0), moved)), name)().gap.units
    assert found[0][0] == 0
    f = getattr(Difference(balls(WIDE), balls(moved)).value, name)()
    other = getattr(balls(WIDE - moved), name)()
    assert found[1][0].overlaps((f - other).units[0][0])
    assert not found[1][0].contains(0)


def test_rounded_numbers() -> None:
    """A number that may be nonzero by its value or its error keeps its difference."""
    gap = rounded((0.0, 0.0), (0.25, 0.0), (0.0, 1e-9))
    found = zero_where_equal(rounded(*[(2.0, 0.5)] * 3), gap)
    assert found.value.flatten().tolist() == [0, 2, 2]
    assert found.error.flatten().tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("still", [True, False])
@pytest.mark.parametrize("at_rest", [True, False])
def test_derivatives(still: bool, at_rest: bool) -> None:
    """A derivative is the same only where the argument is, and how fast it moves."""
    difference = Dual(balls(WIDE), balls(WIDE))
    gap = Dual(balls(arb(0 if still else 0.25)), balls(arb(0 if at_rest else 0.25)))
    found = zero_where_equal(difference, gap)
    assert (found.value.units[0][0] == 0) is still
    assert (found.tangent.units[0][0] == 0) is (still and at_rest)
    one, two = rounded(ROUNDED[still]), rounded(ROUNDED[at_rest])
    assert bool(nonzero_if_either(one, two).nonzero_mask.item()) is not (still and at_rest)


@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_errors_of_orthogonal_runs_grow_by_the_norm(activation: str) -> None:
    """Each entry is within its error of the run in rationals, a column within the norm's; neither
    grows by ‖|Q|‖₂, about 2.8 a step."""
    torch.manual_seed(5)
    n, T = 12, 64
    Q = torch.linalg.qr(torch.randn(1, n, n, dtype=torch.float64))[0]
    U, x = torch.randn(1, n, 2).double(), torch.randn(T, 1, 2, 1).double()
    arithmetic = RoundedCells({"W": Q, "U": U})
    exact_Q, exact_U = rational_matrix(Q[0]), rational_matrix(U[0])
    h, true = Rounded.exact(torch.zeros(1, n, 1).double()), fmpq_mat(n, 1)
    for x_t in x:
        driven = arithmetic.affine("W", None, h) + arithmetic.affine("U", None, Rounded.exact(x_t))
        h = arithmetic.activate(activation, driven)
        true = exact_Q * true + exact_U * rational_matrix(x_t[0])
        if activation == "relu":
            true = fmpq_mat([[max(v, fmpq(0))] for v in true.entries()])
        gaps = (rational_matrix(h.value[0]) - true).entries()
        errors = rational_matrix(h.error[0]).entries()
        assert all(abs(gap) <= error for gap, error in zip(gaps, errors, strict=True))
        norm = h.error_norm
        assert norm is not None
        assert sum(gap * gap for gap in gaps) <= rational(norm.item()) ** 2
    assert h.error.max() < 1e-10


@pytest.mark.parametrize("activation", ["identity", "relu", "tanh"])
def test_the_norm_of_errors_holds_what_an_error_becomes(activation: str) -> None:
    """An error of a thousandth along each direction is still within the norm after W v + v and ρ;
    of an isometry it is there whole."""
    torch.manual_seed(6)
    n = 6
    W = torch.linalg.qr(torch.randn(1, n, n, dtype=torch.float64))[0] * 3
    true = torch.rand(1, n, n, dtype=torch.float64)
    off = torch.eye(n, dtype=torch.float64)[None] / 1000
    sizes = torch.linalg.vector_norm(off, dim=1, keepdim=True)
    held = Rounded(true + off, off.abs() * (1 + 2.0**-30), sizes.numpy() * (1 + 2.0**-30))
    arithmetic = RoundedCells({"W": W})
    found = arithmetic.activate(activation, arithmetic.affine("W", None, held) + held)
    rho = {"identity": lambda z: z, "relu": torch.relu, "tanh": torch.tanh}[activation]
    moved = found.value - rho(W @ true + true)
    norms = torch.linalg.vector_norm(moved, dim=1, keepdim=True)
    total = torch.as_tensor(found.error_norm)
    assert (norms <= total).all()
    assert (moved.abs() <= found.error).all()
    assert (total <= 4.01 / 1000).all()
    alone = arithmetic.affine("W", None, held)
    spread = torch.linalg.vector_norm(alone.value - W @ true, dim=1, keepdim=True)
    assert (spread >= torch.as_tensor(alone.error_norm) * (1 - 2.0**-20)).all()


def test_products_drop_the_norm_of_errors() -> None:
    """It bounds errors that A v + b, sums and activations carry, and no others."""
    one = Rounded.exact(torch.ones(1, 2, 3).double())
    assert (one + one).error_norm is not None
    assert (one * one).error_norm is None
    assert (one + one * one).error_norm is None
