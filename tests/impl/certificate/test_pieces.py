"""Windows by pieces: shorter than by a norm, attacked, near the truth, and proved again."""

import json
from dataclasses import replace
from itertools import product

import pytest
import torch

import rnnbounds
from rnnbounds.impl.arithmetic.inputs.data_sets import input_hull
from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.grid import LARGEST, grid_of
from rnnbounds.impl.certificate.pieces import Pieces, pieces_of
from rnnbounds.impl.checker import pieces as checker_pieces
from rnnbounds.impl.checker.pieces import ByPieces
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.format.fields import RecordError
from rnnbounds.impl.format.record import record, stated
from rnnbounds.impl.reading.adapters import load_model

EPS = (0.25, 0.01)
ROWS = torch.tensor([[1.5, -0.25], [0.25, 1.0], [-0.5, 0.5]], dtype=torch.float64)
CORNERS = torch.tensor(list(product([-0.25, 1.5], repeat=2)), dtype=torch.float64)
ANGLES = torch.arange(8, dtype=torch.float64) * (torch.pi / 4)
CIRCLE = 1.5 * (1 - 1e-15) * torch.stack([ANGLES.cos(), ANGLES.sin()], dim=1)
BALL = torch.cat([CIRCLE, CIRCLE / 2, torch.zeros(1, 2, dtype=torch.float64)])
SETS = {
    "ball": (1.5, BALL),
    "box": (input_box(-0.25, 1.5, 2), CORNERS),
    "rows": (input_rows(ROWS), ROWS),
}
GATES = {"lstm": 4, "gru": 3, "rnn-tanh": 1}
CASES = {  # cell, units, seed, size of the weights, layers
    "gru": ("gru", 1, 5, 0.5, 1),
    "a slow gru": ("gru", 1, 2, 1.0, 1),
    "lstm": ("lstm", 1, 3, 0.5, 1),
    "two units": ("gru", 2, 3, 0.4, 1),
    "layers": ("stacked-gru", 1, 5, 0.5, 2),
}


def model(cell, n, seed=0, size=0.5, layers=1):
    """A drawn model with inputs of two channels."""
    generator, d, tensors = torch.Generator().manual_seed(seed), 2, {}
    for l in range(layers):
        m = GATES[cell.removeprefix("stacked-")] * n
        for name, shape in (("weight_hh", (m, n)), ("weight_ih", (m, d)),
                            ("bias_ih", (m,)), ("bias_hh", (m,))):  # fmt: skip
            part = torch.randn(*shape, generator=generator, dtype=torch.float64)
            tensors[f"{name}_l{l}"] = size * part
        d = n
    return load_model(tensors, cell)


def by_norm(loaded, inputs, told, eps):
    """The window of the norm alone."""
    return kind_of(loaded.name).analyse(loaded, inputs).norm(told.norm).window(eps)


def longest(loaded, points, eps, most):
    """The least k that pasts at a point and then inputs at another or drawn ones do not refute."""
    draw, many = torch.Generator().manual_seed(1), len(points) ** 2
    states = kind_of(loaded.name).layout(loaded.weights).sizes(loaded.weights).state
    s = torch.zeros(1, states, 4 * many, dtype=torch.float64)
    past = points.repeat_interleave(len(points), 0).repeat(4, 1).mT[None]
    for _ in range(100):
        s = loaded.cell.step(s, past)
    other, found = torch.zeros_like(s), 0
    x = points.repeat(4 * len(points), 1)
    for k in range(most + 40):
        if float((s - other)[0, -loaded.n :].norm(dim=0).max()) > eps:
            found = k + 1
        x[many:] = points[torch.randint(len(points), (3 * many,), generator=draw)]
        s, other = loaded.cell.step(s, x.mT[None]), loaded.cell.step(other, x.mT[None])
    return found


@pytest.mark.parametrize("among", SETS)
@pytest.mark.parametrize("case", CASES)
def test_no_window_is_refuted_nor_longer_than_by_the_norm(case, among):
    """Inputs that stay and inputs that are drawn leave no gap above ε from the certified k on."""
    loaded, (inputs, points) = model(*CASES[case]), SETS[among]
    told = certify(loaded, inputs, EPS)
    for eps, k in told.windows if told.verdict == "certified" else ():
        assert longest(loaded, points, eps, k) <= k <= by_norm(loaded, inputs, told, eps)


@pytest.mark.parametrize("among", SETS)
def test_one_unit_is_near_the_truth(among):
    """At most four times what inputs show to be needed; by the norm it is more."""
    loaded, (inputs, points) = model(*CASES["gru"]), SETS[among]
    told = certify(loaded, inputs, EPS)
    for eps, k in told.windows:
        needed = longest(loaded, points, eps, k)
        assert 0 < needed <= k <= 4 * needed
        assert k < by_norm(loaded, inputs, told, eps)


def test_a_gap_that_rises_later_is_seen():
    """What is small at first and falls in one unit is no window before the output has risen."""
    M = torch.tensor([[[0.9, 0, 0], [1, 0, 0], [0, 1, 0.5]]], dtype=torch.float64)
    start, wide = torch.tensor([1, 0.01, 0.01]).double(), torch.full((3,), torch.inf).double()
    pieces = Pieces(M, start, wide, 1, -start, start, ())
    g, sizes = start, []
    for _ in range(80):
        sizes.append(float(g[-1]))
        g = M[0] @ g
    needed = max(m + 1 for m, size in enumerate(sizes) if size > 0.2)
    assert needed <= pieces.window(0.2, 90) <= needed + 1
    assert pieces.window(0.2, 3) == 3


def claimed(case, among):
    """A record with pieces, its weights, and the windows that are stated."""
    loaded = model(*CASES[case])
    told = stated(certify(loaded, SETS[among][0], EPS).to_json())
    weights = {role: part.numpy() for role, part in loaded.weights.items()}
    return told, weights, {one["eps"]: one["k"] for one in told["truncation"]}


def proved(told, weights, eps, k):
    """True if the checker proves that window by its pieces alone."""
    return ByPieces(record(told), weights).holds(k, eps)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "among"), [("a slow gru", "box"), ("layers", "ball")])
def test_the_checker_proves_them_again(case, among):
    """Each window, of layers too."""
    told, weights, windows = claimed(case, among)
    assert all(proved(told, weights, eps, k) for eps, k in windows.items())


def test_the_checker_proves_no_less():
    """Half a window, a smaller box, fewer or other pieces prove nothing."""
    told, weights, windows = claimed("gru", "box")
    k = windows[0.01]
    assert not proved(told, weights, 0.01, k // 2)
    low, high = (told["pieces"][end] for end in ("low", "high"))
    for smaller in ({"low": [a / 4 for a in low]}, {"high": [b / 4 for b in high]}):
        assert not proved(told | {"pieces": told["pieces"] | smaller}, weights, 0.01, k)
    for wrong in ({"grid": [1]}, {"grid": [0] * 3}, {"low": []}, {"low": high}, {"high": low}):
        with pytest.raises(RecordError):
            proved(told | {"pieces": told["pieces"] | wrong}, weights, 0.01, k)


def test_a_forged_grid_is_no_long_work():
    """Matrices of more entries than any maker writes are refused before the first is computed."""
    told, n = claimed("gru", "box")[0], 20
    weights = {role: part.numpy() for role, part in model("gru", n).weights.items()}
    cut = {"low": [-1.0] * n, "high": [1.0] * n}
    grid = [2] * 10 + [1] * (n - 8)
    with pytest.raises(RecordError):
        proved(told | {"pieces": cut | {"grid": grid}}, weights, 0.01, 5)


def test_a_file_with_pieces_stands(tmp_path):
    """As `truncate` writes it."""
    loaded = model(*CASES["gru"])
    module, certificate = rnnbounds.truncate(loaded, 0.25, SETS["box"][0])
    assert certificate["pieces"]
    rnnbounds.save_truncated(module, certificate, tmp_path / "one.safetensors")
    assert all(one.holds for one in check_truncated(tmp_path / "one.safetensors")[1])


def test_large_cells_and_short_windows_are_left_as_they_are():
    """Nothing is cut where there are many numbers, or nothing to gain."""
    assert pieces_of(model("gru", LARGEST, size=0.1), 1.0, 100) is None
    assert pieces_of(model("gru", 1), 1.0, 2) is None
    assert json.dumps(pieces_of(model("lstm", 1), 1.0, 3).to_json())


@pytest.mark.parametrize("case", ["gru", "lstm", "layers"])
def test_the_box_is_one_that_no_step_leaves(case):
    """However small one is to be proved; runs stay in it, and it is smaller than the first."""
    inputs, points = SETS["box"]
    grid = grid_of(loaded := model(*CASES[case]), inputs)
    counts = grid.even_counts(64)
    small = grid.shrunk(counts)
    tiny = replace(small, low=small.low / 8, high=small.high / 8)
    for box in (small.proved(grid, counts), tiny.proved(grid, counts)):
        assert box.holds(box.image(counts))
    box, s = small.proved(grid, counts), torch.zeros(1, len(grid.low), 64, dtype=torch.float64)
    draw = torch.Generator().manual_seed(2)
    for _ in range(200):
        x = points[torch.randint(len(points), (64,), generator=draw)]
        s = loaded.cell.step(s, x.mT[None])
        assert bool(((box.low[:, None] <= s[0]) & (s[0] <= box.high[:, None])).all())
    assert float((box.high - box.low).sum()) < 0.9 * float((grid.high - grid.low).sum())


def test_a_table_of_rows_is_looked_at_row_by_row_in_larger_cells():
    """Of sixteen units: shorter than by the norm, and not refuted."""
    loaded, (inputs, rows) = model("gru", 16, seed=1, size=0.06), SETS["rows"]
    told = certify(loaded, inputs, EPS)
    for eps, k in told.windows:
        assert longest(loaded, rows, eps, k) <= k < by_norm(loaded, inputs, told, eps)


def test_a_hull_is_more_than_its_corners():
    """Inputs between those that saturate the unit do not: windows of the corners are too short."""
    weights = {"weight_hh": torch.tensor([[0.75]]), "weight_ih": torch.ones(1, 1)}
    loaded = load_model({name: part.double() for name, part in weights.items()}, "rnn-tanh")
    frames = torch.tensor([[-14.0], [-2.0], [2.0]], dtype=torch.float64)
    h = torch.tanh(0.75 * torch.ones(1) + 2.0)
    for _ in range(certify(loaded, input_hull(frames), (0.065,)).window(0.065)):
        h = torch.tanh(0.75 * h)
    assert float(h) <= 0.065  # of a run that was on 2, under inputs 0


def test_pieces_are_cut_once_for_all_windows(monkeypatch):
    """They are looked at once, whatever is asked first; a later answer is what it is by itself."""
    told, weights, windows = claimed("gru", "box")
    looked, holds = [], checker_pieces._holds
    monkeypatch.setattr(checker_pieces, "_holds", lambda *a: looked.append(a) or holds(*a))
    for order in (1, -1):
        looked.clear()
        pieces = ByPieces(record(told), weights)
        for eps, k in [*windows.items()][::order]:
            assert pieces.holds(k, eps)
            assert not pieces.holds(k, eps / 1000)
        assert len(looked) == 1


def test_a_window_that_only_later_steps_confirm():
    """Bounds that fall no further for one step are compared again, after the window of the norm."""
    M = torch.tensor([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]], dtype=torch.float64)
    start, wide = torch.tensor([0.5, 0.5, 1]).double(), torch.full((3,), torch.inf).double()
    assert Pieces(M, start, wide, 1, -start, start, ()).window(0.6, 2) == 1
