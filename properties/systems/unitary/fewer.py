"""Equivalents with fewer states: a change of scale, and an orthogonal matrix completed exactly.

Source: Emami et al., Theorem 3.1; ReLU commutes with positive diagonal matrices.
"""

from __future__ import annotations

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN, to_unitary
from rnnbounds.impl.convert.rescaling import Rescaling, rescale
from rnnbounds.impl.numbers.rationals import diagonal, identity, root_above
from rnnbounds.properties.systems.unitary.exact import Vector, matrix_vector, square_norm


def fewest_states(rnn: RationalRNN, bound: fmpq) -> tuple[Vector, RationalRNN] | None:
    """D and the URNN of the states D h, n + rank(I − AᵀA) rows with A = DWD⁻¹; None if no rational
    D that the search finds needs fewer rows than 2n. ``bound`` is one on ‖h‖: the added units read
    W₃ D h, and have the biases −bound ‖row of W₃D‖."""
    n = rnn.W.nrows()

    def is_usable(found: Rescaling) -> bool:
        return found.rank < n and added_rows(rnn.W, found) is not None

    found = rescale(rnn.W, is_usable)
    rows = None if found is None else added_rows(rnn.W, found)
    if found is None or found.D is None or rows is None:
        return None
    scales, inverse_scales = diagonal(found.D), diagonal([1 / entry for entry in found.D])
    scaled_network = RationalRNN(
        scales * rnn.W * inverse_scales,
        scales * rnn.U,
        matrix_vector(scales, rnn.b),
        matrix_vector(scales, rnn.initial),
    )
    V = complete_orthogonal(fmpq_mat(scaled_network.W.tolist() + rows))
    return found.D, to_unitary(scaled_network, V, bound, fmpq_mat(rows) * scales if rows else None)


def added_rows(W: fmpq_mat, scaling: Rescaling) -> list[list[fmpq]] | None:
    """W_3 with W_3ᵀW_3 = I − AᵀA, A = DWD⁻¹, by elimination; None where D or a pivot's root is
    irrational."""
    D = scaling.D
    if D is None:
        return None
    n = len(D)
    A = diagonal(D) * W * diagonal([1 / entry for entry in D])
    rest, rows = (identity(n) - A.transpose() * A).tolist(), []
    for i in range(n):
        pivot = rest[i][i]
        if pivot == 0:
            continue
        root = root_above(pivot)
        if root * root != pivot:
            return None
        row = [entry / root for entry in rest[i]]
        rest = [[v - row[p] * row[q] for q, v in enumerate(line)] for p, line in enumerate(rest)]
        rows.append(row)
    return rows


def complete_orthogonal(columns: fmpq_mat) -> fmpq_mat:
    """An orthogonal V (m, m) whose leading columns are the orthonormal ones given (m, n).

    Rational reflections R_j with R_n … R_1 X = (I; 0), so that V = R_1 … R_n.
    """
    m, V = columns.nrows(), identity(columns.nrows())
    for j in range(columns.ncols()):
        w = [columns[i, j] - int(i == j) for i in range(m)]
        length = square_norm(w)
        if length != 0:
            mirror = fmpq_mat(m, 1, w)
            R = identity(m) - mirror * mirror.transpose() * (2 / length)
            V, columns = V * R, R * columns
    return V
